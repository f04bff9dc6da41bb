//! Programs under RC11: what weak memory shows, what synchronisation rules out, and that it is all
//! repeatable.

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

/// What every execution of `program` comes to.
fn explore(program: impl Fn() + Send + Sync + 'static) -> Report {
    let report = rc11("dfs").runs(1_000_000).run(program);
    match &report.verdict {
        Verdict::Failed(failure) => assert!(failure.reproduced, "{}", raddle::text(&report)),
        verdict => assert!(matches!(verdict, Verdict::Exhausted), "{}", raddle::text(&report)),
    }
    report
}

fn fails(program: impl Fn() + Send + Sync + 'static) -> bool {
    explore(program).failure().is_some()
}

/// One thread stores data and then calls `tell`; main calls `hear` and, if that says so, must see it.
fn hand_over<S: Send + Sync + 'static>(
    make: fn() -> S,
    tell: impl Fn(&S) + Send + Sync + Copy + 'static,
    hear: impl Fn(&S) -> bool + Send + Sync + Copy + 'static,
) -> bool {
    fails(move || {
        let shared = Arc::new((AtomicU32::new(0), make()));
        let writer = {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.0.store(1, Relaxed);
                tell(&shared.1);
            })
        };
        if hear(&shared.1) {
            assert_eq!(shared.0.load(Relaxed), 1, "stale");
        }
        writer.join().unwrap();
        assert_eq!(shared.0.load(Relaxed), 1, "after the join");
    })
}

#[test]
fn a_flag_hands_over_if_it_is_released_and_acquired() {
    let flag = || AtomicBool::new(false);
    let by = |store: Ordering, load: Ordering| {
        hand_over(flag, move |flag| flag.store(true, store), move |flag| flag.load(load))
    };
    assert!(by(Relaxed, Relaxed));
    assert!(by(Release, Relaxed));
    assert!(by(Relaxed, Acquire));
    assert!(!by(Release, Acquire));
    assert!(!by(SeqCst, SeqCst));
}

#[test]
fn fences_hand_over() {
    let flag = || AtomicBool::new(false);
    let by = |release: Ordering, acquire: Ordering| {
        hand_over(
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
fn locks_and_the_like_hand_over() {
    assert!(!hand_over(
        || Mutex::new(false),
        |lock| *lock.lock().unwrap() = true,
        |lock| *lock.lock().unwrap(),
    ));
    assert!(!hand_over(
        || RwLock::new(false),
        |lock| *lock.write().unwrap() = true,
        |lock| *lock.read().unwrap(),
    ));
    assert!(!hand_over(Once::new, |once| once.call_once(|| {}), Once::is_completed));
    assert!(!hand_over(
        || Barrier::new(2),
        |barrier| {
            barrier.wait();
        },
        |barrier| {
            barrier.wait();
            true
        },
    ));
    assert!(!hand_over(
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
    // A lock that could not be taken says nothing about what its holder has done.
    assert!(hand_over(
        || Mutex::new(()),
        |lock| std::mem::forget(lock.lock().unwrap()),
        |lock| lock.try_lock().is_err(),
    ));
}

#[test]
fn messages_and_park_tokens_hand_over() {
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
fn a_new_thread_has_seen_what_its_creator_has() {
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

/// A cell handed over by a flag with these orders.
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
fn a_race_can_hide_behind_an_old_store() {
    // Only who reads the first store has synchronised; with the newest there is always order.
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

/// Store buffering: both threads may miss the other's store.
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
        assert!(mine + theirs > 0, "both missed the other");
    }
}

#[test]
fn sequential_consistency_is_more_than_acquire_and_release() {
    assert!(!fails(store_buffering(SeqCst)));
    assert!(fails(store_buffering(AcqRel)));
    // Under SC nobody misses anything.
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
        // Byte by byte the same when it is all done again.
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
    // Nothing of this under SC.
    let report = Config::new().strategy("dfs").run(store_buffering(SeqCst));
    assert!(!raddle::text(&report).contains("RC11"));
}

#[test]
fn strategies_for_weak_memory_say_so_under_sc() {
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
fn strategies_that_know_only_sc_say_so() {
    for strategy in ["dpor", "dpor-classic", "bpor:2", "dfs:1", "dfs-delay:1"] {
        let error = rc11(strategy).try_run(|| {}).unwrap_err().to_string();
        assert!(error.contains(&format!("`{strategy}`")) && error.contains("`dfs`"), "{error}");
    }
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
fn values_taken_back_are_the_newest() {
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
fn it_matters_when_a_thread_ends_if_somebody_asks() {
    // The store may be seen before the thread has ended.
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
    // Who has ended has stored.
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

/// Its view is old, and nobody is left who could go on instead.
#[test]
fn a_thread_that_waits_alone_gets_to_see_what_it_waits_for() {
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
