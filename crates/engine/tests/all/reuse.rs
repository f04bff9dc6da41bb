//! An engine keeps nothing from one run to the next but the ids of threads: a run is the same as on a new engine.

use raddle_core::{Choices, Chooser, Ending, Event, Pick, Point, Trace};
use raddle_engine::{Engine, Memory, Rc11, Sc, Substrate, ThreadIds};
use raddle_strategy::{Pos, Random, Rng, Sampler};
use raddle_testkit::{Interpreter, Program, Shape, Step, for_all, scaled};

/// The number of runs that were ordinary, and of those that were not.
#[derive(Default)]
struct Tally {
    ordinary: u64,
    other: u64,
}

fn engine<M: Memory + Default>(thread_ids: ThreadIds) -> Engine<M> {
    Engine::new(M::default(), thread_ids, 10_000)
}

fn run<M: Memory>(
    engine: &mut Engine<M>,
    sampler: &mut dyn Sampler,
    program: &Program,
    seed: u64,
) -> Trace {
    sampler.begin(seed);
    Interpreter.execute(engine, sampler.choices(), program);
    engine.trace().clone()
}

/// Returns whether `trace` has the properties that `was_ordinary` promises.
fn is_ordinary(trace: &Trace) -> bool {
    trace.ending == Ending::Finished
        && trace.pending.is_empty()
        && trace.plain.is_empty()
        && trace.unfreed.is_empty()
        && trace.sources.is_empty()
        && trace.choices == 0
}

fn check<C: Sampler>(mut sampler: C, seed: u64) {
    let mut tally = Tally::default();
    let mut used = engine::<Sc>(ThreadIds::default());
    for_all(seed, scaled(400), &Shape::large(), |program, rng| {
        let seed = rng.bits();
        let after_others = run(&mut used, &mut sampler, program, seed);
        let ids = ThreadIds::of_recorded(&after_others.threads[1..]).expect("threads of a run");
        let alone = run(&mut engine::<Sc>(ids), &mut sampler, program, seed);
        if after_others != alone {
            return Err(format!("used before: {after_others:#?}\nnew: {alone:#?}"));
        }
        if used.was_ordinary() && !is_ordinary(&alone) {
            return Err(format!("`was_ordinary` is wrong: {alone:#?}"));
        }
        tally.ordinary += u64::from(used.was_ordinary());
        tally.other += u64::from(!used.was_ordinary());
        Ok(())
    });
    assert!(tally.ordinary > 0 && tally.other > 0 || cfg!(miri));
}

#[test]
fn a_random_walk_is_the_same_on_a_used_engine() {
    check(Random::default(), 21);
}

/// A random walk with leases.
#[derive(Clone)]
struct Leasing(Rng);

impl Chooser for Leasing {
    fn choose(&mut self, at: &Point<'_>, _past: &[Event]) -> Pick {
        let option = self.0.below(at.options());
        match at {
            Point::Thread(_) => Pick::Run { option, steps: 1 + self.0.below(8) as u32 },
            Point::Source { .. } | Point::Place { .. } | Point::Value { .. } => Pick::Take(option),
        }
    }
}

impl Sampler for Leasing {
    fn begin(&mut self, seed: u64) {
        self.0 = Rng::new(seed);
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }
}

/// Leases defer updates of waiters.
#[test]
fn a_run_with_leases_is_the_same_on_a_used_engine() {
    check(Leasing(Rng::new(0)), 22);
}

/// The engine records changes for this sampler.
#[test]
fn a_run_that_needs_changes_is_the_same_on_a_used_engine() {
    check(Pos::plain(), 23);
}

/// Checks that a renewed engine keeps nothing, not even the ids of threads.
fn check_renewed<M: Memory + Default, C: Sampler>(mut sampler: C, seed: u64) {
    let mut used = engine::<M>(ThreadIds::default());
    for_all(seed, scaled(200), &Shape::large(), |program, rng| {
        let seed = rng.bits();
        let mut threads = Vec::new();
        // The second round sometimes uses the ids of a recorded run.
        for _ in 0..2 {
            let ids = ThreadIds::of_recorded(&threads).expect("threads of a run");
            used.renew(ids.clone(), 10_000);
            let mut new = engine::<M>(ids);
            // An engine's first run, and its second one.
            for seed in [seed, seed + 1] {
                let used = run(&mut used, &mut sampler, program, seed);
                let new = run(&mut new, &mut sampler, program, seed);
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
fn a_renewed_engine_is_like_a_new_one() {
    check_renewed::<Sc, _>(Random::default(), 24);
    check_renewed::<Rc11, _>(Random::default(), 25);
    check_renewed::<Sc, _>(Leasing(Rng::new(0)), 26);
    check_renewed::<Sc, _>(Pos::plain(), 27);
}

#[test]
fn an_engine_that_has_grown_is_not_small() {
    let mut scripts = vec![(1..100).map(Step::Spawn).collect()];
    scripts.resize(100, Vec::new());
    let wide = Program { objects: Vec::new(), scripts };
    let mut engine = engine::<Sc>(ThreadIds::default());
    assert!(engine.is_small());
    run(&mut engine, &mut Random::default(), &wide, 1);
    assert!(!engine.is_small());
}
