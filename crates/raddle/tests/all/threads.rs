//! Handles, parking, scopes and time: they behave as in `std`, and their bugs are found.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex as StdMutex;
use std::time::Duration;

use raddle::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, Mutex, mpsc};
use raddle::time::Instant;
use raddle::{Config, Finding, hint, thread};

use super::support::same_as_std::{
    deadlock, exhaust, failure, message, same_as_std, same_as_std_under,
};

#[test]
fn names_and_ids() {
    let seen = same_as_std(|| {
        let named = thread::Builder::new().name("worker".into()).stack_size(1 << 16);
        let named =
            named.spawn(|| (thread::current().name().map(str::to_owned), thread::current().id()));
        let named = named.unwrap();
        let (name, id) = (named.thread().name().map(str::to_owned), named.thread().id());
        let (own_name, own_id) = named.join().unwrap();
        let plain = thread::spawn(|| thread::current().name().map(str::to_owned));
        let other = plain.thread().id();
        let ids: HashSet<_> = [id, own_id, other, thread::current().id()].into();
        (name, own_name, id == own_id, plain.join().unwrap(), ids.len())
    });
    assert_eq!(seen, (Some("worker".into()), Some("worker".into()), true, None, 3));
}

#[test]
fn a_name_with_a_null_byte() {
    let text = same_as_std(|| message(|| thread::Builder::new().name("a\0b".into()).spawn(|| {})));
    assert!(text.starts_with("thread name may not contain interior null bytes"), "{text}");
}

#[test]
fn the_first_thread_of_a_run_is_named_main() {
    exhaust(|| {
        assert_eq!(thread::current().name(), Some("main"));
        assert_eq!(thread::available_parallelism().unwrap().get(), 2);
        assert_eq!(format!("{:?}", thread::current().id()), "ThreadId(0)");
    });
}

#[test]
fn panicking() {
    struct Sees<'a>(&'a AtomicBool);
    impl Drop for Sees<'_> {
        fn drop(&mut self) {
            self.0.store(thread::panicking(), SeqCst);
        }
    }
    same_as_std(|| {
        let seen = AtomicBool::new(false);
        message::<()>(|| {
            let _sees = Sees(&seen);
            panic!("now")
        });
        (seen.load(SeqCst), thread::panicking())
    });
}

#[test]
fn parking() {
    same_as_std(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let parked = thread::spawn({
            let flag = flag.clone();
            move || {
                while !flag.load(SeqCst) {
                    thread::park();
                }
            }
        });
        flag.store(true, SeqCst);
        parked.thread().unpark();
        parked.join().unwrap();
        // There is at most one token, even after several calls of `unpark`.
        thread::current().unpark();
        thread::current().unpark();
        thread::park();
        thread::park_timeout(Duration::from_millis(1));
    });
}

#[test]
fn a_park_token_is_not_lost() {
    let executions = exhaust(|| {
        let parked = thread::spawn(thread::park);
        parked.thread().unpark();
        parked.join().unwrap();
    });
    assert_eq!(executions, 1);
}

/// A thread tests a flag and parks, but another call of `park` has consumed the token.
#[test]
fn a_consumed_park_token_is_a_deadlock() {
    let waits = deadlock(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let waiter = thread::spawn({
            let flag = flag.clone();
            move || {
                // A library call that parks for its own reasons.
                thread::park_timeout(Duration::from_millis(1));
                if !flag.load(SeqCst) {
                    thread::park();
                }
            }
        });
        waiter.thread().unpark();
        flag.store(true, SeqCst);
        waiter.join().unwrap();
    });
    assert_eq!(waits, [(0, false), (1, false)]);
}

#[test]
fn an_unpark_before_the_flag_is_a_deadlock() {
    deadlock(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let waiter = thread::spawn({
            let flag = flag.clone();
            move || {
                while !flag.load(SeqCst) {
                    thread::park();
                }
            }
        });
        waiter.thread().unpark();
        flag.store(true, SeqCst);
        waiter.join().unwrap();
    });
}

#[test]
fn handles_of_ended_threads() {
    static KEPT: StdMutex<Option<thread::Thread>> = StdMutex::new(None);
    let report = Config::new().runs(2).explore_trivial(true).run(|| {
        let other = thread::spawn(|| {});
        let before = KEPT.lock().unwrap().replace(other.thread().clone());
        if let Some(before) = before {
            before.unpark();
            assert!(before.id() != other.thread().id());
        }
        let ended = other.thread().clone();
        other.join().unwrap();
        ended.unpark();
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    KEPT.lock().unwrap().as_ref().unwrap().unpark();
}

#[test]
fn scoped_threads_borrow() {
    let seen = same_as_std(|| {
        let (mut expected, numbers) = (vec!["a".to_owned()], [1, 2, 3]);
        let total = AtomicUsize::new(0);
        let result = thread::scope(|s| {
            let sum = s.spawn(|| numbers.iter().sum::<usize>());
            s.spawn(|| {
                expected.push("b".to_owned());
                s.spawn(|| total.fetch_add(numbers.len(), SeqCst));
            });
            let named = thread::Builder::new().name("named".into());
            let named = named.spawn_scoped(s, || thread::current().name().map(str::to_owned));
            let named = named.unwrap();
            assert_eq!(named.thread().name(), Some("named"));
            assert_eq!(named.join().unwrap().as_deref(), Some("named"));
            sum.join().unwrap()
        });
        (expected, result, total.into_inner())
    });
    assert_eq!(seen, (vec!["a".to_owned(), "b".to_owned()], 6, 3));
}

#[test]
fn scoped_threads_can_be_polled() {
    same_as_std_under(&["random", "round-robin", "pos-star", "pct:3"], || {
        thread::scope(|s| {
            let other = s.spawn(|| 3);
            while !other.is_finished() {
                thread::yield_now();
            }
            other.join().unwrap()
        })
    });
}

#[test]
fn a_scope_waits_for_all_its_threads() {
    let executions = exhaust(|| {
        let mut done = [false, false];
        thread::scope(|s| {
            for done in &mut done {
                s.spawn(move || {
                    thread::yield_now();
                    *done = true;
                });
            }
        });
        assert_eq!(done, [true, true]);
    });
    assert!(executions > 5);
}

#[test]
fn unjoined_results_are_dropped_in_the_scope() {
    struct Counts<'a>(&'a AtomicUsize);
    impl Drop for Counts<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    same_as_std(|| {
        let dropped = AtomicUsize::new(0);
        thread::scope(|s| {
            s.spawn(|| Counts(&dropped));
            s.spawn(|| Counts(&dropped)).join().map(drop).unwrap();
        });
        dropped.into_inner()
    });
}

/// In `std` the scope would wait forever.
#[test]
fn a_scoped_handle_can_be_leaked_in_a_run() {
    exhaust(|| {
        let value = std::sync::Arc::new(());
        thread::scope(|s| std::mem::forget(s.spawn(|| value.clone())));
        assert_eq!(std::sync::Arc::strong_count(&value), 1);
    });
}

/// The scope ends by a panic, a deadlock, or a panic of one of its threads, while other threads borrow from it.
#[test]
fn a_scope_is_not_left_before_its_threads_end() {
    struct Lent(AtomicUsize);
    impl Drop for Lent {
        fn drop(&mut self) {
            self.0.store(usize::MAX, SeqCst);
        }
    }
    struct LooksLast<'a>(&'a Lent);
    impl Drop for LooksLast<'_> {
        fn drop(&mut self) {
            assert_ne!(self.0.0.load(SeqCst), usize::MAX, "the value was dropped");
        }
    }
    fn borrow(how: u32) {
        let lent = Lent(AtomicUsize::new(0));
        let lock = Mutex::new(());
        thread::scope(|s| {
            for _ in 0..2 {
                let looks = LooksLast(&lent);
                s.spawn(|| {
                    let looks = looks;
                    thread::yield_now();
                    if how == 2 {
                        panic!("a thread fails");
                    }
                    if how == 1 {
                        let _first = lock.lock();
                        drop(lock.lock());
                    }
                    looks.0.0.fetch_add(1, SeqCst);
                });
            }
            assert!(how != 0, "the scope fails");
        });
    }
    let failed = failure(|| borrow(0));
    assert!(matches!(&failed, Finding::Panic(panic) if panic.message == "the scope fails"));
    let failed = failure(|| borrow(2));
    assert!(matches!(&failed, Finding::Panic(panic) if panic.message == "a thread fails"));
    assert!(matches!(failure(|| borrow(1)), Finding::Deadlock(_)));
    assert!(exhaust(|| borrow(3)) > 10);
}

/// A scoped thread catches every attempt to unwind it. Its scope is never left, and the check does not hang.
#[test]
fn a_scope_whose_thread_never_ends_is_abandoned() {
    raddle::thread_local!(static KEPT: Mutex<String> = Mutex::new("kept".to_owned()));
    for _ in 0..3 {
        let report = Config::new().runs(10).run(|| {
            let lock = Mutex::new(());
            let _held = lock.lock();
            thread::scope(|s| {
                s.spawn(|| {
                    KEPT.with(|kept| kept.lock().unwrap().push('!'));
                    loop {
                        let _ = catch_unwind(AssertUnwindSafe(|| drop(lock.lock())));
                    }
                });
            });
        });
        let finding = &report.failure().expect("main waits for the thread").finding;
        assert!(matches!(finding, Finding::Deadlock(_)), "{finding:?}");
        // The next check of this OS thread is not affected.
        let next = Config::new().runs(2).explore_trivial(true).run(|| {
            let own = KEPT.with(|kept| kept.lock().unwrap().clone());
            let other = thread::spawn(|| KEPT.with(|kept| kept.lock().unwrap().clone()));
            assert_eq!([own, other.join().unwrap()], ["kept", "kept"]);
        });
        assert!(next.failure().is_none(), "{}", raddle::text(&next));
    }
}

#[test]
fn a_panic_of_a_scope_can_be_caught() {
    same_as_std(|| {
        let count = AtomicUsize::new(0);
        let text = message::<()>(|| {
            thread::scope(|s| {
                for _ in 0..2 {
                    s.spawn(|| {
                        thread::yield_now();
                        count.fetch_add(1, SeqCst)
                    });
                }
                panic!("caught")
            })
        });
        (text, count.into_inner())
    });
}

#[test]
fn a_scoped_thread_that_waits_for_its_owner_is_a_deadlock() {
    let waits = deadlock(|| {
        let (sender, receiver) = mpsc::channel::<u32>();
        thread::scope(|s| {
            s.spawn(move || receiver.recv());
        });
        drop(sender);
    });
    assert_eq!(waits, [(0, false), (1, false)]);
}

#[test]
fn time_advances_for_sleeping_threads() {
    exhaust(|| {
        let start = Instant::now();
        let (sender, receiver) = mpsc::channel();
        let sleeper = thread::spawn(move || {
            thread::sleep(Duration::from_secs(3));
            sender.send(Instant::now()).unwrap();
        });
        assert_eq!(start.elapsed(), Duration::ZERO);
        let sent = receiver.recv().unwrap();
        // The message carries the time.
        assert_eq!(
            (sent - start, start.elapsed()),
            (Duration::from_secs(3), Duration::from_secs(3))
        );
        thread::sleep(Duration::from_secs(1));
        sleeper.join().unwrap();
        assert_eq!(start.elapsed(), Duration::from_secs(4));
    });
}

#[test]
fn sleepers_wake_in_any_order() {
    let finding = failure(|| {
        let ready = Arc::new(AtomicBool::new(false));
        let other = thread::spawn({
            let ready = ready.clone();
            move || {
                thread::sleep(Duration::from_millis(1));
                ready.store(true, SeqCst);
            }
        });
        thread::sleep(Duration::from_millis(100));
        assert!(ready.load(SeqCst), "sleeping is no synchronisation");
        other.join().unwrap();
    });
    assert!(matches!(finding, Finding::Panic(_)), "{finding:?}");
}

/// Loops until a deadline end, because waits that time out advance the time.
#[test]
fn loops_until_a_deadline_end() {
    exhaust(|| {
        let deadline = Instant::now() + Duration::from_secs(1);
        let (_sender, receiver) = mpsc::channel::<u32>();
        let pair = (Mutex::new(()), Condvar::new());
        let mut guard = pair.0.lock().unwrap();
        let mut rounds = 0;
        while Instant::now() < deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            match rounds % 3 {
                0 => assert!(receiver.recv_timeout(left / 4).is_err()),
                1 => thread::park_timeout(left / 4),
                _ => guard = pair.1.wait_timeout(guard, left).unwrap().0,
            }
            rounds += 1;
        }
        assert_eq!(rounds, 3);
        drop(guard);
    });
}

#[test]
fn instants() {
    same_as_std(|| {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let mut later = start + second;
        later += second;
        later -= second;
        assert!(start < later && Instant::now() - start < Duration::from_secs(60));
        let since = later.duration_since(start);
        assert_eq!(start.checked_add(second), Some(later));
        assert_eq!(later.checked_sub(second), Some(later - second));
        (since, start.checked_duration_since(later), start.saturating_duration_since(later))
    });
}

#[test]
fn spinning() {
    same_as_std_under(&["random", "round-robin", "pos-star", "pct:3"], || {
        let flag = Arc::new(AtomicBool::new(false));
        let setter = thread::spawn({
            let flag = flag.clone();
            move || flag.store(true, SeqCst)
        });
        while !flag.load(SeqCst) {
            hint::spin_loop();
        }
        setter.join().unwrap();
    });
}
