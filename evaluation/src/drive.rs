//! Runs of a program under an explorer, one after the other. The tables look at every trace, which
//! `raddle::check` does not show.

use raddle::Granularity;
use raddle_core::Trace;
use raddle_engine::{Engine, Memory, Substrate};
use raddle_explore::Explorer;
use raddle_runtime::{Options, Runtime};

/// An explorer, the engine that it plans for, and the substrate that the program runs on.
pub(crate) struct Driver<S, M: Memory, E> {
    substrate: S,
    engine: Engine<M>,
    explorer: E,
    runs: u64,
}

/// Returns a runtime for a program of this name with these scheduling points.
pub(crate) fn runtime(name: &str, points: Granularity) -> Runtime<raddle_runtime::Default> {
    let plain_accesses = match points {
        Granularity::Sync => false,
        // In programs with points at races only, all plain accesses race.
        Granularity::All | Granularity::Racy => true,
    };
    Runtime::new(
        name,
        &Options { plain_accesses, unwinds_failing_runs: true, ..Options::default() },
    )
}

impl<S: Substrate, M: Memory, E: Explorer> Driver<S, M, E> {
    /// Returns a driver that has made no run.
    pub(crate) fn new(substrate: S, memory: M, explorer: E, max_steps: usize) -> Driver<S, M, E> {
        let engine = Engine::new(memory, explorer.thread_ids(), max_steps);
        Driver { substrate, engine, explorer, runs: 0 }
    }

    /// Makes the next run. Returns false if there is nothing left to run.
    pub(crate) fn run(&mut self, program: &S::Program) -> bool {
        if !self.explorer.next(self.engine.prefix_mut()) {
            return false;
        }
        let choices = self.explorer.choices();
        self.substrate.execute(&mut self.engine, choices, program);
        true
    }

    /// Shows the last trace to the explorer.
    pub(crate) fn learn(&mut self) {
        self.explorer.learn(self.runs, self.engine.trace());
        self.runs += 1;
    }

    /// Returns the last trace.
    pub(crate) fn trace(&self) -> &Trace {
        self.engine.trace()
    }

    /// Returns the explorer, with all that it has learnt.
    pub(crate) fn finish(self) -> E {
        self.explorer
    }
}
