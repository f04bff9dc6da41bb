//! The API of Shuttle on raddle, see `raddle-shuttle`.

pub use raddle_shuttle::*;
