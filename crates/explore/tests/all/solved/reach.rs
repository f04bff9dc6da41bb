//! `mcr` reaches the same states as optimal reduction, `pcr` a subset of them.

use std::collections::BTreeSet;

use raddle_explore::{Dpor, Explorer, Mcr, Pcr};
use raddle_results::PatternSearch;
use raddle_testkit::{IdentifyingInterpreter, Kind, Program, Shape, explore, for_all, scaled};

use super::state::{State, state};

/// Programs with more classes are skipped.
const LIMIT: u64 = 300;

fn states(program: &Program, explorer: impl Explorer, limit: u64) -> Option<BTreeSet<State>> {
    let mut states = BTreeSet::new();
    explore(&mut IdentifyingInterpreter, program, explorer, limit, |trace| {
        states.insert(state(trace));
    })?;
    Some(states)
}

/// Checks on random programs that `mcr` reaches exactly the states of `dpor`, and that `pcr` reaches no others.
fn compare(seed: u64, cases: u64, shape: &Shape) {
    let (mut programs, mut all_states, mut several, mut reached) = (0u64, 0, 0u64, 0);
    let (mut mcr_counts, mut pcr_counts) = (PatternSearch::default(), PatternSearch::default());
    for_all(seed, cases, shape, |program, rng| {
        let Some(all) = states(program, Dpor::default(), LIMIT) else { return Ok(()) };
        let mut mcr = Mcr::new(rng.bits());
        let found = states(program, &mut mcr, 40 * LIMIT).ok_or("mcr takes too many runs")?;
        if mcr.counts().missed > 0 {
            return Err(format!("mcr: {:?}", mcr.counts()));
        }
        let missing = all.difference(&found).count();
        let invented = found.difference(&all).count();
        if (missing, invented) != (0, 0) {
            return Err(format!(
                "mcr: of {} states {missing} are missing, {invented} do not exist",
                all.len()
            ));
        }
        let mut pcr = Pcr::new(rng.bits());
        let by_patterns = states(program, &mut pcr, 40 * LIMIT).ok_or("pcr takes too many runs")?;
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
    assert!(several * 4 >= cases, "too many programs are too large or have one class");
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
fn states_agree_on_variables() {
    let kinds = vec![Kind::Atomic];
    compare(41, scaled(40), &Shape { kinds, kinds_at_once: 1, scripts: 3, pieces: 3, panics: 0 });
}

#[test]
fn states_agree_on_every_kind_of_object() {
    let mut shape = Shape::small();
    // Refused.
    shape.kinds.retain(|&kind| kind != Kind::Futex);
    compare(42, scaled(120), &shape);
}

#[test]
fn states_agree_on_locks_and_variables() {
    let kinds = vec![Kind::Atomic, Kind::Mutex];
    compare(43, scaled(30), &Shape { kinds, kinds_at_once: 2, scripts: 4, pieces: 2, panics: 0 });
}

#[test]
fn states_agree_on_readers() {
    let kinds = vec![Kind::Readers];
    compare(44, scaled(12), &Shape { kinds, kinds_at_once: 1, scripts: 3, pieces: 2, panics: 0 });
}
