//! The axioms against known verdicts.

use raddle_testkit::litmus::table::{MORE, TESTS, Verdict};
use raddle_testkit::litmus::{Code, axioms};

#[test]
fn every_litmus_test_has_its_verdict_and_number_of_executions() {
    let mut wrong = Vec::new();
    for test in TESTS.iter().chain(MORE) {
        let code: Code = test.code.parse().unwrap();
        let found = axioms::consistent(&code);
        let is_seen = found.values().any(|outcome| outcome.matches(test.outcome));
        let verdict = if is_seen { Verdict::Allowed } else { Verdict::Forbidden };
        if (verdict, found.len()) != (test.verdict, test.graphs) {
            wrong.push(format!(
                "{}: {verdict:?} {}, expected {:?} {}",
                test.name,
                found.len(),
                test.verdict,
                test.graphs
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn additions_to_one_variable_have_one_execution_per_order() {
    for (threads, orders) in [(2, 2), (3, 6), (4, 24)] {
        let code: Code = vec!["Ux+1"; threads].join("|").parse().unwrap();
        assert_eq!(axioms::consistent(&code).len(), orders);
    }
}
