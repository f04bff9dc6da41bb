//! Poisoning inside a run, which ends with the run. Outside runs the object of `std` is poisoned.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use raddle_runtime::port;

/// Whether a thread of the current run panicked while it held the lock or initialised the value.
#[derive(Debug)]
pub(super) struct Poison {
    /// The run in which the thread panicked, or zero.
    run: AtomicU64,
}

impl Poison {
    pub(super) const fn new() -> Poison {
        Poison { run: AtomicU64::new(0) }
    }

    /// Returns whether the object is poisoned in the current run. Returns false outside a run.
    #[inline]
    pub(super) fn is_set(&self) -> bool {
        let run = self.run.load(Ordering::Relaxed);
        run != 0 && run == port::run_number()
    }

    /// Poisons the object, unless the run is over and raddle unwinds the calling thread.
    #[cold]
    pub(super) fn set(&self) {
        if !port::is_over() {
            self.run.store(port::run_number(), Ordering::Relaxed);
        }
    }

    pub(super) fn clear(&self) {
        self.run.store(0, Ordering::Relaxed);
    }
}

/// Returns `value` as the result of an operation on a lock, which may be poisoned.
#[inline]
pub(super) fn result<G>(value: G, is_poisoned: bool) -> LockResult<G> {
    if is_poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
}

/// Applies `make` to the guard in the result of `std`, poisoned or not.
#[inline]
pub(super) fn map<G, H>(result: LockResult<G>, make: impl FnOnce(G) -> H) -> LockResult<H> {
    match result {
        Ok(guard) => Ok(make(guard)),
        Err(poisoned) => Err(PoisonError::new(make(poisoned.into_inner()))),
    }
}

/// Applies `make` to the guard in the result of `std`, poisoned or not.
pub(super) fn try_map<G, H>(
    result: TryLockResult<G>,
    make: impl FnOnce(G) -> H,
) -> TryLockResult<H> {
    match result {
        Ok(guard) => Ok(make(guard)),
        Err(TryLockError::Poisoned(poisoned)) => {
            Err(TryLockError::Poisoned(PoisonError::new(make(poisoned.into_inner()))))
        }
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
    }
}
