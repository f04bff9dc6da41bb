//! Conditions that are to hold in some execution.

use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::{Config, Sometimes, Verdict, thread};

/// Two threads write, and main reads.
fn two_writers() {
    let value = Arc::new(AtomicU32::new(0));
    let threads = [1, 2].map(|number| {
        let value = value.clone();
        thread::spawn(move || value.store(number, SeqCst))
    });
    let seen = value.load(SeqCst);
    raddle::sometimes!(seen == 0, "sees none");
    raddle::sometimes!(seen == 1, "sees the first");
    raddle::sometimes!(seen == 2, "sees the second");
    raddle::sometimes!(seen == 3, "sees a third");
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn held(report: &raddle::Report) -> Vec<(&str, bool)> {
    report.conditions.iter().map(|one| (one.name.as_str(), one.held)).collect()
}

const ALL: [(&str, bool); 4] = [
    ("sees none", true),
    ("sees the first", true),
    ("sees the second", true),
    ("sees a third", false),
];

#[test]
fn every_strategy_finds_what_can_hold() {
    for (strategy, threads) in
        [("dfs", 1), ("dpor", 1), ("dpor", 2), ("random", 1), ("random", 2), ("auto", 1)]
    {
        let report = Config::new().strategy(strategy).runs(500).threads(threads).run(two_writers);
        assert_eq!(held(&report), ALL, "{strategy}");
        assert!(report.failure().is_none() && !report.has_failed());
    }
}

/// Only a search of all executions proves that a condition cannot hold.
#[test]
fn a_result_says_what_never_held() {
    let text =
        |strategy: &str| Config::new().strategy(strategy).runs(100).run(two_writers).to_string();
    let place = "`sees a third` (crates/raddle/tests/all/conditions.rs:18)";
    for strategy in ["dfs", "dpor"] {
        let text = text(strategy);
        assert!(text.contains(&format!("cannot hold: {place}")), "{text}");
        assert!(!text.contains("sees none"), "{text}");
    }
    for strategy in ["random", "bpor:0"] {
        let text = text(strategy);
        assert!(text.contains(&format!("never held: {place}")), "{text}");
    }
}

#[test]
fn it_is_a_failure_on_request() {
    let config = || Config::new().name("writers").strategy("dpor").sometimes(Sometimes::Fail);
    let report = config().run(two_writers);
    assert!(report.has_failed() && matches!(report.verdict, Verdict::Exhausted));
    let text = report.to_string();
    let first = "raddle: test `writers` FAILED — 1 condition never held that had to hold in some execution\n";
    assert!(text.starts_with(first) && text.contains("exhaustive"), "{text}");
    assert!(report.to_html().contains("<span class=\"badge bad\">FAILED"));
    let json = report.to_json();
    assert!(json.contains(r#""conditions_required": true"#), "{json}");
    let panic = std::panic::catch_unwind(|| config().check(two_writers)).unwrap_err();
    assert_eq!(
        panic.downcast_ref::<String>(),
        Some(&text.replace(&time(&text), &time(panic.downcast_ref::<String>().unwrap())))
    );
    config().check(|| raddle::sometimes!(raddle::choose(2) == 1, "draws one"));
}

/// Returns the duration that a result names.
fn time(text: &str) -> String {
    let words: Vec<&str> = text.split(", ").collect();
    words.iter().find(|word| word.ends_with(" ms")).expect("a time").to_string()
}

/// A condition of one check is none of another one, also at the same place.
#[test]
fn checks_are_told_apart() {
    fn program(bound: u32) {
        let drawn = raddle::choose(bound);
        raddle::sometimes!(drawn == 2, "draws two");
    }
    for (bound, expected) in [(3, true), (2, false), (3, true), (1, false)] {
        let report = Config::new().strategy("dfs").run(move || program(bound));
        assert_eq!(held(&report), [("draws two", expected)], "{bound}");
    }
}

/// Destructors that run because an execution is over see what no execution shows.
#[test]
fn unwinding_does_not_count() {
    struct Last(Arc<AtomicU32>);
    impl Drop for Last {
        fn drop(&mut self) {
            let seen = self.0.load(SeqCst);
            raddle::sometimes!(seen == 0, "dropped early");
        }
    }
    let report = Config::new().strategy("dpor").run(|| {
        let value = Arc::new(AtomicU32::new(0));
        let last = Last(value.clone());
        thread::spawn(move || {
            raddle::assume(false);
            drop(last);
        });
        value.store(1, SeqCst);
    });
    assert!(report.conditions.is_empty(), "{:?}", report.conditions);
}

/// Outside of executions nothing happens.
#[test]
fn outside_of_executions() {
    let mut evaluated = 0;
    raddle::sometimes!(
        {
            evaluated += 1;
            false
        },
        "outside"
    );
    assert_eq!(evaluated, 1);
}
