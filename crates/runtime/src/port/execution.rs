//! What a run offers to the `std` mirror, without its types.

use std::alloc::Layout;
use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

use raddle_core::{Effect, EventId, NoteKind, ObjectId, Site, ThreadId};
use raddle_engine::{Initial, SinceChange};

use crate::runtime::SpawnHook;
use crate::{Body, Rerun};

/// How the body of a thread ended.
pub(crate) type BodyResult = Result<(), Box<dyn Any + Send>>;

/// One execution, as the code that it runs sees it. The calling thread is always the one that runs.
pub(crate) trait Execution {
    /// Announces an operation, waits for its turn, performs it, and returns its effect.
    ///
    /// Takes the [words](raddle_core::Op::into_words) of the operation, which are passed in registers. An `Op` would be
    /// passed in memory, and reading it back waits for the stores: a third of an atomic step.
    fn operate(&self, head: u64, first: u64, second: u64, site: Site) -> Effect;
    /// [`operate`](Execution::operate), for an operation on an atomic variable.
    fn operate_atomic(&self, head: u64, first: u64, second: u64, site: Site) -> Effect;
    /// [`operate`](Execution::operate), to lock a mutex.
    fn lock(&self, mutex: ObjectId, site: Site);
    /// [`operate`](Execution::operate), to unlock a mutex.
    fn unlock(&self, mutex: ObjectId, site: Site);
    /// Returns what the calling thread, which is about to announce an operation, has done since it last changed
    /// something. Takes the words of the operation.
    fn since_change(&self, head: u64, first: u64, second: u64, site: Site) -> SinceChange;
    /// Tells a hash of the local state in which the calling thread is about to announce an operation.
    fn arrive(&self, frame: u64);
    /// Returns the end of the stack that this stack pointer is of. `None` if unknown.
    fn stack_end(&self, pointer: usize) -> Option<usize>;
    /// Starts a thread.
    fn spawn(&self, body: Arc<dyn Body>, site: Site) -> ThreadId;
    /// [`operate`](Execution::operate), to wait until `thread` has ended.
    fn join(&self, thread: ThreadId, site: Site);

    /// Stops the calling thread for the rest of the run. Returns after the end of the run only.
    fn stop(&self, site: Site);

    /// Runs the body of the calling thread.
    fn run_body(&self);
    /// Ends the calling thread. Returns when its exit has been performed, or the run is over.
    fn finish(&self, result: BodyResult) -> ExitSwitch;

    /// Declares an object whose name is at `address`.
    fn declare(&self, initial: Initial, address: usize, site: Site) -> ObjectId;
    /// Records where an object was made, and its type.
    fn describe(&self, object: ObjectId, made: Site);
    /// Records a line of the calling thread.
    fn note(&self, kind: NoteKind, text: String, site: Site);
    /// Notes the end of an object that was made at `made` and whose name is at `address`. `None` if the run has not used
    /// it. Returns whether later uses are to be found.
    fn ended(&self, object: Option<ObjectId>, address: usize, made: Site) -> bool;
    /// Returns the object that ended last in this run with its name at `address`. `Some(None)` if the run had not used it.
    fn ended_at(&self, address: usize) -> Option<Option<ObjectId>>;
    /// Ends the run because the calling thread uses an object after its end, or ends it again. `None` if the run has not
    /// used it before. Returns only if the run is over.
    fn late_use(&self, object: Option<ObjectId>, address: usize, ends: bool, site: Site);
    /// Records an access to a plain variable.
    fn touch(&self, object: ObjectId, writes: bool, site: Site);
    /// Notes an access to a plain variable that was an operation.
    fn touched(&self, object: ObjectId);
    /// Notes that an object owns memory.
    fn own(&self, object: ObjectId, bytes: usize);
    /// Notes that an object owns no memory any more.
    fn disown(&self, object: ObjectId);
    /// Returns whether plain accesses at `site` are scheduling points.
    fn is_racy(&self, site: Site) -> bool;
    /// Chooses whether the next operation of the calling thread fails spuriously.
    fn choose_spurious(&self, site: Site) -> bool;
    /// Returns the newest value of an atomic variable.
    fn newest(&self, object: ObjectId) -> u64;
    /// Returns the object that tells whether `thread` has ended.
    fn life(&self, thread: ThreadId) -> ObjectId;
    /// Returns the park token of `thread`.
    fn parker(&self, thread: ThreadId, site: Site) -> ObjectId;

    /// Returns the calling thread.
    fn thread(&self) -> ThreadId;
    /// Returns the id of the next event of the calling thread.
    fn coming_event(&self) -> EventId;
    /// Records the stack of the calling thread, which is about to announce an operation on this object.
    fn record_announcement(&self, object: ObjectId);
    /// Returns the calling thread's virtual time in nanoseconds.
    fn time(&self) -> u64;
    /// Lets virtual time pass for the calling thread.
    fn advance(&self, nanos: u64);
    /// Returns what the mirror keeps for the calling thread.
    fn thread_state(&self) -> Option<Rc<dyn Any>>;
    /// Replaces what the mirror keeps for the calling thread.
    fn set_thread_state(&self, state: Option<Rc<dyn Any>>);
    /// Gives the calling thread a name for reports.
    fn name_thread(&self, name: &str);
    /// Gives an object a name for reports.
    fn name_object(&self, object: ObjectId, name: &str);

    /// Notes that the calling thread has begun to panic. Returns that thread.
    fn panicked(&self) -> ThreadId;
    /// Returns whether the run is over.
    fn is_over(&self) -> bool;
    /// Returns whether the run is not over and the mirror keeps nothing for any of its threads.
    fn has_no_state(&self) -> bool;
    /// Does not let the calling thread continue, whose run is over.
    fn stay_stuck(&self) -> !;
    /// Returns the payload of the panic that ended `thread`, to the first caller.
    fn take_panic(&self, thread: ThreadId) -> Option<Box<dyn Any + Send>>;

    /// Notes a block of memory that the program has allocated.
    fn allocated(&self, address: usize, size: usize);
    /// Notes a block of memory that the program frees. Returns whether the block is to be kept until the end of the run.
    fn freed(&self, address: usize, layout: Layout) -> bool;
    /// Restores these bytes, as they are now, after the run.
    ///
    /// # Safety
    /// They can be read now and written after the run.
    unsafe fn restore_after_run(&self, place: *mut u8, size: usize);

    /// Returns whether a coroutine touches this address when its stack overflows.
    fn is_stack_guard(&self, address: usize) -> bool;
    /// Returns the name of the check, and the command that runs it again.
    fn check(&self) -> (&str, &Rerun);
    /// Returns the token that replays the run up to here.
    fn token(&self) -> String;
    /// Returns the number of steps so far. A signal handler may call this: only the length of the trace is read, which
    /// is valid even while the trace grows.
    fn steps(&self) -> usize;
    /// Returns the site of the calling thread's last event, or `None` if it has none.
    fn last_site(&self) -> Option<Site>;
}

/// Where the coroutine of a thread that has ended goes.
///
/// The coroutine itself makes the switch, outside of the run: when it is continued, that run may be gone.
pub(crate) struct ExitSwitch {
    /// The run.
    pub(crate) run: *const (),
    /// The back end.
    pub(crate) backend: *mut (),
    /// The thread that has ended.
    pub(crate) from: ThreadId,
    /// The thread that has the turn, or `None` for the host.
    pub(crate) to: Option<ThreadId>,
}

/// What a run does that most do not.
#[derive(Copy, Clone)]
pub(crate) struct RunFlags {
    pub(crate) plain: PlainAccess,
    /// Whether waits may end, and weak exchanges fail, spuriously.
    pub(crate) spurious: bool,
    /// Whether the order in which futures are polled matters.
    pub(crate) ordered_polls: bool,
    /// Called at every spawn.
    pub(crate) on_spawn: Option<SpawnHook>,
    /// Whether the allocator reports what the program allocates.
    pub(crate) heap: bool,
    /// Whether notes, output and descriptions of objects are recorded.
    pub(crate) records: bool,
    /// Whether the run is one of many that fail on purpose: panics have no backtrace.
    pub(crate) is_trial: bool,
}

impl RunFlags {
    pub(crate) const NONE: RunFlags = RunFlags {
        plain: PlainAccess::Recorded,
        spurious: false,
        ordered_polls: true,
        on_spawn: None,
        heap: false,
        records: false,
        is_trial: false,
    };
}

/// What an access to a plain variable is.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum PlainAccess {
    /// Recorded, not a scheduling point.
    Recorded,
    /// A scheduling point.
    Point,
    /// A scheduling point at some sites.
    PointIfRacy,
}
