//! The state machine of one controlled execution.
//!
//! A substrate announces what a thread is about to do ([`Engine::submit`]) and is told whose turn it
//! is ([`Turn`]). The engine knows threads, objects and memory; it asks the plan's chooser one
//! question at a time and records everything in a [`Trace`](raddle_core::Trace). No IO, no clock, no
//! globals, no randomness: the same answers give the same run, byte for byte.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[macro_use]
mod at;
pub mod causality;
mod engine;
mod family;
pub mod known;
mod memory;
mod object;
pub mod objects;
mod substrate;

pub use engine::{Engine, Turn};
pub use family::{Family, Register};
pub use memory::{Memory, Mistake, Rc11, Sc, rc11};
pub use object::{Initial, Object};
pub use substrate::{Stuck, Substrate};
