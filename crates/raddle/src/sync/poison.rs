//! Poison inside a run, which does not outlive it. Outside runs the real lock knows.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LockResult, PoisonError};

use raddle_runtime::port;

/// Whether a thread of the current run panicked while it was at work.
#[derive(Debug)]
pub(super) struct Poison {
    /// The run in which that was, or zero.
    run: AtomicU64,
}

impl Poison {
    pub(super) const fn new() -> Poison {
        Poison { run: AtomicU64::new(0) }
    }

    pub(super) fn is_set(&self) -> bool {
        port::active() && self.run.load(Ordering::Relaxed) == port::run_number()
    }

    pub(super) fn set(&self) {
        self.run.store(port::run_number(), Ordering::Relaxed);
    }

    pub(super) fn clear(&self) {
        self.run.store(0, Ordering::Relaxed);
    }
}

/// What an operation on a lock returns that may be poisoned.
#[inline]
pub(super) fn result<G>(value: G, poisoned: bool) -> LockResult<G> {
    if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
}
