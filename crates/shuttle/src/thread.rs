//! Threads, as in [`std::thread`].

pub use raddle::thread::*;
