//! One search of one program by raddle: what it took, and which local states it visited.

use std::time::{Duration, Instant};

use raddle::{Config, Finding, Granularity, Report, Strategy, Verdict};
use raddle_core::{Event, Pending, Trace};
use raddle_explore::{Budget, Session, Settings};
use raddle_programs::{Failure, Form, Program};
use raddle_runtime::{Options, Runtime};
use rustix::time::ClockId;

use super::local_states::{Coverage, LocalStates, Watched};
use crate::interleave::median;
use crate::measure::nanoseconds;

/// What to search.
#[derive(Clone, Copy)]
pub(super) struct Subject {
    pub(super) program: &'static Program,
    pub(super) form: Form,
    pub(super) size: u32,
}

/// How far to search.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    pub(super) runs: u64,
    pub(super) time: Duration,
}

impl Limit {
    /// Any number of runs in so long.
    pub(super) fn time(time: Duration) -> Limit {
        Limit { runs: u64::MAX, time }
    }
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

/// Operations one execution may have. Far more than a fair execution needs that makes progress.
const MAX_STEPS: usize = 2_000;

/// The longest search that is repeated, in seconds.
const SHORT: f64 = 0.05;

impl Subject {
    /// Searches for at most so long. A short search is repeated: what is done for the first time in a
    /// process, such as reading symbols for a panic, takes longer than the search.
    pub(super) fn search(self, strategy: Strategy, limit: Limit) -> Result<Outcome, String> {
        let first = self.search_once(strategy, limit);
        if first.end == End::Cut || first.seconds > SHORT {
            return Ok(first);
        }
        let mut seconds = vec![first.seconds];
        for _ in 0..4 {
            let again = self.search_once(strategy, limit);
            if (&again.end, again.runs) != (&first.end, first.runs) {
                let name = self.program.name;
                return Err(format!("{name} under {strategy}: {first:?}, and then {again:?}"));
            }
            seconds.push(again.seconds);
        }
        Ok(Outcome { seconds: median(&seconds), ..first })
    }

    /// Searches as a user would.
    fn search_once(self, strategy: Strategy, limit: Limit) -> Outcome {
        let Subject { program, form, size } = self;
        let config = Config::new()
            .explain(raddle::Explain::Off)
            .hidden_state(false)
            .name(program.name)
            .strategy(strategy)
            .runs(limit.runs)
            .time(limit.time)
            .max_steps(MAX_STEPS)
            .granularity(Granularity::All)
            .races(false);
        let start = nanoseconds(ClockId::ThreadCPUTime);
        let report = config.try_run(program.closure(form, size));
        let seconds = (nanoseconds(ClockId::ThreadCPUTime) - start) as f64 / 1e9;
        match report {
            Ok(report) => Outcome { end: end(program, &report), runs: report.executions, seconds },
            Err(error) => {
                Outcome { end: End::Other(shortened(&error.to_string())), runs: 0, seconds }
            }
        }
    }

    /// The local states of the first `runs` runs of a search.
    pub(super) fn coverage(self, strategy: Strategy, runs: u64) -> Coverage {
        let Subject { program, form, size } = self;
        let settings = Settings {
            runs,
            max_steps: MAX_STEPS,
            // They are what some of the programs are about.
            races: false,
            plain_points: true,
            ..Settings::new(program.name, strategy)
        };
        let options = Options { plain_accesses: true, ..Options::default() };
        let mut watched = Watched {
            substrate: Runtime::<raddle_runtime::Default>::new(program.name, &options),
            states: LocalStates::default(),
        };
        let clock = Unlimited(Instant::now());
        let closure = program.closure(form, size);
        // A search that is refused has covered what it has seen.
        let _ = Session::new(&mut watched, &closure, &settings, &clock).run();
        watched.states.coverage()
    }
}

/// The least fair bound that this build takes.
pub(super) fn least_fair_bound() -> u32 {
    if "bpor:fair:0".parse::<Strategy>().is_ok() { 0 } else { 1 }
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
        (finding, _) => End::Other(shortened(&format!("{finding:?}"))),
    }
}

/// Short enough for a cell.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether a thread that can go on did nothing for an eighth of a run, in its second half. A search that
/// knows no fairness lets a thread spin on almost to the limit before it tries another.
fn starves(trace: &Trace) -> bool {
    let half = trace.events.len() / 2;
    let patience = trace.events.len() / 8;
    let starved = |pending: &Pending| {
        let mut last = half;
        let own = |event: &Event| event.id.thread == pending.thread;
        for (at, event) in trace.events.iter().enumerate().skip(half) {
            if own(event) {
                last = at;
            } else if at - last > patience {
                return true;
            }
        }
        false
    };
    trace.pending.iter().any(|pending| pending.enabled && starved(pending))
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
    use raddle_programs::find;

    fn subject(name: &str, form: Form, size: u32) -> Subject {
        Subject { program: find(name).unwrap(), form, size }
    }

    #[test]
    fn spinning_is_no_livelock() {
        // Depth-first search would never leave a spinning thread, and cuts it off.
        let limit = Limit::time(Duration::from_secs(1));
        let outcome = subject("fair", Form::Fixed, 2).search(known("dfs").unwrap(), limit).unwrap();
        assert_eq!(outcome.end, End::Cut);
        assert!(outcome.runs > 1, "{}", outcome.runs);
        let outcome =
            subject("fair", Form::Bugged, 2).search(known("random").unwrap(), limit).unwrap();
        assert_eq!(outcome.end, End::Found);
    }

    /// Two threads, each with one critical section and its own work.
    #[test]
    fn local_states_of_a_small_program_are_counted() {
        let fft = subject("fft", Form::Fixed, 2);
        let all = fft.coverage(known("random").unwrap(), 1_000);
        // Each thread has 9 events, before and in which it is first or second: 18 states each. Main
        // spawns twice, joins twice, reads four times and exits. A joined thread was first or second,
        // so that its states but for the spawns are there twice.
        assert_eq!(all.count, 2 * 18 + 2 + 2 * 7);
        // Whatever else visits every class sees the same.
        assert_eq!(fft.coverage(known("pct:3").unwrap(), 1_000), all);
        assert!(fft.coverage(known("dfs").unwrap(), 1).count < all.count);
    }

    /// The strategy behind a word, if this build has it.
    fn known(word: &str) -> Option<Strategy> {
        word.parse().ok()
    }

    const LIMIT: Limit = Limit { runs: u64::MAX, time: Duration::from_secs(60) };

    /// Under every bound, reduction leaves out no local state.
    #[test]
    fn reduced_searches_cover_what_bounded_ones_do() {
        for (name, size) in [("mrse", 1), ("fft", 3), ("exception", 3)] {
            let subject = subject(name, Form::Fixed, size);
            for bound in 0..=2 {
                let Some(bounded) = known(&format!("dfs:{bound}")) else { continue };
                let plain = subject.search_once(bounded, LIMIT);
                assert_eq!(plain.end, End::Complete, "{name} {bounded}");
                let all = subject.coverage(bounded, plain.runs);
                for word in ["bpor", "bpor-plain"] {
                    let Some(bpor) = known(&format!("{word}:{bound}")) else { continue };
                    let reduced = subject.search_once(bpor, LIMIT);
                    assert_eq!(reduced.end, End::Complete, "{name} {bpor}");
                    assert!(reduced.runs <= plain.runs, "{name} {bpor}: {} runs", reduced.runs);
                    assert_eq!(subject.coverage(bpor, reduced.runs), all, "{name} {bpor}");
                }
            }
        }
    }

    #[test]
    fn bounds_that_show_the_bugs() {
        for (name, word) in [
            ("mrse", "dpor"),
            ("mrse", "bpor:3"),
            ("exception", "bpor:1"),
            ("exception-lost", "bpor:2"),
            ("fair", "bpor:fair:1"),
            ("nqueens", "bpor:1:fair:1"),
            ("nqueens-wake", "bpor:1:fair:1"),
            ("nqueens-sum", "bpor:2:fair:1"),
            ("matrix", "bpor:1:fair:1"),
            ("matrix-locks", "bpor:1:fair:1"),
            ("matrix-wake", "bpor:1:fair:1"),
            ("regown", "bpor:1:fair:1"),
        ] {
            let Some(strategy) = known(word) else { continue };
            let size = find(name).unwrap().size.usual;
            let outcome = subject(name, Form::Bugged, size).search_once(strategy, LIMIT);
            assert_eq!(outcome.end, End::Found, "{name} {word}");
        }
    }
}
