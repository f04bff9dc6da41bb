//! Mistakes made on purpose are found by the checks that the real thing passes.

use std::collections::BTreeSet;

use raddle_explore::{Bound, Bpor, Mistake, Reduction};
use raddle_strategy::{Rng, mix};
use raddle_testkit::{Interpreter, Kind, Program, Shape, explore};

use crate::bpor::{cheapest, reached};

/// How many of `cases` programs a search with this mistake misses a class of, within some bound.
fn missed(mistake: Mistake, reduction: Reduction, cases: u64) -> u64 {
    let kinds = vec![Kind::Atomic, Kind::Mutex];
    let shape = Shape { kinds, kinds_at_once: 2, scripts: 4, pieces: 2, panics: 0 };
    let mut wrong = 0;
    for case in 0..cases {
        let program = shape.generate(&mut Rng::new(mix(41, case)));
        let Some(classes) = cheapest(&program) else { continue };
        let dearest = classes.values().copied().max().unwrap_or(0);
        let misses = |bound: u32| {
            let search = Bpor::new(Bound::preemptions(bound), reduction).with_mistake(mistake);
            let found = reached(&program, search);
            let misses =
                classes.iter().any(|(class, &cost)| cost <= bound && !found.contains_key(class));
            misses
        };
        if (0..=dearest).any(misses) {
            wrong += 1;
        }
    }
    println!("{mistake:?}, {reduction:?}: misses something of {wrong} in {cases} programs");
    wrong
}

#[test]
fn every_mistake_is_found() {
    for mistake in [Mistake::PaperSleep, Mistake::ConservativeSleep] {
        missed(mistake, Reduction::Plain, 20000);
        missed(mistake, Reduction::Optimised, 20000);
    }
}
