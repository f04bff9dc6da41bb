//! Where the runs of the fair bound alone come from: the runs to each bug by the order of threads that cost the same,
//! which Algorithm 4 leaves open ("a lowest cost enabled thread"), in raddle's search and in the paper's algorithms
//! written down plainly.

use raddle_core::Ending;
use raddle_explore::{Bound, Bpor, Explorer, Reduction, Ties};
use raddle_programs::{Form, Program};

use super::plain::{Plain, Tie};
use super::search::least_fair_bound;
use crate::interleave::median;
use crate::pcr::watch::follow;
use crate::progress::progress;
use crate::table::{Cell, Row};

/// How far each search goes.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    pub(super) runs: u64,
    /// How often ties are drawn, with another seed each time.
    pub(super) draws: u64,
}

const LAST: Tie = |last, thread| u64::from(last != Some(thread));
const NEWEST: Tie = |_, thread| u64::from(u32::MAX - thread.0);

/// The runs to a bug under the least fair bound, for each order.
pub(super) fn row(program: &'static Program, effort: Effort) -> Row {
    let lead = least_fair_bound();
    let bpor = |ties| Bpor::new(Bound::fair(lead), Reduction::Optimised).with_ties(ties);
    let first = |word: &str, runs: Option<u64>| {
        progress(&format!("{} {word}", program.name));
        match runs {
            Some(runs) => Cell::count(runs, "runs"),
            None => Cell::count(effort.runs, "runs").unfinished(),
        }
    };
    let drawn: Vec<f64> = (0..effort.draws)
        .map(|seed| hunt(program, bpor(Ties::Drawn(seed)), effort.runs))
        .map(|runs| runs.unwrap_or(effort.runs) as f64)
        .collect();
    let least = drawn.iter().copied().fold(f64::INFINITY, f64::min);
    let most = drawn.iter().copied().fold(0.0, f64::max);
    let cells = vec![
        ("last", first("last", hunt(program, bpor(Ties::Last), effort.runs))),
        ("newest", first("newest", hunt(program, bpor(Ties::Newest), effort.runs))),
        ("drawn", Cell::count(median(&drawn) as u64, "median")),
        ("least", Cell::count(least as u64, "runs")),
        ("most", Cell::count(most as u64, "runs")),
        ("plain", first("plain", hunt(program, Plain::new(lead, LAST), effort.runs))),
        ("plain_newest", first("plain", hunt(program, Plain::new(lead, NEWEST), effort.runs))),
    ];
    Row { name: format!("{} by order", program.name), cells }
}

/// Returns the runs to the first failure. `None` if there is none in so many.
fn hunt(program: &'static Program, explorer: impl Explorer, most: u64) -> Option<u64> {
    let (mut runs, mut found) = (0, false);
    follow(explorer, &program.closure(Form::Bugged, program.size.usual), &mut |trace| {
        runs += 1;
        found = matches!(trace.ending, Ending::Panicked(_) | Ending::Deadlock | Ending::StepLimit);
        !found && runs < most
    });
    found.then_some(runs)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use raddle_programs::find;

    use super::*;

    /// The plain algorithms and raddle's search reach the same classes, raddle's in no more runs.
    #[test]
    fn the_plain_algorithms_reach_the_same_classes() {
        fn classes(explorer: impl Explorer) -> (u64, BTreeSet<u64>) {
            let (mut runs, mut classes) = (0, BTreeSet::new());
            let program = find("fair").unwrap().closure(Form::Fixed, 2);
            follow(explorer, &program, &mut |trace| {
                runs += 1;
                if trace.ending != Ending::Abandoned {
                    classes.insert(trace.fingerprint);
                }
                true
            });
            (runs, classes)
        }
        for lead in 0..=1 {
            let (runs, expected) = classes(Plain::new(lead, LAST));
            assert!(expected.len() > 1);
            for ties in [Ties::Last, Ties::Newest] {
                let bpor = Bpor::new(Bound::fair(lead), Reduction::Optimised).with_ties(ties);
                let (reduced, found) = classes(bpor);
                assert_eq!(found, expected, "{lead} {ties:?}");
                assert!(reduced <= runs, "{lead} {ties:?}: {reduced} runs, plainly {runs}");
            }
        }
    }
}
