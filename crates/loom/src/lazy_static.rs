//! The types of [`lazy_static!`](crate::lazy_static!).

pub use raddle::drop_in::Lazy;
pub use raddle::thread::{AccessError, panicking, yield_now};
