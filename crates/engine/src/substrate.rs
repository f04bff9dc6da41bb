//! Substrates, which run the threads of a program one at a time.

use raddle_core::Choices;
#[cfg(doc)]
use raddle_core::Special;

use crate::{Engine, Memory};

/// Runs a program under an engine, by coroutines, OS threads or inside a foreign process.
pub trait Substrate {
    /// The programs that this substrate runs.
    type Program: ?Sized;

    /// Runs `program` once, from [`Engine::begin`] to the end, and leaves the trace in the engine. The choices are
    /// those of the engine's prefix, then those of `choices`.
    fn execute<M: Memory>(
        &mut self,
        engine: &mut Engine<M>,
        choices: Choices<'_>,
        program: &Self::Program,
    );

    /// Returns whether runs can be led to their end after a panic, as [`Special::leads_panics`] asks.
    fn leads_panics(&self) -> bool {
        false
    }

    /// Returns whether runs have the memory orderings that [`Special::orders`] asks for.
    fn strengthens(&self) -> bool {
        false
    }

    /// Returns the number of threads of all runs so far that could not be cleared away. Each keeps its memory until the
    /// process ends. May also return the number of all threads of the process that do, if this substrate left one behind.
    fn leaked(&self) -> u64 {
        0
    }
}
