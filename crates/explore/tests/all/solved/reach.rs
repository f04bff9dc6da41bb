//! Every class where operations learn the same, and the same final states as optimal reduction.

use std::collections::BTreeSet;

use raddle_explore::{Dpor, Explorer, Mcr, Pcr};
use raddle_results::PatternSearch;
use raddle_testkit::{IdentifyingInterpreter, Kind, Program, Shape, explore, for_all, scaled};

use super::state::{State, state};

/// Programs with more classes are passed over.
const LIMIT: u64 = 300;

fn states(program: &Program, explorer: impl Explorer, limit: u64) -> Option<BTreeSet<State>> {
    let mut states = BTreeSet::new();
    explore(&mut IdentifyingInterpreter, program, explorer, limit, |trace| {
        states.insert(state(trace));
    })?;
    Some(states)
}

/// Demands of random programs what both searches promise. How many programs, states, and runs of each.
fn compare(seed: u64, cases: u64, shape: &Shape) {
    let (mut programs, mut all_states, mut several, mut reached) = (0u64, 0, 0u64, 0);
    let (mut mcr_counts, mut pcr_counts) = (PatternSearch::default(), PatternSearch::default());
    for_all(seed, cases, shape, |program, rng| {
        let Some(all) = states(program, Dpor::default(), LIMIT) else { return Ok(()) };
        let mut mcr = Mcr::new(rng.bits());
        let found = states(program, &mut mcr, 40 * LIMIT).ok_or("there is no end to it")?;
        if mcr.counts().missed > 0 {
            return Err(format!("mcr: {:?}", mcr.counts()));
        }
        let missing = all.difference(&found).count();
        let made_up = found.difference(&all).count();
        if (missing, made_up) != (0, 0) {
            return Err(format!(
                "mcr: of {} states {missing} missing, {made_up} made up",
                all.len()
            ));
        }
        let mut pcr = Pcr::new(rng.bits());
        let by_patterns =
            states(program, &mut pcr, 40 * LIMIT).ok_or("there is no end to patterns")?;
        if pcr.counts().missed > 0 || !by_patterns.is_subset(&all) {
            return Err(format!("pcr: {:?}", pcr.counts()));
        }
        programs += 1;
        all_states += all.len();
        several += u64::from(all.len() > 1);
        reached += by_patterns.len();
        add(&mut mcr_counts, mcr.counts());
        add(&mut pcr_counts, pcr.counts());
        Ok(())
    });
    println!(
        "{programs} programs, {several} with several of {all_states} states; pcr reaches {reached}\n\
         mcr {mcr_counts:?}\npcr {pcr_counts:?}"
    );
    assert!(several * 4 >= cases, "the programs are too large, or trivial");
}

fn add(sum: &mut PatternSearch, counts: PatternSearch) {
    sum.generated += counts.generated;
    for (sum, count) in sum.filtered.iter_mut().zip(counts.filtered) {
        *sum += count;
    }
    sum.by_core += counts.by_core;
    sum.solved += counts.solved;
    sum.unsat += counts.unsat;
    sum.unknown += counts.unknown;
    sum.left_out += counts.left_out;
    sum.asked += counts.asked;
    sum.told += counts.told;
    sum.duplicates += counts.duplicates;
    sum.exhibited += counts.exhibited;
    sum.blocked += counts.blocked;
    sum.missed += counts.missed;
}

#[test]
fn on_variables() {
    let kinds = vec![Kind::Atomic];
    compare(41, scaled(40), &Shape { kinds, kinds_at_once: 1, scripts: 3, pieces: 3, panics: 0 });
}

#[test]
fn on_every_kind_of_object() {
    compare(42, scaled(120), &Shape::small());
}

#[test]
fn on_locks_and_variables() {
    let kinds = vec![Kind::Atomic, Kind::Mutex];
    compare(43, scaled(30), &Shape { kinds, kinds_at_once: 2, scripts: 4, pieces: 2, panics: 0 });
}
