//! An engine that is used again leaves nothing of a run to the next but the numbers of threads: whatever ran
//! before, a run is what it would be on an engine of its own.

use raddle_core::{Chooser, Ending, Event, Pick, Point, ThreadId, Trace};
use raddle_engine::{Engine, Family, Memory, Rc11, Sc, Substrate};
use raddle_strategy::{Pos, Random, Rng, Sampler};
use raddle_testkit::{Interpreter, Program, Shape, Step, for_all, scaled};

/// How many runs were ordinary, and how many were not.
#[derive(Default)]
struct Tally {
    ordinary: u64,
    unusual: u64,
}

fn engine<C: Sampler + Clone>(family: Family, sampler: &C) -> Engine<Sc, C> {
    Engine::new(Sc, family, sampler.clone(), 10_000)
}

fn run<M: Memory, C: Sampler>(engine: &mut Engine<M, C>, program: &Program, seed: u64) -> Trace {
    engine.plan_mut().then.begin(seed);
    Interpreter.execute(engine, program).expect("scripted threads do not get stuck");
    engine.trace().clone()
}

/// What `was_ordinary` promises.
fn has_nothing_else_to_say(trace: &Trace) -> bool {
    trace.ending == Ending::Finished
        && trace.pending.is_empty()
        && trace.plain.is_empty()
        && trace.unfreed.is_empty()
        && trace.sources.is_empty()
        && trace.choices == 0
}

fn check<C: Sampler + Clone>(sampler: C, seed: u64) {
    let mut tally = Tally::default();
    let mut used = engine(Family::default(), &sampler);
    for_all(seed, scaled(400), &Shape::large(), |program, rng| {
        let seed = rng.bits();
        let after_others = run(&mut used, program, seed);
        let family = Family::with(&after_others.threads[1..]).expect("threads of a run");
        let alone = run(&mut engine(family, &sampler), program, seed);
        if after_others != alone {
            return Err(format!("used before: {after_others:#?}\nnew: {alone:#?}"));
        }
        if used.was_ordinary() && !has_nothing_else_to_say(&alone) {
            return Err(format!("ordinary, and yet: {alone:#?}"));
        }
        tally.ordinary += u64::from(used.was_ordinary());
        tally.unusual += u64::from(!used.was_ordinary());
        Ok(())
    });
    assert!(tally.ordinary > 0 && tally.unusual > 0 || cfg!(miri));
}

#[test]
fn a_random_walk_is_the_same_on_an_engine_used_before() {
    check(Random::default(), 21);
}

/// A random walk that lets threads run on for a while.
#[derive(Clone)]
struct Leasing(Rng);

impl Chooser for Leasing {
    const WATCHES_CHANGES: bool = false;
    const GRANTS_LEASES: bool = true;

    fn choose(&mut self, at: &Point<'_>, _past: &[Event]) -> Pick {
        let option = self.0.below(at.options());
        match at {
            Point::Thread(_) => Pick::Run { option, steps: 1 + self.0.below(8) as u32 },
            Point::Source { .. } | Point::Place { .. } | Point::Value { .. } => Pick::Take(option),
        }
    }

    fn interrupts(&mut self, _thread: ThreadId) -> bool {
        self.0.below(2) == 0
    }
}

impl Sampler for Leasing {
    fn begin(&mut self, seed: u64) {
        self.0 = Rng::new(seed);
    }

    fn learn(&mut self, _trace: &Trace) {}
}

/// Leases leave things for later.
#[test]
fn so_is_a_run_with_leases() {
    check(Leasing(Rng::new(0)), 22);
}

/// Changes are written down for it.
#[test]
fn so_is_a_run_that_watches_changes() {
    check(Pos::plain(), 23);
}

/// An engine that was renewed leaves nothing at all, not even the numbers of threads.
fn check_renewed<M: Memory + Default, C: Sampler + Clone>(chooser: C, seed: u64) {
    let new = |family| Engine::new(M::default(), family, chooser.clone(), 10_000);
    let mut used = new(Family::default());
    for_all(seed, scaled(200), &Shape::large(), |program, rng| {
        let seed = rng.bits();
        let mut threads = Vec::new();
        // Then with ids that are known before, as often as not.
        for _ in 0..2 {
            let family = Family::with(&threads).expect("threads of a run");
            used.renew(family.clone(), 10_000);
            used.plan_mut().then = chooser.clone();
            let mut new = new(family);
            // An engine's first run, and one more.
            for seed in [seed, seed + 1] {
                let (used, new) = (run(&mut used, program, seed), run(&mut new, program, seed));
                if used != new {
                    return Err(format!("used before: {used:#?}\nnew: {new:#?}"));
                }
                if rng.below(2) == 0 {
                    threads = new.threads[1..].to_vec();
                }
            }
        }
        assert!(used.is_small());
        Ok(())
    });
}

#[test]
fn an_engine_that_was_renewed_is_like_a_new_one() {
    check_renewed::<Sc, _>(Random::default(), 24);
    check_renewed::<Rc11, _>(Random::default(), 25);
    check_renewed::<Sc, _>(Leasing(Rng::new(0)), 26);
    check_renewed::<Sc, _>(Pos::plain(), 27);
}

#[test]
fn an_engine_that_has_grown_is_not_worth_keeping() {
    let mut scripts = vec![(1..100).map(Step::Spawn).collect()];
    scripts.resize(100, Vec::new());
    let wide = Program { objects: Vec::new(), scripts };
    let mut engine = engine(Family::default(), &Random::default());
    assert!(engine.is_small());
    run(&mut engine, &wide, 1);
    assert!(!engine.is_small());
}
