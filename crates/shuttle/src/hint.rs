//! Hints, as in [`std::hint`].

pub use raddle::hint::*;
