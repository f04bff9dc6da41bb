//! Integration tests of the strategies, in one binary.

mod bare;
mod pct;
mod pct_guarantee;
mod pos;
mod random;
mod references;
mod uniform;
