//! Classic reduction reaches every class that depth-first search reaches.

use std::collections::BTreeSet;

use raddle_core::{Ending, Trace};
use raddle_explore::{Bound, Bpor, Dfs, Reduction};
use raddle_testkit::{Interpreter, Kind, Program, Shape, explore, for_all, scaled};

/// Programs with more interleavings are skipped.
const LIMIT: u64 = 1000;

/// Returns the class of a run and how it ends.
fn class(trace: &Trace) -> (u64, &'static str) {
    let ending = match &trace.ending {
        Ending::Finished => "finished",
        Ending::Deadlock => "deadlock",
        Ending::Panicked(_) => "panicked",
        Ending::Abandoned => "abandoned",
        Ending::Stopped => "stopped",
        Ending::StepLimit => "step limit",
        Ending::TimeLimit => "time limit",
        Ending::Diverged(_) => panic!("{trace:#?}"),
    };
    (trace.fingerprint, ending)
}

/// Returns the number of classes of a program, and the number of runs and blocked runs of the search.
fn check(program: &Program, reduction: Reduction) -> Result<(u64, u64, u64), String> {
    let mut expected = BTreeSet::new();
    let all = explore(&mut Interpreter, program, Dfs::default(), LIMIT, |trace| {
        expected.insert(class(trace));
    });
    let Some(interleavings) = all else { return Ok((0, 0, 0)) };
    let mut found = BTreeSet::new();
    let mut explorer = Bpor::new(Bound::NONE, reduction);
    let runs = explore(&mut Interpreter, program, &mut explorer, LIMIT, |trace| {
        found.insert(class(trace));
    });
    let counts = explorer.counts();
    found.retain(|class| class.1 != "abandoned");
    if found != expected {
        return Err(format!("{} of {} classes", found.len(), expected.len()));
    }
    if runs.is_none_or(|runs| runs > interleavings) || runs != Some(counts.runs) {
        return Err(format!("{counts:?}, but {interleavings} interleavings"));
    }
    if counts.pruned || counts.conservative > 0 {
        return Err(format!("{counts:?} without a bound"));
    }
    Ok((found.len() as u64, counts.runs, counts.blocked))
}

fn check_many(seed: u64, cases: u64, shape: &Shape, reduction: Reduction) {
    let (mut programs, mut classes, mut runs, mut blocked) = (0, 0, 0, 0);
    for_all(seed, scaled(cases), shape, |program, _| {
        let found = check(program, reduction)?;
        programs += u64::from(found.0 > 1);
        classes += found.0;
        runs += found.1;
        blocked += found.2;
        Ok(())
    });
    println!(
        "{reduction:?}: {programs} programs with several classes; {classes} classes, {runs} runs, \
         {blocked} of them blocked"
    );
    assert!(programs * 5 >= scaled(cases), "too many programs are too large or have one class");
}

#[test]
fn classic_reaches_every_class() {
    check_many(21, 1200, &Shape::small(), Reduction::Optimised);
    check_many(22, 300, &Shape::small(), Reduction::Plain);
}

#[test]
fn classic_reaches_every_class_that_a_panic_ends() {
    let kinds = vec![Kind::Atomic, Kind::Thread, Kind::Park, Kind::Mutex, Kind::Alone];
    let shape = Shape { kinds, kinds_at_once: 2, scripts: 4, pieces: 1, panics: 3 };
    check_many(23, 400, &shape, Reduction::Optimised);
    check_many(24, 100, &shape, Reduction::Plain);
}
