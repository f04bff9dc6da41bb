//! Searching with one bound after the other, with a result for each.

use raddle_engine::Substrate;
use raddle_results::{Phase, PhaseEnd, Report};

use super::{Limits, Session, Stop, Tally};
use crate::{Bound, Covered, Deepening, Explorer, Reduction, Refusal, Strategy};

impl<S: Substrate> Session<'_, S> {
    /// Searches everything without preemptions, then with one, and so on up to those of `last`.
    pub(super) fn deepen(mut self, last: Bound) -> Result<Report, Refusal> {
        let mut tally = Tally::new(self.settings);
        let limits = Limits::of(self.settings);
        let mut explorer = Deepening::new(last, Reduction::Optimised);
        let stop = self.go(&mut explorer, &mut tally, &limits, &mut |_| false);
        let phases = phases(&explorer, &stop);
        let verdict = stop.verdict(&explorer)?;
        let search = explorer.search();
        Ok(Report { phases, search, ..self.report(tally, verdict) })
    }
}

/// What each bound came to.
pub(super) fn phases(explorer: &Deepening, stop: &Stop) -> Vec<Phase> {
    let completed = explorer.completed().iter().map(|completed| Phase {
        strategy: Strategy::Bpor(completed.bound).to_string(),
        executions: completed.counts.runs,
        failing: 0,
        end: match completed.covered {
            Covered::Everything => PhaseEnd::Exhausted,
            Covered::Within(bounds) => PhaseEnd::Bounded(bounds),
            Covered::Nothing => PhaseEnd::TooLong,
        },
    });
    let (bound, counts) = explorer.current();
    let end = match stop {
        Stop::Failed(_) => Some(PhaseEnd::Failed),
        Stop::OutOfBudget | Stop::Enough => Some(PhaseEnd::OutOfBudget),
        Stop::Done | Stop::Trivial | Stop::Refused(_) => None,
    };
    let current = end.map(|end| Phase {
        strategy: Strategy::Bpor(bound).to_string(),
        executions: counts.runs,
        failing: 0,
        end,
    });
    completed.chain(current).collect()
}
