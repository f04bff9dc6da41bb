//! Memory-access patterns: which a run exhibits, and how many have been seen.

mod access;
mod coverage;
mod keys;
mod table;

pub use access::data_access;
pub use coverage::MapCoverage;
pub use keys::Keying;
pub use table::{PATTERNS, Role, number};
