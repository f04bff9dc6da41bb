//! Futures and tasks inside checks.
//!
//! [`block_on`] runs a future on the calling thread, and [`spawn`] beside it. Wakers are operations: a wake-up that is
//! lost is a deadlock, which the report explains with the name of the future.
//!
//! ```
//! use raddle::future;
//!
//! let report = raddle::Config::new().run(|| {
//!     future::block_on(async {
//!         let task = future::spawn(async { 7 });
//!         assert_eq!(task.await.unwrap(), 7);
//!     });
//! });
//! assert!(report.failure().is_none());
//! ```
//!
//! `#[raddle::test]` accepts an `async fn`, which it runs with [`block_on`].
//!
//! Futures may use channels and locks of other crates, such as those of `futures` or `async-channel`, which are made of
//! `std`. raddle does not see these, so it tries all orders of polls. If your futures share nothing but objects of
//! raddle, [`Config::ordered_polls`](crate::Config::ordered_polls) turns that off, and searches need fewer executions.
//! Executors and timers of other crates, such as `tokio`'s, do not work inside a check.

mod block_on;
mod completion;
mod polls;
mod signal;
mod task;
mod yield_now;

pub use block_on::block_on;
pub(crate) use block_on::{Spurious, block_on_at, choose_spurious};
pub(crate) use polls::Order;
pub use task::{AbortHandle, JoinError, JoinHandle, spawn, spawn_local};
pub use yield_now::{YieldNow, yield_now};
