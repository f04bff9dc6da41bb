//! Granularity: which accesses to plain variables are scheduling points. Also names in reports.

use raddle::cell::Shared;
use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, Mutex, RwLock};
use raddle::{Config, Finding, Granularity, Report, thread};

/// Two increments that race. Another variable is accessed only under a lock.
fn lost_update() {
    let shared = Arc::new((Shared::new(0), Mutex::new(()), Shared::new(0)));
    let add = {
        let shared = shared.clone();
        move || {
            shared.0.set(shared.0.get() + 1);
            let _held = shared.1.lock().unwrap();
            shared.2.set(shared.2.get() + 1);
        }
    };
    let other = thread::spawn(add.clone());
    add();
    other.join().unwrap();
    assert_eq!(shared.2.get(), 2);
    assert_eq!(shared.0.get(), 2, "an update got lost");
}

fn run(granularity: Granularity) -> Report {
    let config = Config::new().name("granularity").races(false).granularity(granularity);
    config.strategy("dpor").run(lost_update)
}

/// Returns the number of accesses to plain variables that were steps of the failing execution.
fn points(report: &Report) -> usize {
    let failure = report.failure().expect("a failure");
    let is_plain = |name: &str| name.contains("cell");
    let json = report.to_json();
    assert!(failure.reproduced && is_plain(&json));
    failure.trace.events.iter().filter(|event| format!("{:?}", event.op).contains("Cell")).count()
}

#[test]
fn only_scheduling_points_are_interleaved() {
    let report = run(Granularity::Sync);
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    let all = points(&run(Granularity::All));
    let report = run(Granularity::Racy);
    let racy = points(&report);
    assert!(0 < racy && racy < all, "{racy} of {all}");
    // A replay searches for the racy lines again.
    let token = &report.failure().unwrap().token;
    let config = Config::new().name("granularity").races(false).granularity(Granularity::Racy);
    let again = config.replay(token).run(lost_update);
    assert_eq!(again.failure().expect("again").trace, report.failure().unwrap().trace);
}

#[test]
fn without_races_racy_equals_sync() {
    fn program() {
        let shared = Arc::new((Mutex::new(()), Shared::new(0)));
        let add = {
            let shared = shared.clone();
            move || {
                let _held = shared.0.lock().unwrap();
                shared.1.set(shared.1.get() + 1);
            }
        };
        let other = thread::spawn(add.clone());
        add();
        other.join().unwrap();
    }
    let run = |granularity| Config::new().strategy("dpor").granularity(granularity).run(program);
    let [sync, racy, all] = [Granularity::Sync, Granularity::Racy, Granularity::All].map(run);
    for report in [&sync, &racy, &all] {
        assert!(report.failure().is_none(), "{}", raddle::text(report));
    }
    assert_eq!((sync.steps, sync.classes), (racy.steps, racy.classes));
    assert!(all.steps > racy.steps);
}

#[test]
fn races_are_failures_at_every_granularity() {
    for granularity in [Granularity::Sync, Granularity::Racy, Granularity::All] {
        let report = Config::new().strategy("dpor").granularity(granularity).run(lost_update);
        let failure = report.failure().expect("a race");
        assert!(matches!(failure.finding, Finding::Race { .. }), "{}", raddle::text(&report));
    }
}

#[test]
fn objects_have_their_given_names() {
    let report = Config::new().run(|| {
        let shared = Arc::new((Mutex::new(0), RwLock::new(0), Condvar::new(), AtomicU32::new(0)));
        raddle::name(&shared.0, "accounts");
        raddle::name(&shared.1, "rates");
        raddle::name(&shared.2, "ready");
        raddle::name(&shared.3, "two\nlines");
        shared.2.notify_one();
        shared.3.store(1, SeqCst);
        let _rates = shared.1.read().unwrap();
        let _first = shared.0.lock().unwrap();
        let _second = shared.0.lock().unwrap();
    });
    let text = raddle::text(&report);
    for part in
        ["accounts.lock", "rates.read", "ready.notify_one", "two lines", "accounts   Mutex<"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("mutex 1"), "{text}");
    assert!(report.to_json().contains(r#""name": "accounts""#));
    assert!(report.to_html().contains("accounts"));
    // Outside a check `name` does nothing.
    raddle::name(&Mutex::new(0), "unused");
}
