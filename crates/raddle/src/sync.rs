//! Synchronisation, as in [`std::sync`].

pub mod atomic;
mod condvar;
mod mutex;

pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};
