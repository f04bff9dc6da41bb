//! Failures are shrunk before they are reported.

use raddle::sync::atomic::{AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Config, Explain, Explanation, Finding, Report, thread};

fn explanation(report: &Report) -> Option<&Explanation> {
    report.failure().expect("a failure").explanation.as_deref()
}

/// Fails if another thread adds between a load and the store after it. Everything else is noise.
fn lost_update() {
    let [value, noise] = [Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0))];
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let (value, noise) = (value.clone(), noise.clone());
            thread::spawn(move || {
                for _ in 0..5 {
                    noise.fetch_add(1, SeqCst);
                }
                let before = value.load(SeqCst);
                value.store(before + 1, SeqCst);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(value.load(SeqCst), 3, "an update got lost");
}

fn opposite_locks() {
    let [one, other] = [Arc::new(Mutex::new(())), Arc::new(Mutex::new(()))];
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let (one, other) = (one.clone(), other.clone());
            let (first, second) = if number % 2 == 0 { (one, other) } else { (other, one) };
            thread::spawn(move || {
                let _first = first.lock().unwrap();
                let _second = second.lock().unwrap();
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn random() -> Config {
    Config::new().strategy("random").name("explained")
}

#[test]
fn a_noisy_failure_becomes_small() {
    let report = random().run(lost_update);
    let shrunk = &explanation(&report).expect("an explanation").shrunk;
    assert!(shrunk.from.preemptions > 5, "{shrunk:?}");
    assert!(shrunk.minimal && shrunk.to.preemptions == 1, "{shrunk:?}");
    let text = raddle::text(&report);
    let expected = format!(
        "shrunk from {} preemptions to 1: no execution without a preemption fails this way",
        shrunk.from.preemptions
    );
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn both_tokens_replay_the_failure() {
    let report = random().run(lost_update);
    let failure = report.failure().unwrap();
    let shrunk = &explanation(&report).unwrap().shrunk;
    for (token, steps) in
        [(&failure.token, shrunk.to.steps), (&shrunk.found_token, shrunk.from.steps)]
    {
        let again = random().replay(token).run(lost_update);
        assert!(matches!(again.failure().unwrap().finding, Finding::Panic(_)));
        assert_eq!(again.steps, steps);
        assert!(explanation(&again).is_none(), "a replay is not explained");
    }
    assert_ne!(failure.token, shrunk.found_token);
}

#[test]
fn a_replay_is_explained_on_request() {
    let found = random().explain(Explain::Off).run(lost_update);
    assert!(explanation(&found).is_none());
    let token = &found.failure().unwrap().token;
    let report = random().replay(token).explain(Explain::Full).run(lost_update);
    let shrunk = &explanation(&report).unwrap().shrunk;
    assert_eq!((shrunk.to.preemptions, &shrunk.found_token), (1, token));
}

/// Every failing trial leaves threads behind; their number is limited.
#[test]
fn a_deadlock_becomes_small() {
    let report = random().run(opposite_locks);
    let failure = report.failure().unwrap();
    assert!(matches!(failure.finding, Finding::Deadlock(_)));
    let explanation = explanation(&report).unwrap();
    assert!(explanation.shrunk.to.preemptions <= 1, "{explanation:?}");
    assert!(explanation.executions < 300, "{explanation:?}");
}

#[test]
fn stale_reads_are_left_out_if_they_do_not_matter() {
    let program = || {
        let [flag, data, noise] = [0; 3].map(|value| Arc::new(AtomicUsize::new(value)));
        let other = {
            let (flag, data, noise) = (flag.clone(), data.clone(), noise.clone());
            thread::spawn(move || {
                noise.store(1, Relaxed);
                data.store(1, Relaxed);
                flag.store(1, Relaxed);
            })
        };
        if flag.load(Relaxed) == 1 {
            let _ = noise.load(Relaxed);
            assert_eq!(data.load(Relaxed), 1, "stale");
        }
        other.join().unwrap();
    };
    for seed in 0..4 {
        let report = random().seed(seed).memory(raddle::Memory::Rc11).run(program);
        let shrunk = &explanation(&report).unwrap().shrunk;
        assert_eq!((shrunk.to.preemptions, shrunk.to.unusual_choices), (1, 1), "{shrunk:?}");
    }
}

#[test]
fn what_does_not_end_and_what_is_not_repeatable_is_not_explained() {
    let endless = || loop {
        thread::yield_now();
    };
    let report = random().max_steps(100).run(endless);
    assert!(explanation(&report).is_none());
}

/// The function that a thread waits in, and the one that acquired what it waits for, are shown with their callers.
#[test]
fn stacks_of_a_deadlock() {
    #[inline(never)]
    fn acquire<'a>(lock: &'a Mutex<()>) -> raddle::sync::MutexGuard<'a, ()> {
        lock.lock().unwrap()
    }
    #[inline(never)]
    fn acquire_both(first: &Mutex<()>, second: &Mutex<()>) {
        let _first = acquire(first);
        let _second = acquire(second);
    }
    let report = random().strategy("dpor").run(|| {
        let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
        let other = locks.clone();
        let thread = thread::spawn(move || acquire_both(&other[1], &other[0]));
        acquire_both(&locks[0], &locks[1]);
        thread.join().unwrap();
    });
    let failure = report.failure().expect("a deadlock");
    let text = raddle::text(&report);
    let of =
        |name: &str| failure.trace.stacks().iter().filter(|one| one.text.contains(name)).count();
    // Two wait, and two have acquired what the others wait for.
    assert_eq!((of("acquire"), of("acquire_both")), (4, 4), "{text}");
    assert_eq!(text.matches("waits in mutex").count(), 2, "{text}");
    assert!(text.contains("acquire_both"), "{text}");
}

/// Runs that are not reported take no stacks.
#[test]
fn stacks_are_taken_only_of_the_reported_run() {
    let report = random().explain(Explain::Off).run(opposite_locks);
    assert!(!report.failure().expect("a deadlock").trace.stacks().is_empty());
    let report = random().strategy("dpor").run(|| {
        let lock = Arc::new(Mutex::new(()));
        let other = lock.clone();
        let thread = thread::spawn(move || drop(other.lock()));
        drop(lock.lock());
        thread.join().unwrap();
    });
    assert!(report.failure().is_none());
}

/// A race shows both accesses with their callers.
#[test]
fn stacks_of_a_race() {
    #[inline(never)]
    fn increment(cell: &raddle::cell::Shared<u32>) {
        cell.set(cell.get() + 1);
    }
    let report = random().run(|| {
        let cell = Arc::new(raddle::cell::Shared::new(0));
        let other = cell.clone();
        let thread = thread::spawn(move || increment(&other));
        increment(&cell);
        thread.join().unwrap();
    });
    assert!(matches!(report.failure().expect("a race").finding, Finding::Race { .. }));
    let text = raddle::text(&report);
    assert!(text.matches("increment").count() >= 2, "{text}");
}

/// Threads that wait forever in loops: what they did before is left out as far as it does not matter.
// The portable back end does not recognise loops that wait.
#[cfg(all(unix, target_arch = "x86_64", not(feature = "portable")))]
#[test]
fn a_livelock_becomes_small() {
    let report = random().run(|| {
        let [one, other, noise] = [0; 3].map(|value| Arc::new(AtomicUsize::new(value)));
        let threads = [(one.clone(), other.clone()), (other, one)].map(|(mine, theirs)| {
            let noise = noise.clone();
            thread::spawn(move || {
                for _ in 0..6 {
                    noise.fetch_add(1, SeqCst);
                }
                while theirs.load(SeqCst) == 0 {
                    raddle::hint::spin_loop();
                }
                mine.store(1, SeqCst);
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert!(matches!(report.failure().unwrap().finding, Finding::WaitsForever { .. }), "{report}");
    let shrunk = &explanation(&report).expect("an explanation").shrunk;
    assert_eq!(shrunk.to.preemptions, 0, "{report}");
    assert!(shrunk.from.preemptions > 3 && shrunk.to.blocks < shrunk.from.blocks, "{shrunk:?}");
}
