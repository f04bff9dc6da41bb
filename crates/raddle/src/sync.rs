//! Synchronisation, as in [`std::sync`].
//!
//! ```
//! use raddle::sync::{Arc, Mutex};
//!
//! let total = Arc::new(Mutex::new(1));
//! *total.lock().unwrap() += 1;
//! assert_eq!(*total.lock().unwrap(), 2);
//! ```

pub mod atomic;
mod barrier;
mod condvar;
pub mod counted;
mod held;
mod lazy_lock;
pub mod mpsc;
mod mutex;
mod notify;
mod once;
mod once_lock;
mod poison;
mod rwlock;

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use lazy_lock::LazyLock;
pub use mutex::{Mutex, MutexGuard};
pub use notify::Notify;
pub use once::{Once, OnceState};
pub use once_lock::OnceLock;
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};
