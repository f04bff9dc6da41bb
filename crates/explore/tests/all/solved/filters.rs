//! Rules 3 to 6 lose no final state. Rule 2 may, and the lost states are counted.

use std::collections::BTreeSet;

use raddle_explore::{Pcr, Rules};
use raddle_testkit::{IdentifyingInterpreter, Kind, Program, Shape, explore, for_all, scaled};

use super::state::{FinalState, final_state};

/// Programs that take more runs are skipped.
const LIMIT: u64 = 2_000;

/// Returns the final states that searches with these rules and several seeds reach. Returns `None` if one takes more
/// than [`LIMIT`] runs.
fn reached(program: &Program, rules: Rules) -> Option<BTreeSet<FinalState>> {
    let mut states = BTreeSet::new();
    for seed in 0..3 {
        explore(
            &mut IdentifyingInterpreter,
            program,
            Pcr::with_rules(seed, rules),
            LIMIT,
            |trace| {
                states.insert(final_state(trace));
            },
        )?;
    }
    Some(states)
}

#[test]
fn rules_three_to_six_lose_no_final_state() {
    let (mut programs, mut states, mut lost_to_covered) = (0u64, 0, 0);
    let kinds = vec![Kind::Atomic, Kind::Mutex];
    let shape = Shape { kinds, kinds_at_once: 2, scripts: 3, pieces: 3, panics: 0 };
    for_all(44, scaled(40), &shape, |program, _| {
        let all_but_covered = Rules::ALL.without(2);
        let fewest = (3..=6).fold(all_but_covered, Rules::without);
        let Some(everything) = reached(program, fewest) else { return Ok(()) };
        let kept = reached(program, all_but_covered).ok_or("more runs with more rules")?;
        let lost: Vec<_> = everything.difference(&kept).collect();
        if !lost.is_empty() {
            let guilty: Vec<usize> = (3..=6)
                .filter(|&rule| {
                    reached(program, fewest_and(rule))
                        .is_some_and(|kept| !everything.is_subset(&kept))
                })
                .collect();
            return Err(format!("rules {guilty:?} lose {lost:?}"));
        }
        let with_all = reached(program, Rules::ALL).ok_or("more runs with all rules")?;
        programs += 1;
        states += everything.len();
        lost_to_covered += everything.difference(&with_all).count();
        Ok(())
    });
    println!(
        "{programs} programs, {states} final states; rule 2 with its second pass loses {lost_to_covered}"
    );
    assert!(programs * 2 >= scaled(40), "too many programs are too large");
}

/// Returns rule 1 and this one.
fn fewest_and(rule: usize) -> Rules {
    (2..=6).filter(|&other| other != rule).fold(Rules::ALL, Rules::without)
}
