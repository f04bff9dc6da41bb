//! Nondeterministic programs, endless loops, and destructors that spin.

use std::sync::atomic::AtomicUsize as StdAtomicUsize;

use raddle::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Config, Finding, Memory, thread};

use super::support::watched;

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The last run ends before all prescribed choices are made.
#[test]
fn a_run_that_ends_too_early_is_nondeterministic() {
    static RUNS: StdAtomicUsize = StdAtomicUsize::new(0);
    watched("ends too early", || {
        let report = Config::new().strategy("dfs").run(|| {
            let is_equal = RUNS.fetch_add(1, SeqCst) < 3;
            let other = is_equal.then(|| thread::spawn(thread::yield_now));
            thread::yield_now();
            let _ = other.map(|other| other.join());
        });
        let failure = report.failure().expect("the program is not deterministic");
        assert!(matches!(failure.finding, Finding::Nondeterminism { .. }));
    });
}

/// A later run panics before all prescribed choices are made.
#[test]
fn a_run_that_panics_too_early_is_a_failure() {
    for strategy in ["dfs", "dpor", "dpor-classic", "bpor:2", "bpor-plain:2", "mcr", "pcr"] {
        static RUNS: StdAtomicUsize = StdAtomicUsize::new(0);
        RUNS.store(0, SeqCst);
        let report = Config::new().strategy(strategy).run(|| {
            let is_last = RUNS.fetch_add(1, SeqCst) == 3;
            let shared = Arc::new(AtomicBool::new(false));
            let other = shared.clone();
            let other = thread::spawn(move || other.store(true, SeqCst));
            assert!(!is_last, "too early");
            shared.store(false, SeqCst);
            other.join().unwrap();
            shared.load(SeqCst);
        });
        let text = raddle::text(&report);
        let failure = report.failure().unwrap_or_else(|| panic!("{strategy}: {text}"));
        let is_right = match &failure.finding {
            Finding::Panic(panic) => panic.message == "too early" && !failure.reproduced,
            finding => matches!(finding, Finding::Nondeterminism { .. }),
        };
        assert!(is_right, "{strategy}: {text}");
    }
}

/// A thread that panics waits in a destructor for a flag that another thread sets.
#[test]
fn a_spinning_destructor_lets_other_threads_run() {
    watched("spins while panicking", || {
        let report = Config::new().max_steps(10_000).run(|| {
            let flag = Arc::new(AtomicBool::new(false));
            let other = {
                let flag = flag.clone();
                thread::spawn(move || flag.store(true, SeqCst))
            };
            let _last = OnDrop(|| {
                while !flag.load(SeqCst) {
                    thread::yield_now();
                }
            });
            let _ = other;
            panic!("main fails");
        });
        assert!(report.failure().is_some());
    });
}

/// After a deadlock a destructor spins forever.
#[test]
fn a_destructor_that_spins_after_the_end_does_not_hang() {
    watched("spins after the end", || {
        let report = Config::new().max_steps(10_000).run(|| {
            let flag = AtomicBool::new(false);
            let lock = Mutex::new(());
            let _held = lock.lock().unwrap();
            let _last = OnDrop(|| {
                while !flag.load(SeqCst) {
                    thread::yield_now();
                }
            });
            drop(lock.lock());
        });
        assert!(report.failure().is_some());
    });
}

/// The report names the threads, operations and sites of the loop.
#[test]
fn an_endless_loop_is_described() {
    watched("livelock", || {
        let report = Config::new().strategy("random").max_steps(5_000).run(|| {
            let flag = Arc::new(AtomicBool::new(false));
            let other = {
                let flag = flag.clone();
                thread::spawn(move || {
                    // Every round changes something.
                    loop {
                        flag.fetch_not(SeqCst);
                        thread::yield_now();
                    }
                })
            };
            other.join().unwrap();
        });
        let failure = report.failure().expect("it does not end");
        assert!(
            matches!(failure.finding, Finding::StepLimit { steps: 5_000 }) && failure.reproduced
        );
        let text = raddle::text(&report);
        for part in ["500 × thread 1: atomic 1.fetch_xor true at", "500 × thread 1: yield_now at"]
        {
            assert!(text.contains(part) && text.contains("spinning.rs:"), "{text}");
        }
        assert!(report.to_json().contains(r#""repeated""#));
    });
}

/// The report names the first different step, with the operations of both runs.
#[test]
fn nondeterminism_is_reported_with_the_first_different_step() {
    static RUNS: StdAtomicUsize = StdAtomicUsize::new(0);
    watched("differs", || {
        let report = Config::new().run(|| {
            let flag = AtomicBool::new(false);
            flag.load(SeqCst);
            flag.store(RUNS.fetch_add(1, SeqCst) == 0, SeqCst);
        });
        let failure = report.failure().expect("the program is not deterministic");
        let Finding::Nondeterminism { at, first, second } = &failure.finding else {
            panic!("{:?}", failure.finding)
        };
        assert_eq!(*at, 1);
        assert!(first.contains("store true") && second.contains("store false"), "{first} {second}");
        assert!(first.contains("spinning.rs:") && second.contains("spinning.rs:"));
    });
}

/// The second run has choices, steps or threads that the first did not have.
#[test]
fn nondeterminism_is_detected_by_extra_choices() {
    static RUNS: StdAtomicUsize = StdAtomicUsize::new(0);
    fn program(extra: fn()) {
        let flag = Arc::new(AtomicBool::new(false));
        let other = thread::spawn({
            let flag = flag.clone();
            move || flag.store(true, Relaxed)
        });
        flag.load(Relaxed);
        other.join().unwrap();
        if RUNS.fetch_add(1, SeqCst) == 1 {
            extra();
        }
    }
    let choice = || assert!(raddle::choose(3) < 3);
    let steps = || (0..100).for_each(|_| thread::yield_now());
    let threads = || thread::spawn(thread::yield_now).join().unwrap();
    watched("extra choices", move || {
        for extra in [choice as fn(), steps, threads] {
            for (memory, strategies) in [
                (Memory::Sc, "auto random pct:3 pos surw dfs dpor bpor:2 pcr"),
                (Memory::Rc11, "auto random pct:3 pctwm:1:2 dfs"),
            ] {
                for strategy in strategies.split(' ') {
                    RUNS.store(0, SeqCst);
                    let config = Config::new().memory(memory).strategy(strategy);
                    let report = config.run(move || program(extra));
                    let failure = report.failure().expect("the program is not deterministic");
                    let Finding::Nondeterminism { first, .. } = &failure.finding else {
                        panic!("{strategy}: {:?}", failure.finding)
                    };
                    assert!(first.starts_with("main: ") || first.contains("had ended"), "{first}");
                }
            }
        }
    });
}

/// A search cannot repeat a choice that it made before.
#[test]
fn nondeterminism_is_reported_with_the_enabled_operations() {
    static RUNS: StdAtomicUsize = StdAtomicUsize::new(0);
    watched("differs later", || {
        let report = Config::new().strategy("dfs").run(|| {
            let is_equal = RUNS.fetch_add(1, SeqCst) < 4;
            let other = is_equal.then(|| thread::spawn(thread::yield_now));
            for _ in 0..3 {
                thread::yield_now();
            }
            let _ = other.map(|other| other.join());
        });
        let failure = report.failure().expect("the program is not deterministic");
        let Finding::Nondeterminism { first, second, .. } = &failure.finding else {
            panic!("{:?}", failure.finding)
        };
        assert!(first.contains("was possible"), "{first}");
        assert!(second.contains("only this was: main: "), "{second}");
    });
}

/// Executions are repeated again and again: a sampler finds a program that differs late.
#[test]
fn late_nondeterminism_is_detected_by_every_strategy() {
    static RUNS: StdAtomicUsize = StdAtomicUsize::new(0);
    watched("differs late", || {
        for strategy in "random pos-star pct:3 surw".split(' ') {
            for equal in [5, 40, 170] {
                RUNS.store(0, SeqCst);
                let report = Config::new().strategy(strategy).runs(200).run(move || {
                    let other = thread::spawn(thread::yield_now);
                    let run = RUNS.fetch_add(1, SeqCst);
                    // Every second execution has one more step.
                    if run > equal && run % 2 == 0 {
                        thread::yield_now();
                    }
                    other.join().unwrap();
                });
                let failure = report.failure().expect("the program is not deterministic");
                let finding = &failure.finding;
                assert!(matches!(finding, Finding::Nondeterminism { .. }), "{finding:?}");
                assert!(failure.execution as usize > equal / 2, "{}", failure.execution);
            }
        }
    });
}
