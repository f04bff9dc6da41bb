//! Small programs with known answers: what every kind of strategy says of them, under both memory models.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use raddle::sync::atomic::{AtomicBool, AtomicU32, Ordering::*, fence};
use raddle::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use raddle::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, counted};
use raddle::{Config, Memory, Verdict, thread};

const STRATEGIES: [(&str, Memory); 13] = [
    ("auto", Memory::Sc),
    ("dpor", Memory::Sc),
    ("dfs", Memory::Sc),
    ("bpor:2", Memory::Sc),
    ("mcr", Memory::Sc),
    ("random", Memory::Sc),
    ("pct", Memory::Sc),
    ("pos-star", Memory::Sc),
    ("urw", Memory::Sc),
    ("auto", Memory::Rc11),
    ("dpor", Memory::Rc11),
    ("dfs", Memory::Rc11),
    ("c11-random", Memory::Rc11),
];

/// Checks that no strategy fails a correct program.
fn passes(program: fn()) {
    for (strategy, memory) in STRATEGIES {
        let report = Config::new().strategy(strategy).memory(memory).runs(300).run(program);
        assert!(report.failure().is_none(), "{strategy}, {memory:?}: {}", raddle::text(&report));
    }
}

/// Checks that searches find the failure of a program under these memory models, and that no strategy says that there
/// is none.
fn fails_under(models: &[Memory], words: &str, program: fn()) {
    for (strategy, memory) in STRATEGIES {
        let report = Config::new().strategy(strategy).memory(memory).runs(1_000).run(program);
        let text = format!("{strategy}, {memory:?}: {}", raddle::text(&report));
        match report.failure() {
            Some(failure) => {
                assert!(models.contains(&memory), "{text}");
                assert!(failure.reproduced && text.contains(words), "{text}");
            }
            None if models.contains(&memory) => {
                let claims = matches!(report.verdict, Verdict::Exhausted);
                assert!(!claims && !matches!(strategy, "auto" | "dpor"), "{text}");
            }
            None => {}
        }
    }
}

fn fails(words: &str, program: fn()) {
    fails_under(&[Memory::Sc, Memory::Rc11], words, program);
}

/// Runs `act` on two threads, and returns both results.
fn twice<T: Sync + Send + 'static, R: Send + 'static>(
    shared: T,
    act: fn(&T) -> R,
) -> (R, R, Arc<T>) {
    let shared = Arc::new(shared);
    let other = thread::spawn({
        let shared = shared.clone();
        move || act(&shared)
    });
    let mine = act(&shared);
    (mine, other.join().unwrap(), shared)
}

#[test]
fn a_message_may_be_late() {
    passes(|| {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || sender.send(1).unwrap());
        match receiver.recv_timeout(Duration::from_millis(5)) {
            Ok(1) => {}
            Err(RecvTimeoutError::Timeout) => assert_eq!(receiver.recv(), Ok(1)),
            result => panic!("{result:?}"),
        }
        other.join().unwrap();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    });
    fails("too late", || {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || sender.send(1));
        let result = receiver.recv_timeout(Duration::from_millis(5));
        let _ = other.join().unwrap();
        assert!(result.is_ok(), "too late");
    });
}

#[test]
fn a_read_lock_is_not_upgraded() {
    fails("lost", || {
        let (_, _, lock) = twice(RwLock::new(0), |lock| {
            let seen = *lock.read().unwrap();
            *lock.write().unwrap() = seen + 1;
        });
        assert_eq!(*lock.read().unwrap(), 2, "lost");
    });
    passes(|| {
        let (_, _, lock) = twice(RwLock::new(0), |lock| {
            let held = lock.read().unwrap();
            assert!(lock.try_write().is_err());
            drop(held);
            *lock.write().unwrap() += 1;
        });
        assert_eq!(*lock.read().unwrap(), 2);
    });
    fails("deadlock", || {
        let (_, _, _) = twice(RwLock::new(0), |lock| {
            let _held = lock.read().unwrap();
            let _never = lock.write().unwrap();
        });
    });
}

#[test]
fn one_thread_initialises() {
    passes(|| {
        let (mine, other, both) = twice((OnceLock::new(), AtomicU32::new(0)), |(cell, count)| {
            *cell.get_or_init(|| count.fetch_add(1, Relaxed))
        });
        assert_eq!((mine, other, both.1.load(Relaxed)), (0, 0, 1));
    });
    fails("two winners", || {
        let (mine, other, _) = twice(OnceLock::new(), |cell| {
            let is_first = cell.get().is_none();
            let _ = cell.set(1);
            is_first
        });
        assert!(mine != other, "two winners");
    });
    // Either main completes it, or the panic of the other thread poisons it for both.
    passes(|| {
        let once = Arc::new(Once::new());
        let other = thread::spawn({
            let once = once.clone();
            move || catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!("own")))).is_err()
        });
        let mine = catch_unwind(AssertUnwindSafe(|| once.call_once(|| {}))).is_err();
        assert_eq!(mine, other.join().unwrap());
    });
}

#[test]
fn threads_of_a_scope_are_joined() {
    passes(|| {
        let (mut numbers, sum) = ([0; 4], AtomicU32::new(0));
        thread::scope(|scope| {
            for part in numbers.chunks_mut(2) {
                scope.spawn(|| {
                    part.fill(1);
                    sum.fetch_add(2, Relaxed);
                });
            }
        });
        assert_eq!((sum.load(Relaxed), numbers), (4, [1; 4]));
    });
}

#[test]
fn a_park_needs_a_token_or_a_flag() {
    passes(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = thread::spawn({
            let flag = flag.clone();
            move || {
                while !flag.load(Acquire) {
                    thread::park()
                }
            }
        });
        flag.store(true, Release);
        other.thread().unpark();
        other.join().unwrap();
    });
    fails("deadlock", || {
        let flag = Arc::new(AtomicBool::new(false));
        let other = thread::spawn({
            let flag = flag.clone();
            move || {
                while !flag.load(Acquire) {
                    thread::park()
                }
            }
        });
        other.thread().unpark();
        flag.store(true, Release);
        other.join().unwrap();
    });
    // Two tokens are one.
    fails("deadlock", || {
        let other = thread::spawn(|| [thread::park(), thread::park()]);
        other.thread().unpark();
        other.thread().unpark();
        other.join().unwrap();
    });
}

#[test]
fn a_barrier_has_one_leader() {
    passes(|| {
        let shared = (Barrier::new(2), AtomicU32::new(0));
        let (mine, other, _) = twice(shared, |(barrier, count)| {
            count.fetch_add(1, Relaxed);
            let is_leader = barrier.wait().is_leader();
            assert_eq!(count.load(Relaxed), 2);
            is_leader
        });
        assert!(mine != other);
    });
    fails("deadlock", || {
        let (_, _, _) = twice(Barrier::new(3), |barrier| barrier.wait().is_leader());
    });
}

#[test]
fn messages_are_dropped_with_the_channel() {
    struct Counts(Arc<AtomicU32>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    passes(|| {
        let count = Arc::new(AtomicU32::new(0));
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn({
            let count = count.clone();
            move || [(); 2].map(|()| drop(sender.send(Counts(count.clone()))))
        });
        drop(receiver.recv());
        drop(receiver);
        other.join().unwrap();
        assert_eq!(count.load(SeqCst), 2);
    });
    fails("deadlock", || {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn({
            let sender = sender.clone();
            move || sender.send(1).unwrap()
        });
        // The sender of main keeps the channel open.
        assert_eq!(receiver.iter().count(), 1);
        other.join().unwrap();
        drop(sender);
    });
}

#[test]
fn counts_of_references() {
    fails("gone", || {
        let mine = counted::Arc::new(7);
        let weak = counted::Arc::downgrade(&mine);
        let other = thread::spawn(move || weak.upgrade().is_some());
        drop(mine);
        assert!(other.join().unwrap(), "gone");
    });
    // With `std`'s `Arc` it is a race that raddle does not see; no outcome is wrong.
    passes(|| {
        let mine = Arc::new(AtomicU32::new(1));
        let weak = Arc::downgrade(&mine);
        let other = thread::spawn(move || weak.upgrade().map(|number| number.load(SeqCst)));
        mine.store(2, SeqCst);
        drop(mine);
        other.join().unwrap();
    });
}

#[test]
fn a_poisoned_lock_can_be_used() {
    passes(|| {
        let lock = Arc::new(Mutex::new(0));
        let other = thread::spawn({
            let lock = lock.clone();
            move || {
                let add = || {
                    *lock.lock().unwrap_or_else(|error| error.into_inner()) += 1;
                    let _held = lock.lock();
                    panic!("own");
                };
                catch_unwind(AssertUnwindSafe(add)).is_err()
            }
        });
        *lock.lock().unwrap_or_else(|error| error.into_inner()) += 1;
        assert!(other.join().unwrap() && lock.is_poisoned());
        assert_eq!(*lock.lock().unwrap_or_else(|error| error.into_inner()), 2);
    });
}

#[test]
fn a_condition_is_checked_again() {
    passes(|| {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let threads = [(); 2].map(|()| {
            let shared = shared.clone();
            thread::spawn(move || {
                let count = shared.0.lock().unwrap();
                *shared.1.wait_while(count, |count| *count == 0).unwrap() -= 1;
            })
        });
        for _ in &threads {
            *shared.0.lock().unwrap() += 1;
            shared.1.notify_one();
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*shared.0.lock().unwrap(), 0);
    });
    fails("deadlock", || {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let threads = [(); 2].map(|()| {
            let shared = shared.clone();
            thread::spawn(move || {
                drop(shared.1.wait_while(shared.0.lock().unwrap(), |is_set| !*is_set));
            })
        });
        *shared.0.lock().unwrap() = true;
        shared.1.notify_one();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_detached_thread_may_not_have_run() {
    fails("not yet", || {
        let number = Arc::new(AtomicU32::new(0));
        let other = number.clone();
        thread::spawn(move || other.store(1, SeqCst));
        thread::yield_now();
        assert_eq!(number.load(SeqCst), 1, "not yet");
    });
}

#[test]
fn weak_orderings() {
    type Pair = (AtomicU32, AtomicU32);
    fn message(write: impl FnOnce(&Pair) + Send + 'static, read: impl FnOnce(&Pair)) {
        let pair = Arc::new(Pair::default());
        let other = thread::spawn({
            let pair = pair.clone();
            move || write(&pair)
        });
        read(&pair);
        other.join().unwrap();
    }
    fails_under(&[Memory::Rc11], "stale", || {
        let write = |pair: &Pair| {
            pair.0.store(1, Relaxed);
            fence(Release);
            pair.1.store(1, Relaxed);
        };
        message(write, |(data, flag)| assert!(flag.load(Relaxed) <= data.load(Relaxed), "stale"));
    });
    passes(|| {
        let write = |pair: &Pair| {
            pair.0.store(1, Relaxed);
            fence(Release);
            pair.1.store(1, Relaxed);
        };
        message(write, |(data, flag)| {
            if flag.load(Relaxed) == 1 {
                fence(Acquire);
                assert_eq!(data.load(Relaxed), 1);
            }
        });
    });
    fails_under(&[Memory::Rc11], "both zero", || {
        let (mine, other, _) = {
            let pair = Arc::new(Pair::default());
            let other = thread::spawn({
                let pair = pair.clone();
                move || {
                    pair.0.store(1, Release);
                    pair.1.load(Acquire)
                }
            });
            pair.1.store(1, Release);
            (pair.0.load(Acquire), other.join().unwrap(), pair)
        };
        assert!(mine + other > 0, "both zero");
    });
}
