//! Memory-access patterns: what they are, which a run exhibits, and how many of all have been seen.

mod access;
mod coverage;
mod keys;
mod table;

pub use access::data_access;
pub use coverage::MapCoverage;
pub use keys::Keying;
pub use table::{PATTERNS, Role, number};
