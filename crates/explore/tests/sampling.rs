//! Samplers against searches: what there is, each finds sooner or later, and nothing else.

use std::collections::{BTreeSet, HashSet};

use raddle_core::{Ending, Schedule, Trace};
use raddle_engine::Substrate;
use raddle_explore::{BoundedDfs, Dpor, Explorer, Limit, Repeat};
use raddle_strategy::{Delay, Pct, Pos, Random, Rapos, RoundRobin, Sampler, Surw, Urw};
use raddle_testkit::{
    IdentifyingInterpreter, Program, Shape, engine, explore, for_all, run_once, scaled,
};

/// Programs with more classes are passed over.
const CLASSES: usize = 24;

/// A sampler that has not seen so many classes after this many runs is taken to miss one.
const RUNS: u64 = 100_000;

fn all_classes(program: &Program) -> Option<HashSet<u64>> {
    let mut classes = HashSet::new();
    let search = Dpor::default();
    explore(&mut IdentifyingInterpreter, program, search, CLASSES as u64, |trace| {
        classes.insert(trace.fingerprint);
    })?;
    Some(classes)
}

/// Runs `sampler` until it has seen `wanted` classes, and shows every trace to `each`.
fn sample<S: Sampler + Clone>(
    program: &Program,
    sampler: S,
    runs: u64,
    mut each: impl FnMut(&Trace) -> bool,
) {
    let mut repeat = Repeat::new(sampler, 3);
    let mut engine = engine(repeat.chooser());
    for run in 0..runs {
        assert!(repeat.next(engine.plan_mut()));
        IdentifyingInterpreter.execute(&mut engine, program).expect("scripts do not get stuck");
        let (trace, plan) = engine.trace_and_plan_mut();
        repeat.learn(run, trace, plan);
        if !each(trace) {
            return;
        }
    }
}

fn meets_every_class<S: Sampler + Clone>(
    what: &str,
    program: &Program,
    classes: &HashSet<u64>,
    sampler: S,
) -> Result<(), String> {
    let mut seen = HashSet::new();
    let mut wrong = None;
    sample(program, sampler, RUNS, |trace| {
        if !classes.contains(&trace.fingerprint) {
            wrong = Some(format!("{what} made up a class, {:?}", trace.ending));
        } else if seen.insert(trace.fingerprint) {
            let again =
                run_once(&mut IdentifyingInterpreter, program, trace.schedule(), RoundRobin);
            if again.first_difference(trace).is_some() || again.ending != trace.ending {
                wrong = Some(format!("{what}: replay of a run gave {:?}", again.ending));
            }
        }
        wrong.is_none() && seen.len() < classes.len()
    });
    match wrong {
        Some(wrong) => Err(wrong),
        None if seen.len() < classes.len() => {
            Err(format!("{what} met {} of {} classes", seen.len(), classes.len()))
        }
        None => Ok(()),
    }
}

#[test]
fn every_sampler_meets_every_class() {
    let (mut programs, mut several) = (0u64, 0u64);
    for_all(41, scaled(300), &Shape::small(), |program, _| {
        let Some(classes) = all_classes(program) else { return Ok(()) };
        programs += 1;
        several += u64::from(classes.len() > 1);
        meets_every_class("random", program, &classes, Random::default())?;
        meets_every_class("basic-pos", program, &classes, Pos::basic())?;
        meets_every_class("pos", program, &classes, Pos::plain())?;
        meets_every_class("pos-star", program, &classes, Pos::default())?;
        meets_every_class("rapos", program, &classes, Rapos::default())?;
        meets_every_class("urw", program, &classes, Urw::default())?;
        meets_every_class("surw", program, &classes, Surw::default())?;
        // Its chances go down with the depth, and a class of many events can be as deep as that.
        if classes.len() <= 8 {
            meets_every_class("pct:5", program, &classes, Pct::new(5))?;
        }
        Ok(())
    });
    println!("{programs} programs, {several} with more than one class");
    assert!(cfg!(miri) || several > programs / 3);
}

/// Random delays reach exactly what the search with so many delays does.
#[test]
fn delays_are_those_of_the_search() {
    let mut compared = 0u64;
    for_all(43, scaled(200), &Shape::small(), |program, _| {
        for delays in 0..=2 {
            let mut all: BTreeSet<Vec<u32>> = BTreeSet::new();
            let search = BoundedDfs::new(Limit::Delays(delays));
            let done = explore(&mut IdentifyingInterpreter, program, search, 60, |trace| {
                all.insert(threads(&trace.schedule()));
            });
            if done.is_none() {
                return Ok(());
            }
            let mut seen = BTreeSet::new();
            sample(program, Delay::new(delays), RUNS, |trace| {
                assert!(trace.ending != Ending::Abandoned);
                seen.insert(threads(&trace.schedule()));
                seen.len() < all.len()
            });
            if seen != all {
                let new = seen.difference(&all).count();
                return Err(format!(
                    "{delays} delays: {} of {} schedules, {new} of them not allowed",
                    seen.len(),
                    all.len()
                ));
            }
            compared += 1;
        }
        Ok(())
    });
    assert!(cfg!(miri) || compared > 100, "{compared}");
}

/// The choices of a schedule as numbers.
fn threads(schedule: &Schedule) -> Vec<u32> {
    schedule
        .iter()
        .map(|choice| match choice {
            raddle_core::Choice::Thread(thread) => thread.0,
            raddle_core::Choice::Value(value) => *value,
            raddle_core::Choice::Source(source) => source.index,
        })
        .collect()
}
