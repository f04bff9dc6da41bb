//! Plans: how a strategy becomes explorers, and a check its phases.

use raddle_results::{Phase, PhaseEnd, Report};
use raddle_strategy::{Portfolio, Sampler};

use super::Check;
use super::report::Details;
use super::run_loop::{Limits, Stop};
use super::tally::Tally;
use crate::strategy::Plan;
use crate::{Bound, Covered, Deepening, Explorer, Reduction, Refusal, Repeat, Strategy};

impl Check<'_> {
    /// Explores as the settings say.
    pub(super) fn run(&mut self) -> Result<Report, Refusal> {
        self.settings.check()?;
        match self.settings.explorer() {
            Ok(mut explorer) => self.explore(&mut *explorer),
            Err(Plan::Deepening) => self.deepen(self.settings.strategy.bound()),
            Err(Plan::Portfolio) => self.take_turns(self.settings.strategy.members()),
            Err(Plan::Auto) => self.auto(),
        }
    }

    /// Explores with one explorer.
    pub(super) fn explore(&mut self, explorer: &mut dyn Explorer) -> Result<Report, Refusal> {
        // A search for patterns reports which were seen.
        let coverage = explorer.patterns().map(|_| Default::default());
        let mut tally = Tally::new(self.settings.coverage.or(coverage));
        let stop = self.run_explorer(explorer, &mut tally, &Limits::of(self.settings));
        let verdict = self.check_claim(stop.verdict(explorer)?, &mut tally);
        self.report(tally, verdict, Details::of(explorer))
    }

    /// Searches all executions without preemptions, then with one, and so on up to those of `last`.
    fn deepen(&mut self, last: Bound) -> Result<Report, Refusal> {
        let mut tally = Tally::new(self.settings.coverage);
        let mut explorer = Deepening::new(last, Reduction::Optimised);
        let stop = self.run_explorer(&mut explorer, &mut tally, &Limits::of(self.settings));
        let phases = phases_of(&explorer, &stop);
        let verdict = self.check_claim(stop.verdict(&explorer)?, &mut tally);
        self.report(tally, verdict, Details { phases, ..Details::of(&explorer) })
    }

    /// Samples with each of `members` in turn, one execution each.
    fn take_turns(&mut self, members: &[Strategy]) -> Result<Report, Refusal> {
        let mut tally = Tally::new(self.settings.coverage);
        let mut explorer = Repeat::new(portfolio(members), self.settings.seed);
        let stop = self.run_explorer(&mut explorer, &mut tally, &Limits::of(self.settings));
        let finder = match &stop {
            Stop::Failed(failure) => Some(self.settings.member(failure.execution - 1)),
            Stop::Done | Stop::Trivial | Stop::OutOfBudget | Stop::Enough | Stop::Refused(_) => {
                None
            }
        };
        let phases = members.iter().zip(explorer.sampler().runs()).enumerate();
        let phases = phases.map(|(place, (member, executions))| Phase {
            strategy: member.to_string(),
            executions,
            failing: tally.census.of_member(place),
            end: if finder == Some(place) { PhaseEnd::Failed } else { PhaseEnd::OutOfBudget },
        });
        let phases = phases.collect();
        let verdict = stop.verdict(&explorer)?;
        self.report(tally, verdict, Details { phases, ..Details::of(&explorer) })
    }
}

/// Returns the sampler of a strategy that samples, or the portfolio of its members.
pub(super) fn sampler_of(strategy: Strategy) -> Box<dyn Sampler> {
    strategy.sampler().unwrap_or_else(|| Box::new(portfolio(strategy.members())))
}

/// Returns a portfolio of strategies that sample.
fn portfolio(members: &[Strategy]) -> Portfolio {
    let samplers: Option<Vec<Box<dyn Sampler>>> = members.iter().map(Strategy::sampler).collect();
    Portfolio::new(samplers.expect("raddle invariant broken: a member that does not sample"))
}

/// Returns what each bound came to.
fn phases_of(explorer: &Deepening, stop: &Stop) -> Vec<Phase> {
    let phase = |bound: Bound, executions, end| Phase {
        strategy: format!("bpor:{bound}"),
        executions,
        failing: 0,
        end,
    };
    let completed = explorer.completed().iter().map(|completed| {
        let end = match completed.covered {
            Covered::Everything => PhaseEnd::Exhausted,
            Covered::Within(bounds) => PhaseEnd::Bounded(bounds),
            Covered::Nothing => PhaseEnd::TooLong,
        };
        phase(completed.bound, completed.counts.runs, end)
    });
    let (bound, counts) = explorer.current();
    let end = match stop {
        Stop::Failed(_) => Some(PhaseEnd::Failed),
        Stop::OutOfBudget | Stop::Enough => Some(PhaseEnd::OutOfBudget),
        Stop::Done | Stop::Trivial | Stop::Refused(_) => None,
    };
    completed.chain(end.map(|end| phase(bound, counts.runs, end))).collect()
}
