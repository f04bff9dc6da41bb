//! Bounded and reduced searches, against brute force.

mod bpor;
pub(crate) mod brute;
mod classic;
mod counts;
mod dfs;
mod fair;
mod mistakes;
mod unwinding;
