//! What the solver says about constraints of runs, against Z3.

use raddle_explore::{Explorer, Mcr, Pcr, Rules};
use raddle_testkit::z3::{self, Agreed, Recorded};
use raddle_testkit::{IdentifyingInterpreter, Kind, Program, Shape, explore, for_all, scaled};

/// The most runs that are asked about in one program.
const RUNS: u64 = 12;

/// Has everything answered by Z3 too that a search asks about the first runs of a program.
fn compare(program: &Program, explorer: impl Explorer) -> Result<Agreed, String> {
    explore(&mut IdentifyingInterpreter, program, explorer, RUNS, |_| ());
    z3::compare(&z3::transcripts()).map_err(|(run, question)| {
        format!("Z3 says otherwise: question {question} about run {run}")
    })
}

#[test]
fn runs_as_by_z3() {
    if !z3::is_there() {
        return;
    }
    let mut all = Agreed::default();
    let kinds = vec![Kind::Atomic];
    let variables = Shape { kinds, kinds_at_once: 1, scripts: 4, pieces: 4, panics: 0 };
    for (seed, shape) in [(44, Shape::small()), (45, variables)] {
        for_all(seed, scaled(40), &shape, |program, rng| {
            let pcr = Pcr::<Recorded>::with_solver(rng.bits(), Rules::ALL);
            let mcr = Mcr::<Recorded>::with_solver(rng.bits());
            for agreed in [compare(program, pcr)?, compare(program, mcr)?] {
                all.possible += agreed.possible;
                all.impossible += agreed.impossible;
            }
            Ok(())
        });
    }
    println!("{all:?}");
    assert!(all.possible.min(all.impossible) >= scaled(500), "one answer is too rare: {all:?}");
}
