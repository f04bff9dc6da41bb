//! The solver against brute force, on random constraints.

mod brute_force;

use raddle_solve::Cdcl;
use raddle_strategy::{Rng, mix};
use raddle_testkit::constraints::{Problem, Size};
use raddle_testkit::scaled;

#[test]
fn answers_agree_with_brute_force() {
    let mut counts = [0, 0];
    for case in 0..scaled(1500) {
        let mut rng = Rng::new(mix(7, case));
        let nodes = 2 + rng.below(9);
        let problem = Problem::random(Size { nodes, clauses: 2 * nodes, truths: 3 }, &mut rng);
        for (question, possible) in problem.questions.iter().zip(problem.ask::<Cdcl>()) {
            assert_eq!(
                possible,
                brute_force::is_possible(&problem, question),
                "case {case}: {problem:?}"
            );
            counts[usize::from(possible)] += 1;
        }
    }
    println!("{} impossible, {} possible", counts[0], counts[1]);
    assert!(
        counts.iter().all(|&count| count >= scaled(300)),
        "too few problems with one of the answers: {counts:?}"
    );
}
