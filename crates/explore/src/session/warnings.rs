//! Warnings about runs that do not fail: things left behind, and locks acquired in different orders.
//!
//! Looking at a run takes longer than making it. So only some runs are looked at: the first ones, then ever
//! fewer.

use raddle_analysis::{Suspicion, leak, suspicions};
use raddle_core::{Choices, Ending, MemoryModel, Site, Trace};
use raddle_results::{Leak, LockOrder, Warning, WarningKind};

use super::Check;
use super::freed::Cleared;
use super::run_loop::Stop;
use crate::directed::Directed;
use crate::engine_cache;
use crate::replay::thread_ids_of;

/// Which warnings a check looks for.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Warnings {
    /// Threads and locks left behind.
    pub leaks: Leaks,
    /// Locks that are acquired in different orders. If an execution is found in which the threads wait for
    /// each other, it is the failure.
    pub lock_order: bool,
}

/// What leaving a thread or a held lock behind is.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Leaks {
    /// Nothing.
    Ignore,
    /// A warning in the report.
    #[default]
    Note,
    /// A failure.
    Fail,
}

/// The runs that are looked at from the beginning; then those whose number is a power of two.
const FIRST_RUNS: u64 = 16;
/// The most warnings of a check.
const MAX_WARNINGS: usize = 20;
/// The most attempts of a check to turn a lock order into a deadlock.
const MAX_ATTEMPTS: u32 = 16;

/// Returns the next run to be looked at after `run`.
pub(super) fn next_look(run: u64) -> u64 {
    let next = run + 1;
    if next < FIRST_RUNS { next } else { next.next_power_of_two() }
}

/// The warnings so far, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct WarningList {
    all: Vec<Warning>,
    attempts: u32,
}

impl WarningList {
    pub(super) fn into_vec(self) -> Vec<Warning> {
        self.all
    }

    pub(super) fn merge(&mut self, other: &WarningList) {
        for warning in &other.all {
            self.add(warning.kind.clone(), warning.execution);
        }
    }

    fn add(&mut self, kind: WarningKind, execution: u64) {
        if self.all.len() < MAX_WARNINGS && !self.contains(&kind) {
            self.all.push(Warning { kind, execution });
        }
    }

    /// Returns whether there is a warning about the same lines.
    fn contains(&self, kind: &WarningKind) -> bool {
        let lines = lines(kind);
        self.all.iter().any(|known| self::lines(&known.kind) == lines)
    }
}

/// Returns the lines that a warning is about.
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
        _ => raddle_results::new_variant(),
    }
}

impl Check<'_> {
    /// Adds warnings about a run that ended well, if it is one of those looked at. Returns how the phase ends
    /// if that leads to an execution that fails.
    pub(super) fn look_for_warnings(
        &mut self,
        warnings: &mut WarningList,
        run: u64,
        trace: &Trace,
    ) -> Option<Stop> {
        let is_looked_at = run < FIRST_RUNS || run.is_power_of_two() || !trace.pending.is_empty();
        if !is_looked_at || !matches!(trace.ending, Ending::Finished) {
            return None;
        }
        let Warnings { leaks, lock_order } = self.settings.warnings;
        if leaks == Leaks::Note {
            // Memory is often left behind on purpose; it is reported on request only.
            if let Some(leak) = leak(trace).filter(|leak| !matches!(leak, Leak::Memory { .. })) {
                warnings.add(WarningKind::Leak(leak), run + 1);
            }
        }
        // The directed run has no stale reads, and another model could not replay it.
        if !lock_order || self.settings.memory != MemoryModel::Sc {
            return None;
        }
        for suspicion in suspicions(trace) {
            let kind = WarningKind::LockOrder(suspicion.orders.clone());
            if warnings.contains(&kind) || warnings.attempts == MAX_ATTEMPTS {
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

    /// Tries to make threads wait for each other that did not.
    fn provoke(&mut self, run: u64, trace: &Trace, suspicion: &Suspicion) -> Option<Stop> {
        let mut directed = Directed::new(trace, suspicion);
        let (memory, max_steps) = (self.settings.memory, self.settings.max_steps);
        let mut engine = engine_cache::take(memory, thread_ids_of(trace), max_steps);
        self.executor.execute(&mut engine, Choices::Chooser(&mut directed));
        let provoked = engine.trace();
        let is_over = matches!(provoked.ending, Ending::Finished | Ending::StepLimit);
        let finding = if is_over { None } else { self.finding(provoked, &mut Cleared::default()) };
        let Some(finding) = finding else {
            engine_cache::put(engine);
            return None;
        };
        let reproduced = self.confirm(provoked);
        Some(self.failed(finding, run, provoked, reproduced))
    }
}
