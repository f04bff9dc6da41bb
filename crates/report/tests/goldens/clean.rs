//! Results without a failure.

use std::time::Duration;

use expect_test::expect;
use raddle_core::{Report, Verdict};

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
                    1 execution reached it and was set aside: nothing is known of it"#]],
    );
}

#[test]
fn sampled() {
    let mut clean = report(Verdict::Sampled);
    check(
        &clean,
        expect![
            "raddle: test `tests::queue` ok — sampled: 10,000 executions (random), 3,911 classes \
             seen, 0.4 s"
        ],
    );
    clean.classes_exact = false;
    clean.classes = 131_072;
    clean.discarded = 12;
    check(
        &clean,
        expect![[r#"
        raddle: test `tests::queue` ok — sampled: 10,000 executions (random), ≈ 131,072 classes seen, 0.4 s
                of these, 12 reached the step limit and were set aside"#]],
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
            "raddle: test `tests::queue` ok — nothing to explore: at every step only one thread can go on, and the program makes no choices; it ran without failing"
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
