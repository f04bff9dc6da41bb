//! Runs that a chooser gives up: their tail is a real execution, fair, and changes nothing for other runs.

use std::time::Duration;

use raddle_core::{
    Action, AtomicOp, Choices, Chooser, Ending, Event, MemoryModel, Order, PauseOp, Pending, Pick,
    Point, Rng, Scalar, Schedule, Trace,
};
use raddle_engine::{Engine, Initial, Sc, Substrate, ThreadIds};
use raddle_explore::{Budget, Explorer, Replay, Session, Settings, Strategy};
use raddle_results::Verdict;
use raddle_testkit::{Interpreter, Program, Shape, Step, for_all, scaled};

const MAX_STEPS: usize = 100_000;

/// Chooses at random, and gives the run up after some answers.
struct GivesUp {
    rng: Rng,
    left: usize,
    /// The number of events, and the pending operations, where the run was given up.
    seen: Option<(usize, Vec<Pending>)>,
}

impl Chooser for GivesUp {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        assert!(self.seen.is_none(), "no chooser is asked in the tail");
        if self.left == 0 {
            let pending = match at {
                Point::Thread(threads) => threads.pending.to_vec(),
                Point::Source { .. } | Point::Place { .. } | Point::Value { .. } => Vec::new(),
            };
            self.seen = Some((past.len(), pending));
            return Pick::Abandon;
        }
        self.left -= 1;
        Pick::Take(self.rng.below(at.options()))
    }
}

fn run(engine: &mut Engine<Sc>, program: &Program, seed: u64, answers: usize) -> GivesUp {
    let mut chooser = GivesUp { rng: Rng::new(seed), left: answers, seen: None };
    engine.prefix_mut().clear();
    Interpreter.execute(engine, Choices::Chooser(&mut chooser), program);
    chooser
}

fn new_engine() -> Engine<Sc> {
    Engine::new(Sc, ThreadIds::default(), MAX_STEPS)
}

#[test]
fn the_tail_of_a_run_is_a_real_execution() {
    let (mut tails, mut failing) = (0, 0);
    for_all(71, scaled(400), &Shape::large(), |program, rng| {
        let mut used = new_engine();
        for _ in 0..4 {
            let (seed, answers) = (rng.bits(), rng.below(30));
            used.forget_threads();
            let chooser = run(&mut used, program, seed, answers);
            // The run does not depend on earlier ones.
            let mut fresh = new_engine();
            run(&mut fresh, program, seed, answers);
            let Some((steps, pending)) = chooser.seen else {
                assert!(used.given_up().is_none());
                continue;
            };
            let (cut, whole) = (used.trace(), used.given_up().expect("it was given up"));
            assert_eq!(cut, fresh.trace());
            assert_eq!(Some(whole), fresh.given_up());
            assert_eq!((cut.events.len(), &cut.ending), (steps, &Ending::Abandoned));
            assert_eq!(cut.events, whole.events[..steps]);
            for left in &cut.pending {
                let announced = pending.iter().find(|one| one.thread == left.thread);
                assert!(announced.is_none_or(|announced| announced == left));
            }
            let replay = Replay::of(whole, MemoryModel::Sc, MAX_STEPS);
            let again = replay.run(&mut Interpreter, program);
            assert_eq!(again.ending, whole.ending);
            assert_eq!(again.fingerprint, whole.fingerprint);
            assert!(whole.ending != Ending::StepLimit, "these programs end");
            tails += 1;
            failing += u64::from(whole.ending != Ending::Finished);
        }
        Ok(())
    });
    assert!(tails >= scaled(400) && failing >= scaled(40), "{tails} {failing}");
}

const LOAD: Action = Action::Atomic(AtomicOp::Load { order: Order::SeqCst });

/// Two threads that perform this step many times.
fn two_of(step: Step) -> Program {
    let script = vec![step; 400];
    let main = vec![Step::Spawn(1), Step::Spawn(2), Step::Join(0), Step::Join(1)];
    let objects = vec![Initial::Atomic(Scalar::U64, 0)];
    Program { objects, scripts: vec![main, script.clone(), script] }
}

/// Returns the lengths of the parts of a run that one thread makes.
fn turns(trace: &Trace) -> Vec<usize> {
    let same = |one: &Event, other: &Event| one.id.thread == other.id.thread;
    trace.events.chunk_by(same).map(<[Event]>::len).collect()
}

#[test]
fn the_tail_is_fair() {
    let mut engine = new_engine();
    run(&mut engine, &two_of(Step::On(0, LOAD)), 1, 4);
    let whole = engine.given_up().unwrap();
    let longest = turns(whole).into_iter().max();
    assert!(longest.is_some_and(|longest| (128..=130).contains(&longest)), "{longest:?}");
    assert!(engine.tail_preemptions() >= 4);

    let mut engine = new_engine();
    run(&mut engine, &two_of(Step::Alone(Action::Pause(PauseOp::Yield))), 1, 4);
    let whole = engine.given_up().unwrap();
    let all = turns(whole);
    // Main joins both threads and ends.
    let (last, others) = all.split_last().unwrap();
    assert!(*last == 3 && others.iter().all(|&turn| turn <= 2), "{all:?}");
    assert_eq!(engine.tail_preemptions(), 0);
}

/// A thread waits in a loop for a number that no thread stores.
#[test]
fn a_tail_that_does_not_end_is_cut_off() {
    let script = vec![Step::On(0, LOAD), Step::BackIfEven(1)];
    let objects = vec![Initial::Atomic(Scalar::U64, 0)];
    let program = Program { objects, scripts: vec![vec![Step::Spawn(1), Step::Join(0)], script] };
    let mut engine = new_engine();
    run(&mut engine, &program, 1, 10);
    let whole = engine.given_up().unwrap();
    assert_eq!((&whole.ending, whole.events.len()), (&Ending::StepLimit, 11 * 10 + 10_000));
    assert_eq!((&engine.trace().ending, engine.trace().events.len()), (&Ending::Abandoned, 10));

    let report = session(&program, &mut Once { answers: 10, chooser: None });
    assert!(matches!(report.verdict, Verdict::Sampled), "no finding: {:?}", report.verdict);
}

/// Makes one run, which it gives up.
struct Once {
    answers: usize,
    chooser: Option<GivesUp>,
}

impl Explorer for Once {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        prefix.clear();
        self.chooser.is_none()
    }

    fn choices(&mut self) -> Choices<'_> {
        let rng = Rng::new(5);
        Choices::Chooser(self.chooser.insert(GivesUp { rng, left: self.answers, seen: None }))
    }

    fn learn(&mut self, _run: u64, trace: &Trace) {
        assert_eq!(trace.ending, Ending::Abandoned);
    }

    fn covered(&self, _is_done: bool) -> raddle_explore::Covered {
        raddle_explore::Covered::Nothing
    }

    fn is_beyond_bound(&self, preemptions: u32) -> bool {
        preemptions > 1
    }
}

struct NoLimit;

impl Budget for NoLimit {
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn limit(&self) -> Option<Duration> {
        None
    }
}

fn session(program: &Program, explorer: &mut dyn Explorer) -> raddle_results::Report {
    let settings = Settings::new("given up", Strategy::default());
    let report = Session::new(&mut Interpreter, program, &settings, &NoLimit).explore(explorer);
    report.expect("nothing is refused")
}

/// Threads panic long after the run was given up: that is a failure with a token of the whole run.
#[test]
fn a_failure_in_the_tail_counts() {
    for (steps, is_beyond) in [(5, false), (400, true)] {
        let mut program = two_of(Step::On(0, LOAD));
        program.scripts[1].truncate(steps);
        program.scripts[1].push(Step::Panic);
        program.scripts[2].push(Step::Panic);
        let report = session(&program, &mut Once { answers: 4, chooser: None });
        let failure = report.failure().expect("a thread panics");
        assert!(failure.reproduced && matches!(failure.trace.ending, Ending::Panicked(_)));
        assert_eq!(failure.beyond_bound, is_beyond);
        assert!(failure.trace.events.len() > 4 + steps);
        let settings = Settings::new("given up", Strategy::default());
        let mut interpreter = Interpreter;
        let replay = Session::new(&mut interpreter, &program, &settings, &NoLimit);
        let again = replay.replay(&failure.token).expect("it is a token of this check");
        assert_eq!(again.failure().map(|again| &again.finding), Some(&failure.finding));
    }
}

/// Main has ended, and two threads wait for each other: a deadlock, also in the tail. One thread that waits alone is none.
#[test]
fn cycles_after_the_end_of_main() {
    let lock = |object| Step::On(object, Action::Mutex(raddle_core::MutexOp::Lock));
    let unlock = |object| Step::On(object, Action::Mutex(raddle_core::MutexOp::Unlock));
    let both = |first, second| vec![lock(first), lock(second), unlock(second), unlock(first)];
    let program = |scripts: Vec<Vec<Step>>| {
        let spawns = (1..=scripts.len()).map(Step::Spawn).collect();
        let scripts = std::iter::once(spawns).chain(scripts).collect();
        Program { objects: vec![Initial::Mutex, Initial::Mutex], scripts }
    };
    let cases = [
        (program(vec![both(0, 1), both(1, 0)]), true),
        (program(vec![both(0, 0)]), true),
        // The thread that holds the second lock waits for no thread.
        (program(vec![both(0, 1), vec![lock(1), Step::Park { timed: false }]]), false),
    ];
    for (program, is_cycle) in cases {
        let mut found = false;
        for seed in 0..200 {
            let mut engine = new_engine();
            run(&mut engine, &program, seed, usize::MAX);
            let ending = engine.trace().ending.clone();
            let is_unfinished = !engine.trace().pending.is_empty();
            assert!(is_cycle || ending == Ending::Finished, "{ending:?}");
            assert!(!is_cycle || (ending == Ending::Deadlock) == is_unfinished);
            found |= is_unfinished;
        }
        assert!(found);
    }
}
