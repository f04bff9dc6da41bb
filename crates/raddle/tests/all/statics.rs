//! Statics have the same initial values in every execution. Other objects that outlive an execution are refused.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;

use raddle::cell::{Shared, UnsafeCell};
use raddle::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex, RwLock};
use raddle::{Config, Finding, Memory, Report, Verdict, thread};

fn clean(report: &Report) {
    assert!(report.failure().is_none(), "{}", raddle::text(report));
}

/// Returns the message of the reported panic.
fn message(report: &Report) -> &str {
    let failure = report.failure().expect("a failure");
    let Finding::Panic(panic) = &failure.finding else { panic!("{}", raddle::text(report)) };
    &panic.message
}

#[test]
fn static_locks_have_their_compiled_values() {
    static NUMBER: Mutex<u32> = Mutex::new(7);
    static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    static TABLE: RwLock<BTreeMap<u32, String>> = RwLock::new(BTreeMap::new());
    static TEXT: RwLock<(String, &str)> = RwLock::new((String::new(), "constant"));
    let report = Config::new().run(|| {
        let change = || {
            *NUMBER.lock().unwrap() += 1;
            NAMES.lock().unwrap().push("a name".to_owned());
            let size = TABLE.read().unwrap().len() as u32;
            TABLE.write().unwrap().insert(size, "something".to_owned());
        };
        assert_eq!(*NUMBER.lock().unwrap(), 7);
        assert!(NAMES.lock().unwrap().is_empty());
        assert!(TABLE.read().unwrap().is_empty());
        assert_eq!(TEXT.read().unwrap().1, "constant");
        let other = thread::spawn(change);
        change();
        other.join().unwrap();
        assert_eq!(*NUMBER.lock().unwrap(), 9);
        assert_eq!(NAMES.lock().unwrap().len(), 2);
    });
    clean(&report);
    assert!(
        matches!(report.verdict, Verdict::Exhausted | Verdict::Sampled) && report.executions > 10
    );
    // Outside the checks have no effect.
    assert_eq!(*NUMBER.lock().unwrap(), 7);
    assert!(NAMES.lock().unwrap().is_empty() && TABLE.read().unwrap().is_empty());
}

#[test]
fn static_cells_have_their_compiled_values() {
    struct Counter(UnsafeCell<u32>);
    // SAFETY: raddle runs one thread at a time, and only main uses the cell.
    unsafe impl Sync for Counter {}
    static COUNTER: Counter = Counter(UnsafeCell::new(1));
    static SHARED: Shared<u32> = Shared::new(2);
    let report = Config::new().runs(20).explore_trivial(true).strategy("random").run(|| {
        // SAFETY: raddle runs one thread at a time, and only main uses the cell.
        let old = COUNTER.0.with_mut(|number| unsafe { number.replace(5) });
        SHARED.set(SHARED.get() + 1);
        assert_eq!((old, SHARED.get()), (1, 3));
    });
    clean(&report);
    assert_eq!(report.executions, 20);
}

#[test]
fn statics_are_reset_after_a_failing_execution() {
    static LIST: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    for _ in 0..2 {
        let report = Config::new().name("leaves nothing").run(|| {
            let _other = thread::spawn(|| LIST.lock().unwrap().push(1));
            LIST.lock().unwrap().push(2);
            assert_eq!(LIST.lock().unwrap()[0], 2, "the other thread was first");
        });
        assert!(message(&report).contains("the other thread was first"));
        assert!(report.failure().unwrap().reproduced);
    }
}

#[test]
fn data_without_a_destructor_is_reset_to_its_value_outside() {
    static LIMIT: Mutex<u32> = Mutex::new(0);
    *LIMIT.lock().unwrap() = 10;
    clean(&Config::new().runs(10).explore_trivial(true).strategy("random").run(|| {
        let mut limit = LIMIT.lock().unwrap();
        assert_eq!(*limit, 10);
        *limit += 1;
    }));
    assert_eq!(*LIMIT.lock().unwrap(), 10);
}

#[test]
fn data_with_a_destructor_used_outside_is_not_reset() {
    static OUTSIDE: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    static LAZY: std::sync::LazyLock<Mutex<Vec<u32>>> =
        std::sync::LazyLock::new(|| Mutex::new(vec![1]));
    OUTSIDE.lock().unwrap().push(1);
    let report = Config::new().runs(20).explore_trivial(true).strategy("random").run(|| {
        for list in [&OUTSIDE, &*LAZY] {
            let mut list = list.lock().unwrap();
            // This would be a use after free if the first buffer were restored.
            list.extend([2; 100]);
            assert_eq!(list[0], 1);
        }
    });
    clean(&report);
    assert!(OUTSIDE.lock().unwrap().len() > 2000 && LAZY.lock().unwrap().len() > 2000);
}

type Program = Box<dyn Fn() + Send + Sync>;

#[test]
fn objects_shared_by_executions_are_refused() {
    let mutex = Arc::new(Mutex::new(0));
    let rwlock: &'static RwLock<u32> = Box::leak(Box::new(RwLock::new(0)));
    let shared = Arc::new(Shared::new(0));
    let programs: [(&str, Program); 3] = [
        ("Mutex", Box::new(move || *mutex.lock().unwrap() += 1)),
        ("RwLock", Box::new(move || *rwlock.write().unwrap() += 1)),
        ("Shared", Box::new(move || shared.set(shared.get() + 1))),
    ];
    for (kind, program) in programs {
        let report = Config::new().run(program);
        let message = message(&report);
        let expected = format!("raddle: the {kind} used at");
        assert!(message.starts_with(&expected) && message.contains("statics.rs:"), "{message}");
        assert!(message.contains("earlier execution"), "{message}");
        let text = raddle::text(&report);
        assert!(!text.contains("NOT reproduced"), "{text}");
    }
}

#[test]
fn objects_created_in_every_execution_are_accepted() {
    clean(&Config::new().run(|| {
        let numbers = Arc::new((Mutex::new(0), RwLock::new(0), Shared::new(0)));
        let other = thread::spawn({
            let numbers = numbers.clone();
            move || *numbers.0.lock().unwrap() += 1
        });
        *numbers.1.write().unwrap() += 1;
        numbers.2.set(1);
        other.join().unwrap();
    }));
}

/// Checks on 32 OS threads use the same statics, in different orders: each gets the result that it has alone.
#[test]
fn checks_that_run_at_the_same_time_share_statics() {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    static LOCK: Mutex<u32> = Mutex::new(0);
    fn program(is_first: bool) {
        let (mut a, mut b): (fn(), fn()) =
            (|| _ = COUNT.fetch_add(1, SeqCst), || *LOCK.lock().unwrap() += 1);
        if is_first {
            std::mem::swap(&mut a, &mut b);
        }
        let other = thread::spawn(a);
        b();
        a();
        other.join().unwrap();
        assert_eq!(COUNT.load(SeqCst) as u32 + *LOCK.lock().unwrap(), 3);
    }
    let expected = [false, true].map(|is_first| {
        let report = Config::new().strategy("dpor").run(move || program(is_first));
        clean(&report);
        (report.executions, report.classes)
    });
    let begin = std::sync::Barrier::new(32);
    std::thread::scope(|scope| {
        for number in 0..32 {
            let (begin, expected) = (&begin, &expected);
            scope.spawn(move || {
                begin.wait();
                for round in 0..10 {
                    let is_first = (number + round) % 2 == 0;
                    let strategy = if round % 3 == 0 { "random" } else { "dpor" };
                    let config = Config::new().strategy(strategy).runs(300);
                    let report = config.run(move || program(is_first));
                    clean(&report);
                    if strategy == "dpor" {
                        let counts = (report.executions, report.classes);
                        assert_eq!(counts, expected[usize::from(is_first)]);
                    }
                }
            });
        }
    });
}

/// Statics that threads touch first are recognised across executions.
#[test]
fn statics_need_one_execution_for_each_class() {
    static COUNTS: [AtomicU32; 6] = [const { AtomicU32::new(0) }; 6];
    static LOCKS: [Mutex<u32>; 3] = [const { Mutex::new(0) }; 3];
    let report = Config::new().strategy("dpor").run(|| {
        let count = || {
            for number in &COUNTS {
                number.fetch_add(1, SeqCst);
            }
            for lock in &LOCKS {
                *lock.lock().unwrap() += 1;
            }
        };
        let threads = [(); 2].map(|()| thread::spawn(count));
        for thread in threads {
            thread.join().unwrap();
        }
    });
    clean(&report);
    assert!(matches!(report.verdict, Verdict::Exhausted));
    assert_eq!((report.executions, report.classes), (512, 512), "{}", raddle::text(&report));
}

/// Sections that read a lock are independent of each other.
#[test]
fn readers_need_one_execution() {
    let searches = [(Memory::Sc, "dpor"), (Memory::Sc, "mcr"), (Memory::Rc11, "dfs")];
    for (memory, strategy) in searches {
        let config = Config::new().strategy(strategy).memory(memory);
        let report = config.run(|| {
            let lock = Arc::new(RwLock::new(7));
            let readers = [(); 5].map(|()| {
                let lock = lock.clone();
                thread::spawn(move || assert_eq!(*lock.read().unwrap(), 7))
            });
            for reader in readers {
                reader.join().unwrap();
            }
        });
        clean(&report);
        assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
        assert_eq!(report.classes, 1, "{strategy}");
        assert!(report.executions == 1 || strategy == "dfs");
    }
}
