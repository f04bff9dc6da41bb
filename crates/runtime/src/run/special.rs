//! Runs that do more than others: stacks of some operations and stronger memory orderings (see [`Special`]), and local
//! states of threads that may wait in loops.
//!
//! Such a run is connected to the port through [`Watched`], so that other runs pay nothing.

use std::alloc::Layout;
use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use raddle_core::{
    Action, Effect, EventId, NoteKind, ObjectId, Op, Site, Special, Strengthened, ThreadId,
};
use raddle_engine::{Initial, SinceChange};

#[cfg(all(unix, target_arch = "x86_64"))]
use super::frame;

#[cfg(all(unix, target_arch = "x86_64"))]
use crate::port::unobserved;
use crate::port::{BodyResult, Execution, ExitSwitch, RunFlags};
use crate::{Body, Rerun};

/// The words of the stack that raddle's own calls use.
#[cfg(all(unix, target_arch = "x86_64"))]
const LEFT_BY_RADDLE: usize = 512;
/// The words of the stack that most loops of debug builds use. The smallest stack has twice as many.
#[cfg(all(unix, target_arch = "x86_64"))]
const LEFT_BY_THREADS: usize = 1024;

/// A run whose operations are looked at before they are announced.
pub(super) struct Watched<'a> {
    run: &'a dyn Execution,
    /// `None` for an ordinary run.
    special: Option<Special>,
    /// Whether threads tell their local states.
    takes_frames: Cell<bool>,
}

impl<'a> Watched<'a> {
    pub(super) fn new(
        run: &'a dyn Execution,
        special: Option<Special>,
        takes_frames: bool,
    ) -> Watched<'a> {
        Watched { run, special, takes_frames: Cell::new(takes_frames) }
    }

    /// From now on threads tell their local states.
    #[cold]
    pub(super) fn take_frames(&self) {
        self.takes_frames.set(true);
    }

    /// Tells the local state of the calling thread, if that is needed. Returns whether the thread looks at something again
    /// without having changed anything.
    #[cfg(all(unix, target_arch = "x86_64"))]
    #[inline(always)]
    fn tell_frame(&self, op: Op, site: Site) -> bool {
        if !self.takes_frames.get() {
            return false;
        }
        let [head, first, second] = op.into_words();
        match self.run.since_change(head, first, second, site) {
            SinceChange::Nothing => return false,
            SinceChange::Looked => return true,
            SinceChange::WasHere => {}
        }
        let registers = frame::Registers::here();
        if let Some(end) = self.run.stack_end(registers.stack_pointer()) {
            // SAFETY: the stack that contains the stack pointer of this thread ends there.
            let frame = unobserved(|| unsafe { registers.hash_with_stack(end) });
            self.run.arrive(frame);
        }
        true
    }

    #[cfg(not(all(unix, target_arch = "x86_64")))]
    fn tell_frame(&self, _op: Op, _site: Site) -> bool {
        false
    }

    /// Lets the calling thread go on with the effect of an operation. If it looked at something again, what raddle has left
    /// on the stack is overwritten, so that it is the same in every round.
    #[inline(always)]
    fn go_on(&self, effect: Effect, looked_again: bool) -> Effect {
        #[cfg(all(unix, target_arch = "x86_64"))]
        if looked_again {
            frame::scrub_unused_stack::<LEFT_BY_RADDLE>();
        }
        #[cfg(not(all(unix, target_arch = "x86_64")))]
        let _ = looked_again;
        effect
    }

    /// Returns what is connected to the port: the run itself if its operations need not be looked at.
    pub(super) fn execution(&self, flags: RunFlags) -> (&dyn Execution, RunFlags) {
        let (mut flags, mut is_watched) = (flags, self.takes_frames.get());
        if let Some(special) = &self.special {
            let Special { records, leads_panics: is_trial, .. } = *special;
            flags = RunFlags { records, is_trial, ..flags };
            is_watched |= !special.stacks.is_empty() || !special.orders.is_empty();
        }
        (if is_watched { self } else { self.run }, flags)
    }

    /// Looks at an operation that the calling thread is about to announce.
    #[inline]
    fn look(&self, object: ObjectId) {
        if let Some(special) = &self.special {
            self.record_if_asked(special, object);
        }
    }

    #[cold]
    fn record_if_asked(&self, special: &Special, object: ObjectId) {
        if special.stacks.contains(&self.run.coming_event()) {
            self.run.record_announcement(object);
        }
    }

    /// Looks at an operation, and returns it with the ordering that it is to have.
    #[inline]
    fn adjusted(&self, op: Op, site: Site) -> Op {
        match &self.special {
            Some(special) => self.strengthened(special, op, site),
            None => op,
        }
    }

    #[cold]
    fn strengthened(&self, special: &Special, op: Op, site: Site) -> Op {
        let mut op = op;
        let orders = special.orders.iter().filter(|known| known.site == site);
        for &Strengthened { order, fence, .. } in orders {
            op = op.strengthened(order);
            if let Some(fence) = fence {
                let fence = Op::new(ObjectId::NONE, Action::Fence(fence));
                let [head, first, second] = fence.into_words();
                self.run.operate(head, first, second, site);
            }
        }
        self.look(op.object());
        op
    }
}

/// Passes calls on.
macro_rules! forward {
    ($(fn $name:ident(&self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)*) => {
        $(fn $name(&self $(, $argument: $type)*) $(-> $result)? {
            self.run.$name($($argument),*)
        })*
    };
}

impl Execution for Watched<'_> {
    fn operate(&self, head: u64, first: u64, second: u64, site: Site) -> Effect {
        let op = self.adjusted(Op::from_words(head, first, second), site);
        let looked_again = self.tell_frame(op, site);
        let [head, first, second] = op.into_words();
        self.go_on(self.run.operate(head, first, second, site), looked_again)
    }

    fn operate_atomic(&self, head: u64, first: u64, second: u64, site: Site) -> Effect {
        let op = self.adjusted(Op::from_words(head, first, second), site);
        let looked_again = self.tell_frame(op, site);
        let [head, first, second] = op.into_words();
        self.go_on(self.run.operate_atomic(head, first, second, site), looked_again)
    }

    fn lock(&self, mutex: ObjectId, site: Site) {
        self.look(mutex);
        self.run.lock(mutex, site);
    }

    fn unlock(&self, mutex: ObjectId, site: Site) {
        self.look(mutex);
        self.run.unlock(mutex, site);
    }

    fn run_body(&self) {
        // What earlier threads left on the stack must not decide when a round is seen to repeat.
        #[cfg(all(unix, target_arch = "x86_64"))]
        if self.takes_frames.get() {
            frame::scrub_unused_stack::<LEFT_BY_THREADS>();
        }
        self.run.run_body();
    }

    fn spawn(&self, body: Arc<dyn Body>, site: Site) -> ThreadId {
        self.look(ObjectId::NONE);
        self.run.spawn(body, site)
    }

    fn join(&self, thread: ThreadId, site: Site) {
        self.look(self.run.life(thread));
        self.run.join(thread, site);
    }

    unsafe fn restore_after_run(&self, place: *mut u8, size: usize) {
        // SAFETY: promised by the caller.
        unsafe { self.run.restore_after_run(place, size) }
    }

    forward! {
        fn since_change(&self, head: u64, first: u64, second: u64, site: Site) -> SinceChange;
        fn arrive(&self, frame: u64);
        fn stack_end(&self, pointer: usize) -> Option<usize>;
        fn stop(&self, site: Site);
        fn finish(&self, result: BodyResult) -> ExitSwitch;
        fn declare(&self, initial: Initial, address: usize, site: Site) -> ObjectId;
        fn describe(&self, object: ObjectId, made: Site);
        fn note(&self, kind: NoteKind, text: String, site: Site);
        fn ended(&self, object: Option<ObjectId>, address: usize, made: Site) -> bool;
        fn ended_at(&self, address: usize) -> Option<Option<ObjectId>>;
        fn late_use(&self, object: Option<ObjectId>, address: usize, ends: bool, site: Site);
        fn touch(&self, object: ObjectId, writes: bool, site: Site);
        fn touched(&self, object: ObjectId);
        fn own(&self, object: ObjectId, bytes: usize);
        fn disown(&self, object: ObjectId);
        fn is_racy(&self, site: Site) -> bool;
        fn choose_spurious(&self, site: Site) -> bool;
        fn newest(&self, object: ObjectId) -> u64;
        fn life(&self, thread: ThreadId) -> ObjectId;
        fn parker(&self, thread: ThreadId, site: Site) -> ObjectId;
        fn thread(&self) -> ThreadId;
        fn coming_event(&self) -> EventId;
        fn record_announcement(&self, object: ObjectId);
        fn time(&self) -> u64;
        fn advance(&self, nanos: u64);
        fn thread_state(&self) -> Option<Rc<dyn Any>>;
        fn set_thread_state(&self, state: Option<Rc<dyn Any>>);
        fn name_thread(&self, name: &str);
        fn name_object(&self, object: ObjectId, name: &str);
        fn panicked(&self) -> ThreadId;
        fn is_over(&self) -> bool;
        fn has_no_state(&self) -> bool;
        fn stay_stuck(&self) -> !;
        fn take_panic(&self, thread: ThreadId) -> Option<Box<dyn Any + Send>>;
        fn allocated(&self, address: usize, size: usize);
        fn freed(&self, address: usize, layout: Layout) -> bool;
        fn is_stack_guard(&self, address: usize) -> bool;
        fn check(&self) -> (&str, &Rerun);
        fn token(&self) -> String;
        fn steps(&self) -> usize;
        fn last_site(&self) -> Option<Site>;
    }
}
