//! Functions of libc that the program calls, as operations on the engine's objects. Nothing blocks the OS thread.
//!
//! A function may decide on what the calling thread itself did. Whatever depends on other threads is an operation.

pub(crate) mod barrier;
pub(crate) mod c11;
pub(crate) mod condvar;
pub(crate) mod exit;
pub(crate) mod heap;
pub(crate) mod mutex;
pub(crate) mod needs_fork;
pub(crate) mod object;
pub(crate) mod once;
pub(crate) mod refused;
pub(crate) mod rwlock;
pub(crate) mod semaphore;
pub(crate) mod signals;
pub(crate) mod spin;
pub(crate) mod thread;
pub(crate) mod time;
