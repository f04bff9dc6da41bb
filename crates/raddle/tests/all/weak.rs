//! Programs under RC11: the outcomes of weak memory, the guarantees of synchronisation, and repeatability.

use raddle::cell::Shared;
use raddle::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst},
    fence,
};
use raddle::sync::{Arc, Barrier, Condvar, Mutex, Once, RwLock, mpsc};
use raddle::{Config, Finding, Memory, Report, Strategy, Verdict, thread};

fn rc11(strategy: &str) -> Config {
    Config::new().memory(Memory::Rc11).strategy(strategy.parse::<Strategy>().unwrap())
}

/// Explores every execution of `program` by both searches.
fn explore(program: impl Fn() + Send + Sync + 'static) -> Report {
    let program = Arc::new(program);
    let [report, other] = ["dpor", "dfs"].map(|strategy| {
        let program = program.clone();
        let report = rc11(strategy).runs(1_000_000).run(move || program());
        match &report.verdict {
            Verdict::Failed(failure) => assert!(failure.reproduced, "{}", raddle::text(&report)),
            verdict => assert!(matches!(verdict, Verdict::Exhausted), "{}", raddle::text(&report)),
        }
        report
    });
    assert_eq!(report.failure().is_some(), other.failure().is_some());
    if report.failure().is_none() {
        assert_eq!(report.classes, other.classes, "{}", raddle::text(&report));
    }
    report
}

fn fails(program: impl Fn() + Send + Sync + 'static) -> bool {
    explore(program).failure().is_some()
}

/// One thread stores data and then calls `publish`. Main calls `observe` and must read the data if it returns true.
fn publication<S: Send + Sync + 'static>(
    make: fn() -> S,
    publish: impl Fn(&S) + Send + Sync + Copy + 'static,
    observe: impl Fn(&S) -> bool + Send + Sync + Copy + 'static,
) -> bool {
    fails(move || {
        let shared = Arc::new((AtomicU32::new(0), make()));
        let writer = {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.0.store(1, Relaxed);
                publish(&shared.1);
            })
        };
        if observe(&shared.1) {
            assert_eq!(shared.0.load(Relaxed), 1, "stale");
        }
        writer.join().unwrap();
        assert_eq!(shared.0.load(Relaxed), 1, "after the join");
    })
}

#[test]
fn release_and_acquire_publish() {
    let flag = || AtomicBool::new(false);
    let by = |store: Ordering, load: Ordering| {
        publication(flag, move |flag| flag.store(true, store), move |flag| flag.load(load))
    };
    assert!(by(Relaxed, Relaxed));
    assert!(by(Release, Relaxed));
    assert!(by(Relaxed, Acquire));
    assert!(!by(Release, Acquire));
    assert!(!by(SeqCst, SeqCst));
}

#[test]
fn fences_publish() {
    let flag = || AtomicBool::new(false);
    let by = |release: Ordering, acquire: Ordering| {
        publication(
            flag,
            move |flag| {
                fence(release);
                flag.store(true, Relaxed);
            },
            move |flag| {
                let is_set = flag.load(Relaxed);
                fence(acquire);
                is_set
            },
        )
    };
    assert!(!by(Release, Acquire));
    assert!(!by(AcqRel, SeqCst));
    assert!(by(Acquire, Acquire));
    assert!(by(Release, Release));
}

#[test]
fn locks_and_other_objects_publish() {
    assert!(!publication(
        || Mutex::new(false),
        |lock| *lock.lock().unwrap() = true,
        |lock| *lock.lock().unwrap(),
    ));
    assert!(!publication(
        || RwLock::new(false),
        |lock| *lock.write().unwrap() = true,
        |lock| *lock.read().unwrap(),
    ));
    assert!(!publication(Once::new, |once| once.call_once(|| {}), Once::is_completed));
    assert!(!publication(
        || Barrier::new(2),
        |barrier| {
            barrier.wait();
        },
        |barrier| {
            barrier.wait();
            true
        },
    ));
    assert!(!publication(
        || (Mutex::new(false), Condvar::new()),
        |(lock, condvar)| {
            *lock.lock().unwrap() = true;
            condvar.notify_one();
        },
        |(lock, condvar)| {
            drop(condvar.wait_while(lock.lock().unwrap(), |set| !*set).unwrap());
            true
        },
    ));
    // A failed `try_lock` does not synchronise with the holder.
    assert!(publication(
        || Mutex::new(()),
        |lock| std::mem::forget(lock.lock().unwrap()),
        |lock| lock.try_lock().is_err(),
    ));
}

#[test]
fn messages_and_park_tokens_publish() {
    assert!(!fails(|| {
        let data = Arc::new(AtomicU32::new(0));
        let (sender, receiver) = mpsc::channel();
        let other = {
            let data = data.clone();
            thread::spawn(move || {
                data.store(1, Relaxed);
                sender.send(()).unwrap();
            })
        };
        receiver.recv().unwrap();
        assert_eq!(data.load(Relaxed), 1);
        other.join().unwrap();
    }));
    assert!(!fails(|| {
        let data = Arc::new(AtomicU32::new(0));
        let main = thread::current();
        let other = {
            let data = data.clone();
            thread::spawn(move || {
                data.store(1, Relaxed);
                main.unpark();
            })
        };
        thread::park();
        assert_eq!(data.load(Relaxed), 1);
        other.join().unwrap();
    }));
}

#[test]
fn spawning_publishes() {
    assert!(!fails(|| {
        let data = Arc::new(AtomicU32::new(0));
        data.store(1, Relaxed);
        let other = {
            let data = data.clone();
            thread::spawn(move || assert_eq!(data.load(Relaxed), 1))
        };
        other.join().unwrap();
    }));
}

/// Publishes a cell by a flag with these orderings.
fn publish(store: Ordering, load: Ordering) -> Report {
    explore(move || {
        let shared = Arc::new((Shared::new(0), AtomicBool::new(false)));
        let writer = {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.0.set(1);
                shared.1.store(true, store);
            })
        };
        if shared.1.load(load) {
            assert_eq!(shared.0.get(), 1);
        }
        writer.join().unwrap();
    })
}

#[test]
fn a_relaxed_publication_is_a_race_and_a_released_one_is_not() {
    for (store, load, races) in [
        (Relaxed, Relaxed, true),
        (Release, Relaxed, true),
        (Relaxed, Acquire, true),
        (Release, Acquire, false),
        (SeqCst, SeqCst, false),
    ] {
        let report = publish(store, load);
        let is_race = report.failure().is_some_and(|f| matches!(f.finding, Finding::Race { .. }));
        assert_eq!(is_race, races, "{store:?} {load:?}: {}", raddle::text(&report));
    }
}

#[test]
fn a_race_may_need_an_old_store() {
    // Only a read of the first store leaves the accesses unordered. A read of the newest store orders them.
    let report = explore(|| {
        let shared = Arc::new((Shared::new(0), AtomicU32::new(0)));
        let writer = {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.1.store(1, Release);
                shared.0.set(1);
                shared.1.store(2, Release);
            })
        };
        if shared.1.load(Acquire) >= 1 {
            shared.0.get();
        }
        writer.join().unwrap();
    });
    assert!(matches!(report.failure().unwrap().finding, Finding::Race { .. }));
}

/// Store buffering: both threads may read the old value of the other's variable.
fn store_buffering(order: Ordering) -> impl Fn() + Send + Sync + Clone + 'static {
    let (store, load) = match order {
        SeqCst => (SeqCst, SeqCst),
        _ => (Release, Acquire),
    };
    move || {
        let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        let other = {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.0.store(1, store);
                shared.1.load(load)
            })
        };
        shared.1.store(1, store);
        let mine = shared.0.load(load);
        let theirs = other.join().unwrap();
        assert!(mine + theirs > 0, "both read the old value");
    }
}

#[test]
fn sequential_consistency_is_stronger_than_acquire_release() {
    assert!(!fails(store_buffering(SeqCst)));
    assert!(fails(store_buffering(AcqRel)));
    // Under SC at least one thread reads the new value.
    let report = Config::new().strategy("dfs").run(store_buffering(AcqRel));
    assert!(matches!(report.verdict, Verdict::Exhausted));
}

#[test]
fn every_sampler_finds_a_stale_read_and_it_can_be_replayed() {
    for strategy in [
        "random",
        "c11-random",
        "pct:2",
        "pct-weak:2",
        "pctwm:0:1",
        "pos",
        "rapos",
        "urw",
        "surw",
        "dfs",
        "auto",
        "portfolio:random+pct:2",
    ] {
        let config = || rc11(strategy).name("stale").runs(5000);
        let report = config().run(store_buffering(AcqRel));
        let failure = report.failure().unwrap_or_else(|| panic!("{strategy}"));
        assert!(failure.reproduced, "{strategy}");
        let again = config().replay(&failure.token).run(store_buffering(AcqRel));
        let second = again.failure().expect("the same failure");
        assert_eq!(second.trace, failure.trace, "{strategy}");
        assert_eq!(second.finding, failure.finding);
        // A second check gives the same report, byte by byte.
        let same = config().run(store_buffering(AcqRel));
        assert_eq!(same.failure().unwrap().token, failure.token, "{strategy}");
    }
}

#[test]
fn the_report_shows_the_stale_read_and_why_it_was_allowed() {
    let program = || {
        let (data, ready) = (AtomicU32::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                data.store(1, Relaxed);
                ready.store(true, Relaxed);
            });
            if ready.load(Relaxed) {
                assert_eq!(data.load(Relaxed), 1);
            }
        });
    };
    let report = rc11("dfs").name("message passing").run(program);
    let text = raddle::text(&report);
    let stale =
        text.lines().find(|line| line.contains("reads the initial value, stale: 2 is newer"));
    assert!(stale.is_some_and(|line| line.contains("load")), "{text}");
    let why = "Step 6 read the initial value, although step 2 is newer: step 5 read what step 3 \
               stored, but step 3 does not release and step 5 does not acquire.";
    assert!(text.contains(why), "{text}");
    assert!(text.contains("load buffering was not explored"), "{text}");
    // Under SC the report has none of this.
    let report = Config::new().strategy("dfs").run(store_buffering(SeqCst));
    assert!(!raddle::text(&report).contains("RC11"));
}

#[test]
fn strategies_for_weak_memory_refuse_sc() {
    for strategy in ["pctwm:1:1", "c11-random", "pct-weak:2", "portfolio:random+pctwm:0:1"] {
        let error = Config::new().strategy(strategy).try_run(|| {}).unwrap_err().to_string();
        assert!(error.contains("RADDLE_MEMORY=rc11"), "{error}");
    }
    for (word, reason) in [
        ("pctwm:1:0", "at least one store"),
        ("pctwm:3:1:2", "only 2 communication events"),
        ("pctwm:x:1", "pctwm:D:H (under RC11)"),
    ] {
        let error = Config::new().strategy(word).try_run(|| {}).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn strategies_for_sc_refuse_rc11() {
    for strategy in ["dpor-classic", "bpor:0-2", "bpor:fair:1", "dfs:1", "dfs-delay:1"] {
        let error = rc11(strategy).try_run(|| {}).unwrap_err().to_string();
        assert!(error.contains(&format!("`{strategy}`")) && error.contains("`dpor`"), "{error}");
    }
}

#[test]
fn a_bound_on_preemptions_leaves_executions_out() {
    let additions = || {
        let sum = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..3).for_each(|_| _ = sum.fetch_add(1, Relaxed)));
            }
        });
    };
    let all = rc11("dpor").run(additions);
    assert!(matches!(all.verdict, Verdict::Exhausted), "{:?}", all.verdict);
    assert_eq!(all.executions, 1680);
    let few = rc11("bpor:0").run(additions);
    assert!(
        matches!(few.verdict, Verdict::Bounded(bounds) if bounds.preemptions == Some(0)),
        "{:?}",
        few.verdict
    );
    assert!(few.executions < all.executions, "{} executions", few.executions);
}

#[test]
fn a_token_of_another_memory_model_is_refused() {
    let report = rc11("dfs").name("stale").run(store_buffering(AcqRel));
    let token = &report.failure().unwrap().token;
    let error =
        Config::new().name("stale").replay(token).try_run(store_buffering(AcqRel)).unwrap_err();
    assert!(error.to_string().contains("left the recorded schedule"), "{error}");
}

#[test]
fn into_inner_returns_the_newest_value() {
    assert!(!fails(|| {
        let mut value = AtomicU32::new(1);
        thread::scope(|scope| {
            scope.spawn(|| value.fetch_add(1, Relaxed));
            scope.spawn(|| value.fetch_add(1, Relaxed));
        });
        *value.get_mut() += 1;
        assert_eq!(value.load(Relaxed), 4);
        value.store(7, Relaxed);
        assert_eq!(value.into_inner(), 7);
    }));
}

#[test]
fn polling_for_the_end_of_a_thread_under_rc11() {
    // The store may be read before the thread has ended.
    assert!(fails(|| {
        let data = Arc::new(AtomicU32::new(0));
        let other = {
            let data = data.clone();
            thread::spawn(move || data.store(1, Relaxed))
        };
        let seen = data.load(Relaxed);
        let has_ended = other.is_finished();
        other.join().unwrap();
        assert!(seen == 0 || has_ended);
    }));
    // A thread that has ended has performed its store.
    assert!(!fails(|| {
        let data = Arc::new(AtomicU32::new(0));
        let other = {
            let data = data.clone();
            thread::spawn(move || data.store(1, Relaxed))
        };
        if other.is_finished() {
            assert_eq!(data.load(Relaxed), 1);
        }
        other.join().unwrap();
    }));
}

/// Its view is old, and no other thread is runnable.
#[test]
fn a_spinning_thread_eventually_reads_the_newest_value() {
    let report = rc11("pctwm:0:1").name("alone").runs(20).max_steps(1000).run(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let waiting = {
            let flag = flag.clone();
            thread::spawn(move || {
                while !flag.load(Relaxed) {
                    raddle::hint::spin_loop();
                }
            })
        };
        let setting = thread::spawn(move || flag.store(true, Relaxed));
        setting.join().unwrap();
        waiting.join().unwrap();
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
}
