//! Integration tests of the engine, in one binary.

mod commutation;
mod pctwm;
mod rc11;
mod reuse;
mod swaps;
