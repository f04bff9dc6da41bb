//! Coroutine substrate: runs the threads of a program as stackful coroutines on one OS thread.
//!
//! The decision who goes next is made on the stack of the thread that announced an operation,
//! followed by a direct switch to the chosen one, or none at all if it is the same. Two back ends
//! do the switching: [`Native`] with inline assembly on x86_64 Unix, [`Portable`] with `corosensei`
//! everywhere else.
//!
//! The `std` mirror reaches the run it is part of through [`port`].

#![allow(clippy::transmute_ptr_to_ref, reason = "what `bare` follows is not checked in any build")]

mod backend;
pub mod bare;
pub mod blocks;
mod body;
mod epoch;
pub mod interrupt;
#[cfg(all(unix, target_arch = "x86_64"))]
mod native;
mod origin;
#[cfg(unix)]
mod overflow;
mod panics;
pub mod port;
mod portable;
mod run;
mod runtime;
#[cfg(all(unix, target_arch = "x86_64"))]
mod stack;
mod statics;
mod watchdog;
mod way_back;

pub use backend::Backend;
pub use body::{Body, Fate};
#[cfg(all(unix, target_arch = "x86_64"))]
pub use native::Native;
pub use origin::Origin;
pub use portable::Portable;
pub use runtime::{Options, Runtime};

/// The fastest back end for this target, unless the feature `portable` asks for the other.
#[cfg(all(unix, target_arch = "x86_64", not(feature = "portable")))]
pub type Default = Native;
/// The fastest back end for this target, unless the feature `portable` asks for the other.
#[cfg(any(feature = "portable", not(all(unix, target_arch = "x86_64"))))]
pub type Default = Portable;
