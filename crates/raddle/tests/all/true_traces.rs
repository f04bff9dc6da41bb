//! What a trace says is what the program did: one test for each thing that a trace could get wrong.

use raddle::sync::atomic::{AtomicU32, AtomicUsize, Ordering::*, fence};
use raddle::sync::{Arc, Condvar, Mutex, mpsc};
use raddle::{Config, Memory, Panics, Report, thread};

use crate::support::{child, child_case};

fn config() -> Config {
    Config::new().name("trace").strategy("dpor")
}

fn text(report: &Report) -> String {
    assert!(report.failure().is_some(), "{report}");
    report.to_string()
}

/// Channels count their senders, and `Arc`s their references. That is no business of the program.
#[test]
fn internal_operations_are_not_shown() {
    let report = config().run(|| {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        let thread = thread::spawn(move || other.send(1).unwrap());
        drop(sender);
        thread.join().unwrap();
        assert_eq!(receiver.recv(), Ok(2));
    });
    let text = text(&report);
    assert!(text.contains("channel 1") && !text.contains("atomic"), "{text}");
}

#[test]
fn a_spurious_wake_up_is_called_one() {
    let report = config().spurious(1).run(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = shared.clone();
        let thread = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let mut ready = shared.0.lock().unwrap();
        if !*ready {
            ready = shared.1.wait(ready).unwrap();
        }
        assert!(*ready, "woken too early");
        drop(ready);
        thread.join().unwrap();
    });
    assert!(text(&report).contains("woken spuriously"), "{report}");
}

#[test]
fn a_panic_that_join_receives_is_in_its_lane() {
    let report = config().panics(Panics::Join).run(|| {
        let result = thread::spawn(|| panic!("on purpose")).join();
        assert!(result.is_ok(), "the thread panicked");
    });
    let text = text(&report);
    let line = text.lines().find(|line| line.contains("panics: on purpose"));
    assert!(
        line.is_some_and(|line| line.contains("│") && line.contains("true_traces.rs")),
        "{text}"
    );
}

#[test]
fn a_notification_says_whom_it_woke() {
    let report = config().run(|| {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let threads = [1, 2].map(|_| {
            let other = shared.clone();
            thread::spawn(move || {
                let mut turn = other.0.lock().unwrap();
                while *turn == 0 {
                    turn = other.1.wait(turn).unwrap();
                }
            })
        });
        *shared.0.lock().unwrap() = 1;
        shared.1.notify_one();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    let text = text(&report);
    assert!(text.contains("notify_one → wakes thread "), "{text}");
}

#[test]
fn a_release_has_its_own_place() {
    let report = config().run(|| {
        let lock = Mutex::new(0);
        let guard = lock.lock().unwrap();
        let released = line!() + 1;
        drop(guard);
        panic!("released at {released}");
    });
    let text = text(&report);
    let released = text.split("released at ").nth(1).unwrap();
    let released: String = released.chars().take_while(char::is_ascii_digit).collect();
    let line = text.lines().find(|line| line.contains("mutex 1.unlock")).expect("a release");
    // The place is that of a stack. A build without debug information shows where the guard was made.
    let stack = std::backtrace::Backtrace::force_capture().to_string();
    let released: u32 = released.parse().unwrap();
    let expected = if stack.contains("true_traces.rs:") { released } else { released - 2 };
    assert!(line.contains(&format!("true_traces.rs:{expected}")), "{expected}: {text}");
}

#[test]
fn weaker_orderings_and_types_are_shown() {
    let report = config().run(|| {
        let value = AtomicUsize::new(7);
        value.load(SeqCst);
        value.store(1, Release);
        assert_eq!(value.load(Relaxed), 2);
    });
    let text = text(&report);
    for words in
        ["atomic 1.load → 7", "1.store 1 (Release)", "1.load (Relaxed) → 1", "atomic 1  usize"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}

/// Between the data and the second load of the sequence number there has to be a fence.
#[test]
fn the_missing_fence_of_a_seqlock_is_named() {
    // In a process of its own, in which no other failing executions have left threads behind.
    if child_case().is_none() {
        let output = child("true_traces::the_missing_fence_of_a_seqlock_is_named", "seqlock");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let report = config().memory(Memory::Rc11).run(|| {
        let shared = Arc::new([0; 3].map(AtomicU32::new));
        let writer = shared.clone();
        let thread = thread::spawn(move || {
            let [sequence, a, b] = &*writer;
            sequence.store(1, Relaxed);
            fence(Release);
            a.store(1, Relaxed);
            b.store(1, Relaxed);
            sequence.store(2, Release);
        });
        let [sequence, a, b] = &*shared;
        let before = sequence.load(Acquire);
        let seen = (a.load(Relaxed), b.load(Relaxed));
        if before % 2 == 0 && sequence.load(Relaxed) == before {
            assert_eq!(seen.0, seen.1, "torn");
        }
        thread.join().unwrap();
    });
    let text = text(&report);
    assert!(text.contains("add fence(Acquire) before the load"), "{text}");
}

/// What differs is said in operations of the program.
#[test]
fn nondeterminism_is_told_in_operations() {
    static RUNS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let report = config().run(|| {
        let value = AtomicU32::new(0);
        let thread = thread::spawn(|| ());
        if RUNS.fetch_add(1, SeqCst) % 2 == 0 {
            value.store(1, Relaxed);
        } else {
            value.load(Relaxed);
        }
        thread.join().unwrap();
    });
    let text = text(&report);
    assert!(text.contains("atomic 1.store 1") && text.contains("atomic 1.load"), "{text}");
    assert!(!text.contains("AtomicOp") && !text.contains("ObjectId"), "{text}");
}

/// A test that replaces the panic hook, as many do, changes nothing in the report of another one.
#[test]
fn the_panic_hook_changes_nothing() {
    // In a process of its own, in which no other test panics meanwhile.
    if child_case().is_none() {
        let output = child("true_traces::the_panic_hook_changes_nothing", "hook");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let failing = || {
        let seen = AtomicU32::new(1);
        assert_eq!(seen.load(SeqCst), 2, "wrong");
    };
    let without_time = |report: Report| {
        let text = text(&report);
        let lines = text.lines().filter(|line| !line.contains("found by"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let before = without_time(config().run(failing));
    let old = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let after = config().run(failing);
    std::panic::set_hook(old);
    assert_eq!(before, without_time(after));
}

/// The stack of a step has the number of that step, also if others made steps after it was announced.
#[test]
fn stacks_have_the_numbers_of_their_steps() {
    #[inline(never)]
    fn both(first: &Mutex<u32>, second: &Mutex<u32>) {
        let _first = first.lock().unwrap();
        let _second = second.lock().unwrap();
    }
    let report = config().run(|| {
        let shared = Arc::new((Mutex::new(0), Mutex::new(0)));
        let other = shared.clone();
        let thread = thread::spawn(move || both(&other.1, &other.0));
        both(&shared.0, &shared.1);
        thread.join().unwrap();
    });
    let text = text(&report);
    let headings = text.lines().filter_map(|line| line.trim_start().split_once(", step "));
    let mut count = 0;
    for (_, rest) in headings.filter(|(thread, rest)| !thread.contains(' ') || rest.ends_with(':'))
    {
        let (step, deed) = rest.trim_end_matches(':').split_once(", ").unwrap();
        let row = text.lines().find(|row| row.trim_start().starts_with(&format!("{step} ")));
        assert!(row.is_some_and(|row| row.contains(deed)), "step {step}, {deed}: {text}");
        count += 1;
    }
    assert_eq!(count, 2, "{text}");
}
