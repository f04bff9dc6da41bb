//! Loops that wait: on flags, spinlocks, ticket locks, ends of threads.
#![cfg(all(unix, target_arch = "x86_64", not(feature = "portable")))]

use std::cell::Cell;

use raddle::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use raddle::sync::{Arc, Mutex};
use raddle::time::{Duration, Instant};
use raddle::{Config, Finding, Memory, Report, Verdict, hint, thread};

use crate::support::{Known, every_strategy};

fn flag() {
    let shared = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
    let other = shared.clone();
    let writer = thread::spawn(move || {
        other.1.store(1, Relaxed);
        other.0.store(true, Release);
    });
    while !shared.0.load(Acquire) {
        hint::spin_loop();
    }
    assert_eq!(shared.1.load(Relaxed), 1);
    writer.join().unwrap();
}

fn readers() {
    let flag = Arc::new(AtomicBool::new(false));
    let reader = || {
        let flag = flag.clone();
        thread::spawn(move || {
            while !flag.load(Acquire) {
                thread::yield_now();
            }
        })
    };
    let readers = [reader(), reader(), reader()];
    flag.store(true, Release);
    readers.into_iter().for_each(|reader| reader.join().unwrap());
}

fn spinlock() {
    let shared = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
    let add = |shared: &(AtomicBool, AtomicU32)| {
        while shared.0.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            thread::yield_now();
        }
        let value = shared.1.load(Relaxed);
        shared.1.store(value + 1, Relaxed);
        shared.0.store(false, Release);
    };
    let others = [shared.clone(), shared.clone()];
    let others = others.map(|shared| thread::spawn(move || add(&shared)));
    add(&shared);
    others.into_iter().for_each(|other| other.join().unwrap());
    assert_eq!(shared.1.load(Relaxed), 3);
}

fn ticket() {
    let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)));
    let add = |shared: &(AtomicU32, AtomicU32, AtomicU32)| {
        let mine = shared.0.fetch_add(1, SeqCst);
        while shared.1.load(SeqCst) != mine {
            hint::spin_loop();
        }
        let value = shared.2.load(SeqCst);
        shared.2.store(value + 1, SeqCst);
        shared.1.fetch_add(1, SeqCst);
    };
    let others = [shared.clone(), shared.clone()];
    let others = others.map(|shared| thread::spawn(move || add(&shared)));
    add(&shared);
    others.into_iter().for_each(|other| other.join().unwrap());
    assert_eq!(shared.2.load(SeqCst), 3);
}

fn lost_flag() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let waiter = thread::spawn(move || {
        while !other.load(SeqCst) {
            thread::yield_now();
        }
    });
    flag.load(SeqCst);
    waiter.join().unwrap();
}

/// A counter in a local variable, which no trace shows: the third attempt is the last.
fn attempts() {
    let shared = Arc::new((AtomicBool::new(false), AtomicBool::new(false)));
    let other = shared.clone();
    let waiter = thread::spawn(move || {
        for _ in 0..3 {
            if other.0.load(SeqCst) {
                return;
            }
            hint::spin_loop();
        }
        other.1.store(true, SeqCst);
    });
    assert!(!shared.1.load(SeqCst), "the waiter has given up");
    shared.0.store(true, SeqCst);
    waiter.join().unwrap();
}

/// Threads that spin until a spinlock by `swap` is free. It changes nothing while the lock is held.
fn swap_lock() {
    let shared = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
    let add = |shared: &(AtomicBool, AtomicU32)| {
        while shared.0.swap(true, SeqCst) {
            hint::spin_loop();
        }
        shared.1.fetch_add(1, SeqCst);
        shared.0.store(false, SeqCst);
    };
    let other = shared.clone();
    let other = thread::spawn(move || add(&other));
    add(&shared);
    other.join().unwrap();
}

fn spins_until_finished() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let writer = thread::spawn(move || other.store(true, SeqCst));
    while !writer.is_finished() {
        thread::yield_now();
    }
    assert!(flag.load(SeqCst));
}

fn spins_on_try_lock() {
    let lock = Arc::new(Mutex::new(0));
    let other = lock.clone();
    let holder = thread::spawn(move || *other.lock().unwrap() += 1);
    let mut guard = loop {
        if let Ok(guard) = lock.try_lock() {
            break guard;
        }
        thread::yield_now();
    };
    *guard += 1;
    drop(guard);
    holder.join().unwrap();
}

/// A counter on the heap, which registers and stack do not show: attempt 40 is the last.
fn attempts_on_the_heap() {
    attempts_with(|| {
        let counter: Box<Cell<u32>> = std::hint::black_box(Box::new(Cell::new(0)));
        move || std::hint::black_box(&counter).replace(counter.get() + 1)
    });
}

/// A counter in a thread-local variable.
fn attempts_in_a_thread_local() {
    raddle::thread_local! {
        static COUNTER: Cell<u32> = const { Cell::new(0) };
    }
    attempts_with(|| || COUNTER.with(|counter| counter.replace(counter.get() + 1)));
}

fn attempts_with<C: FnMut() -> u32 + 'static>(counter: fn() -> C) {
    let shared = Arc::new((AtomicBool::new(false), AtomicBool::new(false)));
    let other = shared.clone();
    let waiter = thread::spawn(move || {
        let mut count = counter();
        while !other.0.load(SeqCst) {
            if count() == 40 {
                other.1.store(true, SeqCst);
                return;
            }
            hint::spin_loop();
        }
    });
    assert!(!shared.1.load(SeqCst), "the waiter has given up");
    shared.0.store(true, SeqCst);
    waiter.join().unwrap();
}

const SEARCHES: [(Memory, &[&str]); 2] = [
    (Memory::Sc, &["dpor", "dpor-classic", "mcr", "auto"]),
    (Memory::Rc11, &["dpor", "dfs", "auto"]),
];

/// Runs a program under every search that claims to be exhaustive.
fn search(program: fn(), check: impl Fn(&str, &Report)) {
    for (memory, strategies) in SEARCHES {
        for strategy in strategies {
            let report = Config::new().memory(memory).strategy(*strategy).run(program);
            check(&format!("{strategy} {memory:?}"), &report);
        }
    }
}

/// Correct programs.
const PROGRAMS: [(&str, fn()); 6] = [
    ("flag", flag),
    ("readers", readers),
    ("spinlock", spinlock),
    ("ticket", ticket),
    ("finished", spins_until_finished),
    ("try_lock", spins_on_try_lock),
];

/// Searches that claim something about every program of [`PROGRAMS`] within a few thousand executions.
const CLAIMING: [&str; 7] =
    ["auto", "dpor", "dpor-classic", "mcr", "bpor:2", "bpor:0-2", "bpor-plain:2"];

#[test]
fn correct_programs_are_searched_to_the_end() {
    for (name, program) in PROGRAMS {
        search(program, |how, report| {
            let is_clean = matches!(report.verdict, Verdict::Exhausted);
            assert!(is_clean, "{name}, {how}: {}", raddle::text(report));
            assert!(report.executions < 1000, "{name}, {how}: {} executions", report.executions);
        });
    }
    // Under RC11 a swap is always another store.
    let report = Config::new().strategy("dpor").run(swap_lock);
    assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
}

/// Every strategy runs the programs without a false alarm. Those that claim something say so.
#[test]
fn no_strategy_takes_a_loop_that_waits_for_a_failure() {
    for (name, program) in PROGRAMS {
        for Known { word, memory, is_sampler } in every_strategy() {
            let runs = match &*word {
                "auto" => 10_000,
                word if CLAIMING.contains(&word) => 1000,
                _ if is_sampler => 20,
                _ => 200,
            };
            let config = Config::new().memory(memory).strategy(&*word).runs(runs);
            let how = format!("{name}, {word} {memory:?}");
            // The threads of some programs share one variable only, which `pcr` may refuse.
            let report = match config.try_run(program) {
                Ok(report) => report,
                Err(_) if matches!(&*word, "mcr" | "pcr") => continue,
                Err(error) => panic!("{how}: {error}"),
            };
            assert!(report.failure().is_none(), "{how}: {}", raddle::text(&report));
            let claims = matches!(report.verdict, Verdict::Exhausted | Verdict::Bounded(_));
            let is_search = CLAIMING.contains(&&*word);
            assert!(claims || !is_search, "{how}: {}", raddle::text(&report));
        }
    }
}

#[test]
fn the_report_counts_executions_that_ended_in_a_wait() {
    let report = Config::new().strategy("dpor").run(flag);
    assert!(report.incomplete.waits > 0 && report.incomplete.total() == report.incomplete.waits);
    let text = raddle::text(&report);
    assert!(text.contains(" ended in a wait"), "{text}");
}

/// The promise of PCT holds for the program without idle rounds, and the text says so.
#[test]
fn promises_say_for_which_program_they_hold() {
    fn without_loops() {
        let flag = Arc::new(AtomicBool::new(false));
        let other = flag.clone();
        let other = thread::spawn(move || other.store(true, SeqCst));
        flag.load(SeqCst);
        other.join().unwrap();
    }
    for (program, waits) in [(flag as fn(), true), (without_loops, false)] {
        // The number of points with changes of priority is so large that starved threads are seen.
        let report = Config::new().strategy("pct:3").runs(300).run(program);
        let text = raddle::text(&report);
        assert!(text.contains("escaped with probability"), "{text}");
        assert_eq!(text.contains("for the program without rounds of loops"), waits, "{text}");
        assert_eq!(report.blind_spots.idle_rounds, waits, "{text}");
    }
}

#[test]
fn bounded_attempts_are_all_searched() {
    search(attempts, |how, report| {
        let failure = report.failure().unwrap_or_else(|| panic!("{how} misses the failure"));
        assert!(
            matches!(&failure.finding, Finding::Panic(panic) if panic.message.contains("given up"))
        );
        assert!(failure.reproduced, "{how}");
    });
}

/// The first round that looks idle is repeated alone. If the thread leaves it then, nothing is cut off there.
#[test]
fn loops_that_count_elsewhere_are_not_cut_off() {
    let bounded = ["bpor:1", "bpor:0-2", "dfs:1", "pct:2"];
    for program in [attempts_on_the_heap, attempts_in_a_thread_local] {
        for (memory, strategies) in SEARCHES {
            let more = if memory == Memory::Sc { &bounded[..] } else { &["pct:2"] };
            for strategy in strategies.iter().chain(more) {
                let report = Config::new().memory(memory).strategy(*strategy).run(program);
                let how = format!("{strategy} {memory:?}: {}", raddle::text(&report));
                let failure = report.failure().expect(&how);
                let Finding::Panic(panic) = &failure.finding else { panic!("{how}") };
                assert!(panic.message.contains("given up") && failure.reproduced, "{how}");
            }
        }
    }
}

/// A round that another thread disturbs may be followed by a last one, although it leads back to where it began: here the
/// loop ends at once in rounds without a disturbance, and counts the others on the heap.
#[test]
fn loops_that_close_only_in_disturbed_rounds_are_not_cut_off() {
    #[inline(never)]
    fn is_stable(sequence: &AtomicU32) -> bool {
        sequence.load(SeqCst) == sequence.load(SeqCst)
    }
    /// Counts on the heap, and leaves no trace of that on the stack.
    #[inline(never)]
    fn is_last(tries: &Cell<u32>) -> bool {
        tries.set(tries.get() + 1);
        tries.get() == 4
    }
    #[inline(never)]
    fn overwrite_unused_stack() {
        std::hint::black_box([0_u64; 128]);
    }
    fn program() {
        let shared = Arc::new((AtomicU32::new(0), AtomicBool::new(false)));
        let other = shared.clone();
        let reader = thread::spawn(move || {
            let tries: Box<Cell<u32>> = std::hint::black_box(Box::new(Cell::new(0)));
            while !is_stable(&other.0) {
                if is_last(&tries) {
                    return other.1.store(true, SeqCst);
                }
                overwrite_unused_stack();
            }
        });
        for _ in 0..5 {
            shared.0.fetch_xor(1, SeqCst);
        }
        reader.join().unwrap();
        assert!(!shared.1.load(SeqCst), "the reader has given up");
    }
    for strategy in ["dpor", "dpor-classic", "mcr", "auto"] {
        let report = Config::new().strategy(strategy).run(program);
        let failure = report.failure().unwrap_or_else(|| panic!("{}", raddle::text(&report)));
        let Finding::Panic(panic) = &failure.finding else { panic!("{:?}", failure.finding) };
        assert!(panic.message.contains("given up") && failure.reproduced, "{strategy}");
        // The search began again when a round had closed.
        assert!(report.probes > 0, "{strategy}: {}", raddle::text(&report));
    }
}

/// Nothing but the loop itself lets time pass.
#[test]
fn a_loop_until_a_deadline_ends() {
    fn program() {
        let flag = Arc::new(AtomicBool::new(false));
        let other = flag.clone();
        let waiter = thread::spawn(move || {
            let begin = Instant::now();
            while !other.load(SeqCst) && begin.elapsed() < Duration::from_secs(3600) {
                thread::yield_now();
            }
            begin.elapsed()
        });
        let waited = waiter.join().unwrap();
        assert!(waited >= Duration::from_secs(3600) && !flag.load(SeqCst));
    }
    for memory in [Memory::Sc, Memory::Rc11] {
        for strategy in ["auto", "random", "pct:3", "round-robin"] {
            let report = Config::new().memory(memory).strategy(strategy).runs(20).run(program);
            assert!(report.failure().is_none(), "{strategy}: {}", raddle::text(&report));
            assert!(report.discarded == 0, "{strategy}: {}", raddle::text(&report));
        }
    }
}

/// How often a loop goes round that reads the clock depends on the time that steps take.
#[test]
fn searches_claim_nothing_about_loops_that_read_the_clock() {
    fn program() {
        let flag = Arc::new(AtomicBool::new(false));
        let other = flag.clone();
        let writer = thread::spawn(move || other.store(true, SeqCst));
        let deadline = Instant::now() + Duration::from_millis(3);
        while !flag.load(SeqCst) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        writer.join().unwrap();
    }
    for (memory, strategies) in SEARCHES {
        let more = if memory == Memory::Sc { &["bpor:2", "dfs:2"][..] } else { &[] };
        for strategy in strategies.iter().chain(more) {
            let report = Config::new().memory(memory).strategy(*strategy).runs(300).run(program);
            let text = raddle::text(&report);
            let is_sampled = matches!(report.verdict, Verdict::Sampled);
            assert!(is_sampled && report.blind_spots.clock_loops, "{strategy} {memory:?}: {text}");
            assert!(text.contains("in a loop that reads the clock"), "{text}");
            let phases = format!("{:?}", report.phases);
            let is_named = phases.contains("end: Clock") && !phases.contains("end: HiddenState");
            assert!(is_named || *strategy != "auto", "{memory:?}: {phases}");
        }
    }
}

#[test]
fn a_thread_that_waits_forever_is_found_at_once() {
    let samplers =
        ["random", "pos-star", "pct:3", "surw", "urw", "rapos", "delay:2", "round-robin"];
    let bounded = ["bpor:0", "bpor:2", "dfs:1", "dfs"];
    for (memory, strategies) in SEARCHES {
        let more = if memory == Memory::Sc { &bounded[..] } else { &["pctwm:1:2"] };
        for strategy in strategies.iter().chain(more).chain(&samplers) {
            let report = Config::new().memory(memory).strategy(*strategy).run(lost_flag);
            let how = format!("{strategy} {memory:?}: {}", raddle::text(&report));
            let failure = report.failure().expect(&how);
            let Finding::WaitsForever { loops, waits } = &failure.finding else { panic!("{how}") };
            assert!(failure.reproduced && failure.execution == 1, "{how}");
            assert!(failure.trace.events.len() < 1100, "{how}");
            assert_eq!((loops.len(), waits.len()), (1, 1), "{how}");
            assert_eq!(loops[0].looks.len(), 1, "{how}");
            assert!(how.contains("thread 1 waits forever in a loop"), "{how}");
            assert!(how.contains("atomic 1.load → false at "), "{how}");
            assert!(how.contains("waiting.rs:"), "{how}");
            assert!(how.contains("(atomic 1 was never changed)"), "{how}");
            let token = failure.token.clone();
            let again = Config::new().memory(memory).replay(token).run(lost_flag);
            let again = again.failure().map(|failure| failure.finding.clone());
            assert_eq!(again.as_ref(), Some(&failure.finding), "{how}");
        }
    }
}

/// The thread that could end the wait has ended, or is blocked by the one that waits.
#[test]
fn the_last_change_and_blocked_threads_are_named() {
    fn program() {
        let shared = Arc::new((AtomicU32::new(0), Mutex::new(())));
        let other = shared.clone();
        let held = shared.1.lock().unwrap();
        let writer = thread::spawn(move || {
            other.0.store(1, SeqCst);
            let _held = other.1.lock().unwrap();
            other.0.store(2, SeqCst);
        });
        while shared.0.load(SeqCst) != 2 {
            thread::yield_now();
        }
        drop(held);
        writer.join().unwrap();
    }
    for strategy in ["auto", "dpor", "random"] {
        let report = Config::new().strategy(strategy).run(program);
        let text = raddle::text(&report);
        let failure = report.failure().expect(&text);
        let Finding::WaitsForever { loops, waits } = &failure.finding else { panic!("{text}") };
        assert_eq!((loops.len(), waits.len()), (1, 1), "{text}");
        assert!(text.contains("main waits forever in a loop"), "{text}");
        assert!(text.contains("(last changed in step "), "{text}");
        assert!(text.contains("waits for mutex 1 at "), "{text}");
        let json = report.to_json();
        assert!(json.contains(r#""waits-forever""#), "{json}");
    }
}

/// A detached thread that waits forever is no failure, as one that is blocked forever is none.
#[test]
fn a_detached_thread_may_wait_forever() {
    fn program() {
        let flag = Arc::new(AtomicBool::new(false));
        let other = flag.clone();
        thread::spawn(move || {
            while !other.load(SeqCst) {
                thread::yield_now();
            }
        });
        flag.load(SeqCst);
    }
    for strategy in ["dpor", "dfs", "auto", "random", "pct:2", "bpor:1"] {
        let report = Config::new().strategy(strategy).runs(100).run(program);
        assert!(report.failure().is_none(), "{strategy}: {}", raddle::text(&report));
    }
}
