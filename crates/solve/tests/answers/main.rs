//! Answers on random constraints, against brute force and against Z3.

mod brute_force;
mod problem;

use problem::{Problem, Size};
use raddle_solve::{Answer, Cdcl, Literal, OrderSolver, shrink_core};
use raddle_strategy::{Rng, mix};
use raddle_testkit::scaled;
use raddle_testkit::z3::{self, Recorded};

/// What the solver says of every question of a problem, having checked what can be checked by looking:
/// orders satisfy everything, cores are among the assumptions and rule every order out.
fn ask<S: OrderSolver>(problem: &Problem) -> Vec<bool> {
    let mut solver = S::default();
    let names = problem.state(&mut solver);
    problem
        .questions
        .iter()
        .map(|question| {
            let assumptions: Vec<Literal> =
                question.iter().map(|term| names.literal(&mut solver, *term)).collect();
            match solver.solve(&assumptions) {
                Answer::Order => {
                    problem.check(question, &solver, &names);
                    true
                }
                Answer::Impossible(core) => {
                    assert!(core.iter().all(|literal| assumptions.contains(literal)));
                    let small = shrink_core(&mut solver, core.clone());
                    assert!(small.iter().all(|literal| core.contains(literal)));
                    assert!(matches!(solver.solve(&small), Answer::Impossible(_)));
                    for left_out in 0..small.len() {
                        let mut rest = small.clone();
                        rest.remove(left_out);
                        assert_eq!(solver.solve(&rest), Answer::Order, "the core could be smaller");
                    }
                    false
                }
            }
        })
        .collect()
}

#[test]
fn small_problems_as_by_brute_force() {
    let mut counts = [0, 0];
    for case in 0..scaled(1500) {
        let mut rng = Rng::new(mix(7, case));
        let nodes = 2 + rng.below(9);
        let problem = Problem::random(Size { nodes, clauses: 2 * nodes, truths: 3 }, &mut rng);
        for (question, possible) in problem.questions.iter().zip(ask::<Cdcl>(&problem)) {
            assert_eq!(
                possible,
                brute_force::is_possible(&problem, question),
                "case {case}: {problem:?}"
            );
            counts[usize::from(possible)] += 1;
        }
    }
    println!("{} impossible, {} possible", counts[0], counts[1]);
    assert!(counts.iter().all(|&count| count >= scaled(300)), "one answer is too rare: {counts:?}");
}

#[test]
fn large_problems_as_by_z3() {
    if !z3::is_there() {
        return;
    }
    for case in 0..scaled(40) {
        let mut rng = Rng::new(mix(8, case));
        let nodes = 15 + rng.below(30);
        let clauses = nodes * (2 + rng.below(8));
        let size = Size { nodes, clauses, truths: nodes / 3 };
        ask::<Recorded>(&Problem::random(size, &mut rng));
    }
    let agreed = z3::compare(&z3::transcripts()).expect("they agree");
    println!("{agreed:?}");
    let least = agreed.possible.min(agreed.impossible);
    assert!(least >= scaled(20), "one answer is too rare: {agreed:?}");
}
