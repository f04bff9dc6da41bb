//! Threads, as in [`std::thread`].

use std::any::Any;
use std::cell::UnsafeCell;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use raddle_core::{Action, Effect, ObjectId, Op, PauseOp, Site, ThreadId, ThreadOp};
use raddle_runtime::{Body, port};

use crate::unexpected;

/// What a joined thread returned, or the panic that ended it.
pub type Result<T> = std::result::Result<T, Box<dyn Any + Send + 'static>>;

/// A thread that can be waited for, as [`std::thread::JoinHandle`].
pub struct JoinHandle<T>(Handle<T>);

enum Handle<T> {
    Outside(std::thread::JoinHandle<T>),
    InRun { thread: ThreadId, run: u64, work: Arc<dyn Outcome<T>> },
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
        return JoinHandle(Handle::Outside(std::thread::spawn(f)));
    }
    let work = Arc::new(Work { state: UnsafeCell::new(State::Waiting(f)) });
    let thread = port::spawn(work.clone(), Site::caller());
    JoinHandle(Handle::InRun { thread, run: port::run_number(), work })
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

impl<T> JoinHandle<T> {
    /// Waits until the thread has ended, as [`std::thread::JoinHandle::join`].
    ///
    /// Inside a check a panic that leaves a thread ends the execution as a failure, so that this
    /// does not return `Err`.
    #[inline]
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            Handle::Outside(handle) => handle.join(),
            Handle::InRun { thread, run, work } => {
                submit(thread, run, ThreadOp::Join, Site::caller());
                // SAFETY: the caller is part of the run that spawned the thread, see `submit`, and
                // the thread has ended.
                let value = unsafe { work.take() };
                value.ok_or_else(|| -> Box<dyn Any + Send> {
                    Box::new("the thread was unwound with its run")
                })
            }
        }
    }

    /// Whether the thread has ended, as [`std::thread::JoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Handle::Outside(handle) => handle.is_finished(),
            Handle::InRun { thread, run, .. } => {
                match submit(*thread, *run, ThreadOp::IsFinished, Site::caller()) {
                    Effect::Yes => true,
                    Effect::No => false,
                    other => unexpected(other),
                }
            }
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// An operation on `thread`, spawned in `run`.
#[inline(always)]
fn submit(thread: ThreadId, run: u64, op: ThreadOp, site: Site) -> Effect {
    assert!(
        port::run_number() == run,
        "a JoinHandle was used outside the execution that spawned its thread"
    );
    port::submit(Op::new(port::life(thread), Action::Thread(op)), site)
}

/// The body of a thread and, later, what it returned.
struct Work<F, T> {
    state: UnsafeCell<State<F, T>>,
}

enum State<F, T> {
    Waiting(F),
    Running,
    Done(T),
    Taken,
}

// SAFETY: the state is touched by the coroutine that runs the thread, and by `take` after the thread
// has ended; both on the OS thread of the run. What is inside may be dropped on another.
unsafe impl<F: Send, T: Send> Send for Work<F, T> {}
// SAFETY: likewise: shared references do not reach the state on any other OS thread.
unsafe impl<F: Send, T: Send> Sync for Work<F, T> {}

impl<F, T> Work<F, T> {
    /// # Safety
    /// Nobody else touches the state during the call.
    unsafe fn replace(&self, state: State<F, T>) -> State<F, T> {
        // SAFETY: the caller promises that this is the only access.
        unsafe { std::ptr::replace(self.state.get(), state) }
    }
}

impl<F, T> Body for Work<F, T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    fn run(&self) {
        // SAFETY: the thread has not ended, so `take` is not called.
        let state = unsafe { self.replace(State::Running) };
        let State::Waiting(function) = state else {
            unreachable!("raddle invariant broken: a thread was started twice")
        };
        let value = function();
        // SAFETY: likewise.
        unsafe { self.replace(State::Done(value)) };
    }
}

/// The result of a thread, without the type of its body.
trait Outcome<T>: Send + Sync {
    /// # Safety
    /// The caller is on the OS thread of the run, and the thread has ended.
    unsafe fn take(&self) -> Option<T>;
}

impl<F: Send, T: Send> Outcome<T> for Work<F, T> {
    unsafe fn take(&self) -> Option<T> {
        // SAFETY: the thread has ended and does not touch the state any more.
        match unsafe { self.replace(State::Taken) } {
            State::Done(value) => Some(value),
            State::Waiting(_) | State::Running | State::Taken => None,
        }
    }
}
