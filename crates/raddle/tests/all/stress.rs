//! Many steps, runs, threads and objects. Each check must end with a clear outcome and without a leak.

use raddle::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex, mpsc};
use raddle::{Config, Explain, Finding, OnStepLimit, Report, Verdict, thread};

use raddle_testkit::scaled;

use super::support::{child, child_case, watched};

#[track_caller]
fn assert_clean(report: &Report) {
    assert!(report.failure().is_none(), "{:?}", report.failure().map(|failure| &failure.finding));
}

/// Two threads perform `steps` steps each.
fn two_counters(steps: usize) -> impl Fn() + Send + Sync + 'static {
    move || {
        let count = Arc::new(AtomicUsize::new(0));
        let other = {
            let count = count.clone();
            thread::spawn(move || {
                for _ in 0..steps {
                    count.fetch_add(1, SeqCst);
                }
            })
        };
        for _ in 0..steps {
            count.fetch_add(1, SeqCst);
        }
        other.join().unwrap();
        assert_eq!(count.load(SeqCst), 2 * steps);
    }
}

#[test]
fn a_run_of_a_million_steps() {
    watched("a million steps", || {
        for strategy in ["random", "pct:3"] {
            let config = Config::new().strategy(strategy).runs(2).unlimited_time();
            let report = config.max_steps(1_100_000).run(two_counters(500_000));
            assert_clean(&report);
            assert!(report.steps >= 2_000_000, "{}", report.steps);
        }
    });
}

#[test]
fn a_run_without_end_reaches_the_step_limit() {
    watched("a run without end", || {
        for strategy in ["random", "pct:3", "round-robin", "dfs"] {
            let report = Config::new().strategy(strategy).max_steps(200_000).run(|| {
                let ready = Arc::new(AtomicUsize::new(0));
                let other = {
                    let ready = ready.clone();
                    // Every round changes something.
                    thread::spawn(move || while ready.fetch_add(1, SeqCst) < usize::MAX {})
                };
                other.join().unwrap();
            });
            let failure = report.failure().expect("the flag is never set");
            assert_eq!(failure.finding, Finding::StepLimit { steps: 200_000 });
            assert!(failure.reproduced, "{strategy}");
        }
    });
}

#[test]
fn a_thousand_threads_in_one_run() {
    watched("a thousand threads", || {
        let report = Config::new().runs(3).run(|| {
            let count = Arc::new(Mutex::new(0));
            let threads: Vec<_> = (0..1000)
                .map(|_| {
                    let count = count.clone();
                    thread::spawn(move || *count.lock().unwrap() += 1)
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(*count.lock().unwrap(), 1000);
        });
        assert_clean(&report);
        assert!(report.threads > 100, "{}", report.threads);
    });
}

#[test]
fn a_hundred_thousand_objects_in_one_run() {
    watched("a hundred thousand objects", || {
        let report = Config::new().runs(2).run(|| {
            let locks: Arc<Vec<_>> = Arc::new((0..100_000).map(Mutex::new).collect());
            let other = {
                let locks = locks.clone();
                thread::spawn(move || locks.iter().map(|lock| *lock.lock().unwrap()).sum::<usize>())
            };
            let sum: usize = locks.iter().map(|lock| *lock.lock().unwrap()).sum();
            assert_eq!(other.join().unwrap(), sum);
        });
        assert_clean(&report);
    });
}

/// The cases that need a process of their own, because they measure memory.
#[test]
fn child_entry() {
    match child_case().as_deref() {
        None => {}
        Some("a million runs") => a_million_runs(),
        Some("detached workers") => runs_with_detached_workers(),
        Some("a hundred thousand threads") => a_hundred_thousand_threads(),
        Some("threads left behind by explanations") => threads_left_behind_by_explanations(),
        Some("threads left behind by a check") => threads_left_behind_by_a_check(),
        Some("threads left behind") => threads_left_behind(),
        Some(other) => panic!("no such case: {other}"),
    }
}

fn alone(case: &'static str) {
    let output = watched(case, move || child("stress::child_entry", case));
    let (out, err) = (&output.stdout, &output.stderr);
    let text = format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err));
    println!("{text}");
    assert!(output.status.success() && text.contains("1 passed"), "{case}: {text}");
}

#[test]
fn memory_is_flat_over_a_million_runs() {
    alone("a million runs");
}

/// 100,000 runs, if the tests are scaled by 20.
#[test]
fn memory_is_flat_over_runs_with_detached_workers() {
    alone("detached workers");
}

#[test]
fn stacks_of_ended_threads_are_used_again() {
    alone("a hundred thousand threads");
}

/// A check that leaves too many threads behind ends early and says so.
#[test]
fn a_check_leaves_few_threads_behind() {
    alone("threads left behind by a check");
}

fn threads_left_behind_by_a_check() {
    let program = || {
        let variable = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..7 {
                scope.spawn(|| while variable.load(SeqCst) == 0 {});
            }
        });
    };
    let config = || Config::new().strategy("random").max_steps(50).runs(10_000);
    let report = config().on_step_limit(OnStepLimit::Discard).run(program);
    assert!(matches!(report.verdict, Verdict::Sampled));
    // There are up to 8 threads in each execution, and some executions are repeated.
    assert!((4096..4200).contains(&report.leaked) && report.executions < 600, "{report:?}");
    assert!(raddle::text(&report).contains("ended early: 4,"));
    let report = config().keep_going(true).run(program);
    assert_eq!(report.failures.as_ref().map(|failures| failures.causes.len()), Some(1));
    assert!(report.leaked >= 4096 && report.executions < 600);
    assert!(raddle::text(&report).contains("ended early: "), "{}", raddle::text(&report));
}

/// Explanations of deadlocks leave a bounded number of threads behind. Later failures are reported with the reason why
/// they are not shrunk.
#[test]
fn explanations_leave_few_threads_behind() {
    alone("threads left behind by explanations");
}

fn threads_left_behind_by_explanations() {
    /// 32 threads wait for a lock that main holds, or for the one of two that deadlock.
    fn program() {
        let locks = Arc::new([(); 3].map(Mutex::new));
        let _held = locks[2].lock().unwrap();
        let threads: Vec<_> = (0..32)
            .map(|number| {
                let locks = locks.clone();
                thread::spawn(move || drop(locks[number % 3].lock()))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
    let mut texts = Vec::new();
    for seed in 0..40 {
        let report = Config::new().strategy("random").seed(seed).run(program);
        let failure = report.failure().expect("main holds a lock");
        assert!(failure.reproduced && failure.explanation.is_some());
        texts.push(raddle::text(&report));
    }
    let reason = "not shrunk · ended because failing executions have left too many threads behind";
    assert!(!texts[0].contains(reason), "{}", texts[0]);
    assert!(texts[39].contains(reason), "{}", texts[39]);
}

/// All checks of a process together leave a bounded number of threads behind.
#[test]
fn a_process_leaves_few_threads_behind() {
    alone("threads left behind");
}

fn threads_left_behind() {
    /// Every execution is a deadlock of 16 threads.
    fn program() {
        let lock = Arc::new(Mutex::new(()));
        let _held = lock.lock().unwrap();
        let threads: Vec<_> = (0..15)
            .map(|_| {
                let lock = lock.clone();
                thread::spawn(move || drop(lock.lock()))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
    let config = || Config::new().explain(Explain::Off).strategy("random");
    let check = || config().runs(1_000).keep_going(true).run(program);
    for _ in 0..5 {
        assert!((4096..4200).contains(&check().leaked));
    }
    assert!((24_576..25_100).contains(&check().leaked), "all threads of the process");
    // From now on, one execution and its repetitions are enough.
    for _ in 0..10 {
        let report = check();
        let text = raddle::text(&report);
        assert!(report.executions == 1 && report.leaked >= 24_576, "{text}");
        assert!(text.contains("ended early: 2"), "{text}");
    }
    let report = Config::new().strategy("random").runs(100).run(two_counters(2));
    assert!(report.executions == 100 && report.leaked == 0, "{}", raddle::text(&report));
}

fn a_million_runs() {
    let check = |runs: u64| {
        let config = Config::new().strategy("random").runs(runs).unlimited_time();
        let report = config.run(two_counters(1));
        assert_clean(&report);
        assert!(matches!(report.verdict, Verdict::Sampled) && report.executions == runs);
    };
    check(1000);
    let before = memory("VmRSS");
    check(1_000_000);
    let growth = memory("VmRSS").saturating_sub(before);
    println!("a million runs: {growth} KiB more than a thousand");
    assert!(growth < 4 << 10, "{growth} KiB");
}

/// Every run unwinds a worker that waits forever, and another in a destructor that takes a lock.
fn runs_with_detached_workers() {
    struct Locks(Arc<Mutex<u32>>);
    impl Drop for Locks {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let check = |runs: u64| {
        let config = Config::new().strategy("random").runs(runs).unlimited_time();
        let report = config.run(|| {
            let shared = Arc::new(Mutex::new(0));
            let (sender, receiver) = mpsc::channel::<u32>();
            let kept = sender.clone();
            let locks = Locks(shared.clone());
            thread::spawn(move || {
                let _kept = (kept, locks);
                for value in receiver {
                    *shared.lock().unwrap() += value;
                }
            });
            thread::spawn(thread::park);
            sender.send(1).unwrap();
        });
        assert_clean(&report);
        assert!(report.executions == runs && report.leaked == 0);
    };
    check(1000);
    let before = memory("VmRSS");
    let runs = scaled(5_000);
    check(runs);
    let growth = memory("VmRSS").saturating_sub(before);
    println!("{runs} runs with detached workers: {growth} KiB more than a thousand");
    assert!(growth < 4 << 10, "{growth} KiB");
}

fn a_hundred_thousand_threads() {
    let before = memory("VmHWM");
    let report = Config::new().runs(1).run(|| {
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..100_000 {
            let count = count.clone();
            thread::spawn(move || count.fetch_add(1, SeqCst)).join().unwrap();
        }
        assert_eq!(count.load(SeqCst), 100_000);
    });
    assert_clean(&report);
    assert_eq!(report.threads, 2);
    let growth = memory("VmHWM").saturating_sub(before);
    println!("a hundred thousand threads: {growth} KiB at most");
    // Traces and names of threads need some 100 MiB. A stack for each thread would need 800 MiB more.
    assert!(growth < 300 << 10, "{growth} KiB");
}

/// Returns a line of the kernel's status of this process, in KiB: `VmRSS` is the memory in use, `VmHWM` its maximum.
/// Returns zero on other systems.
fn memory(line: &str) -> u64 {
    let account = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = account.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':'));
    let number = found.and_then(|text| text.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}
