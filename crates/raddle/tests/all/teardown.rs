//! The end of runs in which the program fails: with a clear outcome, without a hang, and without effects on the next run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicUsize as StdAtomicUsize;

use raddle::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::{Config, Finding, Report, thread};

use super::support::{child, child_case, watched};

/// Runs `program` with every strategy, with a watchdog, and calls `judge` with each report.
fn check(
    name: &'static str,
    program: impl Fn() + Send + Sync + Copy + 'static,
    judge: impl Fn(&Report) + Send + 'static,
) {
    watched(name, move || {
        for strategy in ["random", "pct:3", "round-robin", "dfs"] {
            let report = Config::new().strategy(strategy).runs(300).run(program);
            judge(&report);
        }
    });
}

#[track_caller]
fn finding(report: &Report) -> &Finding {
    &report.failure().unwrap_or_else(|| panic!("{} does not fail", report.strategy)).finding
}

#[track_caller]
fn assert_deadlock(report: &Report) {
    assert!(matches!(finding(report), Finding::Deadlock(_)), "{:?}", finding(report));
}

#[track_caller]
fn assert_panic(report: &Report, text: &str) {
    match finding(report) {
        Finding::Panic(panic) if panic.message.contains(text) => {}
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_reproduced(report: &Report) {
    assert!(report.failure().is_some_and(|failure| failure.reproduced), "{:?}", finding(report));
}

/// Calls a function when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn a_mutex_leaked_while_held_is_a_deadlock() {
    let program = || {
        let lock = Arc::new(Mutex::new(()));
        let other = {
            let lock = lock.clone();
            thread::spawn(move || std::mem::forget(lock.lock().unwrap()))
        };
        other.join().unwrap();
        drop(lock.lock().unwrap());
    };
    check("a leaked mutex", program, |report| {
        assert_deadlock(report);
        assert_reproduced(report);
    });
}

#[test]
fn a_static_leaked_while_held_is_unlocked_in_the_next_run() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    let program = || {
        let other = thread::spawn(|| {
            if let Ok(held) = LOCK.try_lock() {
                std::mem::forget(held);
            }
        });
        if let Ok(held) = LOCK.try_lock() {
            std::mem::forget(held);
        }
        other.join().unwrap();
        assert!(LOCK.try_lock().is_err(), "one of the two holds it");
    };
    check("a leaked static", program, |report| assert!(report.failure().is_none()));
}

#[test]
fn catching_the_teardown_once_is_harmless() {
    let program = || {
        let lock = Mutex::new(());
        let held = lock.lock().unwrap();
        let caught = catch_unwind(AssertUnwindSafe(|| drop(lock.lock())));
        assert!(caught.is_err(), "only the end of the run gets here");
        drop(held);
        thread::yield_now();
    };
    check("catching once", program, assert_deadlock);
}

#[test]
fn catching_the_teardown_forever_does_not_hang() {
    let program = || {
        let lock = Mutex::new(());
        let _held = lock.lock().unwrap();
        loop {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(lock.lock())));
        }
    };
    check("catching forever", program, assert_deadlock);
}

#[test]
fn a_caught_panic_is_not_a_failure() {
    let program = || {
        let count = Arc::new(AtomicUsize::new(0));
        let other = {
            let count = count.clone();
            thread::spawn(move || {
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    let _last = OnDrop(|| count.store(1, SeqCst));
                    panic!("caught");
                }));
                assert!(caught.is_err());
                count.fetch_add(1, SeqCst);
            })
        };
        other.join().unwrap();
        assert_eq!(count.load(SeqCst), 2);
    };
    check("a caught panic", program, |report| assert!(report.failure().is_none()));
}

#[test]
fn destructors_that_lock_run_after_a_deadlock() {
    let program = || {
        let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
        let other = {
            let (a, b) = (a.clone(), b.clone());
            thread::spawn(move || {
                let c = b.clone();
                let _last = OnDrop(move || *c.lock().unwrap_or_else(|e| e.into_inner()) += 1);
                let _b = b.lock();
                let _a = a.lock();
            })
        };
        let c = a.clone();
        let _last = OnDrop(move || *c.lock().unwrap_or_else(|e| e.into_inner()) += 1);
        let _a = a.lock();
        let _b = b.lock();
        drop((_a, _b));
        other.join().unwrap();
    };
    watched("destructors that lock", move || {
        for strategy in ["random", "pct:3", "dfs"] {
            let report = Config::new().strategy(strategy).runs(300).run(program);
            assert_deadlock(&report);
            assert_reproduced(&report);
        }
    });
}

/// A destructor joins a thread while the run is torn down.
#[test]
fn destructors_that_join_run_after_a_deadlock() {
    let program = || {
        let lock = Arc::new(Mutex::new(0));
        let held = lock.lock().unwrap();
        let other = {
            let lock = lock.clone();
            thread::spawn(move || drop(lock.lock()))
        };
        let mut other = Some(other);
        let _last = OnDrop(|| {
            let _ = other.take().map(|other| other.join());
        });
        let _again = lock.lock();
        drop(held);
    };
    check("destructors that join", program, assert_deadlock);
}

/// The jobs and whether the workers must end, and the condition variable for both.
type Jobs = (Mutex<(Vec<u32>, bool)>, Condvar);

/// Workers that wait for jobs. Dropping the pool ends and joins them.
struct Pool {
    shared: Arc<Jobs>,
    workers: Vec<thread::JoinHandle<()>>,
}

impl Pool {
    fn new(size: usize) -> Pool {
        let shared = Arc::new((Mutex::new((Vec::new(), false)), Condvar::new()));
        let work = |shared: Arc<Jobs>| {
            let (lock, ready) = &*shared;
            let mut state = lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            while !(state.0.is_empty() && state.1) {
                if state.0.pop().is_none() {
                    state = ready.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
                }
            }
        };
        let worker = |_| {
            let shared = shared.clone();
            thread::spawn(move || work(shared))
        };
        Pool { workers: (0..size).map(worker).collect(), shared }
    }

    fn add(&self, job: u32) {
        self.shared.0.lock().unwrap().0.push(job);
        self.shared.1.notify_one();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).1 = true;
        self.shared.1.notify_all();
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

#[test]
fn a_pool_is_joined_while_its_owner_panics() {
    let program = || {
        let pool = Pool::new(2);
        pool.add(1);
        pool.add(2);
        panic!("the owner fails");
    };
    check("a pool and a panic", program, |report| {
        assert_panic(report, "the owner fails");
        assert_reproduced(report);
    });
}

#[test]
fn a_pool_is_joined_during_teardown_after_a_deadlock() {
    let program = || {
        let pool = Pool::new(2);
        let held = Mutex::new(());
        let _first = held.lock().unwrap();
        pool.add(1);
        let _second = held.lock();
    };
    check("a pool and a deadlock", program, assert_deadlock);
}

#[test]
fn a_correct_pool_is_not_a_failure() {
    let program = || {
        let pool = Pool::new(2);
        pool.add(1);
    };
    watched("a pool", move || {
        let report = Config::new().runs(2000).run(program);
        assert!(report.failure().is_none(), "{:?}", finding(&report));
    });
}

/// A destructor waits for a thread that waits for the destructor's thread.
#[test]
fn a_destructor_that_deadlocks_does_not_hang() {
    let program = || {
        let lock = Arc::new(Mutex::new(()));
        let held = lock.lock().unwrap();
        let waiter = {
            let lock = lock.clone();
            thread::spawn(move || {
                let _last = OnDrop(|| drop(lock.lock()));
                drop(lock.lock());
            })
        };
        let mut waiter = Some(waiter);
        let _last = OnDrop(|| {
            let _ = waiter.take().map(|waiter| waiter.join());
        });
        std::mem::forget(held);
        drop(lock.lock());
    };
    check("a destructor that waits", program, |report| {
        let found = finding(report);
        assert!(matches!(found, Finding::Deadlock(_)), "{found:?}");
        assert_reproduced(report);
    });
}

#[test]
fn panics_in_several_threads_are_one_finding() {
    let program = || {
        let threads: Vec<_> = (0..3)
            .map(|number| {
                thread::spawn(move || {
                    thread::yield_now();
                    let _last = OnDrop(thread::yield_now);
                    panic!("thread number {number} fails");
                })
            })
            .collect();
        for thread in threads {
            let _: thread::Result<()> = thread.join();
        }
    };
    check("several panics", program, |report| {
        assert_panic(report, "fails");
        assert_reproduced(report);
    });
}

/// A thread panics while another thread unwinds and waits in a destructor.
#[test]
fn a_panic_during_the_unwinding_of_another_thread() {
    let program = || {
        let lock = Arc::new(Mutex::new(()));
        let other = {
            let lock = lock.clone();
            thread::spawn(move || {
                let _held = lock.lock();
                thread::yield_now();
                panic!("the other thread fails");
            })
        };
        let _last = OnDrop(|| drop(lock.lock()));
        let _ = other;
        panic!("main fails");
    };
    check("two panics at once", program, |report| {
        assert_panic(report, "fails");
        assert_reproduced(report);
    });
}

/// A destructor starts a thread while its own thread panics.
#[test]
fn threads_can_be_spawned_while_panicking() {
    watched("spawned while panicking", || {
        for seed in 0..50 {
            let report = Config::new().seed(seed).runs(20).run(|| {
                let lock = Arc::new(Mutex::new(()));
                let holder = {
                    let lock = lock.clone();
                    thread::spawn(move || {
                        let _held = lock.lock();
                        thread::yield_now();
                        thread::yield_now();
                    })
                };
                thread::yield_now();
                let _last = OnDrop(|| {
                    let lock = lock.clone();
                    let cleaner = thread::spawn(move || drop(lock.lock()));
                    thread::yield_now();
                    thread::yield_now();
                    let _ = cleaner.join();
                });
                let _ = holder;
                panic!("main fails");
            });
            let failure = report.failure().expect("main always fails");
            assert!(failure.reproduced, "seed {seed}: {:#?}", failure.trace);
        }
    });
}

#[test]
fn nondeterminism_is_reported() {
    static RUNS: StdAtomicUsize = StdAtomicUsize::new(0);
    let program = || {
        let other = thread::spawn(thread::yield_now);
        for _ in 0..RUNS.fetch_add(1, SeqCst) % 7 {
            thread::yield_now();
        }
        other.join().unwrap();
    };
    check("nondeterminism", program, |report| {
        assert!(matches!(finding(report), Finding::Nondeterminism { .. }), "{:?}", finding(report));
    });
}

/// The first runs are equal, so only a search can detect the difference.
#[test]
fn late_nondeterminism_is_detected_by_a_search() {
    static RUNS: StdAtomicUsize = StdAtomicUsize::new(0);
    watched("late nondeterminism", || {
        let report = Config::new().strategy("dfs").run(|| {
            let is_equal = RUNS.fetch_add(1, SeqCst) < 4;
            let other = is_equal.then(|| thread::spawn(thread::yield_now));
            for _ in 0..4 {
                thread::yield_now();
            }
            let _ = other.map(|other| other.join());
        });
        assert!(matches!(finding(&report), Finding::Nondeterminism { .. }));
    });
}

/// The cases that end the process.
#[test]
fn child_entry() {
    match child_case().as_deref() {
        None => {}
        Some("panic in a destructor") => panic_in_a_destructor(),
        Some("overflow") => overflow(),
        Some("overflow in a thread") => overflow_in_a_thread(),
        #[cfg(unix)]
        Some("overflow on the portable back end") => overflow_on_portable(),
        #[cfg(unix)]
        Some(case) if CRASHES.iter().any(|crash| crash.0 == case) => crash(case),
        Some(other) => panic!("no such case: {other}"),
    }
}

/// Returns the output of `case` on standard error before it ends its process.
fn stderr_of_child(case: &'static str) -> String {
    let output = watched(case, move || child("teardown::child_entry", case));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{case} passes: {text}");
    assert!(output.status.code() != Some(101), "{case} is an ordinary failure: {text}");
    text
}

#[test]
fn a_panic_in_a_destructor_during_unwinding_is_explained() {
    let text = stderr_of_child("panic in a destructor");
    for part in ["raddle: main panicked while it was unwinding", "RADDLE_REPLAY=r1-"] {
        assert!(text.contains(part), "{text}");
    }
}

fn panic_in_a_destructor() {
    Config::new().run(|| {
        let other = thread::spawn(thread::yield_now);
        let _last = OnDrop(|| panic!("the destructor fails"));
        let _ = other.join();
        panic!("main fails");
    });
}

/// Ways to end the process inside a check, and what is said of each.
#[cfg(unix)]
const CRASHES: [(&str, &str); 6] = [
    ("segfault", "(SIGSEGV)"),
    ("bus error", "(SIGBUS)"),
    ("abort", "(SIGABRT)"),
    ("panic in a panic", "(SIGABRT)"),
    ("exit", "(`process::exit`)"),
    ("crash overflow", "overflowed its stack"),
];

/// Ends the process in the second thread of a run, after three steps.
#[cfg(unix)]
fn crash(case: &str) {
    let case = case.to_owned();
    Config::new().name("crashes").strategy("round-robin").run(move || {
        let case = case.clone();
        let other = thread::spawn(move || {
            thread::yield_now();
            match &case[..] {
                "segfault" => {
                    // SAFETY: there is none, that is the case.
                    _ = unsafe { std::ptr::read_volatile(std::ptr::without_provenance::<u8>(64)) };
                }
                "bus error" => read_beyond_file(),
                "abort" => std::process::abort(),
                "panic in a panic" => {
                    let _last = OnDrop(|| panic!("the destructor fails"));
                    panic!("the thread fails");
                }
                "exit" => std::process::exit(0),
                _ => _ = std::hint::black_box(recurse(0)),
            }
        });
        other.join().unwrap();
    });
}

/// Reads memory that is mapped to a file without content.
#[cfg(unix)]
fn read_beyond_file() {
    use std::os::fd::AsRawFd as _;
    let path = std::env::temp_dir().join(format!("raddle-empty-{}", std::process::id()));
    let file = std::fs::File::create_new(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let (protection, flags) = (libc::PROT_READ, libc::MAP_SHARED);
    let file = file.as_raw_fd();
    // SAFETY: a new mapping does not overlap existing memory.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), 4096, protection, flags, file, 0) };
    assert_ne!(page, libc::MAP_FAILED);
    // SAFETY: there is none, that is the case.
    _ = unsafe { std::ptr::read_volatile(page.cast::<u8>()) };
}

#[cfg(unix)]
#[test]
fn a_crash_names_the_check_the_step_and_the_token() {
    for (case, what) in CRASHES {
        let text = stderr_of_child(case);
        for part in
            ["raddle: in the check `crashes`, thread 1 ", what, " steps", "RADDLE_REPLAY=r1-"]
        {
            assert!(text.contains(part), "{case}: {part} is not in\n{text}");
        }
        // A panic in a panic is named before it becomes an abort.
        let times = if case == "panic in a panic" { 2 } else { 1 };
        assert_eq!(text.matches("RADDLE_REPLAY").count(), times, "{case}: {text}");
    }
}

#[test]
fn stack_overflow_is_reported() {
    for case in ["overflow", "overflow in a thread"] {
        let text = stderr_of_child(case);
        assert!(text.contains("overflowed its stack"), "{case}: {text}");
    }
    if cfg!(unix) {
        let text = stderr_of_child("overflow on the portable back end");
        assert!(text.contains("overflowed its stack"), "{text}");
    }
}

fn recurse(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 16]);
    if depth == u64::MAX { 0 } else { recurse(depth + 1) + std::hint::black_box(frame)[7] }
}

fn overflow() {
    Config::new().run(|| {
        std::hint::black_box(recurse(0));
    });
}

fn overflow_in_a_thread() {
    Config::new().run(|| {
        let other = thread::spawn(|| recurse(0));
        let _ = other.join();
    });
}

#[cfg(unix)]
fn overflow_on_portable() {
    use raddle_core::Choices;
    use raddle_engine::{Engine, Sc, Substrate, ThreadIds};
    use raddle_runtime::{Options, Portable, Runtime};

    let mut engine = Engine::new(Sc, ThreadIds::default(), 1000);
    let mut runtime = Runtime::<Portable>::new("overflow", &Options::default());
    let choices = Choices::Chooser(&mut raddle_strategy::RoundRobin);
    runtime.execute(&mut engine, choices, &|| {
        std::hint::black_box(recurse(0));
    });
}

/// A thread waits for a flag that no thread sets.
#[test]
fn a_detached_thread_that_never_ends_is_torn_down() {
    let program = || {
        let lock = Arc::new(Mutex::new(false));
        let ready = Arc::new((Condvar::new(), AtomicBool::new(false)));
        thread::spawn(move || {
            let state = lock.lock().unwrap();
            let _state = ready.0.wait_while(state, |set| !*set);
        });
        thread::yield_now();
    };
    check("a detached thread", program, |report| assert!(report.failure().is_none()));
}
