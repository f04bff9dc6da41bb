//! Runs that do more than others (see [`Special`]): stacks of some operations, and stronger memory orderings.
//!
//! Such a run is connected to the port through [`Watched`], so that other runs pay nothing.

use std::alloc::Layout;
use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

use raddle_core::{
    Action, Effect, EventId, NoteKind, ObjectId, Op, Order, Site, Special, Strengthened, ThreadId,
};
use raddle_engine::Initial;

use crate::Body;
use crate::port::{BodyResult, Execution, ExitSwitch, RunFlags};

/// A run whose operations are looked at before they are announced.
pub(super) struct Watched<'a> {
    run: &'a dyn Execution,
    /// `None` for an ordinary run.
    special: Option<Special>,
}

impl<'a> Watched<'a> {
    pub(super) fn new(run: &'a dyn Execution, special: Option<Special>) -> Watched<'a> {
        Watched { run, special }
    }

    /// Returns what is connected to the port: the run itself if its operations need not be looked at.
    pub(super) fn execution(&self, flags: RunFlags) -> (&dyn Execution, RunFlags) {
        let Some(special) = &self.special else { return (self.run, flags) };
        let Special { records, leads_panics: is_trial, .. } = *special;
        let flags = RunFlags { records, is_trial, ..flags };
        let is_watched = !special.stacks.is_empty() || !special.orders.is_empty();
        (if is_watched { self } else { self.run }, flags)
    }

    /// Looks at an operation that the calling thread is about to announce.
    fn look(&self, object: ObjectId) {
        if let Some(special) = &self.special {
            if special.stacks.contains(&self.run.coming_event()) {
                self.run.record_announcement(object);
            }
        }
    }

    /// Looks at an operation, and returns it with the ordering that it is to have.
    fn adjusted(&self, op: Op, site: Site) -> Op {
        let orders = self.special.as_ref().map_or(&[][..], |special| &special.orders);
        let mut op = op;
        for &Strengthened { order, fence, .. } in orders.iter().filter(|known| known.site == site) {
            op = op.strengthened(order);
            if fence {
                let [head, first, second] =
                    Op::new(ObjectId::NONE, Action::Fence(Order::SeqCst)).into_words();
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
        let [head, first, second] = op.into_words();
        self.run.operate(head, first, second, site)
    }

    fn operate_atomic(&self, head: u64, first: u64, second: u64, site: Site) -> Effect {
        let op = self.adjusted(Op::from_words(head, first, second), site);
        let [head, first, second] = op.into_words();
        self.run.operate_atomic(head, first, second, site)
    }

    fn lock(&self, mutex: ObjectId, site: Site) {
        self.look(mutex);
        self.run.lock(mutex, site);
    }

    fn unlock(&self, mutex: ObjectId, site: Site) {
        self.look(mutex);
        self.run.unlock(mutex, site);
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
        fn stop(&self, site: Site);
        fn run_body(&self);
        fn finish(&self, result: BodyResult) -> ExitSwitch;
        fn declare(&self, initial: Initial, address: usize, site: Site) -> ObjectId;
        fn describe(&self, object: ObjectId, made: Site);
        fn note(&self, kind: NoteKind, text: String, site: Site);
        fn ended(&self, object: Option<ObjectId>, address: usize) -> bool;
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
        fn check_name(&self) -> &str;
        fn token(&self) -> String;
        fn steps(&self) -> usize;
        fn last_site(&self) -> Option<Site>;
    }
}
