//! Threads, as in [`std::thread`].

use std::any::Any;
use std::fmt;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use raddle_core::{Action, Effect, ObjectId, Op, PauseOp, Site, ThreadOp};
use raddle_runtime::port;

use crate::unexpected;
use work::{Outcome, Work};

mod belongings;
mod builder;
mod handle;
mod local;
mod scope;
mod work;

pub(crate) use belongings::Ending;
pub use builder::Builder;
pub use handle::{Thread, ThreadId, current, park, park_timeout};
pub use local::{AccessError, LocalKey};
pub use scope::{Scope, ScopedJoinHandle, scope};

/// What a joined thread returned, or the panic that ended it.
pub type Result<T> = std::result::Result<T, Box<dyn Any + Send + 'static>>;

/// A thread that can be waited for, as [`std::thread::JoinHandle`].
pub struct JoinHandle<T> {
    thread: Thread,
    handle: Handle<T>,
}

enum Handle<T> {
    Outside(std::thread::JoinHandle<T>),
    InRun(Arc<dyn Outcome<T>>),
}

/// Starts a thread, as [`std::thread::spawn`].
///
/// ```
/// let thread = raddle::thread::spawn(|| 6 * 7);
/// assert_eq!(thread.join().unwrap(), 42);
/// ```
#[inline]
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    if !port::active() {
        return JoinHandle::outside(std::thread::spawn(f));
    }
    let work = Arc::new(Work::new(f));
    let thread = port::spawn(work.clone(), Site::caller());
    JoinHandle { thread: Thread::in_run(thread, None), handle: Handle::InRun(work) }
}

/// Lets other threads go first, as [`std::thread::yield_now`].
#[track_caller]
pub fn yield_now() {
    if !port::active() {
        return std::thread::yield_now();
    }
    let op = Op::new(ObjectId::NONE, Action::Pause(PauseOp::Yield));
    port::submit(op, Site::caller());
}

/// Sleeps, as [`std::thread::sleep`].
///
/// Inside a check it takes no time: it lets others go first, and so much virtual time passes for the
/// thread. Sleeping threads may wake in any order, as on a machine that is busy.
#[track_caller]
pub fn sleep(dur: Duration) {
    if !port::active() {
        return std::thread::sleep(dur);
    }
    let nanos = crate::time::nanos(dur);
    let op = Op::new(ObjectId::NONE, Action::Pause(PauseOp::Sleep { nanos }));
    port::submit(op, Site::caller());
}

/// Whether the calling thread is unwinding from a panic, as [`std::thread::panicking`].
pub fn panicking() -> bool {
    port::unwinding()
}

/// How many threads can run at once, as [`std::thread::available_parallelism`].
///
/// Inside a check it is 2 on every machine, so that an execution can be repeated on another.
///
/// # Errors
/// Outside a check, if the system does not tell.
pub fn available_parallelism() -> std::io::Result<NonZero<usize>> {
    if port::active() {
        return Ok(NonZero::<usize>::MIN.saturating_add(1));
    }
    std::thread::available_parallelism()
}

impl<T> JoinHandle<T> {
    fn outside(handle: std::thread::JoinHandle<T>) -> JoinHandle<T> {
        let thread = Thread::outside(handle.thread().clone());
        JoinHandle { thread, handle: Handle::Outside(handle) }
    }

    /// Waits until the thread has ended, as [`std::thread::JoinHandle::join`].
    ///
    /// Inside a check a panic that leaves a thread ends the execution as a failure, so that this
    /// does not return `Err`.
    #[inline]
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.handle {
            Handle::Outside(handle) => handle.join(),
            Handle::InRun(work) => {
                submit(&self.thread, ThreadOp::Join, Site::caller());
                // SAFETY: the caller is part of the run that spawned the thread, see `submit`, and
                // the thread has ended.
                let value = unsafe { work.take() };
                value.ok_or_else(unwound)
            }
        }
    }

    /// Whether the thread has ended, as [`std::thread::JoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.handle {
            Handle::Outside(handle) => handle.is_finished(),
            Handle::InRun(_) => is_finished(&self.thread, Site::caller()),
        }
    }

    /// The thread, as [`std::thread::JoinHandle::thread`].
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// What joining a thread gives that has no result.
#[cold]
fn unwound() -> Box<dyn Any + Send> {
    Box::new("the thread was unwound with its run")
}

fn is_finished(thread: &Thread, site: Site) -> bool {
    match submit(thread, ThreadOp::IsFinished, site) {
        Effect::Yes => true,
        Effect::No => false,
        other => unexpected(other),
    }
}

/// An operation on `thread`, which was spawned in a run.
///
/// # Panics
/// If the caller is not part of that run.
#[inline(always)]
fn submit(thread: &Thread, op: ThreadOp, site: Site) -> Effect {
    let Some(thread) = thread.here() else {
        panic!("a JoinHandle was used outside the execution that spawned its thread")
    };
    port::submit(Op::new(port::life(thread), Action::Thread(op)), site)
}
