//! Executions that a search gives up are led to their end, and failures after that point count.

use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Config, Memory, thread};

use super::assert_clean;

/// Takes a lock and changes a variable while it holds the lock, when it is dropped.
struct LocksOnDrop(Arc<Mutex<()>>, Arc<AtomicU32>);

impl Drop for LocksOnDrop {
    fn drop(&mut self) {
        let _held = self.0.lock().unwrap();
        self.1.fetch_add(1, SeqCst);
        self.1.fetch_add(1, SeqCst);
    }
}

/// Destructors that take locks are no failure, wherever a search gives an execution up.
#[test]
fn destructors_may_lock() {
    assert_clean_within_budget(|| {
        let (lock, variable) = (Arc::new(Mutex::new(())), Arc::new(AtomicU32::new(0)));
        let _mine = LocksOnDrop(lock.clone(), variable.clone());
        let body = |lock, variable: Arc<AtomicU32>| {
            let locks = LocksOnDrop(lock, variable.clone());
            variable.fetch_add(1, SeqCst);
            drop(locks);
        };
        let threads = [0, 1].map(|_| {
            let (lock, variable) = (lock.clone(), variable.clone());
            thread::spawn(move || body(lock, variable))
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

/// Asserts that no strategy finds a failure.
fn assert_clean_within_budget(program: fn()) {
    for report in super::reports(Config::new, program) {
        assert!(report.failure().is_none(), "{:?} {}", report.memory, raddle::text(&report));
    }
}

/// A thread that spins without yielding does not keep the others from running in the tail.
#[test]
fn the_tail_is_fair() {
    let report = Config::new().strategy("bpor:1").runs(200).run(|| {
        let flag = Arc::new(AtomicU32::new(0));
        let spins = thread::spawn({
            let flag = flag.clone();
            move || {
                for _ in 0..50 {
                    if flag.load(SeqCst) == 1 {
                        return;
                    }
                }
            }
        });
        let other = thread::spawn({
            let flag = flag.clone();
            move || assert!(flag.load(SeqCst) < 2)
        });
        flag.store(1, SeqCst);
        spins.join().unwrap();
        other.join().unwrap();
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    assert_eq!(report.leaked, 0);
}

/// No thread of a clean search is left behind, under either memory model.
#[test]
fn nothing_is_leaked_by_a_clean_search() {
    for (strategy, memory) in [("dpor", Memory::Sc), ("bpor:2", Memory::Sc), ("dfs", Memory::Rc11)]
    {
        let report = Config::new().strategy(strategy).memory(memory).runs(500).run(|| {
            let variable = Arc::new(AtomicU32::new(0));
            let threads = [0, 1, 2].map(|_| {
                let variable = variable.clone();
                thread::spawn(move || {
                    variable.fetch_add(1, SeqCst);
                    variable.load(SeqCst);
                })
            });
            for thread in threads {
                thread.join().unwrap();
            }
        });
        assert!(report.failure().is_none(), "{}", raddle::text(&report));
        assert_eq!(report.leaked, 0, "{strategy}");
        if strategy != "dpor" {
            assert!(report.search.is_none_or(|search| search.blocked > 0), "{strategy}");
        }
    }
}

#[test]
fn given_up_runs_change_nothing_for_the_search() {
    assert_clean(|| {
        let variable = Arc::new(AtomicU32::new(0));
        let other = thread::spawn({
            let variable = variable.clone();
            move || {
                let inner = variable.clone();
                let child = thread::spawn(move || inner.fetch_add(1, SeqCst));
                variable.fetch_add(1, SeqCst);
                child.join().unwrap();
            }
        });
        variable.fetch_add(1, SeqCst);
        other.join().unwrap();
        assert_eq!(variable.load(SeqCst), 3);
    });
}
