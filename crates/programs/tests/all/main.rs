//! Integration tests of the programs with known bugs, in one binary.

mod explained;
mod lock_orders;
mod repaired;
