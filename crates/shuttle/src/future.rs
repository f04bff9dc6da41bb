//! Futures and tasks.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

pub mod batch_semaphore;

pub use raddle::future::{AbortHandle, block_on, yield_now};

/// Starts a task.
///
/// ```
/// use shuttle::future;
///
/// shuttle::check_random(|| assert_eq!(future::block_on(future::spawn(async { 7 })).unwrap(), 7), 10);
/// ```
#[track_caller]
pub fn spawn<F>(fut: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    JoinHandle(raddle::future::spawn(fut))
}

/// Starts a task that need not be `Send`.
#[track_caller]
pub fn spawn_local<F>(fut: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    JoinHandle(raddle::future::spawn_local(fut))
}

/// The handle of a task: a future that waits for its end. Dropping the handle does not end the task.
#[derive(Debug)]
pub struct JoinHandle<T>(raddle::future::JoinHandle<T>);

impl<T> JoinHandle<T> {
    /// Asks the task to end.
    #[track_caller]
    pub fn abort(&self) {
        self.0.abort();
    }

    /// Returns whether the task has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// Returns a handle that can end the task.
    pub fn abort_handle(&self) -> AbortHandle {
        self.0.abort_handle()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // A task that panics fails the test.
        Pin::new(&mut self.0).poll(context).map_err(|_| JoinError::Cancelled)
    }
}

/// Why a task has no output.
#[derive(Debug)]
pub enum JoinError {
    /// The task was aborted.
    Cancelled,
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Cancelled => f.write_str("task was cancelled"),
        }
    }
}

impl std::error::Error for JoinError {}
