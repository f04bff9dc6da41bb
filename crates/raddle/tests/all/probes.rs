//! The probes of `auto`: a fair execution and a few with random priorities, before anything else.

use raddle::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Config, Finding, Memory, Verdict, thread};

/// Two threads that each make two steps on one variable.
fn six_classes() {
    let count = Arc::new(AtomicUsize::new(0));
    let add = |count: &AtomicUsize| {
        count.fetch_add(1, SeqCst);
        count.fetch_add(1, SeqCst);
    };
    let other = thread::spawn({
        let count = count.clone();
        move || add(&count)
    });
    add(&count);
    other.join().unwrap();
}

/// Two threads that need two locks, and put the first back if they do not get the second.
fn retries_in_step() {
    let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
    let take = |locks: &[Mutex<()>; 2], first: usize| {
        loop {
            let _first = locks[first].lock().unwrap();
            if locks[1 - first].try_lock().is_ok() {
                break;
            }
        }
    };
    let other = thread::spawn({
        let locks = locks.clone();
        move || take(&locks, 1)
    });
    take(&locks, 0);
    other.join().unwrap();
}

#[test]
fn probes_are_counted_apart() {
    for memory in [Memory::Sc, Memory::Rc11] {
        let report = Config::new().memory(memory).run(six_classes);
        assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
        assert_eq!((report.classes, report.executions, report.probes), (6, 6, 12));
        let text = raddle::text(&report);
        let name = if memory == Memory::Sc { "classes" } else { "graphs" };
        assert!(text.contains(&format!("6 {name}, 6 executions (after 12 probes")), "{text}");
    }
}

#[test]
fn two_threads_that_retry_in_step_are_found_at_once() {
    let report = Config::new().max_steps(10_000).run(retries_in_step);
    let failure = report.failure().expect("a livelock");
    assert!(matches!(failure.finding, Finding::StepLimit { .. }), "{}", raddle::text(&report));
    assert_eq!((failure.execution, failure.reproduced), (1, true));
    assert!(raddle::text(&report).contains("found by round-robin (auto) after 1 execution"));
}

/// Loops that wait are no livelocks of a fair execution, and probes that are not fair do not count.
#[test]
fn waiting_is_no_livelock() {
    for memory in [Memory::Sc, Memory::Rc11] {
        let report = Config::new().memory(memory).runs(200).max_steps(2_000).run(|| {
            let flag = Arc::new(AtomicBool::new(false));
            let other = thread::spawn({
                let flag = flag.clone();
                move || while !flag.load(Relaxed) {}
            });
            flag.store(true, Relaxed);
            other.join().unwrap();
        });
        // Samples that are not fair may not end under RC11; the probes pass.
        assert!(report.probes >= 1, "{}", raddle::text(&report));
        let is_sc = memory == Memory::Sc;
        assert!(!is_sc || report.failure().is_none(), "{}", raddle::text(&report));
    }
}

#[test]
fn probes_keep_to_the_budget() {
    for (runs, probes) in [(1, 0), (16, 2), (96, 12), (1_000, 12)] {
        let report = Config::new().runs(runs).run(six_classes);
        assert_eq!(report.probes, probes, "{runs} runs");
        assert!(report.executions <= runs);
    }
    // They are none of the failures that are counted.
    let report = Config::new().keep_going(true).runs(100).run(six_classes);
    assert_eq!((report.probes, report.executions), (0, 100));
}

/// What probes see is part of the result.
#[test]
fn a_failure_after_probes_names_both() {
    let report = Config::new().run(|| {
        // One order of many: the probes do not meet it.
        let order = Arc::new(Mutex::new(Vec::new()));
        let push = |order: &Mutex<Vec<usize>>, own| order.lock().unwrap().push(own);
        let threads: Vec<_> = (0..5)
            .map(|own| {
                let order = order.clone();
                thread::spawn(move || push(&order, own))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_ne!(*order.lock().unwrap(), [3, 1, 4, 0, 2]);
    });
    let failure = report.failure().expect("the order is possible");
    assert!(failure.execution > 1 && report.probes == 12, "{}", raddle::text(&report));
    assert!(raddle::text(&report).contains(" and 12 probes ("), "{}", raddle::text(&report));
}
