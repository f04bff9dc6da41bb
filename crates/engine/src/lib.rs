//! The state machine of one controlled execution.
//!
//! A substrate announces what a thread is about to do ([`Engine::submit`]) and learns whose turn it is ([`Turn`]). The
//! engine knows threads, objects and memory. It asks one question at a time, answered by the plan's prefix and then by
//! the run's [`Choices`](raddle_core::Choices), and records everything in a [`Trace`](raddle_core::Trace). No IO, no
//! clock, no globals, no randomness of its own: the same answers give the same run, byte for byte.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod causality;
mod engine;
mod kind;
mod memory;
mod object;
pub mod objects;
mod substrate;
mod thread_ids;
mod time_limit;

pub use engine::{Engine, Frames, KnownLoop, LoopNature, Round, RunState, SinceChange, Turn};
pub use kind::Kind;
pub use memory::{Memory, Mistake, Rc11, Sc, rc11};
pub use object::{Initial, Object};
pub use substrate::Substrate;
pub use thread_ids::{Register, ThreadIds};
pub use time_limit::TimeLimit;
