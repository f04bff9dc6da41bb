//! Samples executions of a program and counts those that fail.

use raddle_core::{Ending, Panic, Trace};
use raddle_engine::Sc;
use raddle_explore::Repeat;
use raddle_programs::{Failure, Form, Program, Space};
use raddle_strategy::Sampler;

use crate::drive::{self, Driver};

/// What to sample.
#[derive(Clone, Copy)]
pub(crate) struct Subject {
    pub(crate) program: &'static Program,
    pub(crate) form: Form,
    pub(crate) size: u32,
}

/// The results of a number of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) runs: u64,
    /// Runs that failed as they should.
    pub(crate) hits: u64,
    /// The first of these, counted from one.
    pub(crate) first: Option<u64>,
    /// Runs that failed in another way.
    pub(crate) others: u64,
    /// Runs that did not end within the steps allowed.
    pub(crate) endless: u64,
    /// The most events in a run.
    pub(crate) longest: usize,
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    AllRuns,
    FirstHit,
}

impl Subject {
    /// Makes up to `runs` runs with a sampler.
    pub(crate) fn sample(
        self,
        sampler: impl Sampler + Clone,
        runs: u64,
        seed: u64,
        until: Until,
    ) -> Sample {
        let mut sample = Sample::default();
        self.each_trace(sampler, runs, seed, |program, trace| {
            sample.add(program, trace);
            match until {
                Until::AllRuns => true,
                Until::FirstHit => sample.hits == 0,
            }
        });
        sample
    }

    /// Makes up to `runs` runs, and shows the trace of each to `look` until that returns false. Returns the
    /// sampler, with all that it has learnt.
    pub(crate) fn each_trace<S: Sampler + Clone>(
        self,
        sampler: S,
        runs: u64,
        seed: u64,
        mut look: impl FnMut(&Program, &Trace) -> bool,
    ) -> S {
        let Subject { program, form, size } = self;
        let closure = program.closure(form, size);
        let runtime = || drive::runtime(program.name, program.granularity);
        let explorer = Repeat::new(sampler, seed);
        let mut driver = Driver::new(runtime(), Sc, explorer, most_steps(program));
        for _ in 0..runs {
            driver.run(&closure);
            driver.learn();
            if !look(program, driver.trace()) {
                break;
            }
        }
        driver.finish().sampler().clone()
    }
}

impl Sample {
    fn add(&mut self, program: &Program, trace: &Trace) {
        self.runs += 1;
        self.longest = self.longest.max(trace.events.len());
        let is_known = match &trace.ending {
            Ending::Finished
            | Ending::Stopped
            | Ending::TimeLimit
            | Ending::Abandoned
            | Ending::Diverged(_) => return,
            Ending::StepLimit => {
                self.endless += 1;
                program.failure == Failure::Livelock
            }
            Ending::Panicked(Panic { .. }) => program.failure == Failure::Assertion,
            Ending::Deadlock => program.failure == Failure::Deadlock,
        };
        if is_known {
            self.hits += 1;
            self.first = self.first.or(Some(self.runs));
        } else {
            self.others += 1;
        }
    }

    /// What comes of samplers that take turns, given what comes of each alone.
    pub(crate) fn in_turn(samples: &[Sample]) -> Sample {
        let turns = samples.len() as u64;
        let first = |(rank, sample): (usize, &Sample)| {
            sample.first.map(|first| (first - 1) * turns + rank as u64 + 1)
        };
        Sample {
            runs: samples.iter().map(|sample| sample.runs).sum(),
            hits: samples.iter().map(|sample| sample.hits).sum(),
            first: samples.iter().enumerate().filter_map(first).min(),
            others: samples.iter().map(|sample| sample.others).sum(),
            endless: samples.iter().map(|sample| sample.endless).sum(),
            longest: samples.iter().map(|sample| sample.longest).max().unwrap_or(0),
        }
    }

    /// The share of runs that failed as they should.
    pub(crate) fn ratio(&self) -> f64 {
        self.hits as f64 / self.runs as f64
    }
}

/// Where threads spin, a sampler that is not fair would spend its time there.
fn most_steps(program: &Program) -> usize {
    match program.space {
        Space::Acyclic => Program::MAX_STEPS,
        Space::Cyclic => Program::MAX_STEPS / 4,
    }
}
