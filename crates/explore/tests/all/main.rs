//! Integration tests of the explorers, in one binary.

mod assume;
mod bounds;
mod classes;
mod documents;
mod dpor;
mod equivalents;
mod explain;
mod fuzz_tokens;
mod given_up;
mod parallel;
mod sampling;
mod solved;
mod tokens;
mod trust;
mod unrolled;
mod waiting;
