//! Hidden state: what threads share and raddle does not see, such as an atomic of `std`.
//!
//! A search makes one run of every class, because all runs of a class end alike. With hidden state they do
//! not. So before a search claims anything, some of its runs are made again, with their steps in other orders
//! that are equivalent as far as raddle sees. If one of them ends otherwise or belongs to another class, the
//! search has proved nothing. That no difference is found is no proof that there is none. If the time does not suffice
//! for all of them, nothing is claimed either.

use std::cell::OnceCell;

use raddle_analysis::Equivalents;
use raddle_core::{Choices, Ending, Event, EventId, Rng, Trace, mix};
use raddle_results::{Finding, HiddenState, Verdict};

use super::Check;
use super::deadline::Deadline;
use super::gaps::Gaps;
use super::run_loop::Limits;
use super::tally::Tally;
use super::words::{describe, possible};
use crate::InOrder;
use crate::engine_cache;
use crate::replay::thread_ids_of;

/// The most orders that are drawn for one run.
const DRAWS_PER_RUN: usize = 20;
/// One run is made again for this many runs of the search, up to [`MAX_REPLAYS`], and one step for this many steps. A
/// run in another order costs up to 1.5 times as much as a run of the search, so that all of them cost less than a tenth
/// of the search.
const PART: u64 = 20;
/// The most runs that are made again.
const MAX_REPLAYS: u64 = 200;
/// The most runs that are made again beyond this part, in orders that show something new. A large search gets fewer.
const MAX_NEW: u64 = 32;
/// The runs of a small search.
const SMALL: u64 = 64;
/// The draws in succession that show nothing new, after which there is probably nothing more to show.
const MAX_IN_VAIN: u32 = 10;
/// The steps that are repeated in any case, if there are as many: some milliseconds.
const MIN_STEPS: u64 = 1 << 15;
/// The most runs that are kept.
const MAX_KEPT: usize = 20;

/// Runs of a search, spread evenly over it.
pub(super) struct KeptRuns {
    /// Each with its number.
    runs: Vec<(u64, Trace)>,
    /// The distance between the runs kept.
    stride: u64,
    /// The number of the next run to keep.
    next: u64,
}

impl KeptRuns {
    pub(super) fn new() -> KeptRuns {
        KeptRuns { runs: Vec::new(), stride: 1, next: 0 }
    }

    /// Begins a phase: the runs from `first` on are kept, or none.
    pub(super) fn begin(&mut self, first: Option<u64>) {
        self.next = first.unwrap_or(u64::MAX);
    }

    /// Returns the number of the next run to [`offer`](KeptRuns::offer).
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Keeps the run with the number `run`, if it is one of those to keep and ended well.
    pub(super) fn offer(&mut self, run: u64, trace: &Trace) {
        // Where a thread that waits in a loop is seen to wait may depend on the order.
        if run < self.next || trace.ending != Ending::Finished || !trace.stopped.is_empty() {
            return;
        }
        if self.runs.len() == MAX_KEPT {
            let mut is_kept = false;
            self.runs.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.stride *= 2;
        }
        self.runs.push((run, trace.clone()));
        self.next = run + self.stride;
    }

    /// Adds the runs that another worker kept.
    pub(super) fn merge(&mut self, other: &KeptRuns) {
        let room = MAX_KEPT - self.runs.len();
        self.runs.extend(other.runs.iter().take(room).cloned());
    }
}

impl Check<'_> {
    /// Returns `claim`, or what can be said instead if the search has not seen the end of a run, if it depends on the time
    /// that steps take, or if threads share state that raddle does not see.
    pub(super) fn check_claim(&mut self, claim: Verdict, tally: &mut Tally) -> Verdict {
        match claim {
            Verdict::Exhausted | Verdict::Bounded(_) | Verdict::NothingToExplore
                if tally.led_on > 0 || tally.blind_spots.clock_loops =>
            {
                Verdict::Sampled
            }
            Verdict::Exhausted | Verdict::Bounded(_) if self.settings.hidden_state => {
                self.look_for_hidden_state(tally).unwrap_or(claim)
            }
            claim => claim,
        }
    }

    /// Replays kept runs in other orders. Returns the verdict if one differs. Does nothing the second time.
    #[cold]
    fn look_for_hidden_state(&mut self, tally: &mut Tally) -> Option<Verdict> {
        let kept = std::mem::take(&mut tally.kept.runs);
        let part = (tally.executions / PART).min(MAX_REPLAYS);
        let most = part.max(MAX_NEW * SMALL / tally.executions.max(SMALL));
        let mut steps_left = (tally.steps / PART).max(MIN_STEPS);
        let limits = Limits::of(self.settings);
        let orders: Vec<_> = kept.iter().map(|_| OnceCell::new()).collect();
        let mut gaps = Gaps::of(kept.iter().map(|(_, trace)| trace), MIN_STEPS);
        let mut in_vain = 0;
        let kept = || kept.iter().zip(&orders);
        let rounds = (0..DRAWS_PER_RUN).flat_map(|round| kept().map(move |kept| (round, kept)));
        for (round, ((run, trace), orders)) in rounds {
            let is_above_part = tally.equivalents >= part;
            if steps_left == 0
                || tally.equivalents >= most
                || is_above_part && in_vain >= MAX_IN_VAIN
            {
                break;
            }
            let mut rng = Rng::new(mix(*run, round as u64));
            let orders = orders.get_or_init(|| Equivalents::of(trace));
            // Some differences show in many switches, some in few.
            let order = match round % 2 {
                0 => orders.draw(&mut rng),
                _ => orders.draw_in_blocks(&mut rng),
            };
            steps_left = steps_left.saturating_sub(trace.events.len() as u64);
            in_vain = if gaps.add(trace, order.iter().copied()) { 0 } else { in_vain + 1 };
            if in_vain > 0 && is_above_part {
                continue;
            }
            if self.is_out_of_time(&limits) {
                tally.unchecked = true;
                return Some(Verdict::Sampled);
            }
            tally.equivalents += 1;
            let chooser = InOrder::new(trace, &order);
            if let Some(verdict) = self.replay_equivalent(*run, trace, chooser, tally) {
                return Some(verdict);
            }
        }
        None
    }

    /// Makes one run that should be equivalent to `trace`. Returns the verdict if it is not, or if there is no time.
    fn replay_equivalent(
        &mut self,
        run: u64,
        trace: &Trace,
        mut chooser: InOrder,
        tally: &mut Tally,
    ) -> Option<Verdict> {
        let (memory, max_steps) = (self.settings.memory, self.settings.max_steps);
        let mut engine = engine_cache::take(memory, thread_ids_of(trace), max_steps);
        let deadline = Deadline::new(self.budget, self.budget.limit());
        engine.set_time_limit(deadline.for_engine());
        self.executor.execute(&mut engine, Choices::Chooser(&mut chooser));
        let second = engine.trace();
        if second.ending == Ending::TimeLimit {
            tally.unchecked = true;
            return Some(Verdict::Sampled);
        }
        let is_same = (&second.ending, second.fingerprint) == (&trace.ending, trace.fingerprint);
        if is_same || chooser.is_lost() {
            engine_cache::put(engine);
            return None;
        }
        let (before, after) = difference(trace, second);
        let reproduced = self.confirm(second);
        let finding = self.finding(second, &mut tally.cleared);
        if finding.is_none() && !(reproduced && self.confirm(trace)) {
            let at = second.events.len();
            let finding = Finding::Nondeterminism { at, first: before, second: after };
            return Some(Verdict::Failed(Box::new(self.failure(finding, run, second, false))));
        }
        tally.hidden_state = Some(Box::new(HiddenState { execution: run + 1, before, after }));
        Some(match finding {
            None => Verdict::Sampled,
            Some(finding) => {
                Verdict::Failed(Box::new(self.failure(finding, run, second, reproduced)))
            }
        })
    }
}

/// Returns the first step of `second` that differs from the same step of `first`, as it was in both.
fn difference(first: &Trace, second: &Trace) -> (String, String) {
    let find = |id: EventId| first.events.iter().position(|event| event.id == id);
    let visible = |event: &Event| (event.site, event.op.action(), event.effect);
    for (position, event) in second.events.iter().enumerate() {
        match find(event.id) {
            Some(before) if visible(&first.events[before]) == visible(event) => {}
            before => return (describe(before, first), describe(Some(position), second)),
        }
    }
    match &second.ending {
        Ending::Abandoned => {
            let count =
                |thread| second.events.iter().filter(|event| event.id.thread == thread).count();
            let is_next = |event: &&Event| event.id.index as usize == count(event.id.thread);
            (
                describe(first.events.iter().position(|event| is_next(&event)), first),
                possible(second),
            )
        }
        _ => (describe(None, first), describe(None, second)),
    }
}
