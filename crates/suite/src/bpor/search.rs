//! One search of one program by raddle: what it took, and which local states it visited.

use std::time::{Duration, Instant};

use raddle::{Config, Finding, Granularity, Report, Strategy, Verdict};
use raddle_core::{Pending, Trace};
use raddle_explore::{Budget, OnStepLimit, Session, Settings};
use raddle_runtime::{Options, Runtime};
use rustix::time::ClockId;

use super::local_states::{Coverage, LocalStates, Watched};
use crate::measure::nanoseconds;
use crate::programs::{Failure, Form, Program};

/// What to search.
#[derive(Clone, Copy)]
pub(super) struct Subject {
    pub(super) program: &'static Program,
    pub(super) form: Form,
    pub(super) size: u32,
}

/// What came of a search.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) end: End,
    pub(super) runs: u64,
    /// CPU time.
    pub(super) seconds: f64,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing is left to be run.
    Complete,
    /// The time was up.
    Cut,
    /// The bug of the program.
    Found,
    /// A run without end in which a thread that could have gone on never did: not the program's fault.
    Endless,
    /// Something else.
    Other(String),
}

impl Subject {
    /// Searches for at most so long, as a user would.
    pub(super) fn search(self, strategy: Strategy, limit: Duration) -> Result<Outcome, String> {
        let Subject { program, form, size } = self;
        let config = Config::new()
            .name(program.name)
            .strategy(strategy)
            .runs(u64::MAX)
            .time(limit)
            .max_steps(Program::MAX_STEPS)
            .granularity(Granularity::All);
        let start = nanoseconds(ClockId::ThreadCPUTime);
        let report = config
            .try_run(program.closure(form, size))
            .map_err(|error| format!("{} under {strategy}: {error}", program.name))?;
        let seconds = (nanoseconds(ClockId::ThreadCPUTime) - start) as f64 / 1e9;
        Ok(Outcome { end: end(program, &report), runs: report.executions, seconds })
    }

    /// The local states of the first `runs` runs of a search.
    pub(super) fn coverage(self, strategy: Strategy, runs: u64) -> Coverage {
        let Subject { program, form, size } = self;
        let settings = Settings {
            name: program.name.to_owned(),
            strategy,
            seed: 0,
            runs,
            max_steps: Program::MAX_STEPS,
            on_step_limit: OnStepLimit::Fail,
            explore_trivial: false,
        };
        let options =
            Options { stack_size: 256 * 1024, name: program.name.to_owned(), plain_accesses: true };
        let mut watched = Watched {
            substrate: Runtime::<raddle_runtime::Default>::new(options),
            states: LocalStates::default(),
        };
        let clock = Unlimited(Instant::now());
        Session::new(&mut watched, &program.closure(form, size), &settings, &clock).run();
        watched.states.coverage()
    }
}

fn end(program: &Program, report: &Report) -> End {
    let Some(failure) = report.failure() else {
        return match report.verdict {
            Verdict::Sampled => End::Cut,
            _ => End::Complete,
        };
    };
    match (&failure.finding, program.failure) {
        (Finding::StepLimit { .. }, _) if starves(&failure.trace) => End::Endless,
        (Finding::StepLimit { .. }, Failure::Assertion | Failure::Deadlock) => {
            End::Other("livelock".to_owned())
        }
        (finding, known) if known.is(finding) => End::Found,
        (finding, _) => End::Other(format!("{finding:?}")),
    }
}

/// Whether a thread that can go on did nothing in the second half of a run.
fn starves(trace: &Trace) -> bool {
    let late = &trace.events[trace.events.len() / 2..];
    let idle = |pending: &Pending| late.iter().all(|event| event.id.thread != pending.thread);
    trace.pending.iter().any(|pending| pending.enabled && idle(pending))
}

/// A budget without a limit.
struct Unlimited(Instant);

impl Budget for Unlimited {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn limit(&self) -> Option<Duration> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::find;

    fn subject(name: &str, form: Form, size: u32) -> Subject {
        Subject { program: find(name).unwrap(), form, size }
    }

    #[test]
    fn starvation_is_no_livelock() {
        // The first run of depth-first search never leaves a spinning thread.
        let limit = Duration::from_secs(10);
        let outcome = subject("fair", Form::Fixed, 2).search(Strategy::Dfs, limit).unwrap();
        assert_eq!((outcome.end, outcome.runs), (End::Endless, 1));
        let outcome = subject("fair", Form::Bugged, 2).search(Strategy::Random, limit).unwrap();
        assert_eq!(outcome.end, End::Found);
    }

    /// Two threads, each with one critical section and its own work.
    #[test]
    fn local_states_of_a_small_program_are_counted() {
        let fft = subject("fft", Form::Fixed, 2);
        let all = fft.coverage(Strategy::Random, 1_000);
        // Each thread has 9 events, before and in which it is first or second: 18 states each. Main
        // spawns twice, joins twice, reads four times and exits. A joined thread was first or second,
        // so that its states but for the spawns are there twice.
        assert_eq!(all.count, 2 * 18 + 2 + 2 * 7);
        // Whatever else visits every class sees the same.
        assert_eq!(fft.coverage(Strategy::Pct { depth: 3 }, 1_000), all);
        assert!(fft.coverage(Strategy::Dfs, 1).count < all.count);
    }
}
