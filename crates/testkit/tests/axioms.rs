//! The axioms against verdicts computed elsewhere.

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
fn adding_to_one_variable_has_as_many_executions_as_orders() {
    for (threads, orders) in [(2, 2), (3, 6), (4, 24)] {
        let code: Code = vec!["Ux+1"; threads].join("|").parse().unwrap();
        assert_eq!(axioms::consistent(&code).len(), orders);
    }
}
