//! Performing operations: what changes, what is written down, who hears of it.

use raddle_core::{
    Access, Action, Chooser, Effect, Event, EventId, ObjectId, Op, PauseOp, Site, ThreadId,
    fingerprint,
};

use super::{Engine, Link, NO_WAITER, News};
use crate::Memory;
use crate::known::{Known, PostOp, TakeOp};

/// What few operations are told, by reference: two words that are nothing would be copied for each of the others.
pub(super) struct Told {
    /// The store to read or to stand behind, if there was a choice.
    pub(super) source: Option<EventId>,
    /// The effect, if the object does not know it.
    pub(super) effect: Option<Effect>,
}

impl Told {
    pub(super) const NOTHING: Told = Told { source: None, effect: None };
}

impl<M: Memory, C: Chooser> Engine<M, C> {
    /// Performs what `by`, whose turn it is, announced; spawns are [`start`](Engine::start)ed and
    /// exits [`exit`](Engine::exit). `None` if the run ended instead.
    #[inline(always)]
    pub fn perform<K: Known>(&mut self, by: ThreadId, op: Op, site: Site) -> Option<Effect> {
        if C::GRANTS_LEASES {
            self.running = by;
        }
        if K::ANY && op.object() == ObjectId::NONE {
            return self.perform_on_nothing(by, op.action(), site);
        }
        let mut source = None;
        if M::WEAK && op.is_atomic() {
            source = self.choose_source(by, op, site)?;
        }
        Some(self.perform_on_object::<K, true>(by, &op, site, &Told { source, effect: None }))
    }

    /// As [`perform`](Engine::perform), for kinds of operations and a memory model that do not ask anything
    /// and so do not end the run.
    #[inline(always)]
    pub fn perform_known<K: Known>(&mut self, by: ThreadId, op: &Op, site: Site) -> Effect {
        if K::ANY || M::WEAK {
            unreachable!("raddle invariant broken: it may ask something")
        }
        if C::GRANTS_LEASES {
            self.running = by;
        }
        if K::POST || K::NOTIFY || K::PASS {
            // These do not wait, and mostly nobody waits for them either.
            return match self.perform_as_usual::<K>(by, op, site) {
                Some(effect) => effect,
                None => self.perform_unusual::<K>(by, op.head(), site),
            };
        }
        self.perform_on_object::<K, true>(by, op, site, &Told::NOTHING)
    }

    /// As [`perform_known`](Engine::perform_known), for what does not wait. `None` if more is to be done than there is to most
    /// operations, and nothing has happened.
    #[inline(always)]
    pub fn perform_as_usual<K: Known>(
        &mut self,
        by: ThreadId,
        op: &Op,
        site: Site,
    ) -> Option<Effect> {
        if self.time_moved { None } else { self.perform_unannounced::<K>(by, op, site) }
    }

    /// Apart from the usual, which then needs few registers.
    #[cold]
    #[inline(never)]
    fn perform_unusual<K: Known>(&mut self, by: ThreadId, head: u64, site: Site) -> Effect {
        let op = Op::from_words(head, 0, 0);
        if K::PASS && op.takes_message() {
            return self.perform_on_object::<TakeOp, true>(by, &op, site, &Told::NOTHING);
        }
        if K::PASS {
            return self.perform_on_object::<PostOp, true>(by, &op, site, &Told::NOTHING);
        }
        self.perform_on_object::<K, true>(by, &op, site, &Told::NOTHING)
    }

    /// Performs an operation on an object and writes it down. `ANNOUNCED` if it was, and may stand among the
    /// object's waiters; otherwise it was found to need nothing that is left out then.
    #[inline(always)]
    pub(super) fn perform_on_object<K: Known, const ANNOUNCED: bool>(
        &mut self,
        by: ThreadId,
        op: &Op,
        site: Site,
        told: &Told,
    ) -> Effect {
        let object = op.object();
        let slot = at_mut!(self.objects, object.index());
        // Before it is needed, though that takes a register: what comes of it is waited for.
        let thread = at_mut!(self.threads, by.index());
        let id = thread.next;
        // Nothing that is done to an atomic variable waits.
        let mut is_linked = false;
        let mut concerns_waiters = false;
        let mut effect = if K::ATOMIC || K::ANY && op.is_atomic() {
            if M::WEAK {
                self.memory.access::<K>(&mut slot.location, id, op, told.source)
            } else {
                M::access_newest::<K>(&mut slot.location, op)
            }
        } else {
            // Those who waited for the end of a thread are not looked for again.
            if ANNOUNCED && K::BLOCKS && !K::LIFE && K::may_block(op) {
                is_linked = !K::MAY_NEVER_WAIT
                    || !(K::ANY && op.is_thread()) && slot.object.may_disable::<K>(op);
            }
            let is_usual = !ANNOUNCED && K::AHEAD;
            let effect = if is_usual {
                slot.object.apply_usual::<K>(op, by)
            } else {
                slot.object.apply_known::<K>(op, by)
            };
            concerns_waiters = !(K::ENQUEUE || K::SEND || K::POST || K::RECEIVE)
                || slot.object.concerns_waiters::<K>();
            effect
        };
        if K::LIFE {
            if let Some(told) = told.effect {
                effect = told;
            }
        }
        thread.next.index += 1;
        if (K::ANY || K::CHANNEL) && op.gave_way(effect) {
            thread.yields += 1;
        }
        if !ANNOUNCED && self.trace.events.is_full() {
            no_room();
        }
        self.trace.events.add(id, op, effect, site);
        let name = thread.name.advance();
        if K::BLOCKS && !K::LIFE && is_linked {
            let links = &mut *self.links;
            let Link { next, previous, .. } = links[by.index() + 1];
            links[previous as usize].next = next;
            links[next as usize].previous = previous;
            // Whether it is the first would be foreseen badly. Ones if it is, and not by a comparison, which the
            // compiler would make a branch.
            const { assert!(NO_WAITER == 0) };
            let is_first = (u64::from(previous).wrapping_sub(1) >> 32) as u32;
            slot.first_waiter ^= (slot.first_waiter ^ next) & is_first;
        }
        let waiter = if !K::ATOMIC && concerns_waiters { slot.first_waiter } else { NO_WAITER };
        let access = if K::UPDATES { Access::Update } else { K::access(op, &effect) };
        let hash = if M::WEAK && op.is_atomic() {
            self.memory.hash(name)
        } else if K::UPDATES {
            fingerprint::update_of_object(name, &mut slot.history)
        } else {
            fingerprint::event_on_object(name, access, &mut slot.history)
        };
        self.trace.fingerprint = self.trace.fingerprint.wrapping_add(hash);
        if M::WEAK && !op.is_atomic() {
            self.memory.happen(&Event { id, op: *op, effect, site });
        }
        if ANNOUNCED && self.time_moved {
            self.join_times(by, object, access);
        }
        let may_concern = const {
            if ANNOUNCED {
                !K::ATOMIC
            } else if C::GRANTS_LEASES {
                !(K::ATOMIC || K::LOCK || K::AHEAD)
            } else {
                K::UNLOCK
            }
        };
        if !K::ATOMIC && may_concern && waiter != NO_WAITER && matches!(access, Access::Update) {
            self.reconsider::<K>(waiter, object);
        }
        effect
    }

    /// Performs an action that touches no object.
    #[cold]
    fn perform_on_nothing(&mut self, by: ThreadId, action: Action, site: Site) -> Option<Effect> {
        let mut effect = Effect::None;
        match action {
            Action::Fence(_) => {}
            Action::Pause(PauseOp::Sleep { nanos }) => self.advance(by, nanos),
            Action::Pause(PauseOp::Yield | PauseOp::Spin) => {}
            Action::Choose { bound } => effect = self.choose_value(by, bound, site)?,
            Action::Thread(_)
            | Action::Atomic(_)
            | Action::Cell(_)
            | Action::Mutex(_)
            | Action::RwLock(_)
            | Action::Condvar(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Channel(_) => {
                unreachable!("raddle invariant broken: {action:?} on no object")
            }
        }
        let op = Op::new(ObjectId::NONE, action);
        let thread = &mut self.threads[by.index()];
        let id = thread.next;
        thread.next.index += 1;
        thread.yields += u32::from(op.gave_way(effect));
        self.trace.events.add(id, &op, effect, site);
        if M::WEAK {
            self.memory.happen(&Event { id, op, effect, site });
        }
        let name = thread.name.advance();
        let value = if let Effect::Value(value) = effect { value } else { 0 };
        let hash = fingerprint::event_alone(name, value);
        self.trace.fingerprint = self.trace.fingerprint.wrapping_add(hash);
        Some(effect)
    }

    /// Announces and performs in one go what `by` is about to do, if the chooser has allowed it to
    /// run on and it can. `None` if not, or if more is to be done than there is to most operations, and
    /// nothing has happened.
    ///
    /// No call is left here for the most frequent kinds, for which registers had to be saved.
    #[inline(always)]
    pub fn perform_on_lease<K: Known>(
        &mut self,
        by: ThreadId,
        op: Op,
        site: Site,
    ) -> Option<Effect> {
        if !C::GRANTS_LEASES || M::WEAK || K::ANY || self.lease.ready == 0 {
            return None;
        }
        let slot = at!(self.objects, op.object().index());
        if K::BLOCKS && K::may_block(&op) && !slot.object.enabled_known::<K>(&op, by) {
            return None;
        }
        if K::AHEAD && !slot.object.is_usual::<K>(&op, slot.first_waiter != NO_WAITER) {
            return None;
        }
        if (K::LOCK || K::UNLOCK) && slot.first_waiter != NO_WAITER {
            let is_news = match slot.news {
                News::Known => true,
                News::Withheld => K::UNLOCK,
                News::NeverMind => false,
            };
            if is_news {
                return None;
            }
        }
        self.lease.ready -= 1;
        Some(self.perform_on_object::<K, false>(by, &op, site, &Told::NOTHING))
    }

    /// Performs what `by`, whose turn it is, has not announced because it was [chosen](Engine::draw)
    /// before. `None` if more is to be done than there is to most operations, and nothing has happened.
    ///
    /// No call is left here either.
    #[inline(always)]
    pub fn perform_unannounced<K: Known>(
        &mut self,
        by: ThreadId,
        op: &Op,
        site: Site,
    ) -> Option<Effect> {
        let slot = at!(self.objects, op.object().index());
        let is_usual = slot.object.is_usual::<K>(op, slot.first_waiter != NO_WAITER);
        if !is_usual || self.trace.events.is_full() {
            return None;
        }
        Some(self.perform_on_object::<K, false>(by, op, site, &Told::NOTHING))
    }

    /// Performs what `by`, the only thread that can go on, is about to do. `None` if not all is as it mostly is, and
    /// nothing has happened.
    #[inline(always)]
    pub fn perform_alone<K: Known>(&mut self, by: ThreadId, op: &Op, site: Site) -> Option<Effect> {
        let slot = at!(self.objects, op.object().index());
        let is_usual = slot.object.is_usual::<K>(op, slot.first_waiter != NO_WAITER);
        let events = &self.trace.events;
        if !is_usual || events.count() >= self.ahead || events.is_full() {
            return None;
        }
        let effect = self.perform_on_object::<K, false>(by, op, site, &Told::NOTHING);
        // Among one, so that the next number is the same as for others.
        self.plan.then.draw(1);
        Some(effect)
    }

    /// Time goes from an object's last Update to whoever touches it next.
    #[cold]
    fn join_times(&mut self, by: ThreadId, object: ObjectId, access: Access) {
        let thread = &mut self.threads[by.index()];
        let slot = &mut self.objects[object.index()];
        thread.time = thread.time.max(slot.time);
        if access == Access::Update {
            slot.time = thread.time;
        }
    }
}

#[cold]
#[inline(never)]
fn no_room() -> ! {
    unreachable!("raddle invariant broken: room for an event is gone")
}
