//! A semaphore for futures, of which one acquire can take several permits.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use raddle::sync::{Mutex, MutexGuard};

/// Who gets permits first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fairness {
    /// Who asked first.
    StrictlyFair,
    /// Anybody: a new acquire may overtake those that wait.
    Unfair,
}

/// A semaphore for futures.
///
/// ```
/// use shuttle::future::batch_semaphore::{BatchSemaphore, Fairness};
/// use shuttle::future::block_on;
///
/// shuttle::check_random(
///     || {
///         let semaphore = BatchSemaphore::new(2, Fairness::StrictlyFair);
///         block_on(semaphore.acquire(2)).unwrap();
///         assert!(semaphore.try_acquire(1).is_err());
///         semaphore.release(2);
///         assert_eq!(semaphore.available_permits(), 2);
///     },
///     10,
/// );
/// ```
#[derive(Debug)]
pub struct BatchSemaphore {
    state: Mutex<State>,
    fairness: Fairness,
}

#[derive(Debug)]
struct State {
    permits: usize,
    is_closed: bool,
    waiters: VecDeque<Waiter>,
    /// The number of waiters so far.
    count: u64,
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    permits: usize,
    waker: Waker,
}

impl BatchSemaphore {
    /// Returns a semaphore with this number of permits.
    #[track_caller]
    pub fn new(num_permits: usize, fairness: Fairness) -> BatchSemaphore {
        BatchSemaphore::const_new(num_permits, fairness)
    }

    /// Returns a semaphore with this number of permits.
    #[track_caller]
    pub const fn const_new(num_permits: usize, fairness: Fairness) -> BatchSemaphore {
        let waiters = VecDeque::new();
        let state = State { permits: num_permits, is_closed: false, waiters, count: 0 };
        BatchSemaphore { state: Mutex::new(state), fairness }
    }

    /// Returns the number of permits that are free.
    #[track_caller]
    pub fn available_permits(&self) -> usize {
        self.lock().permits
    }

    /// Closes the semaphore: all who wait, and all who come later, get an error.
    #[track_caller]
    pub fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        waiters.into_iter().for_each(|waiter| waiter.waker.wake());
    }

    /// Returns whether the semaphore is closed.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Takes permits if they are free.
    ///
    /// # Errors
    /// Returns an error if they are not, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire(&self, num_permits: usize) -> Result<(), TryAcquireError> {
        self.take(&mut self.lock(), num_permits, None)
    }

    /// Waits for permits and takes them.
    pub fn acquire(&self, num_permits: usize) -> Acquire<'_> {
        Acquire { semaphore: self, permits: num_permits, id: None, is_done: false }
    }

    /// Blocks the thread until there are permits, and takes them.
    ///
    /// # Errors
    /// Returns an error if the semaphore is closed.
    #[track_caller]
    pub fn acquire_blocking(&self, num_permits: usize) -> Result<(), AcquireError> {
        raddle::future::block_on(self.acquire(num_permits))
    }

    /// Returns permits.
    #[track_caller]
    pub fn release(&self, num_permits: usize) {
        let mut state = self.lock();
        state.permits += num_permits;
        let wakers = self.awake(&state);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Returns the wakers of those for whom there are permits now.
    fn awake(&self, state: &State) -> Vec<Waker> {
        let mut left = state.permits;
        let mut wakers = Vec::new();
        for waiter in &state.waiters {
            match left.checked_sub(waiter.permits) {
                Some(rest) => {
                    // Without fairness all who could run compete.
                    left = if self.fairness == Fairness::StrictlyFair { rest } else { left };
                    wakers.push(waiter.waker.clone());
                }
                None if self.fairness == Fairness::StrictlyFair => break,
                None => {}
            }
        }
        wakers
    }

    /// Takes permits for the waiter `id`, or for a caller that does not wait.
    fn take(
        &self,
        state: &mut State,
        permits: usize,
        id: Option<u64>,
    ) -> Result<(), TryAcquireError> {
        if state.is_closed {
            return Err(TryAcquireError::Closed);
        }
        let is_first = state.waiters.front().is_none_or(|first| Some(first.id) == id);
        let is_its_turn = is_first || self.fairness == Fairness::Unfair;
        if !is_its_turn || state.permits < permits {
            return Err(TryAcquireError::NoPermits);
        }
        state.permits -= permits;
        state.waiters.retain(|waiter| Some(waiter.id) != id);
        Ok(())
    }

    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The future of [`BatchSemaphore::acquire`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Acquire<'a> {
    semaphore: &'a BatchSemaphore,
    permits: usize,
    /// The number among the waiters, if it waits.
    id: Option<u64>,
    is_done: bool,
}

impl Future for Acquire<'_> {
    type Output = Result<(), AcquireError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let semaphore = self.semaphore;
        let mut state = semaphore.lock();
        match semaphore.take(&mut state, self.permits, self.id) {
            Ok(()) => {
                self.is_done = true;
                let wakers = semaphore.awake(&state);
                drop(state);
                wakers.into_iter().for_each(Waker::wake);
                Poll::Ready(Ok(()))
            }
            Err(TryAcquireError::Closed) => {
                self.is_done = true;
                Poll::Ready(Err(AcquireError(())))
            }
            Err(TryAcquireError::NoPermits) => {
                let (waker, id) = (context.waker().clone(), self.id);
                match state.waiters.iter_mut().find(|waiter| Some(waiter.id) == id) {
                    Some(waiter) => waiter.waker = waker,
                    None => {
                        let id = state.count;
                        state.count += 1;
                        state.waiters.push_back(Waiter { id, permits: self.permits, waker });
                        drop(state);
                        self.id = Some(id);
                    }
                }
                Poll::Pending
            }
        }
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        if let (Some(id), false) = (self.id, self.is_done) {
            let mut state = self.semaphore.lock();
            state.waiters.retain(|waiter| waiter.id != id);
            // The next may have waited for this one.
            let wakers = self.semaphore.awake(&state);
            drop(state);
            wakers.into_iter().for_each(Waker::wake);
        }
    }
}

/// Why permits could not be taken at once.
#[derive(Debug, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore is closed.
    Closed,
    /// There are not enough permits.
    NoPermits,
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryAcquireError::Closed => "semaphore closed",
            TryAcquireError::NoPermits => "no permits available",
        })
    }
}

impl std::error::Error for TryAcquireError {}

/// The semaphore is closed.
#[derive(Debug)]
pub struct AcquireError(());

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("semaphore closed")
    }
}

impl std::error::Error for AcquireError {}
