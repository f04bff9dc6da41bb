//! Searches with a bound, and reduced searches, against brute force.

mod brute;
mod classic;
mod dfs;
