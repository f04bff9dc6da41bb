//! The tests of the engine from outside, as one binary.

mod commutation;
mod pctwm;
mod rc11;
mod reuse;
mod swaps;
