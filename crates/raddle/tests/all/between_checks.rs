//! Engines and coroutines are reused between checks. The result of a check does not depend on the earlier checks of its OS
//! thread.

use std::collections::BTreeSet;
use std::sync::Arc;

use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicU32, Ordering::*};
use raddle::{Config, Finding, Memory, Report, Strategy, thread};
use raddle_core::Trace;

/// The result of a check without its duration.
#[derive(Debug, PartialEq)]
struct Summary {
    counts: [u64; 4],
    failure: Option<(Finding, String, Trace)>,
}

fn summary(report: &Report) -> Summary {
    let counts = [report.executions, report.steps, report.classes, report.threads.into()];
    let failure = report.failure();
    Summary {
        counts,
        failure: failure.map(|it| (it.finding.clone(), it.token.clone(), it.trace.clone())),
    }
}

fn adds(threads: u32) -> impl Fn() + Send + Sync + 'static {
    move || {
        let sum = Arc::new(AtomicU32::new(0));
        let add = || {
            let sum = sum.clone();
            thread::spawn(move || sum.fetch_add(1, SeqCst))
        };
        let threads: Vec<_> = (0..threads).map(|_| add()).collect();
        threads.into_iter().for_each(|thread| _ = thread.join().unwrap());
    }
}

/// Threads spawn threads, in an order that depends on the schedule.
fn nested() {
    let outer = thread::spawn(|| thread::spawn(thread::yield_now).join().unwrap());
    let other = thread::spawn(thread::yield_now);
    outer.join().unwrap();
    other.join().unwrap();
}

fn store_buffering() {
    let flags = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let seen = thread::spawn({
        let flags = flags.clone();
        move || {
            flags[0].store(1, Release);
            flags[1].load(Acquire)
        }
    });
    flags[1].store(1, Release);
    let here = flags[0].load(Acquire);
    assert!(here + seen.join().unwrap() > 0, "both are stale");
}

fn lost_update() {
    let number = Arc::new(AtomicU32::new(0));
    let other = number.clone();
    let thread = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
    number.store(number.load(SeqCst) + 1, SeqCst);
    thread.join().unwrap();
    assert_eq!(number.load(SeqCst), 2);
}

fn deadlock() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let others = locks.clone();
    let _thread = thread::spawn(move || {
        let _first = others.0.lock();
        let _second = others.1.lock();
    });
    let _first = locks.1.lock();
    let _second = locks.0.lock();
}

/// A destructor waits for a thread that waits for the destructor's thread. The coroutines are abandoned.
fn stuck() {
    let lock = Arc::new(Mutex::new(()));
    let held = lock.lock().unwrap();
    let others = lock.clone();
    let mut waiter = Some(thread::spawn(move || {
        let _last = OnDrop(|| drop(others.lock()));
        drop(others.lock());
    }));
    let _last = OnDrop(|| _ = waiter.take().map(|waiter| waiter.join()));
    std::mem::forget(held);
    drop(lock.lock());
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The result depends on when a thread ends.
fn polls_for_the_end_of_a_thread() {
    let number = Arc::new(AtomicU32::new(0));
    let other = number.clone();
    let thread = thread::Builder::new().name("asked".to_owned());
    let thread = thread.spawn(move || other.fetch_add(1, Relaxed)).unwrap();
    let has_ended = thread.is_finished();
    assert!(number.load(Relaxed) == 1 || !has_ended);
    thread.join().unwrap();
}

fn endless() {
    loop {
        thread::yield_now();
    }
}

type Check = fn() -> Report;

fn config(strategy: &str) -> Config {
    let strategy: Strategy = strategy.parse().unwrap();
    Config::new().name("between checks").strategy(strategy).runs(2_000).unlimited_time()
}

const CHECKS: [Check; 15] = [
    || config("dpor").run(adds(2)),
    || config("dpor").run(adds(3)),
    || config("dfs").memory(Memory::Rc11).run(adds(3)),
    || config("dfs").memory(Memory::Rc11).run(store_buffering),
    || config("dfs").memory(Memory::Rc11).run(nested),
    || config("dfs").memory(Memory::Rc11).run(polls_for_the_end_of_a_thread),
    || config("surw").runs(50).run(nested),
    || config("pcr").runs(50).run(polls_for_the_end_of_a_thread),
    || config("dpor").run(nested),
    || config("random").runs(50).run(nested),
    || config("pos-star").run(lost_update),
    || config("auto").run(deadlock),
    || config("random").max_steps(100).run(endless),
    || config("pct:2").runs(50).stack_size(64 * 1024).run(adds(70)),
    || config("dpor").run(stuck),
];

#[test]
fn a_check_does_not_depend_on_earlier_ones() {
    let alone = CHECKS.map(|check| std::thread::spawn(move || summary(&check())).join().unwrap());
    let distinct: BTreeSet<_> = alone.iter().map(|summary| summary.counts).collect();
    assert!(distinct.len() >= 9, "the checks are too similar: {alone:#?}");
    // Each check runs after each other check.
    for before in CHECKS {
        for (check, alone) in CHECKS.iter().zip(&alone) {
            before();
            assert_eq!(summary(&check()), *alone);
        }
    }
}

#[test]
fn a_check_does_not_depend_on_those_of_other_os_threads() {
    let alone = CHECKS.map(|check| summary(&check()));
    std::thread::scope(|scope| {
        for first in 0..4 {
            let alone = &alone;
            scope.spawn(move || {
                for at in first..first + CHECKS.len() {
                    let at = at % CHECKS.len();
                    assert_eq!(summary(&CHECKS[at]()), alone[at]);
                }
            });
        }
    });
}
