//! The API of [Loom](https://docs.rs/loom/0.7) on raddle.
//!
//! Loom tests run unchanged, with `loom = { package = "raddle-loom" }` in place of `loom`:
//!
//! ```
//! use loom::sync::Arc;
//! use loom::sync::atomic::{AtomicUsize, Ordering::{Acquire, Release}};
//!
//! loom::model(|| {
//!     let flag = Arc::new(AtomicUsize::new(0));
//!     let other = {
//!         let flag = flag.clone();
//!         loom::thread::spawn(move || flag.store(1, Release))
//!     };
//!     assert!(flag.load(Acquire) < 2);
//!     other.join().unwrap();
//! });
//! ```
//!
//! Executions follow the RC11 memory model. A failure is raddle's report, with a token that replays it
//! (`RADDLE_REPLAY`). The settings of raddle's environment (`RADDLE_TIME`, `RADDLE_STRATEGY` and others) work too.
//!
//! # Differences
//!
//! - [`model::Builder`] lists which settings have another meaning.
//! - [`explore`], [`stop_exploring`] and [`skip_branch`] have no effect: raddle explores everything, which is more than
//!   asked.
//! - A [`Condvar::wait_timeout`](sync::Condvar::wait_timeout) may time out, and an
//!   [`mpsc::Receiver`](sync::mpsc::Receiver) has all methods of `std`. [`Barrier`](sync::Barrier) works.
//! - Atomics can be in a `static`, and there is no limit on threads.
//! - Accesses to a cell that overlap fail if they are of different threads.
//! - Threads that main has not joined run to their end. One that is blocked then is a failure.

pub mod alloc;
pub mod cell;
pub mod future;
pub mod hint;
pub mod lazy_static;
pub mod model;
pub mod sync;
pub mod thread;

mod macros;

#[doc(inline)]
pub use model::model;
pub use raddle::thread_local;

/// The most threads that a test of Loom may have. raddle has no limit.
pub const MAX_THREADS: usize = 5;

/// Begins to explore again after [`stop_exploring`]. raddle never stops, so this has no effect.
pub fn explore() {}

/// Asks not to explore the orders of the operations that follow. raddle explores them nevertheless, so this has no effect.
pub fn stop_exploring() {}

/// Asks not to explore what follows in this execution. raddle explores it nevertheless, so this has no effect.
pub fn skip_branch() {}
