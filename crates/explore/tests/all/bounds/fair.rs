//! Programs that spin. The fair bound makes their executions finite, alone and with a bound on preemptions.

use raddle_core::{Action, AtomicOp, MutexOp, Order, PauseOp, Rmw, Scalar};
use raddle_engine::Initial;
use raddle_explore::{Bound, Bpor, Reduction, Ties};
use raddle_strategy::{Rng, mix};
use raddle_testkit::{Program, Step, scaled, shrink};

use super::bpor::reached;
use super::brute::within;

const FLAG: usize = 0;
const OTHER: usize = 1;
const MUTEX: usize = 2;

/// Programs with more executions within the bound are skipped.
const LIMIT: u64 = 400;

/// Returns a random program in which children spin until main has set a flag.
pub(crate) fn spinning(rng: &mut Rng) -> Program {
    let order = Order::SeqCst;
    let set = Step::On(FLAG, Action::Atomic(AtomicOp::Store { order, value: 1 }));
    let mut scripts = vec![Vec::new()];
    for child in 1..=1 + rng.below(2) {
        if rng.below(3) == 0 {
            add_piece(1 + rng.below(7), &mut scripts[0]);
        }
        scripts[0].push(Step::Spawn(child));
        let mut steps = Vec::new();
        for _ in 0..1 + rng.below(2) {
            add_piece(rng.below(8), &mut steps);
        }
        scripts.push(steps);
    }
    let mut rest = vec![set];
    for _ in 0..rng.below(3) {
        let mut steps = Vec::new();
        add_piece(1 + rng.below(7), &mut steps);
        let at = rng.below(rest.len() + 1);
        rest.splice(at..at, steps);
    }
    scripts[0].extend(rest);
    if rng.below(3) == 0 {
        scripts[0].push(Step::Join(rng.below(2)));
    }
    let atomic = Initial::Atomic(Scalar::U8, 0);
    Program { objects: vec![atomic, atomic, Initial::Mutex], scripts }
}

fn add_piece(piece: usize, steps: &mut Vec<Step>) {
    let order = Order::SeqCst;
    let load = |object| Step::On(object, Action::Atomic(AtomicOp::Load { order }));
    let update = AtomicOp::Update { order, scalar: Scalar::U8, function: Rmw::Add, operand: 1 };
    let add = Step::On(OTHER, Action::Atomic(update));
    let pause = Step::Alone(Action::Pause(PauseOp::Yield));
    let on_mutex = |op| Step::On(MUTEX, Action::Mutex(op));
    match piece {
        0 => steps.extend([load(FLAG), Step::SkipIfOdd(2), pause, Step::BackIfEven(3)]),
        1 => steps.push(load(OTHER)),
        2 => steps.push(add),
        3 => steps.push(pause),
        4 => steps.extend([on_mutex(MutexOp::Lock), on_mutex(MutexOp::Unlock)]),
        5 => steps.extend([on_mutex(MutexOp::Lock), add, on_mutex(MutexOp::Unlock)]),
        6 => steps.extend([on_mutex(MutexOp::Lock), pause, on_mutex(MutexOp::Unlock)]),
        _ => steps.push(Step::Park { timed: true }),
    }
}

#[derive(Default, Debug)]
struct Tally {
    checks: u64,
    classes: u64,
    executions: u64,
    runs: u64,
    blocked: u64,
    pruned: u64,
}

fn check(
    program: &Program,
    bound: Bound,
    reduction: Reduction,
    ties: Ties,
    tally: &mut Tally,
) -> Result<(), String> {
    let Some((expected, executions)) = within(program, bound, LIMIT) else { return Ok(()) };
    let mut explorer = Bpor::new(bound, reduction).with_ties(ties);
    let found = reached(program, &mut explorer);
    let counts = explorer.counts();
    if let Some(missed) = expected.iter().find(|class| !found.contains_key(class)) {
        return Err(format!("{bound:?}: misses {missed:?}; {counts:?}"));
    }
    if let Some(stray) = found.keys().find(|class| !expected.contains(class)) {
        return Err(format!("{bound:?}: {stray:?} is not within the bound"));
    }
    if counts.runs > executions {
        return Err(format!("{bound:?}: {counts:?}, but {executions} executions"));
    }
    tally.checks += 1;
    tally.classes += expected.len() as u64;
    tally.executions += executions;
    tally.runs += counts.runs;
    tally.blocked += counts.blocked;
    tally.pruned += u64::from(counts.pruned);
    Ok(())
}

fn check_many(seed: u64, cases: u64, bounds: &[Bound], reduction: Reduction) {
    check_many_with(seed, cases, bounds, reduction, |_| Ties::Last);
}

/// Checks random programs, each with the ties of its number.
fn check_many_with(
    seed: u64,
    cases: u64,
    bounds: &[Bound],
    reduction: Reduction,
    ties: impl Fn(u64) -> Ties,
) {
    let mut tally = Tally::default();
    for case in 0..scaled(cases) {
        let program = spinning(&mut Rng::new(mix(seed, case)));
        for &bound in bounds {
            let ties = ties(case);
            if check(&program, bound, reduction, ties, &mut tally).is_err() {
                let fails = |program: &Program| {
                    check(program, bound, reduction, ties, &mut Tally::default()).is_err()
                };
                let smallest = shrink(program, fails);
                let message = check(&smallest, bound, reduction, ties, &mut tally).unwrap_err();
                panic!("case {case} of seed {seed}, {reduction:?}:\n{smallest:#?}\n{message}");
            }
        }
    }
    println!("{reduction:?}: {tally:?}");
    assert!(
        tally.checks * 3 >= scaled(cases) * bounds.len() as u64,
        "too many programs are too large"
    );
}

#[test]
fn fair_reduction_reaches_the_classes_within_the_bound() {
    let bounds = [0, 1, 2].map(Bound::fair);
    check_many(51, 60, &bounds, Reduction::Optimised);
    check_many(52, 30, &bounds, Reduction::Plain);
}

/// Which of the threads with the fewest yields is tried first decides the order of the runs, not what they reach.
#[test]
fn the_order_of_threads_that_cost_the_same_does_not_matter() {
    let bounds = [0, 1, 2].map(Bound::fair);
    let ties = |case: u64| if case % 3 == 0 { Ties::Newest } else { Ties::Drawn(case) };
    check_many_with(55, 30, &bounds, Reduction::Optimised, ties);
    check_many_with(
        56,
        15,
        &[Bound::both(1, 0), Bound::preemptions(1)],
        Reduction::Optimised,
        ties,
    );
}

#[test]
fn fair_and_preemption_bounds_combine() {
    let bounds = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (1, 2)];
    let bounds = bounds.map(|(preemptions, lead)| Bound::both(preemptions, lead));
    check_many(53, 60, &bounds, Reduction::Optimised);
    check_many(54, 30, &bounds, Reduction::Plain);
}
