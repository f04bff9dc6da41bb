//! Coroutine substrate: runs the threads of a program as stackful coroutines on one OS thread.
//!
//! The next thread is chosen on the stack of the thread that announced an operation, followed by a direct switch to the
//! chosen one, or none at all if it is the same. Two back ends do the switching: [`Native`] with inline assembly on
//! x86_64 Unix, [`Portable`] with `corosensei` everywhere else.
//!
//! The `std` mirror reaches the run it is part of through [`port`].

mod backend;
#[cfg(unix)]
mod crash;
mod epoch;
pub mod interrupt;
#[cfg(all(unix, target_arch = "x86_64"))]
mod native;
mod origin;
mod own_bug;
mod panic_count;
mod panics;
mod pool;
pub mod port;
mod portable;
pub mod replay_guard;
mod run;
mod runtime;
#[cfg(all(unix, target_arch = "x86_64"))]
mod stack;
mod stack_text;
mod statics;
mod watchdog;

pub use backend::Backend;
#[cfg(all(unix, target_arch = "x86_64"))]
pub use native::Native;
pub use origin::Origin;
pub use portable::Portable;
pub use runtime::{Options, Rerun, Runtime, SpawnHook};

/// What a spawned thread runs.
pub trait Body {
    /// Runs the body. Called once at most, on the coroutine of the thread.
    fn run(&self);
}

/// The fastest back end for this target, unless the feature `portable` asks for the other.
#[cfg(all(unix, target_arch = "x86_64", not(feature = "portable")))]
pub type Default = Native;
/// The fastest back end for this target, unless the feature `portable` asks for the other.
#[cfg(any(feature = "portable", not(all(unix, target_arch = "x86_64"))))]
pub type Default = Portable;
