//! Drops of counted references: each value is dropped once, also in aborted runs and after its run.

use std::sync::Mutex as RealMutex;
use std::sync::atomic::AtomicU32 as RealAtomicU32;

use raddle::sync::Mutex;
use raddle::sync::atomic::Ordering::Relaxed;
use raddle::sync::counted::{Arc, Weak};
use raddle::{Config, Memory, Verdict, thread};

use super::support::watched;

/// A value that counts its drops and accesses itself in its destructor.
struct Node {
    ends: std::sync::Arc<RealAtomicU32>,
    me: Weak<Node>,
    lock: Mutex<()>,
}

impl Node {
    fn new(ends: &std::sync::Arc<RealAtomicU32>) -> Arc<Node> {
        let ends = ends.clone();
        Arc::new_cyclic(|me| Node { ends, me: me.clone(), lock: Mutex::new(()) })
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.lock.lock());
        assert!(self.me.upgrade().is_none() && self.me.clone().strong_count() == 0);
        self.ends.fetch_add(1, Relaxed);
    }
}

#[test]
fn a_value_is_dropped_once_in_every_execution() {
    for (strategy, memory) in [("dpor", Memory::Sc), ("dfs", Memory::Rc11)] {
        let report = Config::new().strategy(strategy).memory(memory).runs(1_000_000).run(|| {
            let ends = std::sync::Arc::new(RealAtomicU32::new(0));
            let node = Node::new(&ends);
            let threads = [
                thread::spawn({
                    let node = node.clone();
                    move || drop(Arc::into_inner(node))
                }),
                thread::spawn({
                    let node = Arc::downgrade(&node);
                    move || drop(node.upgrade())
                }),
            ];
            drop(node);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(ends.load(Relaxed), 1);
            // The value has been dropped.
            assert_eq!(std::sync::Arc::strong_count(&ends), 1);
        });
        assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
    }
}

/// Performs all operations on references in a loop.
fn busy(mut node: Arc<Node>) {
    for _ in 0..3 {
        let weak = Arc::downgrade(&node);
        drop((node.clone(), weak.clone(), weak.upgrade()));
        drop(weak);
        if let Some(node) = Arc::get_mut(&mut node) {
            drop(node.lock.get_mut());
        }
        node = Arc::try_unwrap(node).map_or_else(|node| node, Arc::new);
    }
}

/// Creates references while its thread is unwound.
struct Clings(Arc<Node>);

impl Drop for Clings {
    fn drop(&mut self) {
        let weak = Arc::downgrade(&self.0);
        drop((self.0.clone(), weak.upgrade(), Arc::get_mut(&mut self.0).is_some()));
        assert!(Arc::strong_count(&self.0) > 0);
    }
}

#[test]
fn aborted_runs_leave_their_threads_behind() {
    let cases = [
        ("random", Memory::Sc),
        ("random", Memory::Rc11),
        ("pct:3", Memory::Sc),
        ("pos", Memory::Sc),
    ];
    for (strategy, memory) in cases {
        watched("counted references", move || {
            static MADE: RealAtomicU32 = RealAtomicU32::new(0);
            let ends = std::sync::Arc::new(RealAtomicU32::new(0));
            let config = Config::new().strategy(strategy).memory(memory).keep_going(true);
            MADE.store(0, Relaxed);
            let counted = ends.clone();
            let report = config.runs(300).run(move || {
                MADE.fetch_add(1, Relaxed);
                let node = Node::new(&counted);
                let _clings = Clings(node.clone());
                let threads = [node.clone(), node.clone()].map(|node| {
                    thread::spawn(move || {
                        let _clings = Clings(node.clone());
                        busy(node);
                    })
                });
                let panics = thread::spawn(move || {
                    thread::yield_now();
                    let _clings = Clings(node);
                    panic!("at any time")
                });
                threads.into_iter().for_each(|thread| thread.join().unwrap());
                panics.join().unwrap();
            });
            let failures = report.failures.as_ref().expect("it fails");
            let causes: Vec<_> = failures.causes.iter().collect();
            assert_eq!((failures.failing, causes.len()), (300, 1), "{strategy}: {causes:?}");
            // Threads that have not ended are leaked, with what they hold.
            assert!(report.leaked > 0, "{strategy}");
            assert!(ends.load(Relaxed) < MADE.load(Relaxed), "{strategy}");
        });
    }
}

#[test]
fn a_run_may_be_aborted_at_every_step() {
    for steps in 1..80 {
        watched("step limit", move || {
            let ends = std::sync::Arc::new(RealAtomicU32::new(0));
            let counted = ends.clone();
            let config = Config::new().strategy("random").keep_going(true).max_steps(steps);
            let report = config.runs(20).run(move || {
                let node = Node::new(&counted);
                let clings = Clings(node.clone());
                let other = thread::spawn(move || busy(node));
                busy(clings.0.clone());
                other.join().unwrap();
            });
            assert!(report.executions > 0);
            let is_freed = std::sync::Arc::strong_count(&ends) == 1;
            assert_eq!(is_freed, report.leaked == 0, "{steps}");
        });
    }
}

#[test]
fn a_reference_may_outlive_its_run() {
    static KEPT: RealMutex<Vec<(Arc<u32>, Weak<u32>)>> = RealMutex::new(Vec::new());
    let keep = || {
        let value = Arc::new(7);
        let weak = Arc::downgrade(&value);
        KEPT.lock().unwrap().push((value.clone(), weak));
        let other = thread::spawn(move || Arc::strong_count(&value));
        assert_eq!(other.join().unwrap(), 2);
    };
    assert!(Config::new().runs(2).run(keep).failure().is_none());
    let use_up = || {
        let (mut value, weak) = KEPT.lock().unwrap().pop().expect("one for each");
        assert_eq!((Arc::strong_count(&value), Arc::weak_count(&value)), (1, 1));
        assert_eq!((weak.strong_count(), weak.weak_count()), (1, 1));
        let second = weak.upgrade().unwrap();
        assert!(Arc::get_mut(&mut value).is_none());
        *Arc::make_mut(&mut value) += 1;
        assert_eq!((*value, *second, weak.strong_count()), (8, 7, 1));
        assert_eq!((Arc::try_unwrap(value), Arc::into_inner(second)), (Ok(8), Some(7)));
        assert!(weak.clone().upgrade().is_none());
    };
    // References are used outside the run and in another run.
    use_up();
    let left = KEPT.lock().unwrap().len();
    assert!(left > 0, "a check runs the first execution twice");
    let report = Config::new().runs(1).run(move || {
        if KEPT.lock().unwrap().len() == left {
            use_up();
        }
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    KEPT.lock().unwrap().clear();
}

#[test]
fn references_created_outside_are_not_counted() {
    let value = Arc::new(7);
    let theirs = value.clone();
    let report = Config::new().strategy("dpor").run(move || {
        let mine = theirs.clone();
        let other = thread::spawn(move || drop(mine));
        let weak = Arc::downgrade(&theirs);
        drop((weak.upgrade(), weak));
        assert!(Arc::strong_count(&theirs) >= 2);
        other.join().unwrap();
    });
    assert!(report.failure().is_none() && report.executions == 1, "{}", raddle::text(&report));
    assert_eq!(Arc::into_inner(value), Some(7));
}
