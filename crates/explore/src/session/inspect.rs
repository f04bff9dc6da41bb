//! A closer look at a run, for most have nothing to show: whether it failed, and whether it is odd.

use raddle_core::{Ending, Trace};
use raddle_engine::{Stuck, Substrate};
use raddle_results::Finding;

use super::oddities::next_look;
use super::{Leaks, Limits, OnStepLimit, Session, Stop, Tally, cause, stuck_finding};

impl<S: Substrate> Session<'_, S> {
    /// The number of the next run after `run` that is to be looked at closely even if it is ordinary; the
    /// last one at the latest.
    pub(super) fn next_inspection(&self, run: u64, tally: &Tally, limits: &Limits) -> u64 {
        if self.looks_at_all() || tally.coverage.is_some() {
            return 0;
        }
        next_look(run).min(limits.runs.saturating_sub(1))
    }

    /// Whether something can be wrong with a run that ended well, although its trace has no accesses
    /// beside its events.
    fn looks_at_all(&self) -> bool {
        self.settings.races && self.settings.plain_points
            || self.settings.oddities.leaks == Leaks::Fail
    }

    /// Looks at the run with this number, `nth` of its explorer. If that ends the check, how.
    #[cold]
    pub(super) fn inspect(
        &mut self,
        run: u64,
        nth: u64,
        trace: &Trace,
        cleared: Result<(), Stuck>,
        tally: &mut Tally,
        limits: &Limits,
    ) -> Option<Stop> {
        let may_race = self.settings.races && !trace.plain.is_empty();
        if trace.ending != Ending::Finished || may_race || self.looks_at_all() {
            let cut_off = trace.ending == Ending::StepLimit;
            if cut_off && limits.on_step_limit == OnStepLimit::Discard {
                tally.discarded += 1;
            } else if let Some(finding) = self.finding(trace) {
                if !self.settings.keep_going || cleared.is_err() || !is_of_one_run(&finding) {
                    let trace = trace.clone();
                    let reproduced = cleared.is_ok() && self.confirm(&trace);
                    return Some(self.failed(finding, run, trace, reproduced));
                }
                let part = self.settings.strategy.part(nth);
                tally.census.add(cause(&finding), part, || {
                    let reproduced = self.confirm(trace);
                    self.failure(finding, run, trace.clone(), reproduced)
                });
            }
        }
        if let Err(stuck) = cleared {
            return Some(self.failed(stuck_finding(stuck), run, trace.clone(), false));
        }
        if self.looks_at(run, trace) { self.look(&mut tally.warnings, run, trace) } else { None }
    }
}

/// Whether a finding says nothing about the runs after it.
fn is_of_one_run(finding: &Finding) -> bool {
    match finding {
        Finding::Panic(_)
        | Finding::Deadlock(_)
        | Finding::Race { .. }
        | Finding::Leak(_)
        | Finding::StepLimit { .. } => true,
        Finding::Nondeterminism { .. } | Finding::Stuck { .. } => false,
    }
}
