//! Answers of raddle's solver against those of Z3: about runs of random programs, about random constraints,
//! and about runs of the twenty programs of PCR's evaluation.

use raddle_core::Trace;
use raddle_explore::{Explorer, Mcr, Pcr, Rules};
use raddle_programs::Form;
use raddle_programs::pcr::SUBJECTS;
use raddle_strategy::{Rng, mix};
use raddle_testkit::constraints::{Problem, Size};
use raddle_testkit::{IdentifyingInterpreter, Kind, Program, Shape, explore, for_all, scaled};

use super::{Agreed, Recorded, is_there, transcripts};
use crate::pcr::watch;

/// The most runs of one program that the solver is asked about.
const RUNS: u64 = 12;

/// Puts to Z3 all questions that a search asks about the first runs of a program.
fn compare(program: &Program, explorer: impl Explorer) -> Result<Agreed, String> {
    explore(&mut IdentifyingInterpreter, program, explorer, RUNS, |_| ());
    super::compare(&transcripts()).map_err(|(run, question)| {
        format!("Z3 says otherwise: question {question} about run {run}")
    })
}

#[test]
fn runs_as_by_z3() {
    if !is_there() {
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

#[test]
fn large_problems_as_by_z3() {
    if !is_there() {
        return;
    }
    for case in 0..scaled(40) {
        let mut rng = Rng::new(mix(8, case));
        let nodes = 15 + rng.below(30);
        let clauses = nodes * (2 + rng.below(8));
        let size = Size { nodes, clauses, truths: nodes / 3 };
        Problem::random(size, &mut rng).ask::<Recorded>();
    }
    let agreed = super::compare(&transcripts()).expect("they agree");
    println!("{agreed:?}");
    let least = agreed.possible.min(agreed.impossible);
    assert!(least >= scaled(20), "one answer is too rare: {agreed:?}");
}

#[test]
fn about_runs_of_the_twenty_z3_says_the_same() {
    if !is_there() {
        return;
    }
    for subject in &SUBJECTS {
        let program = subject.program.closure(Form::Bugged, subject.program.size.usual);
        let mut runs = 3;
        let mut each = |_: &Trace| {
            runs -= 1;
            runs > 0
        };
        watch::follow(Pcr::<Recorded>::with_solver(1, Rules::ALL), &program, &mut each);
        let agreed = super::compare(&transcripts());
        let agreed = agreed.unwrap_or_else(|at| panic!("{} {at:?}", subject.program.name));
        println!("{}: {agreed:?}", subject.program.name);
        assert!(agreed.possible > 0, "{}: nothing was asked", subject.program.name);
    }
}
