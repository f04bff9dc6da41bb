//! The engine of a run, of whatever memory model, together with the choices of the run.

use raddle_core::{Choices, Effect, ObjectId, Op, Panic, PlainAccess, Site, ThreadId, Trace};
use raddle_engine::causality::Clock;
use raddle_engine::{Engine, Initial, Kind, Memory, RunState, SinceChange, Turn};

/// What hooks ask of the engine.
pub(crate) trait Drive {
    /// Announces an operation and returns the turn that follows.
    fn submit(&mut self, by: ThreadId, op: Op, site: Site) -> Turn;
    /// Performs the operation that was announced. Returns `None` if the run ended instead.
    fn perform(&mut self, by: ThreadId, op: Op, site: Site) -> Option<Effect>;
    /// Returns the newest value of a variable.
    fn newest(&self, object: ObjectId) -> u64;
    /// Notes a value that something other than an atomic operation has written.
    fn overwrite(&mut self, object: ObjectId, value: u64);
    /// Declares an object. `identity` is what identifies it across runs, or zero.
    fn declare(&mut self, by: ThreadId, initial: Initial, identity: u64, site: Site) -> ObjectId;
    fn declare_child(&mut self, by: ThreadId, site: Site) -> (ThreadId, ObjectId);
    fn start(&mut self, by: ThreadId, life: ObjectId, site: Site);
    fn life(&self, thread: ThreadId) -> ObjectId;
    fn submit_exit(&mut self, by: ThreadId) -> Turn;
    fn exit(&mut self, by: ThreadId) -> Turn;
    fn fail(&mut self, panic: Panic);
    /// Returns the trace of the run so far.
    fn trace(&self) -> &Trace;
    /// Returns what happens before the next event of a thread, if the memory model knows.
    fn clock(&self, thread: ThreadId) -> Option<&Clock>;
    /// Performs an operation in place of the one that was announced.
    fn perform_instead(&mut self, by: ThreadId, op: Op, site: Site) -> Effect;
    /// Records a plain access.
    fn touched(&mut self, access: PlainAccess);
    /// Sets the alarm of a thread that is about to announce a wait.
    fn set_alarm(&mut self, thread: ThreadId, deadline: u64, late: Op);
    /// Stops the alarm of a thread. Returns whether it had gone off.
    fn stop_alarm(&mut self, thread: ThreadId) -> bool;
    /// Lets the alarms go off whose time has come.
    fn ring_until(&mut self, now: u64);
    /// Lets the next alarm go off if all threads pause.
    fn ring_if_idle(&mut self, by: ThreadId);
    /// Lets the alarm of a thread go off.
    fn ring(&mut self, thread: ThreadId);
    /// Returns whether the run is led to its end, after the steps that are chosen.
    fn is_led(&self) -> bool;
    /// Returns whether threads are to tell their local states.
    fn takes_frames(&self) -> bool;
    /// Returns what a thread, which is about to announce an operation, has done since it last changed something.
    fn since_change(&mut self, by: ThreadId, op: Op, site: Site) -> SinceChange;
    /// Tells the local state of a thread that is about to announce an operation.
    fn arrive(&mut self, by: ThreadId, frame: u64);
    /// Returns the time of a thread, which reads the clock.
    fn read_clock(&mut self, by: ThreadId) -> u64;
    fn time(&self, thread: ThreadId) -> u64;
    fn advance(&mut self, thread: ThreadId, nanos: u64);
    /// Returns whether the run has ended well.
    fn has_finished(&self) -> bool;
}

/// An engine and the choices of the run under way.
pub(crate) struct Driven<'e, 'c, M: Memory> {
    pub(crate) engine: &'e mut Engine<M>,
    pub(crate) choices: Choices<'c>,
}

impl<M: Memory> Drive for Driven<'_, '_, M> {
    fn submit(&mut self, by: ThreadId, op: Op, site: Site) -> Turn {
        self.engine.submit(Kind::of(&op), by, &op, site, &mut self.choices)
    }

    fn perform(&mut self, by: ThreadId, op: Op, site: Site) -> Option<Effect> {
        self.engine.perform(Kind::of(&op), by, &op, site, &mut self.choices)
    }

    fn newest(&self, object: ObjectId) -> u64 {
        self.engine.newest(object)
    }

    fn overwrite(&mut self, object: ObjectId, value: u64) {
        self.engine.overwrite(object, value);
    }

    fn declare(&mut self, by: ThreadId, initial: Initial, identity: u64, site: Site) -> ObjectId {
        let object = self.engine.declare(by, initial, site);
        if identity != 0 {
            self.engine.identify(object, identity);
        }
        object
    }

    fn declare_child(&mut self, by: ThreadId, site: Site) -> (ThreadId, ObjectId) {
        self.engine.declare_child(by, site)
    }

    fn start(&mut self, by: ThreadId, life: ObjectId, site: Site) {
        self.engine.start(by, life, site);
    }

    fn life(&self, thread: ThreadId) -> ObjectId {
        self.engine.life(thread)
    }

    fn submit_exit(&mut self, by: ThreadId) -> Turn {
        self.engine.submit_exit(by, &mut self.choices)
    }

    fn exit(&mut self, by: ThreadId) -> Turn {
        self.engine.exit(by, &mut self.choices)
    }

    fn fail(&mut self, panic: Panic) {
        self.engine.fail(panic);
    }

    fn trace(&self) -> &Trace {
        self.engine.trace()
    }

    fn clock(&self, thread: ThreadId) -> Option<&Clock> {
        self.engine.clock(thread)
    }

    fn perform_instead(&mut self, by: ThreadId, op: Op, site: Site) -> Effect {
        self.engine.perform_instead(by, op, site)
    }

    fn touched(&mut self, access: PlainAccess) {
        self.engine.touched(access);
    }

    fn set_alarm(&mut self, thread: ThreadId, deadline: u64, late: Op) {
        self.engine.set_alarm(thread, deadline, late);
    }

    fn stop_alarm(&mut self, thread: ThreadId) -> bool {
        self.engine.stop_alarm(thread)
    }

    fn ring_until(&mut self, now: u64) {
        self.engine.ring_until(now);
    }

    fn ring_if_idle(&mut self, by: ThreadId) {
        self.engine.ring_if_idle(by);
    }

    fn ring(&mut self, thread: ThreadId) {
        self.engine.ring(thread);
    }

    fn is_led(&self) -> bool {
        self.engine.is_led()
    }

    fn takes_frames(&self) -> bool {
        self.engine.takes_frames()
    }

    fn since_change(&mut self, by: ThreadId, op: Op, site: Site) -> SinceChange {
        self.engine.since_change(by, op, site)
    }

    fn arrive(&mut self, by: ThreadId, frame: u64) {
        self.engine.arrive(by, frame);
    }

    fn read_clock(&mut self, by: ThreadId) -> u64 {
        self.engine.read_clock(by)
    }

    fn time(&self, thread: ThreadId) -> u64 {
        self.engine.time(thread)
    }

    fn advance(&mut self, thread: ThreadId, nanos: u64) {
        self.engine.advance(thread, nanos);
    }

    fn has_finished(&self) -> bool {
        self.engine.state() == RunState::Ended
            && self.engine.trace().ending == raddle_core::Ending::Finished
    }
}
