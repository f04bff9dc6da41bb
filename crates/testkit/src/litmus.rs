//! Litmus tests of weak memory: small programs over atomic variables, and the executions that RC11 allows.
//!
//! [`Code`] is a program, written as text. [`axioms`] computes the consistent executions by brute force from the
//! axioms, without code of the engine's memory model. [`run`] runs a program on an engine. [`table`] holds tests with
//! known verdicts.

pub mod axioms;
mod code;
mod graph;
mod random;
pub mod run;
pub mod table;

pub use code::{Code, CodeError, Instruction};
pub use graph::{Graph, Outcome, Place};
pub use random::{random_code, shrink_code};
