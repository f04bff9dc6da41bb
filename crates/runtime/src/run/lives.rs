//! Spawns and joins.
//!
//! They do not unwind, so that they can be [visited](way_back::visit): whatever does is left to a second call, which
//! their result asks for.

use std::mem::transmute;
use std::panic::Location;
use std::ptr::NonNull;

use raddle_core::{Chooser, Effect, ObjectId, Op, Site, ThreadId};
use raddle_engine::known::{JoinOp, LifeOp};
use raddle_engine::{Engine, Memory};

use super::{Phase, Run};
use crate::body::HandedOver;
use crate::port::{Joined, spawned};
use crate::{Backend, Body, Fate, bare, way_back};

impl<B: Backend, M: Memory, C: Chooser> Run<'_, B, M, C> {
    /// # Safety
    /// `run` points to a run under way; `data` and `fate` are what a body is made of, and `site` is the address of a
    /// location or null.
    pub(super) unsafe extern "C" fn spawn_entry(
        run: *const (),
        data: *const (),
        fate: *const (),
        site: *const (),
    ) -> u64 {
        // SAFETY: promised by the caller.
        let this: &Self = unsafe { bare::follow!(run as Self) };
        // SAFETY: likewise.
        let data = unsafe { transmute::<*const (), NonNull<()>>(data) };
        // SAFETY: likewise.
        let fate = unsafe { transmute::<*const (), &'static Fate>(fate) };
        // SAFETY: likewise.
        let site = unsafe { transmute::<*const (), Option<&'static Location<'static>>>(site) };
        let (body, site) = (HandedOver { data, fate }, Site::at(site));
        let word =
            if Self::GOES_STRAIGHT { this.spawn(body, site) } else { this.spawn_apart(body, site) };
        way_back::tell_of_spawn(word)
    }

    /// # Safety
    /// `run` points to a run under way, and `site` is as above. `thread` is a number.
    pub(super) unsafe extern "C" fn join_entry(
        run: *const (),
        thread: *const (),
        _: *const (),
        site: *const (),
    ) -> u64 {
        // SAFETY: promised by the caller.
        let this: &Self = unsafe { bare::follow!(run as Self) };
        // SAFETY: likewise.
        let site = unsafe { transmute::<*const (), Option<&'static Location<'static>>>(site) };
        let (thread, site) = (ThreadId(thread as usize as u32), Site::at(site));
        let joined = if Self::GOES_STRAIGHT {
            this.join(thread, site)
        } else {
            this.join_apart(thread, site)
        };
        way_back::tell_of_join(joined as u64)
    }

    /// Whether nothing is on the stack when it goes back. A chooser that is shown something is a call more.
    const GOES_STRAIGHT: bool = !way_back::PAYS || C::DRAWS && !M::WEAK;

    #[inline(never)]
    fn spawn_apart(&self, body: HandedOver, site: Site) -> u64 {
        self.spawn(body, site)
    }

    #[inline(never)]
    fn join_apart(&self, thread: ThreadId, site: Site) -> Joined {
        self.join(thread, site)
    }

    /// Announces a spawn, waits for its turn, and performs it.
    #[inline(always)]
    fn spawn(&self, body: HandedOver, site: Site) -> u64 {
        let me = self.me();
        // Not by `with_engine`: where nothing is optimised, a closure is a call.
        // SAFETY: as there.
        let engine = unsafe { bare::follow_mut!(self.engine as Engine<M, C>) };
        let (child, life) = engine.declare_child(me, site);
        if !self.is_seated(child) || !matches!(self.phase(), Phase::Running) {
            return spawned::UNUSUALLY | child.0 as u64;
        }
        let op = Op::SPAWN.on(life);
        // SAFETY: as above.
        let engine = unsafe { bare::follow_mut!(self.engine as Engine<M, C>) };
        let turn = engine.submit_again::<LifeOp>(me, &op, site);
        let this = self.wait_in_doubt(me, turn, self.engine);
        if this.phase().is_over() {
            return spawned::TOO_LATE | child.0 as u64;
        }
        let this = this.start(me, child, body, site);
        if this.phase().is_over() {
            return spawned::AND_OVER | child.0 as u64;
        }
        child.0 as u64
    }

    /// Lets a new thread run up to its first announcement.
    #[inline(always)]
    fn start(&self, me: ThreadId, child: ThreadId, body: HandedOver, site: Site) -> &Self {
        // The child takes it at once.
        bare::set!(self.crew.body: Option<HandedOver> = Some(body));
        // SAFETY: as for `with_engine`.
        let engine = unsafe { bare::follow_mut!(self.engine as Engine<M, C>) };
        let life = engine.life(child);
        engine.start_child(me, child, life, site);
        // If somebody unwinds, a first announcement is nothing special among those that are.
        if matches!(self.phase(), Phase::Running) {
            bare::set!(self.phase: Phase = Phase::Starting);
        }
        self.switch(me, child)
    }

    /// A spawn that is not as most, of a child that was declared.
    #[cold]
    pub(super) fn spawn_unusually(&self, child: ThreadId, body: Body, site: Site) -> ThreadId {
        let me = self.me();
        self.seat(child);
        if !self.phase().is_over() {
            let op = Op::SPAWN.on(self.life(child));
            self.wait(me, self.announce(op, site));
        }
        if self.phase().is_over() {
            self.refuse_spawn(child, site);
        }
        self.start(me, child, body.into_parts(), site);
        if self.phase().is_over() {
            self.refuse_spawn(child, site);
        }
        self.notes_steps();
        child
    }

    /// The run is over for a thread in the middle of a spawn: it unwinds, or is stuck in a destructor.
    #[cold]
    pub(super) fn refuse_spawn(&self, child: ThreadId, site: Site) -> ! {
        let op = Op::SPAWN.on(self.life(child));
        let [head, first, second] = op.into_words();
        self.settle(head, first, second, site);
        unreachable!("raddle invariant broken: a spawn after the end of its run")
    }

    /// Announces a join, waits for its turn, and performs it.
    #[inline(always)]
    fn join(&self, thread: ThreadId, site: Site) -> Joined {
        let op = Op::JOIN.on(self.life(thread));
        let me = self.me();
        if C::GRANTS_LEASES {
            // SAFETY: as for `with_engine`.
            let leased = unsafe { bare::follow_mut!(self.engine as Engine<M, C>) };
            if leased.perform_on_lease::<JoinOp>(me, op, site).is_some() {
                return Joined::AsMost;
            }
        }
        if !matches!(self.phase(), Phase::Running) {
            return Joined::Unusually;
        }
        // SAFETY: as for `with_engine`.
        let engine = unsafe { bare::follow_mut!(self.engine as Engine<M, C>) };
        let turn = engine.submit_again::<JoinOp>(me, &op, site);
        let this = self.wait(me, turn);
        if !matches!(this.phase(), Phase::Running) {
            return Joined::Interrupted;
        }
        let me = if cfg!(debug_assertions) { me } else { this.me() };
        // SAFETY: as for `with_engine`.
        let engine = unsafe { bare::follow_mut!(this.engine as Engine<M, C>) };
        if !M::WEAK {
            engine.perform_known::<JoinOp>(me, &op, site);
            return Joined::AsMost;
        }
        match engine.perform::<JoinOp>(me, op, site) {
            Some(_) => Joined::AsMost,
            None => Joined::AndOver,
        }
    }

    /// The rest of a join that did not go as most.
    #[cold]
    pub(super) fn join_otherwise(&self, how: Joined, thread: ThreadId, site: Site) {
        let [head, first, second] = Op::JOIN.on(self.life(thread)).into_words();
        match how {
            Joined::AsMost => Effect::None,
            Joined::Unusually => self.submit::<JoinOp>(head, first, second, site),
            Joined::Interrupted => self.resume_specially(head, first, second, site),
            Joined::AndOver => self.end_within(head, first, second, site),
        };
        self.notes_steps();
    }

    #[inline(always)]
    fn life(&self, thread: ThreadId) -> ObjectId {
        // SAFETY: as for `with_engine`.
        unsafe { bare::follow!(self.engine as Engine<M, C>) }.life(thread)
    }
}
