//! Pattern constraint reduction (Zhao et al., IEEE TSE 2023): runs made by a solver to exhibit
//! memory-access patterns that no run has exhibited yet.
//!
//! A run is made at random. From its accesses patterns are put together (Alg. 3) that other orders of the
//! same events would exhibit. Six rules leave out what cannot be or leads nowhere new; for each of the
//! others, longest first, a solver is asked for an order (Alg. 4), and what it finds is run next. What it
//! finds impossible is remembered by its reason, which spares later questions that contain it.
//!
//! Promise: every order that is run does what it was made for, or the program is not deterministic. When
//! there is nothing left, every pattern that could be put together was covered, left out by a rule, or
//! found impossible. That does not mean that every execution was tried.
//!
//! Rule 2 leaves a pattern out that was covered in another context: after other locks were taken, say. So when
//! there is nothing left, all runs are gone through once more without it, and so is what comes of that.
//!
//! Deviations: any number of threads. Locks are accesses too, because what they protect is not seen.
//! A pattern that was covered by another run while it waited in the queue is not run.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::marker::PhantomData;

use raddle_analysis::MapCoverage;
use raddle_core::{Choices, Schedule, Trace};
use raddle_results::{Accesses, PatternSearch};
use raddle_solve::{Cdcl, Literal, OrderSolver};
use raddle_strategy::{Rng, mix};

use crate::{Covered, Explorer, Refusal};

mod candidates;
mod guided;
mod layout;
mod model;
mod plan;
mod rules;

use candidates::{Candidate, Shared};
pub(crate) use guided::Guided;
pub(crate) use layout::{Layout, name, operation, reads_variable};
pub(crate) use model::{Done, Found, Model, Question};
pub(crate) use plan::Planned;
pub use rules::Rules;

/// A solver is asked so many questions about one run at most, drawn from all if there are more; about a long
/// run fewer, because each takes longer: so many, times its events.
const MOST_QUESTIONS: usize = 1_000;
const MOST_WORK: usize = 500_000;

/// So many runs are gone through once more at most, with so many events in all.
const KEPT_RUNS: usize = 256;
const KEPT_EVENTS: usize = 100_000;

/// The search.
#[derive(Debug)]
pub struct Pcr<S = Cdcl> {
    seed: u64,
    runs: u64,
    rules: Rules,
    coverage: MapCoverage,
    queue: BinaryHeap<Waiting>,
    planned: HashSet<u64>,
    /// The classes of runs whose patterns have been looked for.
    analysed: HashSet<u64>,
    /// Runs to be gone through once more; none any more if that is being done.
    kept: Option<Vec<Trace>>,
    current: Option<Planned>,
    counts: PatternSearch,
    refusal: Option<Refusal>,
    chooser: Guided,
    solver: PhantomData<S>,
}

/// A run that waits for its turn: longer patterns first, then those found first.
#[derive(Debug)]
struct Waiting {
    length: usize,
    turn: Reverse<u64>,
    planned: Planned,
    pattern: u8,
    numbers: Vec<u32>,
}

impl Pcr {
    /// A search whose random parts are seeded from `seed`.
    pub fn new(seed: u64) -> Pcr {
        Pcr::with_rules(seed, Rules::ALL)
    }

    /// The same with only some of the rules.
    pub fn with_rules(seed: u64, rules: Rules) -> Pcr {
        Pcr::with_solver(seed, rules)
    }
}

impl<S: OrderSolver> Pcr<S> {
    /// The same, asking another solver: a new one about each run.
    pub fn with_solver(seed: u64, rules: Rules) -> Pcr<S> {
        Pcr {
            seed,
            runs: 0,
            rules,
            coverage: MapCoverage::new(Accesses::ByEvent),
            queue: BinaryHeap::new(),
            planned: HashSet::new(),
            analysed: HashSet::new(),
            kept: rules.has(2).then(Vec::new),
            current: None,
            counts: PatternSearch::default(),
            refusal: None,
            chooser: Guided::default(),
            solver: PhantomData,
        }
    }

    /// What has been done so far.
    pub fn counts(&self) -> PatternSearch {
        self.counts
    }

    /// Plans runs that exhibit new patterns of the events of `trace`.
    fn analyse(&mut self, trace: &Trace) {
        let shared = Shared::new(trace, &mut self.coverage);
        if self.runs == 1 {
            self.refusal = Refusal::of_accesses(trace, shared.is_empty());
        }
        self.coverage.learn(trace);
        if !self.analysed.insert(trace.fingerprint) {
            return;
        }
        if let Some(kept) = &mut self.kept {
            let events: usize = kept.iter().map(|kept| kept.events.len()).sum();
            if kept.len() < KEPT_RUNS && events + trace.events.len() <= KEPT_EVENTS {
                kept.push(trace.clone());
            }
        }
        self.plan_from(trace, &shared);
    }

    /// Plans runs that exhibit patterns which no rule leaves out.
    fn plan_from(&mut self, trace: &Trace, shared: &Shared) {
        let mut model = Model::<S>::new(trace);
        let mut candidates = self.candidates(shared, &model);
        candidates.sort_by_key(|candidate| Reverse(candidate.steps().len()));
        let mut cores: Vec<Vec<Literal>> = Vec::new();
        for candidate in &candidates {
            self.solve(candidate, &mut model, &mut cores);
        }
        model.count(&mut self.counts);
    }

    /// The candidates that no rule leaves out, or as many of them as a solver is to be asked about.
    fn candidates(&mut self, shared: &Shared, model: &Model<'_, S>) -> Vec<Candidate> {
        let most = MOST_QUESTIONS.min(MOST_WORK / model.trace.events.len().max(1)).max(1);
        let mut kept = Vec::new();
        let mut met = 0;
        let mut rng = Rng::new(mix(self.seed, !self.runs));
        let Pcr { counts, coverage, rules, .. } = self;
        shared.candidates(|candidate| {
            counts.generated += 1;
            match rules.first_against(candidate, shared, &model.layout, coverage) {
                Some(rule) => counts.filtered[rule - 1] += 1,
                None => {
                    met += 1;
                    if kept.len() < most {
                        kept.push(*candidate);
                        return;
                    }
                    counts.left_out += 1;
                    // All alike, without knowing how many there will be.
                    let place = rng.below(met);
                    if place < most {
                        kept[place] = *candidate;
                    }
                }
            }
        });
        kept
    }

    /// Alg. 4, and the queue.
    fn solve(
        &mut self,
        candidate: &Candidate,
        model: &mut Model<'_, S>,
        cores: &mut Vec<Vec<Literal>>,
    ) {
        let literals = model.literals(&question(candidate, model));
        if cores.iter().any(|core| core.iter().all(|literal| literals.contains(literal))) {
            self.counts.by_core += 1;
            return;
        }
        match model.solve(&literals) {
            Found::Impossible(core) => {
                self.counts.unsat += 1;
                cores.push(model.shrink(core));
            }
            Found::Unknown => self.counts.unknown += 1,
            Found::Order(order) => {
                self.counts.solved += 1;
                let planned = Planned::new(model, up_to_pattern(&order, candidate), None);
                if !self.planned.insert(planned.class) {
                    self.counts.duplicates += 1;
                    return;
                }
                let steps = candidate.steps();
                self.queue.push(Waiting {
                    length: steps.len(),
                    turn: Reverse(self.counts.solved),
                    planned,
                    pattern: candidate.pattern.unwrap_or(0),
                    numbers: steps.iter().map(|step| step.number).collect(),
                });
            }
        }
    }

    fn next_planned(&mut self) -> Option<Planned> {
        loop {
            if self.queue.is_empty() {
                self.go_through_again();
            }
            let Waiting { planned, pattern, numbers, .. } = self.queue.pop()?;
            if !self.rules.has(2) || !self.coverage.has(pattern, &numbers) {
                return Some(planned);
            }
            self.counts.filtered[1] += 1;
        }
    }

    /// Looks for patterns that were covered in another context only.
    fn go_through_again(&mut self) {
        self.rules = self.rules.without(2);
        for trace in self.kept.take().unwrap_or_default() {
            let shared = Shared::new(&trace, &mut self.coverage);
            self.plan_from(&trace, &shared);
        }
    }
}

/// What to ask for a candidate: the last access of each thread is attempted, unless it has the same effect
/// in any case; all others are kept.
fn question(candidate: &Candidate, model: &Model<'_, impl OrderSolver>) -> Question {
    let steps = candidate.steps();
    let mut question = Question::default();
    for (index, step) in steps.iter().enumerate() {
        let is_last = steps[index + 1..].iter().all(|later| later.thread != step.thread);
        let depends = !model.layout.is_variable[step.object as usize]
            || reads_variable(operation(model.trace, step.position));
        let is_pending = step.position as usize >= model.trace.events.len();
        let list = if is_pending || is_last && depends {
            &mut question.attempted
        } else {
            &mut question.kept
        };
        list.push(step.position);
        question.order.push(step.position);
    }
    question
}

/// An order without what comes after the last access of the pattern.
fn up_to_pattern<'a>(order: &'a [Done], candidate: &Candidate) -> &'a [Done] {
    let last = candidate.steps()[candidate.steps().len() - 1].position;
    let end = order.iter().rposition(|done| done.step == last);
    &order[..=end.expect("raddle invariant broken: a pattern is not in its order")]
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.turn == other.turn
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> std::cmp::Ordering {
        (self.length, self.turn).cmp(&(other.length, other.turn))
    }
}

impl<S: OrderSolver> Explorer for Pcr<S> {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        prefix.clear();
        if self.runs > 0 {
            let Some(planned) = self.next_planned() else {
                self.counts.is_done = true;
                return false;
            };
            prefix.extend_from_slice(&planned.schedule);
            self.current = Some(planned);
        }
        let goals = self.current.as_ref().map_or(&[][..], |planned| &planned.goals);
        self.chooser.begin(mix(self.seed, self.runs), goals);
        self.runs += 1;
        true
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(&mut self.chooser)
    }

    fn learn(&mut self, _run: u64, trace: &Trace) {
        if let Some(planned) = self.current.take() {
            planned.outcome(trace).count(&mut self.counts);
        }
        self.analyse(trace);
    }

    fn covered(&self, _is_done: bool) -> Covered {
        Covered::Nothing
    }

    fn plans_long(&self) -> bool {
        true
    }

    fn refusal(&self) -> Option<Refusal> {
        self.refusal.clone()
    }

    fn patterns(&self) -> Option<PatternSearch> {
        Some(self.counts)
    }
}
