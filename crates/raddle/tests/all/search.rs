//! Systematic searches through the public interface.

use raddle::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Config, Finding, Memory, Verdict, thread};

/// Each of `threads` threads increments a counter `times` times, without a lock.
fn count(threads: u32, times: u32) {
    let counter = Arc::new(AtomicU32::new(0));
    let all: Vec<_> = (0..threads)
        .map(|_| {
            let counter = counter.clone();
            thread::spawn(move || {
                for _ in 0..times {
                    counter.fetch_add(1, SeqCst);
                }
            })
        })
        .collect();
    for thread in all {
        thread.join().unwrap();
    }
    assert_eq!(counter.load(SeqCst), threads * times);
}

/// One thread spins on a flag that the other sets.
fn spin() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = {
        let flag = flag.clone();
        thread::spawn(move || flag.store(true, SeqCst))
    };
    // A local counter makes every round differ from the one before.
    let mut rounds = 0_u64;
    while !flag.load(SeqCst) {
        thread::yield_now();
        rounds = std::hint::black_box(rounds + 1);
    }
    other.join().unwrap();
}

#[test]
fn all_classes_of_a_program() {
    let report = Config::new().name("count").strategy("dpor").run(|| count(3, 2));
    assert!(matches!(report.verdict, Verdict::Exhausted));
    assert_eq!((report.executions, report.classes), (90, 90));
    let text = raddle::text(&report);
    assert!(
        text.starts_with("raddle: test `count` ok — exhaustive: 90 classes, 90 executions (+ "),
        "{text}"
    );
    let search = report.search.unwrap();
    assert_eq!((search.blocked, search.estimate), (0, Some(90.0)));
    assert!(search.points > 10 && search.planned > 0, "{search:?}");
}

#[test]
fn all_classes_on_several_os_threads() {
    for threads in [2, 4] {
        let report = Config::new().strategy("dpor").threads(threads).run(|| count(4, 2));
        assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
        assert_eq!((report.executions, report.classes, report.classes_exact), (2520, 2520, true));
        let search = report.search.unwrap();
        assert_eq!((search.blocked, search.estimate.map(f64::round)), (0, Some(2520.0)));
    }
}

#[test]
fn all_graphs_on_several_os_threads() {
    for threads in [1, 2, 4] {
        let config = Config::new().memory(Memory::Rc11).strategy("dpor").threads(threads);
        let report = config.run(|| count(4, 2));
        let text = raddle::text(&report);
        assert!(matches!(report.verdict, Verdict::Exhausted), "{text}");
        assert_eq!((report.executions, report.classes, report.classes_exact), (2520, 2520, true));
        let search = report.search.unwrap();
        assert_eq!((search.blocked, search.estimate.map(f64::round)), (0, Some(2520.0)));
    }
}

/// Four threads, which fail in some interleavings.
fn fails_sometimes() {
    let counter = Arc::new(AtomicU32::new(0));
    let all: Vec<_> = (0..4)
        .map(|number| {
            let counter = counter.clone();
            thread::spawn(move || {
                let before = counter.load(SeqCst);
                counter.store(before * 2 + number, SeqCst);
            })
        })
        .collect();
    for thread in all {
        thread.join().unwrap();
    }
    assert_ne!(counter.load(SeqCst), 13);
}

#[test]
fn the_same_failure_on_several_os_threads() {
    let alone = Config::new().strategy("dpor").run(fails_sometimes);
    let alone = alone.failure().expect("some orders fail");
    for threads in [2, 3] {
        let report = Config::new().strategy("dpor").threads(threads).run(fails_sometimes);
        let failure = report.failure().expect("some orders fail");
        assert_eq!((&failure.token, &failure.finding), (&alone.token, &alone.finding));
        assert_eq!((failure.execution, failure.reproduced), (alone.execution, true));
    }
}

#[test]
fn a_static_on_several_os_threads_is_refused() {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    fn count(times: u32) {
        let add = move || (0..times).for_each(|_| _ = COUNTER.fetch_add(1, SeqCst));
        let all: Vec<_> = (0..4).map(|_| thread::spawn(add)).collect();
        for thread in all {
            thread.join().unwrap();
        }
    }
    let report = Config::new().strategy("dpor").run(|| count(2));
    assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
    // There are enough classes for each OS thread to get some.
    let config = Config::new().strategy("dpor").threads(2).runs(1_000_000).unlimited_time();
    let report = config.run(|| count(3));
    let text = raddle::text(&report);
    let failure = report.failure().expect("both use the static");
    assert!(!failure.reproduced && text.contains("search on one OS thread"), "{text}");
}

#[test]
fn other_strategies_use_one_os_thread() {
    for strategy in ["random", "dfs", "auto"] {
        let config = || Config::new().strategy(strategy).runs(200);
        let (one, two) = (config().run(|| count(2, 2)), config().threads(2).run(|| count(2, 2)));
        assert_eq!((one.executions, one.classes), (two.executions, two.classes));
    }
}

#[test]
fn a_bug_that_only_some_classes_have() {
    let report = Config::new().strategy("dpor").run(|| {
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let other = {
            let (a, b) = (a.clone(), b.clone());
            thread::spawn(move || {
                let _b = b.lock().unwrap();
                let _a = a.lock().unwrap();
            })
        };
        {
            let _a = a.lock().unwrap();
            let _b = b.lock().unwrap();
        }
        other.join().unwrap();
    });
    let failure = report.failure().expect("there is a deadlock");
    assert!(matches!(failure.finding, Finding::Deadlock(_)) && failure.reproduced);
    assert!(report.executions <= 3, "{}", report.executions);
}

#[test]
fn an_endless_loop_is_reported_with_advice() {
    let error = Config::new().strategy("dpor").try_run(spin).unwrap_err().to_string();
    assert!(error.contains("main loops") && error.contains("bpor:fair:1"), "{error}");
    assert!(error.contains("tests/all/search.rs"), "{error}");

    // Every round changes something.
    let counts = |is_endless: bool| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = {
            let flag = flag.clone();
            thread::spawn(move || flag.store(!is_endless, SeqCst))
        };
        let rounds = AtomicU32::new(0);
        while !flag.load(SeqCst) {
            rounds.fetch_add(1, SeqCst);
        }
        other.join().unwrap();
    };
    let config = || Config::new().strategy("dpor").max_steps(2_000);
    let report = config().run(move || counts(false));
    // The execution ended after the step limit, but others were not tried.
    assert!(matches!(report.verdict, Verdict::Sampled), "{}", raddle::text(&report));
    let report = config().run(move || counts(true));
    let failure = report.failure().expect("it does not end");
    assert!(matches!(failure.finding, Finding::StepLimit { .. }), "{:?}", failure.finding);
    let text = raddle::text(&report);
    assert!(text.contains("bpor:fair:1"), "{text}");
}

#[test]
fn a_choice_with_too_many_values_is_refused() {
    for strategy in ["dpor", "dfs"] {
        let error = Config::new()
            .strategy(strategy)
            .try_run(|| assert!(raddle::choose(u32::MAX) < u32::MAX))
            .unwrap_err()
            .to_string();
        assert!(error.contains("4294967295") && error.contains("tests/all/search.rs"), "{error}");
        assert!(error.contains("`random`"), "{error}");
    }
}

#[test]
fn auto_searches_exhaustively_if_possible() {
    let report = Config::new().strategy("auto").run(|| count(3, 2));
    assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
    assert_eq!(report.executions, 90);
}

#[test]
fn auto_samples_large_programs() {
    let report = Config::new().strategy("auto").runs(2_000).run(|| count(5, 6));
    assert!(matches!(report.verdict, Verdict::Sampled), "{}", raddle::text(&report));
    assert_eq!((report.executions, report.phases.len()), (2_000, 3));
    let text = raddle::text(&report);
    for part in ["would not fit", "pos-star 1,", "all executions with ≤ ", "preemption"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn auto_copes_with_loops() {
    let report = Config::new().strategy("auto").runs(500).run(spin);
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    let text = raddle::text(&report);
    assert!(text.contains("does not seem to end") && text.contains("fair bound 1"), "{text}");
}

#[test]
fn bounds() {
    let text = |strategy: &str| {
        let report =
            Config::new().name("count").strategy(strategy).runs(100_000).run(|| count(3, 2));
        raddle::text(&report)
    };
    for (strategy, start) in [
        (
            "bpor:1",
            "raddle: test `count` ok — bounded: all executions with ≤ 1 preemption: none fails; ",
        ),
        (
            "dfs:1",
            "raddle: test `count` ok — bounded: all executions with ≤ 1 preemption: none fails; ",
        ),
        (
            "dfs-delay:1",
            "raddle: test `count` ok — bounded: all executions with ≤ 1 delay: none fails; ",
        ),
        (
            "bpor:1:fair:0",
            "raddle: test `count` ok — bounded: all executions with ≤ 1 preemption (fair bound 0): none fails; ",
        ),
        // No thread yields, and no execution has nine preemptions.
        ("bpor:fair:0", "raddle: test `count` ok — exhaustive: 90 classes, "),
        ("bpor:9", "raddle: test `count` ok — exhaustive: 90 classes, "),
        ("dpor-classic", "raddle: test `count` ok — exhaustive: 90 classes, "),
        ("bpor:0-9", "raddle: test `count` ok — exhaustive: 90 classes, "),
    ] {
        let text = text(strategy);
        assert!(text.starts_with(start), "{strategy}: {text}");
    }
    let text = text("bpor:0-1");
    assert!(text.contains("≤ 1 preemption") && text.contains("(bpor:0 6 · bpor:1 "), "{text}");
}

#[test]
fn a_fair_bound_ends_a_search_of_loops() {
    for strategy in ["bpor:fair:1", "bpor:2:fair:1", "dfs:fair:1"] {
        let report = Config::new().strategy(strategy).run(spin);
        assert!(
            matches!(report.verdict, Verdict::Bounded(_)),
            "{strategy}: {}",
            raddle::text(&report)
        );
    }
}

#[test]
fn auto_samples_choices_with_many_values() {
    let report = Config::new().strategy("auto").runs(100).run(|| {
        assert!(raddle::choose(u32::MAX) < u32::MAX);
    });
    assert!(matches!(report.verdict, Verdict::Sampled), "{}", raddle::text(&report));
}

/// All choices of this program come after the step limit, and the search does not see them.
#[test]
fn nothing_is_claimed_of_runs_that_end_after_the_step_limit() {
    let program = || {
        let alone = AtomicU32::new(0);
        for _ in 0..150 {
            alone.fetch_add(1, SeqCst);
        }
        count(2, 2);
    };
    for strategy in ["dfs", "dpor", "dpor-classic", "bpor:2", "bpor:0-2", "dfs:1", "mcr", "auto"] {
        for memory in [Memory::Sc, Memory::Rc11] {
            if memory == Memory::Rc11 && !matches!(strategy, "dfs" | "dpor" | "auto") {
                continue;
            }
            let config = Config::new().strategy(strategy).memory(memory).runs(50).max_steps(100);
            let report = config.run(program);
            assert!(
                matches!(report.verdict, Verdict::Sampled),
                "{strategy} {memory:?}: {}",
                raddle::text(&report)
            );
        }
    }
}
