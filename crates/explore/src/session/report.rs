//! The one builder of reports.

use std::borrow::Cow;

use raddle_core::{Guarantee, MemoryModel};
use raddle_results::{BlindSpots, PatternSearch, Phase, Report, Search, Verdict};

use super::Check;
use super::tally::Tally;
use crate::{Explorer, Refusal};

/// What a report says besides the counts and the verdict.
#[derive(Default)]
pub(super) struct Details {
    /// The word in place of the strategy's, if another is to stand there.
    pub(super) strategy: Option<Cow<'static, str>>,
    pub(super) phases: Vec<Phase>,
    pub(super) search: Option<Search>,
    pub(super) patterns: Option<PatternSearch>,
    pub(super) guarantees: Vec<Guarantee>,
    /// Whether the runs allow an estimate of the classes not seen.
    pub(super) independent_runs: bool,
    /// Whether every run that was not given up is of a class of its own.
    pub(super) repeats_no_class: bool,
}

impl Details {
    /// Returns what `explorer` has to say after its last run.
    pub(super) fn of(explorer: &dyn Explorer) -> Details {
        Details {
            strategy: None,
            phases: Vec::new(),
            search: explorer.search(),
            patterns: explorer.patterns(),
            guarantees: explorer.guarantees(),
            independent_runs: explorer.independent_runs(),
            repeats_no_class: explorer.repeats_no_class(),
        }
    }
}

impl Check<'_> {
    /// Explains the failure, if there is one, and builds the report of a check.
    ///
    /// Refuses a check in which the time limit cut the only run off: nothing is known then.
    pub(super) fn report(
        &mut self,
        mut tally: Tally,
        mut verdict: Verdict,
        details: Details,
    ) -> Result<Report, Refusal> {
        if tally.is_out_of_time() {
            let limit = self.budget.first_limit().unwrap_or_default();
            return Err(Refusal::NoExecutionInTime { limit, steps: tally.steps });
        }
        if let Verdict::Failed(failure) = &mut verdict {
            self.explain(self.settings.explain, failure, &mut tally);
        }
        Ok(self.build_report(tally, verdict, details))
    }

    pub(super) fn build_report(&self, tally: Tally, verdict: Verdict, details: Details) -> Report {
        let executions = tally.completed();
        let runs = executions - tally.discarded;
        let is_counted = tally.classes.is_exact();
        let classes_exact = is_counted || details.repeats_no_class && tally.discarded == 0;
        let classes = if is_counted || !classes_exact {
            tally.classes.count()
        } else {
            executions - details.search.map_or(0, |search| search.blocked)
        };
        Report {
            name: self.settings.name.clone(),
            strategy: details.strategy.unwrap_or_else(|| self.settings.word()),
            memory: self.settings.memory,
            seed: self.settings.seed,
            verdict,
            executions,
            steps: tally.steps,
            classes,
            classes_exact,
            discarded: tally.discarded,
            unseen_drops: !tally.cleared.is_empty(),
            leaked: tally.leaked,
            equivalents: tally.equivalents,
            probes: tally.probes,
            unchecked: tally.unchecked,
            incomplete: tally.incomplete,
            elapsed: self.budget.elapsed(),
            threads: tally.threads,
            phases: details.phases,
            search: details.search,
            unseen: if details.independent_runs { tally.unseen() } else { None },
            blind_spots: match self.settings.memory {
                MemoryModel::Sc => tally.blind_spots,
                MemoryModel::Rc11 => BlindSpots { weak_orderings: false, ..tally.blind_spots },
            },
            hidden_state: tally.hidden_state,
            coverage: tally.coverage.map(|coverage| Box::new(coverage.report())),
            patterns: details.patterns.map(Box::new),
            guarantees: details.guarantees,
            failures: self.settings.keep_going.then(|| Box::new(tally.census.sum(runs))),
            warnings: tally.warnings.into_vec(),
            conditions: Vec::new(),
            conditions_required: false,
            rerun: None,
        }
    }
}
