//! Cells, whose accesses are checked for data races.

mod shared;
mod unsafe_cell;

pub use shared::Cell;
pub use unsafe_cell::{ConstPtr, MutPtr, UnsafeCell};
