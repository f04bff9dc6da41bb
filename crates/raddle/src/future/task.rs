//! Tasks: futures that run beside the thread that spawns them.
//!
//! A task is a thread of the execution that polls one future. It has a stack of its own, so a future may block its
//! thread, and reports show it as a lane. Polls of different tasks interleave at their steps, as on an executor with
//! many OS threads.

use std::any::Any;
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

use raddle_core::{Site, ThreadId};
use raddle_runtime::port;

use super::block_on::{Driver, Spurious, name};
use super::completion::Completion;
use super::polls;
use super::signal::{Signal, recorded};
use crate::drop_in::OneOsThread;
use crate::thread;

/// Starts a task: the future runs beside the caller. Its output is the result of the handle. A task whose handle is
/// dropped runs on; if it still waits when main ends, it ends with main.
///
/// Outside a check the task runs on an OS thread of its own.
///
/// ```
/// use raddle::future;
///
/// let report = raddle::Config::new().run(|| {
///     let seven = future::spawn(async { 7 });
///     assert_eq!(future::block_on(seven).unwrap(), 7);
/// });
/// assert!(report.failure().is_none());
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let site = Site::caller();
    let task = Task::new::<F>(site);
    let shared = task.clone();
    JoinHandle::start(task, move || run(future, shared))
}

/// Starts a task whose future need not be `Send`, as [`spawn`].
///
/// ```
/// use std::rc::Rc;
///
/// let report = raddle::Config::new().run(|| {
///     let number = Rc::new(7);
///     let task = raddle::future::spawn_local(async move { *number });
///     assert_eq!(raddle::future::block_on(task).unwrap(), 7);
/// });
/// assert!(report.failure().is_none());
/// ```
///
/// # Panics
/// Panics outside of checks.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let site = Site::caller();
    let task = Task::new::<F>(site);
    let work = OneOsThread::new((future, task.clone()));
    JoinHandle::start(task, move || {
        let (future, task) = work.into_inner();
        run(future, task);
    })
}

/// What a task and its handles share.
struct Task<T> {
    control: Arc<Control>,
    /// `None` before the end of the task, and after its result was taken. Accessed only around the step of its completion.
    result: std::sync::Mutex<Option<Result<T, JoinError>>>,
}

/// What does not depend on the output of the task.
struct Control {
    name: fn() -> &'static str,
    signal: Arc<Signal>,
    /// Set with a notification of the signal, and read when the task has waited for the signal: so its accesses are
    /// parts of these steps.
    is_aborted: AtomicBool,
    completion: Completion,
}

impl<T> Task<T> {
    #[track_caller]
    fn new<F>(site: Site) -> Arc<Task<T>> {
        // Before the spawn, so that the tasks share it.
        polls::shared(polls::order(), site);
        let control = Arc::new(Control {
            name: name::<F>,
            signal: Signal::new(|| format!("task {}", name::<F>()), size_of::<F>(), site),
            is_aborted: AtomicBool::new(false),
            completion: Completion::new(site),
        });
        if port::active() {
            control.completion.call(&recorded(|| format!("end of task {}", name::<F>())), site);
        }
        Arc::new(Task { control, result: std::sync::Mutex::new(None) })
    }

    fn result(&self) -> std::sync::MutexGuard<'_, Option<Result<T, JoinError>>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the task, and wakes who waits for that.
    fn end(&self, result: Result<T, JoinError>) {
        *self.result() = Some(result);
        self.control.completion.complete(self.control.signal.site);
    }
}

impl Control {
    #[track_caller]
    fn abort(&self) {
        let set = || self.is_aborted.store(true, Ordering::Release);
        let is_controlled = port::active();
        if !is_controlled {
            set();
        }
        Waker::from(self.signal.clone()).wake();
        if is_controlled {
            set();
        }
    }

    #[track_caller]
    fn is_finished(&self) -> bool {
        self.completion.is_complete(Site::caller())
    }
}

/// Runs a task on its own thread.
fn run<F: Future>(future: F, task: Arc<Task<F::Output>>) {
    /// Tells those who wait for the task that it has panicked.
    struct EndOnUnwind<T>(Option<Arc<Task<T>>>);

    impl<T> Drop for EndOnUnwind<T> {
        fn drop(&mut self) {
            let task = self.0.take().filter(|_| !port::is_over());
            if let Some(task) = task {
                let thread = port::active().then(port::thread);
                task.end(Err(JoinError(Reason::Panicked(thread))));
            }
        }
    }

    if port::records() {
        port::name_thread(&format!("task {}", (task.control.name)()));
    }
    let mut end = EndOnUnwind(Some(task.clone()));
    let result = poll_to_end(future, &task);
    end.0 = None;
    task.end(result);
}

/// Polls the future until it is ready or the task is aborted, and drops it.
fn poll_to_end<F: Future>(future: F, task: &Task<F::Output>) -> Result<F::Output, JoinError> {
    let mut future = pin!(future);
    let signal = task.control.signal.clone();
    // An abort that comes before the first poll is seen by the first wait.
    signal.set_due();
    let mut driver = Driver::new(signal, Spurious::AsConfigured, polls::order());
    loop {
        driver.wait();
        if task.control.is_aborted.load(Ordering::Acquire) {
            return Err(JoinError(Reason::Cancelled));
        }
        if let Poll::Ready(output) = driver.poll(future.as_mut()) {
            return Ok(output);
        }
    }
}

/// The handle of a task: a future that waits for its end. Dropping the handle does not end the task.
pub struct JoinHandle<T> {
    task: Arc<Task<T>>,
}

impl<T> JoinHandle<T> {
    #[track_caller]
    fn start(task: Arc<Task<T>>, work: impl FnOnce() + Send + 'static) -> JoinHandle<T> {
        thread::spawn(work);
        JoinHandle { task }
    }

    /// Asks the task to end. Its future is dropped before the next poll, and the result of the handle is an error. Does
    /// nothing if the task has ended.
    ///
    /// ```
    /// use raddle::future;
    ///
    /// let report = raddle::Config::new().run(|| {
    ///     let task = future::spawn(std::future::pending::<()>());
    ///     task.abort();
    ///     assert!(future::block_on(task).unwrap_err().is_cancelled());
    /// });
    /// assert!(report.failure().is_none());
    /// ```
    #[track_caller]
    pub fn abort(&self) {
        self.task.control.abort();
    }

    /// Returns a handle that can end the task, and does not wait for its end.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle { control: self.task.control.clone() }
    }

    /// Returns whether the task has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.task.control.is_finished()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if !self.task.control.completion.is_complete_or_wakes(context.waker(), Site::caller()) {
            return Poll::Pending;
        }
        let result = self.task.result().take();
        Poll::Ready(result.expect("a JoinHandle was polled after it had returned its result"))
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("task", &(self.task.control.name)())
            .finish_non_exhaustive()
    }
}

/// A handle that can end a task.
///
/// ```
/// use raddle::future;
///
/// let report = raddle::Config::new().run(|| {
///     let task = future::spawn(std::future::pending::<()>());
///     let handle = task.abort_handle();
///     let other = raddle::thread::spawn(move || handle.abort());
///     assert!(future::block_on(task).is_err());
///     other.join().unwrap();
/// });
/// assert!(report.failure().is_none());
/// ```
#[derive(Clone)]
pub struct AbortHandle {
    control: Arc<Control>,
}

impl AbortHandle {
    /// Asks the task to end, as [`JoinHandle::abort`].
    #[track_caller]
    pub fn abort(&self) {
        self.control.abort();
    }

    /// Returns whether the task has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.control.is_finished()
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("task", &(self.control.name)()).finish_non_exhaustive()
    }
}

/// Why a task has no output.
pub struct JoinError(Reason);

enum Reason {
    Cancelled,
    /// In a run, the thread that panicked.
    Panicked(Option<ThreadId>),
}

impl JoinError {
    /// Returns whether the task was aborted.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.0, Reason::Cancelled)
    }

    /// Returns whether the task panicked. Inside a check that is a failure, unless
    /// [`Config::panics`](crate::Config::panics) lets it be joined.
    pub fn is_panic(&self) -> bool {
        matches!(self.0, Reason::Panicked(_))
    }

    /// Returns the payload of the panic, or `None` if it is not known.
    pub fn into_panic(self) -> Option<Box<dyn Any + Send>> {
        match self.0 {
            Reason::Panicked(Some(thread)) if port::active() => port::take_panic(thread),
            Reason::Panicked(_) | Reason::Cancelled => None,
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_cancelled() {
            "JoinError::Cancelled"
        } else {
            "JoinError::Panicked"
        })
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_cancelled() { "the task was aborted" } else { "the task panicked" })
    }
}

impl std::error::Error for JoinError {}
