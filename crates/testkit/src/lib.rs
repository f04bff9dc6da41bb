//! What raddle's own tests are made of.
//!
//! A [`Program`] is data: scripts of operations over every primitive. It is generated at random from
//! a seed ([`Shape`]), cut down when a property fails ([`for_all`]), and run in three ways that must
//! not differ: by the [`Interpreter`] without any stacks, and on [`Coroutines`] with either back end.
//! The [`oracle`] knows what a program means without any of raddle's code; [`litmus`] does the same for
//! weak memory; [`constraints`] are random questions to solvers.
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
pub use interpreter::{IdentifyingInterpreter, Interpreter};
pub use program::{Program, Relative, Step};
pub use shrink::shrink;
