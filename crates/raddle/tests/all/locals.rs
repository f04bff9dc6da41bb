//! Thread-local values: they behave as in `std`, and each thread of each execution has its own.

use std::cell::{Cell, RefCell};

use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex, mpsc};
use raddle::{Config, Finding, thread};

use super::support::same_as_std::{exhaust, failure, message, same_as_std};

raddle::thread_local! {
    /// A value whose initial value is computed.
    static WORDS: RefCell<Vec<String>> = RefCell::new(vec!["first".to_owned()]);
    pub(crate) static COUNT: Cell<u32> = const { Cell::new(5) };
    static PLAIN: String = "plain".to_owned()
}

raddle::thread_local!(static ALONE: Cell<i8> = const { Cell::new(-1) });
raddle::thread_local!();

#[test]
fn values() {
    let seen = same_as_std(|| {
        // Outside runs the thread of the test keeps the values.
        thread::spawn(|| {
            let mut seen = vec![PLAIN.with(String::clone)];
            COUNT.set(COUNT.get() + 1);
            seen.push(format!("{} {}", COUNT.replace(9), COUNT.take()));
            seen.push(format!("{} {}", COUNT.get(), ALONE.get()));
            WORDS.with_borrow_mut(|words| words.push("second".to_owned()));
            seen.push(WORDS.with_borrow(|words| words.join(" ")));
            seen.push(WORDS.replace(vec!["third".to_owned()]).len().to_string());
            seen.push(WORDS.take().join(" "));
            WORDS.set(vec!["fourth".to_owned()]);
            seen.push(WORDS.try_with(|words| words.borrow().join(" ")).unwrap());
            let other = thread::spawn(|| (COUNT.get(), WORDS.take()));
            seen.push(format!("{:?}", other.join().unwrap()));
            seen
        })
        .join()
        .unwrap()
    });
    let expected = ["plain", "6 9", "0 -1", "first second", "2", "third", "fourth"];
    assert_eq!(seen[..7], expected);
    assert_eq!(seen[7], "(5, [\"first\"])");
}

#[test]
fn setting_a_value_does_not_initialise_it() {
    raddle::thread_local! {
        static NEVER: Cell<u32> = panic!("not needed");
        static NEITHER: RefCell<u32> = panic!("not needed");
    }
    same_as_std(|| {
        thread::spawn(|| {
            NEVER.set(1);
            NEITHER.set(2);
            (NEVER.get(), NEITHER.take())
        })
        .join()
        .unwrap()
    });
}

#[test]
fn initial_values_may_use_any_names() {
    const INIT: u8 = 1;
    const OUTSIDE: u8 = 2;
    fn init() -> u8 {
        3
    }
    raddle::thread_local! {
        static CONSTANT: Cell<u8> = const { Cell::new(INIT + OUTSIDE) };
        static COMPUTED: Cell<u8> = Cell::new(init() + OUTSIDE);
    }
    assert_eq!(same_as_std(|| (CONSTANT.get(), COMPUTED.get())), (3, 5));
}

#[test]
fn every_execution_starts_with_initial_values() {
    let report = Config::new().runs(20).explore_trivial(true).run(|| {
        assert_eq!(COUNT.replace(1), 5);
        let other = thread::spawn(|| COUNT.replace(2));
        assert_eq!((other.join().unwrap(), COUNT.get()), (5, 1));
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    assert_eq!(COUNT.get(), 5);
}

/// Records when it is dropped.
struct Tells(mpsc::Sender<&'static str>, &'static str);

impl Drop for Tells {
    fn drop(&mut self) {
        let _ = self.0.send(self.1);
    }
}

raddle::thread_local! {
    static FIRST: RefCell<Option<Tells>> = const { RefCell::new(None) };
    static SECOND: RefCell<Option<Tells>> = const { RefCell::new(None) };
}

#[test]
fn values_are_destroyed_before_the_thread_has_ended() {
    let seen = same_as_std(|| {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || {
            FIRST.set(Some(Tells(sender.clone(), "used first")));
            SECOND.set(Some(Tells(sender, "used second")));
        });
        thread.join().unwrap();
        receiver.try_iter().collect::<Vec<_>>()
    });
    assert_eq!(seen, ["used second", "used first"]);
}

#[test]
fn a_destroyed_value_cannot_be_used() {
    struct Looks(Arc<Mutex<Vec<String>>>);
    impl Drop for Looks {
        fn drop(&mut self) {
            let error = KEY.try_with(|_| ()).unwrap_err();
            let text = format!("{error} {}", message(|| KEY.with(|_| ())));
            // Other values can be used, also for the first time.
            self.0.lock().unwrap().push(format!("{text} {}", COUNT.get()));
        }
    }
    raddle::thread_local!(static KEY: RefCell<Option<Looks>> = const { RefCell::new(None) });
    let seen = same_as_std(|| {
        let texts = Arc::new(Mutex::new(Vec::new()));
        let looks = Looks(texts.clone());
        thread::spawn(move || KEY.set(Some(looks))).join().unwrap();
        texts.lock().unwrap().clone()
    });
    let text = "cannot access a Thread Local Storage value during or after destruction";
    assert_eq!(seen, [format!("already destroyed {text}: AccessError 5")]);
}

#[test]
fn destructors_are_part_of_the_execution() {
    struct Adds(Arc<AtomicUsize>);
    impl Drop for Adds {
        fn drop(&mut self) {
            let seen = self.0.load(SeqCst);
            self.0.store(seen + 1, SeqCst);
        }
    }
    raddle::thread_local!(static ADDS: RefCell<Option<Adds>> = const { RefCell::new(None) });
    fn program(threads: usize) {
        let count = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                let adds = Adds(count.clone());
                thread::spawn(|| ADDS.set(Some(adds)))
            })
            .collect();
        let number = threads.len();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(count.load(SeqCst), number, "an update got lost");
    }
    exhaust(|| program(1));
    let finding = failure(|| program(2));
    assert!(matches!(finding, Finding::Panic(_)), "{finding:?}");
}

/// This includes the values of main and of threads that are unwound.
#[test]
fn all_values_of_an_execution_are_dropped() {
    static MADE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    struct Counted;
    impl Counted {
        fn new() -> Counted {
            MADE.fetch_add(1, SeqCst);
            Counted
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            MADE.fetch_sub(1, SeqCst);
        }
    }
    raddle::thread_local!(static KEY: Counted = Counted::new());
    for how in 0..3 {
        let report = Config::new().runs(50).explore_trivial(true).run(move || {
            KEY.with(|_| ());
            let lock = Arc::new(Mutex::new(()));
            let guard = lock.lock().unwrap();
            let other = thread::spawn({
                let lock = lock.clone();
                move || {
                    KEY.with(|_| ());
                    let _guard = lock.lock();
                }
            });
            assert!(how != 1, "main fails");
            if how == 0 {
                drop(guard);
            }
            other.join().unwrap();
        });
        assert_eq!(report.failure().is_some(), how > 0, "{}", raddle::text(&report));
        // The threads of a failing execution that have not ended are leaked.
        assert_eq!(MADE.swap(0, SeqCst) == 0, how == 0);
    }
}

/// The payload of a panic is dropped after its thread has ended, and its destructor uses a value.
#[test]
fn a_value_initialised_after_the_end_of_its_thread() {
    raddle::thread_local!(static KEY: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) });
    struct Late;
    impl Drop for Late {
        fn drop(&mut self) {
            KEY.with_borrow_mut(|values| values.push(1));
        }
    }
    for _ in 0..2 {
        let report = Config::new().runs(3).run(|| {
            assert_eq!(KEY.with_borrow(Vec::len), 0, "left over");
            let other = thread::spawn(|| std::panic::panic_any(Late));
            let _: thread::Result<()> = other.join();
        });
        let failure = report.failure().expect("a thread panics");
        let Finding::Panic(panic) = &failure.finding else { panic!("{:?}", failure.finding) };
        assert!(panic.message.contains("not a string") && failure.reproduced, "{}", panic.message);
    }
}
