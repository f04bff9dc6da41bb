//! Synchronisation, as in [`std::sync`].

pub use raddle::sync::*;
