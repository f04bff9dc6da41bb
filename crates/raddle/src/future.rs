//! Futures inside checks.
//!
//! Wakers are operations: a wake-up that is lost is a deadlock, which the report explains with the name of the future.
//!
//! ```
//! let report = raddle::Config::new().run(|| {
//!     raddle::future::block_on(async {});
//! });
//! assert!(report.failure().is_none());
//! ```

mod block_on;

pub use block_on::block_on;
pub(crate) use block_on::{Spurious, block_on_at, choose_spurious};
