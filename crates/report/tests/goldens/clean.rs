//! Results without a failure.

use std::time::Duration;

use expect_test::expect;
use raddle_core::Guarantee;
use raddle_results::{Bounds, Phase, PhaseEnd, Report, Search, Verdict};

use crate::build::{check, report};

#[test]
fn exhaustive() {
    let elapsed = Duration::from_millis(20);
    let mut clean =
        Report { classes: 1_204, executions: 1_204, elapsed, ..report(Verdict::Exhausted) };
    clean.name = "queue".into();
    check(
        &clean,
        expect![
            "raddle: test `queue` ok — exhaustive: 1,204 classes, 1,204 executions, 0.02 s, SC"
        ],
    );
    clean.discarded = 1;
    check(
        &clean,
        expect![[r#"
            raddle: test `queue` ok — exhaustive up to the step limit: 1,204 classes, 1,204 executions, 0.02 s, SC
                    1 execution reached it and was discarded: nothing is known of it"#]],
    );
}

#[test]
fn sampled() {
    let mut clean = report(Verdict::Sampled);
    check(
        &clean,
        expect![
            "raddle: test `tests::queue` ok — sampled: 10,000 executions (random), 3,911 classes \
             seen, 0.4 s, SC"
        ],
    );
    clean.classes_exact = false;
    clean.classes = 131_072;
    clean.discarded = 12;
    check(
        &clean,
        expect![[r#"
            raddle: test `tests::queue` ok — sampled: 10,000 executions (random), ≈ 131,072 classes seen, 0.4 s, SC
                    of these, 12 reached the step limit and were discarded"#]],
    );
}

#[test]
fn bounded() {
    let bound = Bounds { preemptions: Some(2), delays: None, unfairness: Some(1) };
    check(
        &report(Verdict::Bounded(bound)),
        expect![
            "raddle: test `tests::queue` ok — bounded: all executions with ≤ 2 preemptions (fair bound 1): none fails; 3,911 classes, 10,000 executions, 0.4 s, SC"
        ],
    );
}

#[test]
fn several_phases() {
    let phase = |strategy: &str, executions, end| Phase {
        strategy: strategy.into(),
        executions,
        failing: 0,
        end,
    };
    let phases = vec![
        phase("dpor", 2_500, PhaseEnd::TooMany(1.26e9)),
        phase("random", 7_500, PhaseEnd::OutOfBudget),
    ];
    let clean = Report { strategy: "auto".into(), phases, ..report(Verdict::Sampled) };
    check(
        &clean,
        expect![[r#"
            raddle: test `tests::queue` ok — sampled: 10,000 executions (dpor 2,500 · random 7,500), 3,911 classes seen, 0.4 s, SC
                    dpor gave up after 2,500 executions: about 1,300,000,000 in all would not fit the budget"#]],
    );
}

#[test]
fn with_guarantees() {
    let phase = |strategy: &str, executions| Phase {
        strategy: strategy.into(),
        executions,
        failing: 0,
        end: PhaseEnd::OutOfBudget,
    };
    let phases = vec![phase("pos-star", 5_000), phase("pct:2", 5_000)];
    let guarantee = |depth, escape| Guarantee {
        strategy: "pct:2".into(),
        depth,
        threads: 3,
        steps: 118,
        in_one_phase: false,
        history: None,
        runs: 2_500,
        escape,
    };
    let strategy = "portfolio:pos-star+pct:2".into();
    let guarantees = vec![guarantee(1, 1e-9), guarantee(2, 8.431e-4), guarantee(3, 0.9)];
    let unseen = Some(0.0412);
    let mut clean = Report { strategy, phases, guarantees, unseen, ..report(Verdict::Sampled) };
    check(
        &clean,
        expect![[r#"
            raddle: test `tests::queue` ok — sampled: 10,000 executions (pos-star 5,000 · pct:2 5,000), 3,911 classes seen, unseen mass ≈ 4.1 %, 0.4 s, SC
                    a depth-≤2 bug in ≤ 3 threads and ≤ 118 steps escaped with probability ≤ 8.5e-4 (2,500 qualifying runs of pct:2)"#]],
    );
    clean.unseen = Some(0.0);
    clean.guarantees = vec![Guarantee { in_one_phase: true, runs: 1, ..guarantee(2, 0.997) }];
    check(
        &clean,
        expect![[r#"
            raddle: test `tests::queue` ok — sampled: 10,000 executions (pos-star 5,000 · pct:2 5,000), 3,911 classes seen, unseen mass ≈ 0 %, 0.4 s, SC
                    a depth-≤2 bug within one phase in ≤ 3 threads and ≤ 118 steps escaped with probability ≤ 1.00 (1 qualifying run of pct:2)"#]],
    );
}

#[test]
fn not_finished() {
    let search = Some(Search { estimate: Some(123_456.7), blocked: 2, ..Search::default() });
    let clean = Report { strategy: "dpor".into(), search, ..report(Verdict::Sampled) };
    check(
        &clean,
        expect![[r#"
            raddle: test `tests::queue` ok — sampled: 10,000 executions (dpor), 3,911 classes seen, 0.4 s, SC
                    about 120,000 executions in all"#]],
    );
    check(
        &Report { verdict: Verdict::Exhausted, ..clean },
        expect![[r#"
            raddle: test `tests::queue` ok — exhaustive: 3,911 classes, 10,000 executions, 0.4 s, SC
                    2 executions were abandoned: everything reachable from there had been tried"#]],
    );
}

#[test]
fn replayed() {
    let clean = Report { strategy: "replay".into(), ..report(Verdict::Sampled) };
    check(
        &clean,
        expect!["raddle: test `tests::queue` ok — replayed: this execution does not fail"],
    );
}

#[test]
fn nothing_to_explore() {
    let mut clean = report(Verdict::NothingToExplore);
    check(
        &clean,
        expect![
            "raddle: test `tests::queue` ok — nothing to explore: at every step only one thread is runnable, and the program makes no choices; it ran without failing"
        ],
    );
    clean.threads = 1;
    check(
        &clean,
        expect![
            "raddle: test `tests::queue` ok — nothing to explore: the program runs one thread and makes no choices; it ran without failing"
        ],
    );
}
