//! What is odd about runs that do not fail: things left behind, and locks taken in different orders.
//!
//! To look at a run takes longer than to make it, so that only some are looked at: the first ones, then ever
//! fewer.

use raddle_analysis::{Suspicion, leak, suspicions};
use raddle_core::{Ending, MemoryModel, Site, Trace};
use raddle_engine::{Engine, Sc, Substrate};
use raddle_results::{Leak, LockOrder, Warning, WarningKind};

use super::{Session, Stop, family_of};
use crate::directed::Directed;

/// Which oddities a check looks for.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Oddities {
    /// Threads and locks left behind.
    pub leaks: Leaks,
    /// Locks that are taken in different orders. If an execution can be found in which the threads wait
    /// for one another, it is the failure.
    pub lock_order: bool,
}

/// What it is to leave a thread or a held lock behind.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Leaks {
    /// Nothing.
    Ignore,
    /// A remark in the report.
    #[default]
    Note,
    /// A failure.
    Fail,
}

/// So many runs are looked at from the beginning; then those whose number is a power of two.
const FIRST: u64 = 16;
/// The next run to be looked at after `run`.
pub(super) fn next_look(run: u64) -> u64 {
    let next = run + 1;
    if next < FIRST { next } else { next.next_power_of_two() }
}

/// The most remarks.
const MOST: usize = 20;
/// So often a deadlock is looked for that locks in different orders make likely.
const ATTEMPTS: u32 = 16;

/// What was odd so far, each thing once.
#[derive(Clone, Debug, Default)]
pub(super) struct Warnings {
    all: Vec<Warning>,
    attempts: u32,
}

impl Warnings {
    pub(super) fn into_vec(self) -> Vec<Warning> {
        self.all
    }

    pub(super) fn merge(&mut self, other: &Warnings) {
        for warning in &other.all {
            self.add(warning.kind.clone(), warning.execution);
        }
    }

    fn add(&mut self, kind: WarningKind, execution: u64) {
        if self.all.len() < MOST && !self.knows(&kind) {
            self.all.push(Warning { kind, execution });
        }
    }

    /// Whether there is one about the same lines.
    fn knows(&self, kind: &WarningKind) -> bool {
        let lines = lines(kind);
        self.all.iter().any(|known| self::lines(&known.kind) == lines)
    }
}

/// The lines that a warning is about.
fn lines(kind: &WarningKind) -> Vec<Site> {
    match kind {
        WarningKind::Leak(
            Leak::Thread { site, .. } | Leak::Lock { site, .. } | Leak::Memory { site, .. },
        ) => vec![*site],
        WarningKind::LockOrder(orders) => {
            let both = |order: &LockOrder| [order.taken_at, order.wanted_at];
            let mut lines: Vec<Site> = orders.iter().flat_map(both).collect();
            lines.sort_by_key(ToString::to_string);
            lines
        }
    }
}

impl<S: Substrate> Session<'_, S> {
    /// Whether to [`look`](Session::look) at this run.
    pub(super) fn looks_at(&self, run: u64, trace: &Trace) -> bool {
        (run < FIRST || run.is_power_of_two() || !trace.pending.is_empty())
            && matches!(trace.ending, Ending::Finished)
    }

    /// Writes down what is odd about a run that ended well. If that leads to an execution that fails, it
    /// is the end of the check.
    #[cold]
    pub(super) fn look(
        &mut self,
        warnings: &mut Warnings,
        run: u64,
        trace: &Trace,
    ) -> Option<Stop> {
        let Oddities { leaks, lock_order } = self.settings.oddities;
        if leaks == Leaks::Note {
            // Memory is often left behind on purpose; it is looked at on request only.
            if let Some(leak) = leak(trace).filter(|leak| !matches!(leak, Leak::Memory { .. })) {
                warnings.add(WarningKind::Leak(leak), run + 1);
            }
        }
        // What is provoked is an execution without stale reads, which another model cannot replay.
        if !lock_order || self.settings.memory != MemoryModel::Sc {
            return None;
        }
        for suspicion in suspicions(trace) {
            let kind = WarningKind::LockOrder(suspicion.orders.clone());
            if warnings.knows(&kind) || warnings.attempts == ATTEMPTS {
                continue;
            }
            warnings.attempts += 1;
            if let Some(stop) = self.provoke(run, trace, &suspicion) {
                return Some(stop);
            }
            warnings.add(kind, run + 1);
        }
        None
    }

    /// Tries to make threads wait for one another that did not.
    fn provoke(&mut self, run: u64, trace: &Trace, suspicion: &Suspicion) -> Option<Stop> {
        let directed = Directed::new(trace, suspicion);
        let family = family_of(&trace.threads);
        let mut engine = Engine::new(Sc, family, directed, self.settings.max_steps);
        if self.substrate.execute(&mut engine, self.program).is_err() {
            // No further run can be trusted; the next shows why.
            return None;
        }
        let provoked = engine.into_trace();
        let is_over = matches!(provoked.ending, Ending::Finished | Ending::StepLimit);
        let finding = (!is_over).then(|| self.finding(&provoked)).flatten()?;
        let reproduced = self.confirm(&provoked);
        Some(self.failed(finding, run, provoked, reproduced))
    }
}
