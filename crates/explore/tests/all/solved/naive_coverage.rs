//! Coverage against a naive implementation of its definition, over all tuples of accesses.

use std::collections::BTreeSet;

use raddle_analysis::{MapCoverage, data_access, number};
use raddle_core::{Access, EventId, ObjectId, Trace};
use raddle_explore::Repeat;
use raddle_results::Accesses;
use raddle_strategy::Random;
use raddle_testkit::{IdentifyingInterpreter, Kind, Shape, explore, for_all, scaled};

#[derive(Copy, Clone)]
struct Step {
    event: EventId,
    object: u32,
    access: Access,
}

type Patterns = BTreeSet<(u8, Vec<EventId>)>;

/// Adds every pattern of the run to `patterns`.
fn add(trace: &Trace, patterns: &mut Patterns) {
    let with_data = trace.events.iter().filter(|event| event.op.object() != ObjectId::NONE);
    let steps: Vec<Step> = with_data
        .filter_map(|event| {
            let access = data_access(event.op, event.effect)?;
            Some(Step { event: event.id, object: event.op.object().0, access })
        })
        .collect();
    for length in 2..=4 {
        let mut chosen = Vec::new();
        choose(&steps, 0, length, &mut chosen, patterns);
    }
}

fn choose(
    steps: &[Step],
    from: usize,
    left: usize,
    chosen: &mut Vec<usize>,
    patterns: &mut Patterns,
) {
    if left == 0 {
        let tuple: Vec<Step> = chosen.iter().map(|&index| steps[index]).collect();
        let roles: Vec<_> =
            tuple.iter().map(|step| (step.event.thread.0, step.object, step.access)).collect();
        if let Some(pattern) = number(&roles).filter(|_| is_uninterrupted(steps, chosen)) {
            patterns.insert((pattern, tuple.iter().map(|step| step.event).collect()));
        }
        return;
    }
    for index in from..steps.len() {
        chosen.push(index);
        choose(steps, index + 1, left - 1, chosen, patterns);
        chosen.pop();
    }
}

/// Returns whether no thread accesses one of the variables between its chosen accesses.
fn is_uninterrupted(steps: &[Step], chosen: &[usize]) -> bool {
    chosen.iter().enumerate().all(|(place, &first)| {
        let is_mine = |&&later: &&usize| steps[later].event.thread == steps[first].event.thread;
        let Some(&second) = chosen[place + 1..].iter().find(is_mine) else { return true };
        let touches = |step: &Step| chosen.iter().any(|&index| steps[index].object == step.object);
        let mut between = steps[first + 1..second].iter();
        !between.any(|step| step.event.thread == steps[first].event.thread && touches(step))
    })
}

#[test]
fn coverage_agrees_with_its_definition() {
    let (mut programs, mut all) = (0u64, 0);
    let kinds = vec![Kind::Atomic, Kind::Cell, Kind::Mutex, Kind::Channel];
    let shape = Shape { kinds, kinds_at_once: 2, scripts: 4, pieces: 4, panics: 0 };
    for_all(45, scaled(150), &shape, |program, rng| {
        let mut patterns = Patterns::new();
        let mut coverage = MapCoverage::new(Accesses::ByEvent);
        let sampler = Repeat::new(Random::default(), rng.bits());
        explore(&mut IdentifyingInterpreter, program, sampler, 12, |trace| {
            add(trace, &mut patterns);
            coverage.learn(trace);
        });
        if coverage.covered() != patterns.len() as u64 {
            return Err(format!("{} counted, there are {}", coverage.covered(), patterns.len()));
        }
        programs += 1;
        all += patterns.len();
        Ok(())
    });
    println!("{programs} programs, {all} patterns");
    assert!(all as u64 > 4 * programs);
}
