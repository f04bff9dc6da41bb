//! Explaining a failure: the budget, the trial runs, and the run that is reported in the end.
//!
//! The algorithms are in `crate::explain`. A run that is reported was replayed exactly before, like every failure. If
//! nothing fails, nothing of this happens.

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use raddle_analysis::{Equivalents, cause};
use raddle_core::{
    Choices, Ending, MemoryModel, Panic, Rng, Schedule, Special, Strengthened, Trace,
};
use raddle_engine::ThreadIds;
use raddle_results::{
    Bounds, CutOff, Explanation, Failure, Finding, HiddenState, MAX_LEAKED_BY_PROCESS, Repair,
    RunSize, Shrunk, Token, Unknown, Verdict,
};

use super::deadline::Deadline;
use super::freed::Cleared;
use super::stacks::recorded;
use super::tally::Tally;
use super::words::describe;
use super::{Check, Settings};
use crate::executor::AnyEngine;
use crate::explain::{
    Explain, Fewest, Found, Outcome, Shrinker, SmallRun, Trials, causes, changes, fewest, orders,
};
use crate::replay::thread_ids_of;
use crate::{InOrder, Replay, engine_cache};

/// The edits of a run may take one of this many parts of the executions, and so may the search for fewer preemptions.
const PARTS: u64 = 4;
/// A trial run may have this many times the events of the run that was found, and [`MORE_STEPS`].
const STEPS_PER_STEP: usize = 4;
const MORE_STEPS: usize = 1_000;
/// The runs that are drawn to refute a set of causes.
const DRAWS: u64 = 100;
/// The same for deadlocks, whose runs leave their threads behind.
const FEW_DRAWS: u64 = 20;
/// The equivalent orders of a failing run that are tried.
const EQUIVALENTS: u64 = 20;

/// The threads that the explanations of a process may leave behind: a part of those that all its checks may leave.
const MAX_LEAKED_BY_EXPLANATIONS: u64 = MAX_LEAKED_BY_PROCESS / 2;

/// The threads that explanations of this process have left behind.
static LEAKED_BY_EXPLANATIONS: AtomicU64 = AtomicU64::new(0);

/// How much may be done.
#[derive(Copy, Clone, Debug)]
struct Allowance {
    executions: u64,
    time: Duration,
    /// The threads of failing runs that may be left behind.
    leaks: u64,
}

impl Allowance {
    /// Returns `None` if nothing may be done.
    fn of(explain: Explain) -> Option<Allowance> {
        let (executions, seconds, leaks) = match explain {
            Explain::Off => return None,
            Explain::Quick => (2_000, 2, 512),
            Explain::Full => (100_000, 60, 2_048),
        };
        Some(Allowance { executions, time: Duration::from_secs(seconds), leaks })
    }
}

impl Check<'_> {
    /// Replaces a failure by a smaller one and adds what is known about it. Then replays the run that is reported, with
    /// everything that a report shows.
    #[cold]
    pub(super) fn explain(&mut self, how: Explain, failure: &mut Failure, tally: &mut Tally) {
        if !failure.reproduced {
            return;
        }
        self.find_place(failure, tally);
        let known = Allowance::of(how).map(|allowance| self.known(allowance, failure, tally));
        let unknown = match known {
            Some(Ok((trace, explanation))) => {
                if self.show(&trace, failure, Some(explanation), tally) {
                    return;
                }
                Some(Unknown::NotRepeatable)
            }
            Some(Err(unknown)) => Some(unknown),
            None => None,
        };
        failure.unexplained = unknown;
        let found = failure.trace.clone();
        self.show(&found, failure, None, tally);
    }

    /// Replays a panic of which the place is not known. A test may have replaced the hook that tells it, which is back
    /// after the first panic.
    fn find_place(&mut self, failure: &mut Failure, tally: &mut Tally) {
        let Finding::Panic(Panic { place: None, .. }) = &failure.finding else { return };
        let replay = Replay::of(&failure.trace, self.settings.memory, self.settings.max_steps);
        let trace = replay.look(self.executor, Trace::clone);
        if failure.trace.first_difference(&trace).is_none() {
            if let Some(finding @ Finding::Panic(_)) = self.finding(&trace, &mut tally.cleared) {
                (failure.finding, failure.trace) = (finding, trace);
            }
        }
    }

    /// Returns a run that fails in the same way, and what is known about it.
    fn known(
        &mut self,
        allowance: Allowance,
        failure: &Failure,
        tally: &mut Tally,
    ) -> Result<(Trace, Explanation), Unknown> {
        if !is_explainable(&failure.finding) {
            return Err(Unknown::Kind);
        }
        if self.budget.limit() == Some(Duration::ZERO) {
            return Err(Unknown::Time);
        }
        let found = &failure.trace;
        let mut bench = Bench::new(self, allowance, found, cause(&failure.finding), tally);
        let explanation = bench.explanation(failure, tally);
        bench.finish();
        explanation
    }

    /// Replays a run with everything that a report shows. If it fails like `failure`, it becomes the run of `failure`.
    /// Returns whether it does.
    fn show(
        &mut self,
        run: &Trace,
        failure: &mut Failure,
        explanation: Option<Explanation>,
        tally: &mut Tally,
    ) -> bool {
        let (special, plain) = recorded(run, &failure.finding);
        let replay = Replay::of(run, self.settings.memory, self.settings.max_steps);
        let trace = replay.look_special(self.executor, special, plain, Trace::clone);
        let is_same = trace.ending == run.ending && run.first_difference(&trace).is_none();
        let finding = if is_same { self.finding(&trace, &mut tally.cleared) } else { None };
        let Some(finding) = finding.filter(|finding| cause(finding) == cause(&failure.finding))
        else {
            return false;
        };
        if explanation.is_some() {
            let token = Token::new(&self.settings.name, &trace.threads, trace.schedule());
            failure.token = token.to_string();
            failure.explanation = explanation.map(Box::new);
        }
        failure.finding = finding;
        failure.trace = trace;
        true
    }
}

/// Returns whether a smaller run would say more about a finding.
fn is_explainable(finding: &Finding) -> bool {
    match finding {
        Finding::Panic(_)
        | Finding::Deadlock(_)
        | Finding::Race { .. }
        | Finding::UseAfterFree { .. }
        | Finding::FreedTwice { .. }
        | Finding::ReadTwice { .. }
        | Finding::WaitsForever { .. }
        | Finding::Leak(_) => true,
        // Every trial would take as long as the limit allows.
        Finding::StepLimit { .. } | Finding::Nondeterminism { .. } => false,
        _ => raddle_results::new_variant(),
    }
}

/// Returns whether orderings of steps can cause a finding. Other orders of the same steps show the others too, or orders
/// do not matter.
fn is_caused_by_order(finding: &Finding) -> bool {
    match finding {
        Finding::Panic(_) | Finding::Deadlock(_) => true,
        Finding::Race { .. }
        | Finding::UseAfterFree { .. }
        | Finding::FreedTwice { .. }
        | Finding::ReadTwice { .. }
        | Finding::Leak(_)
        | Finding::StepLimit { .. }
        | Finding::WaitsForever { .. }
        | Finding::Nondeterminism { .. } => false,
        _ => raddle_results::new_variant(),
    }
}

/// Returns whether memory orderings may decide whether there is a finding.
fn depends_on_orders(finding: &Finding, memory: MemoryModel) -> bool {
    match finding {
        Finding::Race { .. } | Finding::UseAfterFree { .. } => true,
        Finding::Panic(_) | Finding::Deadlock(_) | Finding::FreedTwice { .. } => {
            memory != MemoryModel::Sc
        }
        Finding::ReadTwice { .. }
        | Finding::Leak(_)
        | Finding::StepLimit { .. }
        | Finding::WaitsForever { .. }
        | Finding::Nondeterminism { .. } => false,
        _ => raddle_results::new_variant(),
    }
}

/// Makes trial runs within an allowance.
struct Bench<'b, 'c> {
    check: &'b mut Check<'c>,
    cleared: Cleared,
    /// The cause of the failure that is explained.
    cause: String,
    engine: AnyEngine,
    deadline: Rc<Deadline>,
    allowance: Allowance,
    /// The time since the beginning of the check at which the allowed time is up.
    end: Duration,
    leaked_before: u64,
    executions: u64,
    /// The number of executions at which the current phase ends.
    phase_end: u64,
    /// The time since the beginning of the check at which the current phase ends.
    phase_time_end: Duration,
    cut_off: Option<CutOff>,
    /// The memory orderings that are stronger in the runs to come.
    orders: Vec<Strengthened>,
}

impl<'b, 'c> Bench<'b, 'c> {
    fn new(
        check: &'b mut Check<'c>,
        allowance: Allowance,
        found: &Trace,
        cause: String,
        tally: &Tally,
    ) -> Bench<'b, 'c> {
        let end = check.budget.elapsed().saturating_add(allowance.time);
        let mut bench = Bench {
            cleared: tally.cleared.clone(),
            cause,
            engine: engine_cache::take(check.settings.memory, thread_ids_of(found), 1),
            deadline: Deadline::new(check.budget, Some(end)),
            allowance,
            end,
            leaked_before: check.executor.leaked(),
            executions: 0,
            phase_end: 0,
            phase_time_end: Duration::ZERO,
            cut_off: None,
            orders: Vec::new(),
            check,
        };
        bench.begin_like(found);
        bench
    }

    /// Returns a small run that fails in the same way, and what is known about it.
    fn explanation(
        &mut self,
        failure: &Failure,
        tally: &mut Tally,
    ) -> Result<(Trace, Explanation), Unknown> {
        let (memory, finding) = (self.check.settings.memory, &failure.finding);
        let smallest = self.smallest(&failure.trace, tally);
        let (from, small, minimal) = smallest.ok_or_else(|| match self.cut_off {
            Some(_) => self.limit(),
            None => Unknown::NotRepeatable,
        })?;
        let cut_off = self.cut_off;
        let found_token = failure.token.clone();
        let shrunk = Shrunk { from, to: small.size, minimal, found_token };
        let hidden_state = self.look_for_hidden_state(&small.trace, tally);
        let mut found = match (hidden_state, memory) {
            (true, _) => Err(Unknown::HiddenState),
            (false, _) if !is_caused_by_order(finding) => Err(Unknown::Kind),
            (false, MemoryModel::Rc11) => Err(Unknown::WeakMemory),
            (false, MemoryModel::Sc) => self.causes(&small.trace),
        };
        self.begin_last_phase();
        let repairs = match &mut found {
            _ if hidden_state => Err(Unknown::HiddenState),
            _ if depends_on_orders(finding, memory) => self.orders(&small.trace),
            Ok(found) => changes(self, found),
            Err(unknown) => Err(*unknown),
        };
        let mut explanation = Explanation::new(shrunk, self.executions, cut_off);
        match found {
            Ok(found) => explanation.causes = Some(found.causes),
            Err(unknown) => explanation.no_causes = Some(unknown),
        }
        match repairs {
            Ok(repairs) => explanation.repairs = repairs,
            Err(unknown) => explanation.no_repairs = Some(unknown),
        }
        Ok((small.trace, explanation))
    }

    /// Returns the size of `found`, a smaller run if there is one, and whether no run with fewer preemptions fails in the
    /// same way. Returns `None` if the run cannot be repeated.
    fn smallest(&mut self, found: &Trace, tally: &mut Tally) -> Option<(RunSize, SmallRun, bool)> {
        self.begin_phase();
        let shrinker = Shrinker::new(self, found)?;
        let size = shrinker.best().size;
        let small = shrinker.shrink();
        if self.check.settings.memory != MemoryModel::Sc {
            let minimal = small.size.preemptions == 0;
            return Some((size, small, minimal));
        }
        self.begin_phase();
        Some(match self.fewest(&small, tally) {
            Fewest::Unknown => (size, small, false),
            Fewest::None => (size, small, true),
            Fewest::Found(fewer) => {
                self.begin_like(&fewer);
                self.begin_phase();
                let smaller = Shrinker::new(self, &fewer).map(Shrinker::shrink);
                (size, smaller.filter(|smaller| smaller.size < small.size).unwrap_or(small), true)
            }
        })
    }

    /// Searches all runs with fewer preemptions. The result holds only if threads share no hidden state.
    fn fewest(&mut self, small: &SmallRun, tally: &mut Tally) -> Fewest {
        let preemptions = small.size.preemptions;
        let Some(most) = preemptions.checked_sub(1) else { return Fewest::None };
        let mut searched = Tally::new(None);
        searched.kept.begin(self.check.settings.hidden_state.then_some(0));
        let max_steps = self.steps_like(&small.trace);
        let found = fewest(self, preemptions, max_steps, &mut |run, trace| {
            searched.executions = run + 1;
            searched.kept.offer(run, trace);
        });
        // That the search did not end is no loss for the run.
        self.cut_off = self.cut_off.filter(|&cut_off| cut_off != CutOff::Executions);
        let Fewest::None = found else { return found };
        let bounds = Bounds { preemptions: Some(most), ..Bounds::default() };
        let claim = self.check.check_claim(Verdict::Bounded(bounds), &mut searched);
        self.executions += searched.equivalents;
        if searched.hidden_state.is_some() {
            tally.hidden_state = searched.hidden_state;
        }
        if let Verdict::Bounded(_) = claim { Fewest::None } else { Fewest::Unknown }
    }

    /// Returns whether threads share state that raddle does not see.
    fn look_for_hidden_state(&mut self, failing: &Trace, tally: &mut Tally) -> bool {
        self.begin_like(failing);
        self.begin_phase();
        let is_known = tally.hidden_state.is_some();
        is_known || self.check.settings.hidden_state && self.has_hidden_state(failing, tally)
    }

    /// Returns the orderings that cause a failure.
    fn causes(&mut self, failing: &Trace) -> Result<Found, Unknown> {
        self.begin_like(failing);
        self.begin_last_phase();
        // Repairs get a part, too.
        self.phase_end -= self.allowance.executions / PARTS;
        self.phase_time_end = self.end - (self.allowance.time / PARTS as u32).min(self.end);
        let draws = if failing.ending == Ending::Deadlock { FEW_DRAWS } else { DRAWS };
        causes(self, failing, draws)
    }

    /// Returns memory orderings with which nothing fails.
    fn orders(&mut self, failing: &Trace) -> Result<Vec<Repair>, Unknown> {
        if !self.check.executor.strengthens() {
            return Err(Unknown::FrontEnd);
        }
        let Settings { memory, max_steps, .. } = *self.check.settings;
        let repairs = orders(self, memory, max_steps, failing);
        self.strengthen(&[]);
        repairs
    }

    /// Makes a failing run again in equivalent orders. Returns whether one of them does not fail in the same way.
    fn has_hidden_state(&mut self, failing: &Trace, tally: &mut Tally) -> bool {
        let orders = Equivalents::of(failing);
        for draw in 0..EQUIVALENTS {
            let mut rng = Rng::new(draw);
            let order = match draw % 2 {
                0 => orders.draw(&mut rng),
                _ => orders.draw_in_blocks(&mut rng),
            };
            let mut chooser = InOrder::new(failing, &order);
            let outcome = self.run(&Schedule::new(), Choices::Chooser(&mut chooser));
            let differs = !matches!(outcome, None | Some(Outcome::Same | Outcome::Incomplete));
            if differs && !chooser.is_lost() {
                let before = describe(None, failing);
                let after = describe(None, self.engine.trace());
                let hidden = HiddenState { execution: tally.executions, before, after };
                tally.hidden_state = Some(Box::new(hidden));
                return true;
            }
        }
        false
    }

    /// Begins the last phase, with all that is left.
    fn begin_last_phase(&mut self) {
        self.phase_end = self.allowance.executions;
        self.phase_time_end = self.end;
    }

    /// Begins a phase with its part of the executions.
    fn begin_phase(&mut self) {
        let part = self.allowance.executions / PARTS;
        self.phase_end = (self.executions + part).min(self.allowance.executions);
        self.phase_time_end =
            self.end.min(self.check.budget.elapsed() + self.allowance.time / PARTS as u32);
    }

    /// Prepares runs like `trace`.
    fn begin_like(&mut self, trace: &Trace) {
        self.begin(thread_ids_of(trace), self.steps_like(trace));
    }

    /// Returns the most steps of runs like `trace`.
    fn steps_like(&self, trace: &Trace) -> usize {
        let steps = trace.events.len() * STEPS_PER_STEP + MORE_STEPS;
        steps.min(self.check.settings.max_steps)
    }

    /// Returns what ends the work, if it has to end.
    fn is_cut_off(&self) -> Option<CutOff> {
        if self.executions == 0 {
            // One run tells the size of the run that was found, with which the report says what ended the work.
            return None;
        }
        if self.executions >= self.phase_end {
            return Some(CutOff::Executions);
        }
        if self.check.budget.elapsed() >= self.phase_time_end {
            return Some(CutOff::Time);
        }
        let leaked = self.check.executor.leaked() - self.leaked_before;
        let by_all = LEAKED_BY_EXPLANATIONS.load(Relaxed) + leaked;
        let is_too_much = leaked >= self.allowance.leaks || by_all >= MAX_LEAKED_BY_EXPLANATIONS;
        is_too_much.then_some(CutOff::Leaks)
    }

    fn finish(self) {
        let leaked = self.check.executor.leaked() - self.leaked_before;
        LEAKED_BY_EXPLANATIONS.fetch_add(leaked, Relaxed);
        engine_cache::put(self.engine);
    }

    /// Returns what came of the last run.
    fn judge(&mut self) -> Outcome {
        let trace = self.engine.trace();
        match trace.ending {
            Ending::Abandoned => return Outcome::GivenUp,
            Ending::StepLimit | Ending::TimeLimit | Ending::Diverged(_) => {
                return Outcome::Incomplete;
            }
            Ending::Finished | Ending::Deadlock | Ending::Stopped | Ending::Panicked(_) => {}
        }
        match self.check.finding(trace, &mut self.cleared) {
            Some(finding) if cause(&finding) == self.cause => Outcome::Same,
            Some(_) => Outcome::Other,
            None if trace.ending == Ending::Stopped => Outcome::Stopped,
            None => Outcome::Passes,
        }
    }
}

impl Trials for Bench<'_, '_> {
    fn run(&mut self, prefix: &Schedule, choices: Choices<'_>) -> Option<Outcome> {
        if let Some(cut_off) = self.is_cut_off() {
            self.cut_off = Some(cut_off);
            return None;
        }
        self.executions += 1;
        self.engine.prefix_mut().clone_from(prefix);
        self.check.executor.execute(&mut self.engine, choices);
        Some(self.judge())
    }

    fn trace(&self) -> &Trace {
        self.engine.trace()
    }

    fn token(&self) -> String {
        let trace = self.engine.given_up().unwrap_or(self.engine.trace());
        Token::new(&self.check.settings.name, &trace.threads, trace.schedule()).to_string()
    }

    fn limit(&self) -> Unknown {
        match self.cut_off {
            Some(CutOff::Time) => Unknown::Time,
            Some(CutOff::Leaks) => Unknown::Leaks,
            Some(CutOff::Executions) | None => Unknown::Executions,
            Some(_) => raddle_results::new_variant(),
        }
    }

    fn strengthen(&mut self, orders: &[Strengthened]) {
        self.orders = orders.to_vec();
    }

    fn begin(&mut self, thread_ids: ThreadIds, max_steps: usize) {
        self.engine.renew(thread_ids, max_steps);
        self.engine.set_known_loops(self.check.loops.clone());
        let leads_panics = self.check.executor.leads_panics();
        let orders = self.orders.clone();
        self.engine.set_special(Some(Special { leads_panics, orders, ..Special::default() }));
        self.engine.set_time_limit(self.deadline.for_engine());
    }
}
