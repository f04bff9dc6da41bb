//! What drives an engine: something that can run a program's threads one at a time.

use raddle_core::{Choices, Site, ThreadId};

use crate::{Engine, Memory};

/// Runs a program under an engine, by coroutines, OS threads or inside a foreign process.
pub trait Substrate {
    /// What it can run.
    type Program: ?Sized;

    /// Runs `program` once, from [`Engine::begin`] to the end, and leaves the trace in the engine. The engine's prefix is
    /// followed first; then `choices` are asked.
    ///
    /// An error means that no further run can be trusted; this one can.
    fn execute<M: Memory>(
        &mut self,
        engine: &mut Engine<M>,
        choices: Choices<'_>,
        program: &Self::Program,
    ) -> Result<(), Stuck>;
}

/// A thread could not be cleared away after its run: a destructor waits for something that will
/// never happen, or the program keeps catching the unwinding.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Stuck {
    /// The thread.
    pub thread: ThreadId,
    /// Where it got stuck.
    pub site: Site,
}
