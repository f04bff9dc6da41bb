//! Runs that end too early, and destructors that spin.

#[allow(dead_code)]
mod support;

use std::sync::atomic::AtomicUsize as StdAtomicUsize;

use raddle::sync::atomic::{AtomicBool, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Config, Finding, thread};
use support::watched;

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The last run ends before the prescribed choices do.
#[test]
fn a_run_that_ends_too_early_is_nondeterministic() {
    static RUNS: StdAtomicUsize = StdAtomicUsize::new(0);
    watched("ends too early", || {
        let report = Config::new().strategy("dfs").run(|| {
            let alike = RUNS.fetch_add(1, SeqCst) < 3;
            let other = alike.then(|| thread::spawn(thread::yield_now));
            thread::yield_now();
            let _ = other.map(|other| other.join());
        });
        let failure = report.failure().expect("it is not deterministic");
        assert!(matches!(failure.finding, Finding::Nondeterminism { .. }));
    });
}

/// A thread that panics waits in a destructor for a flag that another thread sets.
#[test]
fn a_destructor_that_spins_while_panicking_lets_others_go_on() {
    watched("spins while panicking", || {
        let report = Config::new().max_steps(10_000).run(|| {
            let flag = Arc::new(AtomicBool::new(false));
            let other = {
                let flag = flag.clone();
                thread::spawn(move || flag.store(true, SeqCst))
            };
            let _last = OnDrop(|| {
                while !flag.load(SeqCst) {
                    thread::yield_now();
                }
            });
            let _ = other;
            panic!("main fails");
        });
        assert!(report.failure().is_some());
    });
}

/// After a deadlock a destructor spins for ever.
#[test]
fn a_destructor_that_spins_after_the_end_does_not_hang() {
    watched("spins after the end", || {
        let report = Config::new().max_steps(10_000).run(|| {
            let flag = AtomicBool::new(false);
            let lock = Mutex::new(());
            let _held = lock.lock().unwrap();
            let _last = OnDrop(|| {
                while !flag.load(SeqCst) {
                    thread::yield_now();
                }
            });
            drop(lock.lock());
        });
        assert!(report.failure().is_some());
    });
}
