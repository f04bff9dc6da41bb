//! Pattern constraint reduction (Zhao et al., IEEE TSE 2023): runs constructed by a solver to exhibit
//! memory-access patterns that no run has exhibited yet.
//!
//! The first run is random. From its accesses, candidate patterns are composed (Alg. 3) that other orders
//! of the same events would exhibit. Six rules filter candidates that are impossible or lead to nothing
//! new. For each of the others, longest first, a solver is asked for an order (Alg. 4), which is run next.
//! If there is none, the solver's reason is kept, and later questions that contain it are skipped.
//!
//! Promise: every order that is run exhibits its pattern, or the program is not deterministic. When
//! nothing is left, every candidate was covered, filtered by a rule, or found impossible. That does not
//! mean that every execution was run.
//!
//! Rule 2 filters a pattern that was covered in another context, for example after other locks were
//! acquired. So when nothing is left, all runs are analysed once more without it.
//!
//! Deviations: any number of threads. Operations on locks are accesses too, because the data that they
//! protect is not visible. A pattern that another run covers while it is in the queue is not run.

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

/// The most questions about one run, drawn at random if there are more.
const MAX_QUESTIONS: usize = 1_000;
/// The most questions about one run times its events, because questions about long runs take longer.
const MAX_WORK: usize = 500_000;

/// The most runs that are analysed once more, and the most events of all of them.
const MAX_KEPT_RUNS: usize = 256;
const MAX_KEPT_EVENTS: usize = 100_000;

/// The search.
#[derive(Debug)]
pub struct Pcr<S = Cdcl> {
    seed: u64,
    runs: u64,
    rules: Rules,
    coverage: MapCoverage,
    queue: BinaryHeap<Waiting>,
    planned: HashSet<u64>,
    /// The classes of the runs that were analysed.
    analysed: HashSet<u64>,
    /// The runs to be analysed once more. `None` once that has begun.
    kept: Option<Vec<Trace>>,
    current: Option<Planned>,
    counts: PatternSearch,
    refusal: Option<Refusal>,
    chooser: Guided,
    solver: PhantomData<S>,
}

/// A run in the queue: longer patterns first, then those found first.
#[derive(Debug)]
struct Waiting {
    length: usize,
    turn: Reverse<u64>,
    planned: Planned,
    pattern: u8,
    numbers: Vec<u32>,
}

impl Pcr {
    /// Makes a search whose random choices are seeded from `seed`.
    pub fn new(seed: u64) -> Pcr {
        Pcr::with_rules(seed, Rules::ALL)
    }

    /// Makes a search with only some of the rules.
    pub fn with_rules(seed: u64, rules: Rules) -> Pcr {
        Pcr::with_solver(seed, rules)
    }
}

impl<S: OrderSolver> Pcr<S> {
    /// Makes a search that asks another kind of solver, a new one for each run.
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

    /// Returns the counts so far.
    pub fn counts(&self) -> PatternSearch {
        self.counts
    }

    /// Plans runs that exhibit new patterns of the events of `trace`.
    fn analyse(&mut self, trace: &Trace) {
        let shared = Shared::new(trace, &mut self.coverage);
        self.refusal = Refusal::of_futexes(trace);
        if self.refusal.is_some() {
            return;
        }
        if self.runs == 1 {
            self.refusal = Refusal::of_accesses(trace, shared.is_empty());
        }
        self.coverage.learn(trace);
        if !self.analysed.insert(trace.fingerprint) {
            return;
        }
        if let Some(kept) = &mut self.kept {
            let events: usize = kept.iter().map(|kept| kept.events.len()).sum();
            if kept.len() < MAX_KEPT_RUNS && events + trace.events.len() <= MAX_KEPT_EVENTS {
                kept.push(trace.clone());
            }
        }
        self.plan_from(trace, &shared);
    }

    /// Plans runs that exhibit patterns which no rule filters.
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

    /// Returns the candidates that no rule filters, or a random selection if there are too many.
    fn candidates(&mut self, shared: &Shared, model: &Model<'_, S>) -> Vec<Candidate> {
        let most = MAX_QUESTIONS.min(MAX_WORK / model.trace.events.len().max(1)).max(1);
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
                    // A uniform selection from a stream of unknown length.
                    let place = rng.below(met);
                    if place < most {
                        kept[place] = *candidate;
                    }
                }
            }
        });
        kept
    }

    /// Asks the solver for an order that exhibits a candidate (Alg. 4), and queues it.
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
                self.analyse_again();
            }
            let Waiting { planned, pattern, numbers, .. } = self.queue.pop()?;
            if !self.rules.has(2) || !self.coverage.has(pattern, &numbers) {
                return Some(planned);
            }
            self.counts.filtered[1] += 1;
        }
    }

    /// Analyses the kept runs once more, for patterns that were covered in another context only.
    fn analyse_again(&mut self) {
        self.rules = self.rules.without(2);
        for trace in self.kept.take().unwrap_or_default() {
            let shared = Shared::new(&trace, &mut self.coverage);
            self.plan_from(&trace, &shared);
        }
    }
}

/// Returns the question for a candidate: the last access of each thread is attempted, unless its effect is
/// always the same; all others are kept.
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

/// Returns an order up to the last access of the pattern.
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

    fn restart(&mut self) -> bool {
        *self = Pcr::with_solver(self.seed, self.rules);
        true
    }

    fn refusal(&self) -> Option<Refusal> {
        self.refusal.clone()
    }

    fn patterns(&self) -> Option<PatternSearch> {
        Some(self.counts)
    }
}
