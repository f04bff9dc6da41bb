//! The memory models a program can run under.

use core::fmt;

/// Which stores of other threads a load may read.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum MemoryModel {
    /// Sequential consistency: every load returns the newest value.
    #[default]
    Sc,
    /// RC11: the behaviours that Rust's memory orderings allow, without load buffering.
    Rc11,
}

impl fmt::Display for MemoryModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MemoryModel::Sc => "SC",
            MemoryModel::Rc11 => "RC11",
        })
    }
}
