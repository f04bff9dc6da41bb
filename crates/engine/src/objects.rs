//! The objects that threads meet at, one small file each, all of one [`Shape`].

use raddle_core::{Effect, ThreadId};

mod barrier;
mod channel;
mod condvar;
mod life;
mod mutex;
mod once;
mod parker;
mod rwlock;

pub use barrier::Barrier;
pub use channel::Channel;
pub use condvar::Condvar;
pub use life::Life;
pub use mutex::Mutex;
pub use once::Once;
pub use parker::Parker;
pub use rwlock::RwLock;

/// The two functions every object has.
pub trait Shape {
    /// Its operations.
    type Op;

    /// Whether `by` can perform `op` in this state.
    fn enabled(&self, op: Self::Op, by: ThreadId) -> bool;

    /// Performs `op`, which must be enabled.
    fn apply(&mut self, op: Self::Op, by: ThreadId) -> Effect;
}
