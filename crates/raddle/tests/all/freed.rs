//! Freed memory without `raddle::Alloc`, the last drop of an `Arc`, and locks that are read twice. With the allocator:
//! `tests/frees`.

use raddle::cell::UnsafeCell;
use raddle::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering::*};
use raddle::sync::{Arc, Mutex, RwLock, counted};
use raddle::{Config, Finding, Granularity, Memory, Report, thread};

use crate::support::{child, child_case};

/// Runs the test in a process of its own: after many thousand executions what the allocator writes into freed memory may look
/// like the name of an object. Returns whether this is that process.
fn is_own_process(test: &str) -> bool {
    if child_case().is_some() {
        return true;
    }
    let output = child(&format!("freed::{test}"), "freed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    false
}

struct Node {
    value: AtomicU32,
}

fn node(value: u32) -> *mut Node {
    Box::into_raw(Box::new(Node { value: AtomicU32::new(value) }))
}

/// The node that is replaced is freed while the other thread may read it: in one class of executions it does.
#[test]
fn an_atomic_in_a_freed_node() {
    if !is_own_process("an_atomic_in_a_freed_node") {
        return;
    }
    for strategy in ["dpor", "bpor:2", "random", "pos-star", "auto"] {
        let report = Config::new().strategy(strategy).run(|| {
            let shared = Arc::new(AtomicPtr::new(node(7)));
            let other = thread::spawn({
                let shared = shared.clone();
                // SAFETY: broken, if the node was freed. Nothing else uses its memory.
                move || unsafe { (*shared.load(Acquire)).value.load(Acquire) }
            });
            let old = shared.swap(node(8), AcqRel);
            // SAFETY: broken.
            drop(unsafe { Box::from_raw(old) });
            other.join().unwrap();
            // SAFETY: the other thread has ended.
            drop(unsafe { Box::from_raw(shared.load(Acquire)) });
        });
        let finding = &report.failure().expect(strategy).finding;
        let is_found = matches!(finding, Finding::UseAfterFree { .. });
        assert!(is_found, "{strategy}: {}", raddle::text(&report));
    }
}

/// Both threads take the node, and free it. The allocator writes its own data over the name of the object before it is freed
/// again.
#[test]
fn a_node_that_is_freed_twice() {
    if !is_own_process("a_node_that_is_freed_twice") {
        return;
    }
    for (strategy, memory) in [
        ("dpor", Memory::Sc),
        ("bpor:2", Memory::Sc),
        ("mcr", Memory::Sc),
        ("dfs", Memory::Sc),
        ("round-robin", Memory::Sc),
        ("random", Memory::Sc),
        ("pos-star", Memory::Sc),
        ("auto", Memory::Sc),
        ("dpor", Memory::Rc11),
        ("random", Memory::Rc11),
        ("auto", Memory::Rc11),
    ] {
        let config = || Config::new().strategy(strategy).memory(memory).runs(500);
        let program = || {
            let shared = Arc::new(AtomicPtr::new(node(7)));
            let take = |shared: &AtomicPtr<Node>| {
                let taken = shared.load(Acquire);
                if !taken.is_null() {
                    shared.store(std::ptr::null_mut(), Release);
                    // SAFETY: broken, if the other thread has freed it.
                    drop(unsafe { Box::from_raw(taken) });
                }
            };
            let other = thread::spawn({
                let shared = shared.clone();
                move || take(&shared)
            });
            take(&shared);
            other.join().unwrap();
        };
        let report = config().run(program);
        let text = raddle::text(&report);
        let failure = report.failure().unwrap_or_else(|| panic!("{strategy}: {text}"));
        let Finding::FreedTwice { first, second } = &failure.finding else {
            panic!("{strategy}: {text}")
        };
        assert!(failure.reproduced && first.end.thread != second.end.thread, "{strategy}: {text}");
        assert!(first.stack.is_some() && second.stack.is_some(), "{strategy}: {text}");
        let again = config().replay(&failure.token).run(program);
        assert!(matches!(again.failure().unwrap().finding, Finding::FreedTwice { .. }));
    }
}

/// One thread uses and frees a node, and then again.
#[test]
fn a_node_that_its_owner_uses_after_it_was_freed() {
    if !is_own_process("a_node_that_its_owner_uses_after_it_was_freed") {
        return;
    }
    for frees in [true, false] {
        let report = Config::new().explore_trivial(true).runs(5).run(move || {
            let node = node(7);
            // SAFETY: the node is not freed yet.
            unsafe { &*node }.value.store(8, Release);
            // SAFETY: as above.
            drop(unsafe { Box::from_raw(node) });
            if frees {
                // SAFETY: broken.
                drop(unsafe { Box::from_raw(node) });
            } else {
                // SAFETY: broken.
                unsafe { &*node }.value.load(Acquire);
            }
        });
        let finding = &report.failure().expect("a failure").finding;
        let is_found = match finding {
            Finding::FreedTwice { .. } => frees,
            Finding::UseAfterFree { .. } => !frees,
            _ => false,
        };
        assert!(is_found, "{}", raddle::text(&report));
    }
}

/// Zeroed memory is a variable that is zero, also where another one was freed.
#[test]
fn zeroed_memory_is_an_object() {
    let zeroed = || {
        // SAFETY: all-zero is an atomic variable that is zero.
        Box::new(Node { value: unsafe { std::mem::zeroed() } })
    };
    for strategy in ["dpor", "random"] {
        let report = Config::new().strategy(strategy).runs(50).run(move || {
            for _ in 0..3 {
                drop(zeroed());
            }
            let node = Arc::new(zeroed());
            let other = thread::spawn({
                let node = node.clone();
                move || node.value.fetch_add(1, AcqRel)
            });
            node.value.fetch_add(1, AcqRel);
            other.join().unwrap();
            assert_eq!(node.value.load(Acquire), 2);
        });
        assert!(report.failure().is_none(), "{strategy}: {}", raddle::text(&report));
    }
}

struct Value(UnsafeCell<u32>);

// SAFETY: raddle runs one thread at a time, and checks whether accesses are ordered.
unsafe impl Sync for Value {}

impl Drop for Value {
    fn drop(&mut self) {
        // SAFETY: as above.
        self.0.with(|number| unsafe { *number });
    }
}

macro_rules! drops {
    ($arc:path) => {
        || {
            use $arc as Arc;
            let mine = Arc::new(Value(UnsafeCell::new(0)));
            let theirs = mine.clone();
            thread::spawn(move || {
                // SAFETY: as above.
                theirs.0.with_mut(|number| unsafe { *number = 1 });
                drop(theirs);
            });
            // Another thread may run before the drop.
            thread::yield_now();
            drop(mine);
        }
    };
}

/// Without the allocator it is not known what a value was moved out of, so nothing is said of it.
#[test]
fn a_value_that_leaves_the_last_arc() {
    for strategy in ["dpor", "bpor:2", "dfs", "random", "pos-star", "auto"] {
        let report = Config::new().strategy(strategy).runs(1_000).run(|| {
            let mine = Arc::new(Mutex::new(0));
            let theirs = mine.clone();
            let other = thread::spawn(move || {
                *theirs.lock().unwrap() += 1;
                drop(theirs);
                thread::yield_now();
            });
            thread::yield_now();
            let _ = Arc::try_unwrap(mine).is_ok();
            other.join().unwrap();
        });
        let text = raddle::text(&report);
        assert!(report.failure().is_none(), "{strategy}: {text}");
        // Searches make one execution, in which main may be too early.
        let is_seen = matches!(strategy, "dfs" | "random" | "pos-star" | "auto");
        assert!(report.unseen_drops || !is_seen, "{strategy}: {text}");
    }
}

#[test]
fn the_last_arc_sees_what_other_threads_did() {
    for granularity in [Granularity::Sync, Granularity::All] {
        for (memory, strategy) in
            [(Memory::Sc, "dpor"), (Memory::Sc, "random"), (Memory::Rc11, "dfs")]
        {
            let config =
                || Config::new().strategy(strategy).memory(memory).granularity(granularity);
            let report = config().run(drops!(std::sync::Arc));
            assert!(report.failure().is_none(), "{strategy}: {}", raddle::text(&report));
            // With steps for accesses, a search need not run an execution in which main drops last.
            let is_certain = granularity == Granularity::Sync || strategy == "random";
            assert!(report.unseen_drops || !is_certain, "{strategy}, {granularity:?}");
            let report = config().run(drops!(counted::Arc));
            assert!(report.failure().is_none(), "{strategy}: {}", raddle::text(&report));
            assert!(!report.unseen_drops, "{strategy}, {granularity:?}");
        }
    }
}

/// A race in a destructor that no `Arc` calls is found.
#[test]
fn a_race_in_a_destructor_is_found() {
    if !is_own_process("a_race_in_a_destructor_is_found") {
        return;
    }
    let report = Config::new().strategy("dpor").run(|| {
        let value = Box::into_raw(Box::new(Value(UnsafeCell::new(0))));
        let address = value as usize;
        let other = thread::spawn(move || {
            // SAFETY: as above; the memory may be freed, which raddle finds.
            unsafe { &*(address as *const Value) }.0.with_mut(|number| unsafe { *number = 1 });
        });
        // SAFETY: broken.
        drop(unsafe { Box::from_raw(value) });
        other.join().unwrap();
    });
    let finding = &report.failure().expect("a failure").finding;
    let is_found = matches!(finding, Finding::Race { .. } | Finding::UseAfterFree { .. });
    assert!(is_found, "{}", raddle::text(&report));
}

/// Runs a program in which main reads a lock twice at once, and another thread writes.
fn reads_twice(
    strategy: &str,
    memory: Memory,
    first: fn(&RwLock<u32>, &AtomicBool),
    writer: fn(&RwLock<u32>, &AtomicBool),
) -> Report {
    Config::new().strategy(strategy).memory(memory).runs(500).run(move || {
        let shared = Arc::new((RwLock::new(7), AtomicBool::new(false)));
        let other = thread::spawn({
            let shared = shared.clone();
            move || writer(&shared.0, &shared.1)
        });
        first(&shared.0, &shared.1);
        other.join().unwrap();
    })
}

fn twice(lock: &RwLock<u32>, done: &AtomicBool) {
    let first = lock.read().unwrap();
    let second = lock.read().unwrap();
    drop((first, second));
    done.store(true, Release);
}

fn write(lock: &RwLock<u32>, _done: &AtomicBool) {
    *lock.write().unwrap() += 1;
}

const SEARCHES: [(&str, Memory); 5] = [
    ("dpor", Memory::Sc),
    ("bpor:1", Memory::Sc),
    ("random", Memory::Sc),
    ("dfs", Memory::Rc11),
    ("random", Memory::Rc11),
];

#[test]
fn a_lock_that_is_read_twice_while_another_thread_writes() {
    for (strategy, memory) in SEARCHES {
        let report = reads_twice(strategy, memory, twice, write);
        let finding = &report.failure().expect(strategy).finding;
        assert!(matches!(finding, Finding::ReadTwice { .. }), "{}", raddle::text(&report));
    }
}

#[test]
fn other_uses_of_a_lock_are_right() {
    let once: fn(&RwLock<u32>, &AtomicBool) = |lock, _| {
        drop(lock.read().unwrap());
        drop(lock.read().unwrap());
    };
    let tries: fn(&RwLock<u32>, &AtomicBool) = |lock, _| {
        let first = lock.read().unwrap();
        drop((lock.try_read(), first));
    };
    let reads: fn(&RwLock<u32>, &AtomicBool) = |lock, _| drop(lock.read().unwrap());
    let write_if_done: fn(&RwLock<u32>, &AtomicBool) = |lock, done| {
        if done.load(Acquire) {
            write(lock, done);
        }
    };
    let right =
        [(once, write as _), (tries, write as _), (twice as _, reads), (twice, write_if_done)];
    for (strategy, memory) in SEARCHES {
        for (number, (reader, writer)) in right.into_iter().enumerate() {
            let report = reads_twice(strategy, memory, reader, writer);
            assert!(report.failure().is_none(), "{number}, {strategy}: {}", raddle::text(&report));
        }
    }
}
