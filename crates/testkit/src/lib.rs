//! Tools for raddle's own tests.
//!
//! A [`Program`] is data: scripts of operations on every kind of object. It is generated at random from
//! a seed ([`Shape`]), and shrunk when a property fails ([`for_all`]). It runs in three ways that must
//! agree: by the [`Interpreter`], without stacks, and on [`Coroutines`] with either back end.
//! The [`oracle`] defines the meaning of a program without raddle's code, and [`litmus`] does so for
//! weak memory. [`constraints`] are random problems for solvers.
//!
//! Only tests depend on this crate.
#![forbid(unsafe_code)]

mod actor;
mod check;
pub mod constraints;
mod coroutines;
mod drive;
mod generate;
mod interpreter;
pub mod litmus;
pub mod oracle;
mod program;
mod shrink;
pub mod statistics;

pub use actor::{Actor, Request, Target};
pub use check::{for_all, scaled};
pub use coroutines::Coroutines;
pub use drive::{engine, explore, explore_in, run_once};
pub use generate::{Kind, Shape};
pub use interpreter::{
    FramedInterpreter, HalfIdentifyingInterpreter, IdentifyingInterpreter, Interpreter,
};
pub use program::{Program, Relative, Step};
pub use shrink::shrink;
