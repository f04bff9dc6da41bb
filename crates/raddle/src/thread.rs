//! Threads, as in [`std::thread`].

use std::any::Any;
use std::fmt;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use raddle_core::{Action, Effect, ObjectId, Op, PauseOp, Site, ThreadId as Id, ThreadOp};
use raddle_runtime::port::{self, Kind};

use crate::unexpected;
use handle::Details;
use work::{Outcome, Work};

mod builder;
mod handle;
mod local;
mod scope;
mod state;
mod work;

pub use builder::Builder;
pub use handle::{Thread, ThreadId, current, park, park_timeout};
pub use local::{AccessError, LocalKey};
pub use scope::{Scope, ScopedJoinHandle, scope};
pub(crate) use state::run_body;

/// The value that a thread returned, or the payload of the panic that ended it.
///
/// ```
/// let result: raddle::thread::Result<u32> = raddle::thread::spawn(|| 7).join();
/// assert_eq!(result.unwrap(), 7);
/// ```
pub type Result<T> = std::result::Result<T, Box<dyn Any + Send + 'static>>;

/// A thread that can be joined, as [`std::thread::JoinHandle`].
///
/// ```
/// let handle = raddle::thread::spawn(|| 7);
/// assert_eq!(handle.join().unwrap(), 7);
/// ```
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
    if port::active() {
        JoinHandle::in_run(f, None, Site::caller())
    } else {
        JoinHandle::outside(std::thread::spawn(f))
    }
}

/// Lets other threads run first, as [`std::thread::yield_now`].
///
/// ```
/// let other = raddle::thread::spawn(|| raddle::thread::yield_now());
/// other.join().unwrap();
/// ```
#[track_caller]
pub fn yield_now() {
    if !port::active() {
        return std::thread::yield_now();
    }
    let op = Op::new(ObjectId::NONE, Action::Pause(PauseOp::Yield));
    port::submit(Kind::Any, op, Site::caller());
}

/// Sleeps, as [`std::thread::sleep`].
///
/// Inside a check this takes no real time. Other threads run first, and the virtual time of the thread
/// advances. Sleeping threads may wake in any order, as on a busy machine.
///
/// ```
/// use std::time::Duration;
///
/// // This takes no real time.
/// raddle::Config::new().runs(1).explore_trivial(true).check(|| {
///     raddle::thread::sleep(Duration::from_secs(1000));
/// });
/// ```
#[track_caller]
pub fn sleep(dur: Duration) {
    if !port::active() {
        return std::thread::sleep(dur);
    }
    let nanos = crate::time::nanos(dur);
    let op = Op::new(ObjectId::NONE, Action::Pause(PauseOp::Sleep { nanos }));
    port::submit(Kind::Any, op, Site::caller());
}

/// Returns whether the calling thread is unwinding from a panic, as [`std::thread::panicking`].
///
/// ```
/// struct Note;
///
/// impl Drop for Note {
///     fn drop(&mut self) {
///         assert!(!raddle::thread::panicking());
///     }
/// }
///
/// drop(Note);
/// ```
pub fn panicking() -> bool {
    std::thread::panicking()
}

/// Returns how many threads can run at once, as [`std::thread::available_parallelism`].
///
/// Inside a check the result is 2 on every machine, so that executions can be replayed on other machines.
///
/// ```
/// assert!(raddle::thread::available_parallelism().unwrap().get() >= 1);
/// ```
///
/// # Errors
/// Returns an error outside a check if the system does not know.
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

    fn in_run<F>(f: F, name: Option<Arc<Details>>, site: Site) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let work = Work::new(f);
        let id = port::spawn(work.clone(), site);
        let thread = Thread::in_run(port::run_number(), id, name);
        JoinHandle { thread, handle: Handle::InRun(work) }
    }

    /// Waits until the thread has ended, as [`std::thread::JoinHandle::join`].
    ///
    /// Inside a check a panic that leaves a thread is a failure and ends the execution. `join` returns `Err`
    /// only with [`Panics::Join`](crate::Panics::Join).
    ///
    /// ```
    /// assert_eq!(raddle::thread::spawn(|| 7).join().unwrap(), 7);
    /// ```
    #[inline]
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.handle {
            Handle::Outside(handle) => handle.join(),
            Handle::InRun(work) => {
                let thread = here(&self.thread);
                port::join(thread, Site::caller());
                work.take().ok_or_else(|| panicked(thread))
            }
        }
    }

    /// Returns whether the thread has ended, as [`std::thread::JoinHandle::is_finished`].
    ///
    /// ```
    /// let handle = raddle::thread::spawn(|| 7);
    /// while !handle.is_finished() {
    ///     raddle::thread::yield_now();
    /// }
    /// assert_eq!(handle.join().unwrap(), 7);
    /// ```
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.handle {
            Handle::Outside(handle) => handle.is_finished(),
            Handle::InRun(_) => is_finished(&self.thread, Site::caller()),
        }
    }

    /// Returns the thread, as [`std::thread::JoinHandle::thread`].
    ///
    /// ```
    /// let handle = raddle::thread::spawn(raddle::thread::park);
    /// handle.thread().unpark();
    /// handle.join().unwrap();
    /// ```
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Returns the payload of the panic that ended `thread`.
#[cold]
fn panicked(thread: Id) -> Box<dyn Any + Send> {
    port::take_panic(thread).unwrap_or_else(|| port::stay_stuck())
}

fn is_finished(thread: &Thread, site: Site) -> bool {
    let op = Op::new(port::life(here(thread)), Action::Thread(ThreadOp::IsFinished));
    match port::submit(Kind::Any, op, site) {
        Effect::Yes => true,
        Effect::No => false,
        other => unexpected(other),
    }
}

/// Returns the id of `thread`, which was spawned in a run.
///
/// # Panics
/// Panics if the caller is not part of that run.
#[inline]
fn here(thread: &Thread) -> Id {
    thread.here().unwrap_or_else(|| elsewhere())
}

#[cold]
fn elsewhere() -> ! {
    panic!("a JoinHandle was used outside the execution that spawned its thread")
}
