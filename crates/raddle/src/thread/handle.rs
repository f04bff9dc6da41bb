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
    /// Which thread of its run it is; of no meaning for one outside of runs.
    thread: Id,
    /// Zero for a thread outside of runs.
    run: u64,
    /// Invariant: [`More::Outside`] if and only if `run` is zero.
    more: Option<Arc<More>>,
}

/// What a handle knows of a thread besides its number.
pub(super) enum More {
    Outside(std::thread::Thread),
    /// A thread of a run with this name.
    Named(Box<str>),
}

/// The calling thread, as [`std::thread::current`].
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

/// Waits until somebody calls [`Thread::unpark`], as [`std::thread::park`]. Inside a check it does not
/// end without a reason, unless [`Config::spurious`](crate::Config::spurious) asks for it.
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

/// Waits until somebody calls [`Thread::unpark`] or until the time is up, as
/// [`std::thread::park_timeout`].
///
/// Inside a check the time may be up at any moment.
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
        Thread { thread: Id::MAIN, run: 0, more: Some(Arc::new(More::Outside(thread))) }
    }

    /// A thread of the current run, which has this number.
    pub(super) fn in_run(run: u64, thread: Id, name: Option<Arc<More>>) -> Thread {
        Thread { thread, run, more: name }
    }

    /// Returns its id in the current run, or `None` if it is not a thread of that.
    pub(super) fn here(&self) -> Option<Id> {
        if self.run == port::run_number() && self.run != 0 { Some(self.thread) } else { None }
    }

    fn real(&self) -> Option<&std::thread::Thread> {
        match self.more.as_deref() {
            Some(More::Outside(thread)) => Some(thread),
            Some(More::Named(_)) | None => None,
        }
    }

    /// Lets the thread go on that waits in [`park`], or the next time it does, as
    /// [`std::thread::Thread::unpark`].
    #[track_caller]
    pub fn unpark(&self) {
        if let Some(thread) = self.real() {
            return thread.unpark();
        }
        // A thread of an execution that is over has ended.
        if let Some(thread) = self.here() {
            submit(thread, ParkOp::Unpark, Site::caller());
        }
    }

    /// What tells the thread from others, as [`std::thread::Thread::id`].
    pub fn id(&self) -> ThreadId {
        match self.real() {
            Some(thread) => ThreadId(Number::Outside(thread.id())),
            None => ThreadId(Number::InRun { thread: self.thread, run: self.run }),
        }
    }

    /// The name of the thread, if it has one, as [`std::thread::Thread::name`].
    pub fn name(&self) -> Option<&str> {
        match self.more.as_deref() {
            Some(More::Outside(thread)) => thread.name(),
            Some(More::Named(name)) => Some(name),
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

/// What tells a thread from others, as [`std::thread::ThreadId`].
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct ThreadId(Number);

#[derive(Copy, Clone, PartialEq, Eq)]
enum Number {
    Outside(std::thread::ThreadId),
    InRun { thread: Id, run: u64 },
}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Number::Outside(id) => id.hash(state),
            // Not the run: a program should do the same in each.
            Number::InRun { thread, run: _ } => thread.0.hash(state),
        }
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Number::Outside(id) => id.fmt(f),
            Number::InRun { thread, .. } => f.debug_tuple("ThreadId").field(&thread.0).finish(),
        }
    }
}
