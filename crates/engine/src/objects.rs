//! The states of shared objects, one file per kind. All implement [`ObjectState`].

use raddle_core::{Effect, ThreadId};

mod barrier;
mod channel;
mod condvar;
mod futex;
mod life;
mod mutex;
mod once;
mod parker;
mod rwlock;
mod semaphore;

pub use barrier::Barrier;
pub use channel::Channel;
pub use condvar::Condvar;
pub use futex::Futex;
pub use life::Life;
pub use mutex::Mutex;
pub use once::Once;
pub use parker::Parker;
pub use rwlock::RwLock;
pub use semaphore::Semaphore;

/// The state of an object.
pub trait ObjectState {
    /// The operations on the object.
    type Op;

    /// Returns whether `by` can perform `op` in this state.
    fn enabled(&self, op: Self::Op, by: ThreadId) -> bool;

    /// Performs `op`, which must be enabled.
    fn apply(&mut self, op: Self::Op, by: ThreadId) -> Effect;
}
