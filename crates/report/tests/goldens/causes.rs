//! Reports of checks that continued after the first failure.

use expect_test::expect;
use raddle_results::{Cause, Failure, Failures, Finding, Phase, PhaseEnd, Report};

use crate::build::{Build, check, failed, panic};

/// Returns a report of two strategies that found three causes, and failures of further causes.
pub(crate) fn several() -> Report {
    let empty = || Build::with_threads(1).finish();
    let failure = |finding, execution, token: &str| Failure {
        finding,
        execution,
        trace: empty(),
        token: token.into(),
        reproduced: true,
        beyond_bound: false,
        explanation: None,
        unexplained: None,
    };
    let causes = vec![
        Cause { failure: failure(panic(1, "lost 1 of 2"), 17, "r1-FIRST"), runs: 240 },
        Cause { failure: failure(panic(0, "a \"queue\" is empty"), 18, "r1-SECOND"), runs: 60 },
        Cause {
            failure: Failure {
                reproduced: false,
                ..failure(Finding::StepLimit { steps: 1000 }, 9_000, "r1-THIRD")
            },
            runs: 1,
        },
    ];
    let phase = |strategy: &str, failing, end| Phase {
        strategy: strategy.into(),
        executions: 5_000,
        failing,
        end,
    };
    let mut report = failed(panic(1, "lost 1 of 2"), empty());
    report.strategy = "portfolio:pos-star+pct:2".into();
    report.phases =
        vec![phase("pos-star", 11, PhaseEnd::OutOfBudget), phase("pct:2", 301, PhaseEnd::Failed)];
    let interval = (0.02798, 0.03478);
    let failures = Failures { failing: 312, runs: 10_000, interval, causes, others: 11 };
    report.failures = Some(Box::new(failures));
    report
}

#[test]
fn as_text() {
    check(
        &several(),
        expect![[r#"
            raddle: test `tests::queue` FAILED — lost 1 of 2
              found by pct:2 (portfolio:pos-star+pct:2) after 1,204 executions (0.4 s) · 1 step · replayed once: it fails in the same way

                   main             thread 1
                1  spawn thread 1   │          crates/report/tests/goldens/site.rs:5
                ✗  │                panics     src/lib.rs:20

              thread 1 panicked at src/lib.rs:20:9

              replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue

              312 of 10,000 executions fail: 3.1 % (between 2.8 % and 3.5 % with 95 % confidence), the first after 17
              by strategy: pos-star 11 of 5,000 · pct:2 301 of 5,000
              3 causes:
                240 × lost 1 of 2 at src/lib.rs:20:9
                  first after 17 executions · RADDLE_REPLAY=r1-FIRST
                60 × a "queue" is empty at src/lib.rs:20:9
                  first after 18 executions · RADDLE_REPLAY=r1-SECOND
                1 × an execution did not end within 1,000 steps
                  first after 9,000 executions, NOT reproduced · RADDLE_REPLAY=r1-THIRD
                11 × other causes"#]],
    );
    let mut report = several();
    report.phases.clear();
    let failures = report.failures.as_mut().unwrap();
    failures.causes.truncate(1);
    (failures.failing, failures.others, failures.interval) = (1, 0, (0.000_018, 0.000_57));
    failures.causes[0].runs = 1;
    check(
        &report,
        expect![[r#"
            raddle: test `tests::queue` FAILED — lost 1 of 2
              found by portfolio:pos-star+pct:2 after 1,204 executions (0.4 s) · 1 step · replayed once: it fails in the same way

                   main             thread 1
                1  spawn thread 1   │          crates/report/tests/goldens/site.rs:5
                ✗  │                panics     src/lib.rs:20

              thread 1 panicked at src/lib.rs:20:9

              replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue

              1 of 10,000 executions fail: 0.010 % (between 0.0018 % and 0.057 % with 95 % confidence), the first after 17
              1 cause:
                1 × lost 1 of 2 at src/lib.rs:20:9
                  first after 17 executions · RADDLE_REPLAY=r1-FIRST"#]],
    );
}
