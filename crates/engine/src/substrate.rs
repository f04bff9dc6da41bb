//! Substrates, which run the threads of a program one at a time.

use raddle_core::{Choices, Site, ThreadId};

use crate::{Engine, Memory};

/// Runs a program under an engine, by coroutines, OS threads or inside a foreign process.
pub trait Substrate {
    /// The programs that this substrate runs.
    type Program: ?Sized;

    /// Runs `program` once, from [`Engine::begin`] to the end, and leaves the trace in the engine. The choices are
    /// those of the engine's prefix, then those of `choices`.
    ///
    /// Returns an error if a thread could not be cleared away. The trace is valid then, but further runs are not.
    fn execute<M: Memory>(
        &mut self,
        engine: &mut Engine<M>,
        choices: Choices<'_>,
        program: &Self::Program,
    ) -> Result<(), Stuck>;
}

/// A thread that could not be cleared away after its run: a destructor is blocked for ever, or the program
/// keeps catching the unwinding.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Stuck {
    /// The thread.
    pub thread: ThreadId,
    /// The place of the operation at which it got stuck.
    pub site: Site,
}
