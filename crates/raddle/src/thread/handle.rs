//! Handles to threads, and parking.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use raddle_core::{Action, Effect, Op, ParkOp, Site, ThreadId as Id};
use raddle_runtime::port::{self, Kind};

use super::state;

/// A handle to a thread, as [`std::thread::Thread`].
#[derive(Clone)]
pub struct Thread {
    /// The id of the thread in its run. Unused for a thread outside runs.
    thread: Id,
    /// The number of the run, or zero for a thread outside runs.
    run: u64,
    /// Invariant: [`Details::Outside`] if and only if `run` is zero.
    details: Option<Arc<Details>>,
}

/// The properties of a thread besides its id.
pub(super) enum Details {
    Outside(std::thread::Thread),
    /// A thread of a run with this name.
    Named(Box<str>),
}

/// Returns the calling thread, as [`std::thread::current`].
///
/// ```
/// let thread = raddle::thread::Builder::new().name("worker".to_owned()).spawn(|| {
///     raddle::thread::current().name().map(str::to_owned)
/// });
/// assert_eq!(thread.unwrap().join().unwrap().as_deref(), Some("worker"));
/// ```
pub fn current() -> Thread {
    if !port::active() {
        return Thread::outside(std::thread::current());
    }
    Thread::in_run(port::run_number(), port::thread(), state::name())
}

/// Waits until a thread calls [`Thread::unpark`], as [`std::thread::park`].
///
/// Inside a check there are no spurious wakeups, unless [`Config::spurious`](crate::Config::spurious) allows them.
///
/// ```
/// let parked = raddle::thread::spawn(raddle::thread::park);
/// parked.thread().unpark();
/// parked.join().unwrap();
/// ```
#[track_caller]
pub fn park() {
    if !port::active() {
        return std::thread::park();
    }
    let site = Site::caller();
    let timed = port::spurious(site);
    submit(port::thread(), ParkOp::Park { timed }, site);
}

/// Waits until a thread calls [`Thread::unpark`] or the wait times out, as [`std::thread::park_timeout`].
///
/// Inside a check the wait may time out at any moment.
#[track_caller]
pub fn park_timeout(dur: Duration) {
    if !port::active() {
        return std::thread::park_timeout(dur);
    }
    if submit(port::thread(), ParkOp::Park { timed: true }, Site::caller()) == Effect::No {
        crate::time::pass(dur);
    }
}

fn submit(thread: Id, op: ParkOp, site: Site) -> Effect {
    port::submit(Kind::Any, Op::new(port::parker(thread, site), Action::Park(op)), site)
}

impl Thread {
    pub(super) fn outside(thread: std::thread::Thread) -> Thread {
        Thread { thread: Id::MAIN, run: 0, details: Some(Arc::new(Details::Outside(thread))) }
    }

    /// Returns a handle to `thread` of the current run, which has the number `run`.
    pub(super) fn in_run(run: u64, thread: Id, name: Option<Arc<Details>>) -> Thread {
        Thread { thread, run, details: name }
    }

    /// Returns the id of the thread, or `None` if it is not a thread of the current run.
    pub(super) fn here(&self) -> Option<Id> {
        if self.run == port::run_number() && self.run != 0 { Some(self.thread) } else { None }
    }

    fn real(&self) -> Option<&std::thread::Thread> {
        match self.details.as_deref() {
            Some(Details::Outside(thread)) => Some(thread),
            Some(Details::Named(_)) | None => None,
        }
    }

    /// Wakes the thread from [`park`], or lets its next [`park`] return at once, as
    /// [`std::thread::Thread::unpark`].
    #[track_caller]
    pub fn unpark(&self) {
        if let Some(thread) = self.real() {
            return thread.unpark();
        }
        // If the execution is over, its threads have ended.
        if let Some(thread) = self.here() {
            submit(thread, ParkOp::Unpark, Site::caller());
        }
    }

    /// Returns the id of the thread, as [`std::thread::Thread::id`].
    pub fn id(&self) -> ThreadId {
        match self.real() {
            Some(thread) => ThreadId(Key::Outside(thread.id())),
            None => ThreadId(Key::InRun { thread: self.thread, run: self.run }),
        }
    }

    /// Returns the name of the thread, or `None` if it has none, as [`std::thread::Thread::name`].
    pub fn name(&self) -> Option<&str> {
        match self.details.as_deref() {
            Some(Details::Outside(thread)) => thread.name(),
            Some(Details::Named(name)) => Some(name),
            None => (self.thread == Id::MAIN).then_some("main"),
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread")
            .field("id", &self.id())
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

/// The id of a thread, as [`std::thread::ThreadId`].
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct ThreadId(Key);

#[derive(Copy, Clone, PartialEq, Eq)]
enum Key {
    Outside(std::thread::ThreadId),
    InRun { thread: Id, run: u64 },
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Key::Outside(id) => id.hash(state),
            // The run is not hashed: a program should behave in the same way in every run.
            Key::InRun { thread, run: _ } => thread.0.hash(state),
        }
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Key::Outside(id) => id.fmt(f),
            Key::InRun { thread, .. } => f.debug_tuple("ThreadId").field(&thread.0).finish(),
        }
    }
}
