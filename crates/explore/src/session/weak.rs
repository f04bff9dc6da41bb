//! Checks under RC11.
//!
//! What a load reads and where a store comes are points like all others, so that every sampler works.
//! Of the searches, those that reduce by dependence of operations know sequential consistency only;
//! [`Graphs`] takes their place.

use raddle_engine::{Rc11, Substrate};
use raddle_results::{Phase, PhaseEnd, Report, Verdict};
use raddle_strategy::{Portfolio, Random, RoundRobin};

use super::{Limits, OnStepLimit, Session, Stop, Tally};
use crate::{Covered, Explorer, Graphs, Refusal, Repeat, Strategy};

/// Executions with more steps than this are not searched when there is a choice.
const SEARCHED_STEPS: usize = 10_000;

/// The part of the budget that a search may take when there is a choice.
const PART: u32 = 4;

/// What samples in turn when there are too many executions to search.
const SAMPLED: &[Strategy] = &[
    Strategy::C11Random,
    Strategy::Pctwm { depth: 1, history: 2, events: None },
    Strategy::Pctwm { depth: 2, history: 2, events: None },
    Strategy::PctDrawn,
];

impl<S: Substrate> Session<'_, S> {
    /// Explores under RC11 with the strategy of the settings.
    pub(super) fn run_weak(self) -> Result<Report, Refusal> {
        let strategy = self.settings.strategy;
        let seed = self.settings.seed;
        match strategy {
            Strategy::Random | Strategy::C11Random => {
                self.explore_weak(Repeat::new(Random::default(), seed))
            }
            Strategy::RoundRobin => self.explore_weak(Repeat::new(RoundRobin, seed)),
            Strategy::Pct { .. }
            | Strategy::PctWithin { .. }
            | Strategy::PctDrawn
            | Strategy::PctWeak { .. }
            | Strategy::Pctwm { .. }
            | Strategy::BasicPos
            | Strategy::Pos
            | Strategy::PosStar
            | Strategy::Rapos
            | Strategy::Urw
            | Strategy::Surw
            | Strategy::Delay { .. } => self.portfolio(&[strategy]).map(as_one),
            Strategy::Portfolio(members) => self.portfolio(members),
            Strategy::Dfs => self.explore_weak(Graphs::default()),
            Strategy::Auto => self.auto_weak(),
            Strategy::DfsWithin(_)
            | Strategy::DfsDelay { .. }
            | Strategy::Dpor
            | Strategy::DporClassic
            | Strategy::Bpor(_)
            | Strategy::BporPlain(_)
            | Strategy::BporUpTo(_)
            | Strategy::Pcr
            | Strategy::Mcr => Err(Refusal::NotWeak { strategy }),
        }
    }

    /// Explores under RC11 with any explorer that knows about sources and places.
    pub fn explore_weak<E: Explorer>(mut self, mut explorer: E) -> Result<Report, Refusal> {
        let mut tally = Tally::new(self.settings);
        let limits = Limits::of(self.settings);
        let stop = self.go_in::<Rc11, _>(&mut explorer, &mut tally, &limits, &mut |_| false);
        let verdict = stop.verdict(&explorer)?;
        let search = explorer.search();
        let guarantees = explorer.guarantees();
        let unseen = if explorer.draws_alike() { tally.unseen() } else { None };
        Ok(Report { search, guarantees, unseen, ..self.report(tally, verdict) })
    }

    /// Searches everything within a part of the budget, then samples.
    fn auto_weak(mut self) -> Result<Report, Refusal> {
        if self.settings.keep_going {
            // Searches end at the first failure.
            return self.portfolio(SAMPLED);
        }
        let mut tally = Tally::new(self.settings);
        let all = Limits::of(self.settings);
        let limits = Limits {
            runs: all.runs / u64::from(PART) + 1,
            time: self.budget.limit().map(|limit| limit / PART),
            max_steps: all.max_steps.min(SEARCHED_STEPS),
            on_step_limit: OnStepLimit::Discard,
        };
        let mut graphs = Graphs::default();
        let stop = self.go_in::<Rc11, _>(&mut graphs, &mut tally, &limits, &mut |_| false);
        let search = graphs.search();
        let (end, verdict) = match stop {
            Stop::Failed(failure) => (PhaseEnd::Failed, Some(Verdict::Failed(failure))),
            Stop::Done if tally.discarded == 0 => (PhaseEnd::Exhausted, Some(Verdict::Exhausted)),
            Stop::Trivial if tally.discarded == 0 => {
                (PhaseEnd::Exhausted, Some(Verdict::NothingToExplore))
            }
            Stop::Done | Stop::Trivial | Stop::Refused(_) => (PhaseEnd::TooLong, None),
            Stop::OutOfBudget | Stop::Enough => (PhaseEnd::OutOfBudget, None),
        };
        let strategy = Strategy::Dfs.to_string();
        let mut phases = vec![Phase { strategy, executions: tally.executions, failing: 0, end }];
        let verdict = match verdict {
            Some(verdict) => verdict,
            None => {
                // What was cut off is not set aside, but left to sampling.
                tally.discarded = 0;
                let before = tally.executions;
                let members = SAMPLED.iter().filter_map(super::portfolio::member).collect();
                let mut explorer = Repeat::new(Portfolio::new(members), self.settings.seed);
                let stop = self.go_in::<Rc11, _>(&mut explorer, &mut tally, &all, &mut |_| false);
                let end = match &stop {
                    Stop::Failed(_) => PhaseEnd::Failed,
                    _ => PhaseEnd::OutOfBudget,
                };
                let strategy = Strategy::Portfolio(SAMPLED).to_string();
                let executions = tally.executions - before;
                let failing = tally.census.of_part(0);
                phases.push(Phase { strategy, executions, failing, end });
                match stop {
                    Stop::Failed(failure) => Verdict::Failed(failure),
                    _ => Verdict::Sampled,
                }
            }
        };
        debug_assert!(graphs.covered(true) == Covered::Everything);
        Ok(Report { phases, search, ..self.report(tally, verdict) })
    }
}

/// The report on a portfolio with one member, as one on the member.
fn as_one(report: Report) -> Report {
    Report { phases: Vec::new(), ..report }
}
