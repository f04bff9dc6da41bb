//! Litmus tests of weak memory: small programs over atomic variables, what RC11 allows them to do, and
//! ways to run them.
//!
//! [`Code`] is a program, written as text. [`axioms`] says by brute force, from the axioms alone, which
//! executions are consistent; it shares nothing with the memory model of the engine. [`run`] runs a
//! program on an engine, and [`table`] holds the tests whose verdicts are known.

pub mod axioms;
mod code;
mod graph;
mod random;
pub mod run;
pub mod table;

pub use code::{Code, CodeError, Instruction};
pub use graph::{Graph, Outcome, Place};
pub use random::{random_code, shrink_code};
