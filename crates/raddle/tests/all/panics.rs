//! Panics that leave spawned threads: failures, or results of `join`.

use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex, Once, PoisonError, RwLock};
use raddle::{Config, Finding, Panics, Report, Verdict, thread};

fn joined(program: impl Fn() + Send + Sync + 'static) -> Report {
    Config::new().name("panics").panics(Panics::Join).run(program)
}

fn clean(report: &Report) {
    assert!(report.failure().is_none(), "{}", raddle::text(report));
}

/// Returns the thread and the message of the reported panic, which must have been reproduced.
fn panic(report: &Report) -> (u32, String) {
    let failure = report.failure().expect("a failure");
    assert!(failure.reproduced, "{}", raddle::text(report));
    let Finding::Panic(panic) = &failure.finding else { panic!("{:?}", failure.finding) };
    (panic.thread.0, panic.message.clone())
}

fn text(payload: &(dyn std::any::Any + Send)) -> &str {
    payload.downcast_ref::<&str>().expect("a text")
}

fn returns_err() {
    let thread = thread::spawn(|| -> u32 { panic!("on purpose") });
    let payload = thread.join().expect_err("it panicked");
    assert_eq!(text(&*payload), "on purpose");
}

#[test]
fn a_panic_is_a_failure_unless_panics_is_join() {
    assert_eq!(panic(&Config::new().run(returns_err)), (1, "on purpose".into()));
    clean(&joined(returns_err));
    // Outside a check `join` returns the panic, as in `std`.
    returns_err();
}

#[test]
fn every_execution_is_searched() {
    for strategy in ["dpor", "dfs"] {
        let report = Config::new().strategy(strategy).panics(Panics::Join).run(|| {
            let count = Arc::new(AtomicUsize::new(0));
            let other = thread::spawn({
                let count = count.clone();
                move || {
                    assert_ne!(count.fetch_add(1, SeqCst), 1, "second");
                }
            });
            let first = count.fetch_add(1, SeqCst) == 0;
            assert_eq!(other.join().is_err(), first);
        });
        clean(&report);
        assert!(matches!(report.verdict, Verdict::Exhausted), "{report:?}");
        assert_eq!(report.classes, 2);
    }
}

#[test]
fn a_thread_that_panics_before_its_first_operation() {
    clean(&joined(|| {
        let threads = [(); 3].map(|()| thread::spawn(|| panic!("at once")));
        for thread in threads {
            assert!(thread.join().is_err());
        }
    }));
}

#[test]
fn locks_are_poisoned_for_others() {
    fn program() -> [bool; 4] {
        let shared = Arc::new((Mutex::new(0), RwLock::new(0), Once::new()));
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                let _number = shared.0.lock().unwrap();
                let _other = shared.1.write().unwrap();
                shared.2.call_once(|| panic!("while holding"));
            }
        });
        let other = other.join().is_err();
        let mutex = shared.0.lock().is_err() && shared.0.is_poisoned();
        let rwlock = shared.1.read().is_err();
        let once = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            shared.2.call_once(|| {});
        }));
        let number = *shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(number, 0);
        [other, mutex, rwlock, once.is_err()]
    }
    assert_eq!(program(), [true; 4]);
    clean(&joined(|| assert_eq!(program(), [true; 4])));
}

#[test]
fn an_unjoined_panic_is_a_failure() {
    let report = joined(|| {
        thread::spawn(|| panic!("into the void"));
    });
    assert_eq!(panic(&report), (1, "into the void".into()));
    let token = report.failure().unwrap().token.clone();
    let again = Config::new().name("panics").panics(Panics::Join).replay(token).run(|| {
        thread::spawn(|| panic!("into the void"));
    });
    assert_eq!(panic(&again), (1, "into the void".into()));
}

#[test]
fn a_failure_mentions_earlier_panics() {
    let report = joined(|| thread::spawn(|| panic!("the cause")).join().unwrap());
    let (thread, message) = panic(&report);
    assert_eq!(thread, 0);
    assert!(message.contains("earlier thread 1 panicked at"), "{message}");
    assert!(message.ends_with("the cause"), "{message}");
}

#[test]
fn a_scope_panics_unless_its_threads_are_joined() {
    fn without_join() {
        thread::scope(|scope| {
            scope.spawn(|| panic!("inside"));
        });
    }
    fn with_join() {
        thread::scope(|scope| {
            let thread = scope.spawn(|| panic!("inside"));
            assert_eq!(text(&*thread.join().unwrap_err()), "inside");
        });
    }
    let (thread, message) = panic(&joined(without_join));
    assert!(thread == 0 && message.starts_with("a scoped thread panicked"), "{message}");
    clean(&joined(with_join));
    assert_eq!(panic(&Config::new().run(with_join)), (1, "inside".into()));
    // Outside a check scopes behave in the same way.
    let payload = std::panic::catch_unwind(without_join).unwrap_err();
    assert_eq!(text(&*payload), "a scoped thread panicked");
    with_join();
}

#[test]
fn other_threads_run_while_a_destructor_waits() {
    struct Waits(Arc<Mutex<u32>>);
    impl Drop for Waits {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    clean(&joined(|| {
        let number = Arc::new(Mutex::new(0));
        let panics = thread::spawn({
            let number = number.clone();
            move || {
                let _waits = Waits(number);
                panic!("with a destructor");
            }
        });
        let others = [(); 2].map(|()| {
            let number = number.clone();
            thread::spawn(move || *number.lock().unwrap() += 1)
        });
        assert!(panics.join().is_err());
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(*number.lock().unwrap(), 3);
    }));
}

/// All orders are explored, including those in which one thread unwinds during the unwinding of the other.
#[test]
fn several_threads_unwind_at_once() {
    struct Counts(Arc<(AtomicUsize, Mutex<u32>)>);
    impl Drop for Counts {
        fn drop(&mut self) {
            assert!(thread::panicking());
            self.0.0.fetch_add(1, SeqCst);
            *self.0.1.lock().unwrap() += 1;
        }
    }
    fn program() {
        let shared: Arc<(AtomicUsize, Mutex<u32>)> = Arc::default();
        let threads = [0, 1].map(|number| {
            let shared = shared.clone();
            thread::spawn(move || {
                let _counts = Counts(shared);
                panic!("thread {number}");
            })
        });
        assert!(!thread::panicking());
        for thread in threads {
            assert!(thread.join().is_err());
        }
        let number = shared.1.lock().expect("no thread panicked while it held the lock");
        assert_eq!((shared.0.load(SeqCst), *number), (2, 2));
    }
    let report = Config::new().strategy("dpor").panics(Panics::Join).run(program);
    clean(&report);
    assert!(matches!(report.verdict, Verdict::Exhausted) && report.classes > 2, "{report:?}");
}

#[raddle::test(panics = "join", threads = 2, races = true)]
fn can_be_set_in_the_attribute() {
    assert!(thread::spawn(|| panic!("on purpose")).join().is_err());
}
