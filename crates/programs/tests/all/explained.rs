//! Failures of programs with known bugs, explained.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use raddle::{Change, Explain, Failure, Repair, Report, Sufficiency};
use raddle_programs::run::{Request, config};
use raddle_programs::{Form, find};

/// Programs of the suite, each with a size, or zero for the usual one.
const PROGRAMS: [(&str, u32); 46] = [
    ("pct-fig1a", 0),
    ("pct-fig1b", 0),
    ("pct-fig1c", 0),
    ("pct-fig2", 0),
    ("pct-fig3", 0),
    ("pct-fig4", 0),
    ("pct-fig5", 5),
    ("pct-splash", 3),
    ("pct-wsq", 1),
    ("dryad", 1),
    ("mrse", 0),
    ("fft", 2),
    ("exception", 2),
    ("exception-lost", 2),
    ("pos-fig2", 0),
    ("stringbuffer", 0),
    ("reorder_3", 0),
    ("reorder_4", 0),
    ("reorder_5", 0),
    ("twostage", 0),
    ("wronglock_3", 0),
    ("wronglock", 0),
    ("account", 0),
    ("token_ring", 0),
    ("circular_buffer", 0),
    ("queue", 0),
    ("stack", 0),
    ("lazy01", 0),
    ("deadlock01", 0),
    ("carter01", 0),
    ("din_phil", 3),
    ("phase01", 0),
    ("bluetooth_driver", 0),
    ("pbzip2", 1),
    ("aget-bug2", 0),
    ("ctrace-test", 0),
    ("WSQ", 0),
    ("qsort_mt", 0),
    ("radbench-bug2", 0),
    ("radbench-bug4", 0),
    ("radbench-bug1", 0),
    ("radbench-bug6", 0),
    ("streamcluster", 0),
    ("streamcluster3", 0),
    ("ferret", 0),
    ("twostage_100", 20),
];

/// Samples a program until it fails as it should, and explains the failure.
fn explained((name, size): (&str, u32), explain: Explain) -> Option<Report> {
    let program = find(name).expect("the program exists");
    let size = if size == 0 { program.size.usual } else { size };
    (0..20).find_map(|seed| {
        let strategy = "portfolio:random+pct:3".parse().expect("a strategy");
        let request = Request { strategy, runs: 20_000, seed, form: Form::Bugged, size };
        let config = config(program, request).explain(explain);
        let report = config.run(program.closure(Form::Bugged, size));
        let is_it = report.failure().is_some_and(|found| program.failure.is(&found.finding));
        is_it.then_some(report)
    })
}

fn shrunk(name: &str, failure: &Failure) -> String {
    let explanation = failure.explanation.as_ref().expect("the failure is explained");
    let (from, to) = (explanation.shrunk.from, explanation.shrunk.to);
    format!(
        "{name:<18}{:>3} → {:<2}{} preemptions, {:>3} → {:<2} blocks, {:>4} → {:<3} steps, {} executions{}",
        from.preemptions,
        to.preemptions,
        if explanation.shrunk.minimal { "!" } else { " " },
        from.blocks,
        to.blocks,
        from.steps,
        to.steps,
        explanation.executions,
        explanation.cut_off.map(|cut_off| format!(", {cut_off:?}")).unwrap_or_default(),
    )
}

fn caused(failure: &Failure) -> String {
    let known = failure.explanation.as_ref().expect("the failure is explained");
    known.causes.as_ref().map_or(format!("no causes: {:?}", known.no_causes), |causes| {
        let certificate = &causes.certificate;
        let (orderings, refuted) = (causes.orderings.len(), certificate.refuted);
        format!("{orderings} orderings, {:?}, {refuted} counterexamples", certificate.sufficient)
    })
}

fn repaired(failure: &Failure) -> String {
    let known = failure.explanation.as_ref().expect("the failure is explained");
    let kind = |repair: &Repair| match &repair.change {
        Change::Turned(_) => "turned",
        Change::Excluded(_) => "one lock",
        Change::LockOrder { .. } => "one order of locks",
        Change::Orders(_) => "orderings",
        other => panic!("{other:?}"),
    };
    let kinds: Vec<&str> = known.repairs.iter().map(kind).collect();
    format!("repairs: {}, {:?}", kinds.join(", "), known.no_repairs)
}

/// Prints all programs.
#[test]
#[ignore = "takes minutes, and prints a table"]
fn every_program() {
    let (mut minimal, mut proved) = (0, 0);
    let wanted = std::env::var("ONLY").unwrap_or_default();
    for program in PROGRAMS.into_iter().filter(|program| program.0.contains(&wanted)) {
        match explained(program, Explain::Full) {
            None => println!("{:<18}not found", program.0),
            Some(report) => {
                let failure = report.failure().expect("it fails");
                let causes = failure.explanation.as_ref().and_then(|known| known.causes.as_ref());
                proved += u32::from(causes.is_some_and(|causes| {
                    matches!(causes.certificate.sufficient, Sufficiency::Proved { .. })
                }));
                minimal +=
                    u32::from(failure.explanation.as_ref().is_some_and(|e| e.shrunk.minimal));
                println!("{}", shrunk(program.0, failure));
                println!("    {}\n    {}", caused(failure), repaired(failure));
                if std::env::var_os("WHOLE").is_some() {
                    println!("{}", raddle::text(&report));
                }
            }
        }
    }
    println!("{minimal} with the fewest preemptions, {proved} with proved causes");
}

#[test]
fn failures_are_shrunk() {
    let chosen =
        ["pct-fig1b", "pct-fig1c", "pct-wsq", "reorder_3", "account", "din_phil", "pbzip2"];
    let mut text = String::new();
    for program in PROGRAMS.iter().filter(|program| chosen.contains(&program.0)) {
        let report = explained(*program, Explain::Quick).expect("a failure");
        let _ = writeln!(text, "{}", shrunk(program.0, report.failure().expect("it fails")));
    }
    let expected: Expect = expect![[r#"
        pct-fig1b           1 → 1 ! preemptions,   4 → 4  blocks,    6 → 6   steps, 177 executions
        pct-fig1c           2 → 1 ! preemptions,   4 → 3  blocks,    4 → 4   steps, 103 executions
        pct-wsq            19 → 2 ! preemptions,  21 → 5  blocks,   56 → 56  steps, 329 executions
        reorder_3           2 → 1 ! preemptions,   4 → 3  blocks,    8 → 7   steps, 226 executions
        account             1 → 0 ! preemptions,   5 → 4  blocks,   12 → 12  steps, 165 executions
        din_phil            2 → 1 ! preemptions,   4 → 4  blocks,    6 → 6   steps, 180 executions
        pbzip2             18 → 0 ! preemptions,  27 → 5  blocks,   37 → 24  steps, 81 executions
    "#]];
    expected.assert_eq(&text);
}

/// Priorities of `pct` are drawn for all threads that a chooser sees.
#[test]
fn checks_do_not_depend_on_earlier_ones() {
    let token = |program| {
        let report = explained(program, Explain::Off).expect("a failure");
        report.failure().expect("it fails").token.clone()
    };
    let [few, many] = [("account", 0), ("dryad", 1)];
    let before = token(few);
    token(many);
    assert_eq!(token(few), before);
}
