//! The API of Loom on raddle, see `raddle-loom`.

pub use raddle_loom::*;
