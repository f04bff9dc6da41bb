//! The beginnings and ends of threads.

use raddle_core::{Chooser, Effect, ObjectId, ObjectKind, Op, Site, ThreadId, Trace, fingerprint};

use super::perform::Told;
use super::{Engine, Lease, NO_WAITER, NOBODY, Slot, Thread, Turn};
use crate::Memory;
use crate::known::LifeOp;
use crate::object::{Object, wrong_object};
use crate::objects::Life;

impl<M: Memory, C: Chooser> Engine<M, C> {
    /// Performs the spawn that `creator`, whose turn it is, announced. The new thread is to run up
    /// to its first announcement.
    pub fn start(&mut self, creator: ThreadId, life: ObjectId, site: Site) -> ThreadId {
        let ObjectKind::Thread(child) = self.trace.objects[life.index()].kind else {
            unreachable!("raddle invariant broken: spawn of {life:?}")
        };
        self.start_child(creator, child, life, site);
        child
    }

    /// As [`start`](Engine::start), for substrates that remember whose life it is.
    #[inline(always)]
    pub fn start_child(&mut self, creator: ThreadId, child: ThreadId, life: ObjectId, site: Site) {
        let op = Op::SPAWN.on(life);
        // The life of a thread does not know whose it is; the trace should tell.
        let effect = Effect::Value(u64::from(child.0));
        if M::WEAK || self.time_moved {
            let told = Told { source: None, effect: Some(effect) };
            self.perform_on_object::<LifeOp, true>(creator, &op, site, &told);
        } else {
            // Nobody can wait for it yet.
            let (thread, slot) =
                (&mut self.threads[creator.index()], &mut self.objects[life.index()]);
            change_life(thread, slot, &mut self.trace, Life::Running, &op, effect, site);
        }
        self.creator = creator.0;
        self.ahead = 0;
        let time = if self.time_moved { self.time(creator) } else { 0 };
        self.admit(child, life, time);
        self.running = child;
    }

    /// Announces that `by` is about to end. Whose turn is it? When it is that of `by`, it
    /// [`exit`](Engine::exit)s.
    #[inline(always)]
    pub fn submit_exit(&mut self, by: ThreadId) -> Turn {
        let op = Op::EXIT.on(self.threads[by.index()].life);
        self.announce::<LifeOp>(by, &op, Site::UNKNOWN);
        if self.creator != NOBODY { self.back_to_creator() } else { self.next_turn() }
    }

    /// Performs the exit that `by`, whose turn it is, announced. Whose turn is it now?
    #[inline(always)]
    pub fn exit(&mut self, by: ThreadId) -> Turn {
        if self.alive == 1 && self.followed >= self.plan.prefix.len() {
            self.exit_last(by);
            return Turn::END;
        }
        self.exit_among_others(by)
    }

    #[inline(always)]
    fn exit_among_others(&mut self, by: ThreadId) -> Turn {
        if M::WEAK
            || !C::DRAWS
            || C::GRANTS_LEASES
            || self.time_moved
            || self.trace.events.is_full()
        {
            return self.exit_unusually(by);
        }
        // All is found before anything is written, after which it would have to be found again.
        let thread = &mut self.threads[by.index()];
        let slot = &mut self.objects[thread.life.index()];
        let (links, slots) = (&mut *self.links, &mut *self.enabled.slots);
        let op = Op::EXIT.on(thread.life);
        let trace = &mut self.trace;
        change_life(thread, slot, trace, Life::Ended, &op, Effect::None, Site::UNKNOWN);
        thread.next_ended = self.ended;
        self.ended = by.0;
        self.alive -= 1;
        // All who wait for it can go on, and none could.
        let mut count = self.enabled.count;
        let mut waiter = slot.first_waiter;
        while waiter != NO_WAITER {
            let link = &mut links[waiter as usize];
            slots[count] = ThreadId(waiter - 1);
            link.place = count as u32;
            waiter = link.next;
            count += 1;
        }
        // It cannot itself any more: the last takes its place.
        count -= 1;
        let (place, last) = (links[by.index() + 1].place, slots[count]);
        slots[place as usize] = last;
        links[last.index() + 1].place = place;
        self.enabled.count = count;
        self.next_turn()
    }

    /// The same as any other operation is performed.
    #[inline(never)]
    fn exit_unusually(&mut self, by: ThreadId) -> Turn {
        let op = Op::EXIT.on(self.life(by));
        self.perform_on_object::<LifeOp, true>(by, &op, Site::UNKNOWN, &Told::NOTHING);
        self.disable(by);
        self.alive -= 1;
        self.threads[by.index()].next_ended = core::mem::replace(&mut self.ended, by.0);
        self.next_turn()
    }

    /// Whether no more than one thread is alive.
    #[inline(always)]
    pub fn has_one_thread(&self) -> bool {
        self.alive == 1
    }

    /// Announces and performs the exit of `by` in one go, if it is the last thread and nothing stands in the
    /// way. Then the run is over. False if not, and nothing has happened.
    ///
    /// No call is left here that would come back, for which registers had to be saved.
    #[inline(always)]
    pub fn end_with(&mut self, by: ThreadId) -> bool {
        let steps = self.trace.events.count();
        if M::WEAK || !C::DRAWS || self.alive != 1 || steps >= self.attention {
            return false;
        }
        if self.trace.events.is_full() {
            return false;
        }
        self.exit_last(by);
        true
    }

    /// The last thread ends, and with it the run, in the ordinary way: nobody is left to hear of it.
    #[inline(always)]
    fn exit_last(&mut self, by: ThreadId) {
        // All is found before anything is written, after which it would have to be found again.
        let thread = &mut self.threads[by.index()];
        let pending = &mut self.pending[by.index()];
        let slot = &mut self.objects[thread.life.index()];
        let op = Op::EXIT.on(thread.life);
        let trace = &mut self.trace;
        change_life(thread, slot, trace, Life::Ended, &op, Effect::None, Site::UNKNOWN);
        if !C::DRAWS {
            pending.enabled = false;
        }
        self.enabled.clear();
        if C::GRANTS_LEASES {
            self.stale.clear();
            self.lease = Lease::NONE;
        }
        self.alive = 0;
        self.over = true;
    }
}

/// Writes down the operation `op` by `thread` that changes the life of a thread, at `slot`.
#[inline(always)]
fn change_life<L>(
    thread: &mut Thread,
    slot: &mut Slot<L>,
    trace: &mut Trace,
    to: Life,
    op: &Op,
    effect: Effect,
    site: Site,
) {
    let Object::Life(life) = &mut slot.object else { wrong_object() };
    let id = thread.next;
    let name = thread.name.advance();
    let hash = fingerprint::update_of_object(name, &mut slot.history);
    trace.fingerprint = trace.fingerprint.wrapping_add(hash);
    trace.events.add(id, op, effect, site);
    *life = to;
    thread.next.index += 1;
}
