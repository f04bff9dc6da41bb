//! Data races: for each way to order accesses, a program without a race and a similar one with a race.

use raddle::cell::{Shared, UnsafeCell};
use raddle::sync::atomic::{
    AtomicBool,
    Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst},
    fence,
};
use raddle::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock, mpsc};
use raddle::{Config, Finding, Granularity, Report, Verdict, thread};

/// Explores `program` with each way to find races. The results must agree.
fn explore(program: impl Fn() + Send + Sync + Clone + 'static) -> Report {
    let reports =
        [("dpor", Granularity::Sync), ("dfs", Granularity::Sync), ("dpor", Granularity::All)].map(
            |(strategy, granularity)| {
                let config = Config::new().strategy(strategy).granularity(granularity);
                config.runs(1_000_000).run(program.clone())
            },
        );
    let found = reports.each_ref().map(|report| report.failure().is_some());
    assert_eq!(found, [found[0]; 3], "they must agree: {}", raddle::text(&reports[2]));
    let [report, ..] = reports;
    report
}

fn races(program: impl Fn() + Send + Sync + Clone + 'static) -> bool {
    let report = explore(program);
    match report.failure() {
        None => {
            assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
            false
        }
        Some(failure) => {
            let text = raddle::text(&report);
            assert!(matches!(failure.finding, Finding::Race { .. }), "{text}");
            assert!(failure.reproduced && text.contains("data race on cell"), "{text}");
            true
        }
    }
}

/// One thread writes and then calls `publish`. Main calls `observe` and reads if it returns true. Returns whether
/// there is a race.
fn publication<T, H, S>(make: fn() -> S, publish: T, observe: H) -> bool
where
    S: Send + Sync + 'static,
    T: Fn(&S) + Send + Sync + Copy + 'static,
    H: Fn(&S) -> bool + Send + Sync + Copy + 'static,
{
    races(move || {
        let shared = Arc::new((Shared::new(0), make()));
        let writer = {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.0.set(1);
                publish(&shared.1);
            })
        };
        if observe(&shared.1) {
            assert_eq!(shared.0.get(), 1);
        }
        writer.join().unwrap();
    })
}

fn flag(store: Ordering, load: Ordering) -> bool {
    publication(
        || AtomicBool::new(false),
        move |flag| flag.store(true, store),
        move |flag| flag.load(load),
    )
}

#[test]
fn stores_and_loads() {
    assert!(!flag(Release, Acquire));
    assert!(!flag(SeqCst, SeqCst));
    assert!(flag(Relaxed, Acquire));
    assert!(flag(Release, Relaxed));
}

#[test]
fn fences() {
    let fenced = |release: bool, acquire: bool| {
        publication(
            || AtomicBool::new(false),
            move |flag| {
                if release {
                    fence(Release);
                }
                flag.store(true, Relaxed);
            },
            move |flag| {
                let set = flag.load(Relaxed);
                if acquire {
                    fence(Acquire);
                }
                set
            },
        )
    };
    assert!(!fenced(true, true));
    assert!(fenced(true, false));
    assert!(fenced(false, true));
}

/// A release sequence is continued by a read-modify-write, not by a store.
#[test]
fn release_sequences() {
    let through = |exchange: bool| {
        races(move || {
            let shared = Arc::new((Shared::new(0), AtomicBool::new(false), AtomicBool::new(false)));
            let writer = {
                let shared = shared.clone();
                thread::spawn(move || {
                    shared.0.set(1);
                    shared.1.store(true, Release);
                })
            };
            let between = {
                let shared = shared.clone();
                thread::spawn(move || {
                    if exchange {
                        if shared.1.swap(true, Relaxed) {
                            shared.2.store(true, Relaxed);
                        }
                    } else if shared.1.load(Relaxed) {
                        shared.1.store(true, Relaxed);
                        shared.2.store(true, Relaxed);
                    }
                })
            };
            if shared.2.load(Relaxed) && shared.1.load(Acquire) {
                shared.0.get();
            }
            writer.join().unwrap();
            between.join().unwrap();
        })
    };
    assert!(!through(true));
    assert!(through(false));
}

#[test]
fn exchanges() {
    let exchange = |success: Ordering| {
        publication(
            || AtomicBool::new(false),
            |flag| flag.store(true, Release),
            move |flag| flag.compare_exchange(true, false, success, Relaxed).is_ok(),
        )
    };
    assert!(!exchange(AcqRel));
    assert!(exchange(Relaxed));
}

#[test]
fn joins_and_spawns() {
    let joined = |first: bool| {
        races(move || {
            let shared = Arc::new(Shared::new(0));
            shared.set(1);
            let other = {
                let shared = shared.clone();
                thread::spawn(move || shared.set(shared.get() + 1))
            };
            if first {
                other.join().unwrap();
                assert_eq!(shared.get(), 2);
            } else {
                shared.get();
                other.join().unwrap();
            }
        })
    };
    assert!(!joined(true));
    assert!(joined(false));
}

#[test]
fn locks() {
    let locked = |both: bool| {
        races(move || {
            let shared = Arc::new((Shared::new(0), Mutex::new(())));
            let other = {
                let shared = shared.clone();
                thread::spawn(move || {
                    let _guard = shared.1.lock().unwrap();
                    shared.0.set(shared.0.get() + 1);
                })
            };
            let guard = both.then(|| shared.1.lock().unwrap());
            shared.0.set(shared.0.get() + 1);
            drop(guard);
            other.join().unwrap();
        })
    };
    assert!(!locked(true));
    assert!(locked(false));
}

#[test]
fn readers_and_writers() {
    let with = |writer_writes: bool| {
        races(move || {
            let shared = Arc::new((Shared::new(0), RwLock::new(())));
            let other = {
                let shared = shared.clone();
                thread::spawn(move || {
                    if writer_writes {
                        let _guard = shared.1.write().unwrap();
                        shared.0.set(1);
                    } else {
                        let _guard = shared.1.read().unwrap();
                        shared.0.set(1);
                    }
                })
            };
            {
                let _guard = shared.1.read().unwrap();
                shared.0.get();
            }
            other.join().unwrap();
        })
    };
    assert!(!with(true));
    assert!(with(false));
}

#[test]
fn messages() {
    let send = |before: bool| {
        races(move || {
            let shared = Arc::new(Shared::new(0));
            let (sender, receiver) = mpsc::channel();
            let other = {
                let shared = shared.clone();
                thread::spawn(move || {
                    if before {
                        sender.send(()).unwrap();
                        shared.set(1);
                    } else {
                        shared.set(1);
                        sender.send(()).unwrap();
                    }
                })
            };
            receiver.recv().unwrap();
            shared.get();
            other.join().unwrap();
        })
    };
    assert!(!send(false));
    assert!(send(true));
}

#[test]
fn barriers_initialisations_and_parking() {
    assert!(!publication(
        || Barrier::new(2),
        |barrier| {
            barrier.wait();
        },
        |barrier| {
            barrier.wait();
            true
        }
    ));
    assert!(!publication(
        OnceLock::new,
        |once| once.set(()).unwrap(),
        |once: &OnceLock<()>| once.get().is_some()
    ));
    assert!(!races(|| {
        let shared = Arc::new(Shared::new(0));
        let main = thread::current();
        let other = {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.set(1);
                main.unpark();
            })
        };
        thread::park();
        shared.get();
        other.join().unwrap();
    }));
}

/// A condition variable orders nothing beyond what its lock orders.
#[test]
fn condition_variables() {
    let notify = |locked: bool| {
        races(move || {
            let shared = Arc::new((Shared::new(0), Mutex::new(false), Condvar::new()));
            let other = {
                let shared = shared.clone();
                thread::spawn(move || {
                    if locked {
                        shared.0.set(1);
                    }
                    *shared.1.lock().unwrap() = true;
                    if !locked {
                        shared.0.set(1);
                    }
                    shared.2.notify_one();
                })
            };
            let mut guard = shared.1.lock().unwrap();
            while !*guard {
                guard = shared.2.wait(guard).unwrap();
            }
            shared.0.get();
            drop(guard);
            other.join().unwrap();
        })
    };
    assert!(!notify(true));
    assert!(notify(false));
}

/// Concurrent reads do not race, nor do accesses of one thread.
#[test]
fn readers_do_not_race() {
    assert!(!races(|| {
        let shared = Arc::new(Shared::new(0));
        shared.set(1);
        let others: Vec<_> = (0..2)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || shared.get())
            })
            .collect();
        shared.get();
        for other in others {
            other.join().unwrap();
        }
        shared.set(2);
    }));
}

struct Slot(UnsafeCell<u32>);

// SAFETY: raddle runs one thread at a time. The tests are about unordered accesses.
unsafe impl Sync for Slot {}

#[test]
fn unsafe_cells() {
    let locked = |locks: bool| {
        races(move || {
            let shared = Arc::new((Slot(UnsafeCell::new(0)), Mutex::new(())));
            let other = {
                let shared = shared.clone();
                thread::spawn(move || {
                    let _guard = locks.then(|| shared.1.lock().unwrap());
                    // SAFETY: raddle runs one thread at a time.
                    unsafe { *shared.0.0.get() += 1 };
                })
            };
            {
                let _guard = locks.then(|| shared.1.lock().unwrap());
                // SAFETY: raddle runs one thread at a time.
                shared.0.0.with(|number| unsafe { *number });
            }
            other.join().unwrap();
        })
    };
    assert!(!locked(true));
    assert!(locked(false));
}

#[test]
fn races_can_be_ignored() {
    let report = Config::new().strategy("dpor").races(false).run(|| {
        let shared = Arc::new(Shared::new(0));
        let other = {
            let shared = shared.clone();
            thread::spawn(move || shared.set(1))
        };
        shared.set(2);
        other.join().unwrap();
    });
    assert!(report.failure().is_none());
}

#[test]
fn the_report_shows_both_accesses() {
    let report = Config::new().name("both").run(|| {
        let shared = Arc::new(Shared::new(0));
        let other = {
            let shared = shared.clone();
            thread::spawn(move || shared.set(1))
        };
        shared.get();
        other.join().unwrap();
    });
    let text = raddle::text(&report);
    for part in
        ["data race on cell 1", "Nothing orders these accesses", "writes cell 1", "reads cell 1"]
    {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(text.matches("tests/all/races.rs").count(), 7, "{text}");
}
