//! The tests of the choosers from outside, as one binary.

mod bare;
mod pct;
mod pct_promise;
mod pos;
mod random;
mod references;
mod uniform;
