//! Synchronisation, as in [`std::sync`].

pub mod atomic;
mod notify;

pub use notify::Notify;
pub use raddle::sync::counted::Arc;
pub use raddle::sync::{
    Barrier, BarrierWaitResult, Condvar, LockResult, Mutex, MutexGuard, RwLock, RwLockReadGuard,
    RwLockWriteGuard, TryLockResult, WaitTimeoutResult, mpsc,
};
