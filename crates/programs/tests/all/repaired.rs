//! Repairs: of programs whose bug is a memory ordering, and of small ones, whose sources are then changed as the repair
//! says and searched by another strategy.

use raddle::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use raddle::sync::atomic::{AtomicBool, AtomicU32, fence};
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::{Change, Config, Explain, Failure, Memory, Order, Unknown, Verdict, thread};
use raddle_programs::Form;
use raddle_programs::weak::{Instance, PROGRAMS, Program};

/// Finds the bug of a program and explains it.
fn explained(program: &'static Program, explain: Explain) -> Option<Failure> {
    let instance = Instance { form: Form::Bugged, tries: program.tries.least, extra_stores: 0 };
    let config = Config::new().name(program.name).strategy("dfs").runs(200_000).max_steps(20_000);
    let config = config.memory(Memory::Rc11).unlimited_time().explain(explain);
    let report = config.run(program.closure(instance));
    report.failure().filter(|found| program.failure.is(&found.finding)).cloned()
}

fn repaired(failure: &Failure) -> String {
    let Some(known) = &failure.explanation else { return format!("{:?}", failure.unexplained) };
    let mut text = format!("{} executions, {:?}", known.executions, known.no_repairs);
    for repair in &known.repairs {
        let Change::Orders(orders) = &repair.change else { continue };
        text += &format!("\n    {} executions:", repair.executions);
        for one in orders {
            let fence = if one.is_fence { "fence before " } else { "" };
            text += &format!(" {fence}{} {:?} → {:?};", one.site, one.op.action(), one.order);
        }
    }
    text
}

/// Prints all programs.
#[test]
#[ignore = "takes minutes, and prints a table"]
fn every_weak_program() {
    let mut count = 0;
    for program in PROGRAMS {
        let start = std::time::Instant::now();
        let Some(failure) = explained(program, Explain::Full) else {
            println!("{:<20} not found", program.name);
            continue;
        };
        count +=
            u32::from(failure.explanation.as_ref().is_some_and(|known| !known.repairs.is_empty()));
        println!("{:<20} {:?} {}", program.name, start.elapsed(), repaired(&failure));
    }
    println!("{count} of {} repaired", PROGRAMS.len());
}

/// The bugs of most of these programs are repaired within the executions that `quick` allows, by the ordering that the fixed
/// form has, or by another one that is enough.
#[test]
fn weak_programs_are_repaired() {
    let small = ["publication", "publication-atomic", "arc-drop", "dekker-accesses", "treiber"];
    for program in PROGRAMS.iter().filter(|program| small.contains(&program.name)) {
        let failure = explained(program, Explain::Quick).expect("the bug is found");
        let known = failure.explanation.as_ref().expect("it is explained");
        assert!(!known.repairs.is_empty(), "{}: {:?}", program.name, known.no_repairs);
    }
}

/// Passes a value through a flag, with the orderings of the store and the load, and fences before them.
fn passes_message(
    store: Ordering,
    load: Ordering,
    fences: [Option<Ordering>; 2],
) -> impl Fn() + Send + Sync {
    move || {
        let shared = Arc::new((AtomicU32::new(0), AtomicBool::new(false)));
        let other = shared.clone();
        let writer = thread::spawn(move || {
            other.0.store(1, Relaxed);
            fences[0].into_iter().for_each(fence);
            other.1.store(true, store);
        });
        if shared.1.load(load) {
            fences[1].into_iter().for_each(fence);
            assert_eq!(shared.0.load(Relaxed), 1, "the value is missing");
        }
        writer.join().unwrap();
    }
}

fn weak(strategy: &str) -> Config {
    Config::new().name("weak").strategy(strategy).memory(Memory::Rc11).unlimited_time()
}

#[test]
fn orderings_are_as_weak_as_possible() {
    let strong = [(Relaxed, Acquire), (Release, Relaxed)];
    for (store, load) in strong.into_iter().chain([(Relaxed, Relaxed)]) {
        let report = weak("dfs").run(passes_message(store, load, [None; 2]));
        let failure = report.failure().expect("the message gets lost");
        let repairs = &failure.explanation.as_ref().expect("it is explained").repairs;
        assert!(!repairs.is_empty());
        for repair in repairs {
            let Change::Orders(orders) = &repair.change else { panic!("{repair:?}") };
            let (mut repaired, mut weaker) = ((store, load), 0);
            for change in orders {
                assert!(!change.is_fence, "two orderings are no more than two fences");
                match change.order {
                    Order::Release => repaired.0 = Release,
                    Order::Acquire => repaired.1 = Acquire,
                    other => panic!("{other:?} is more than is needed"),
                }
                weaker += 1;
            }
            assert_eq!(weaker, if (store, load) == (Relaxed, Relaxed) { 2 } else { 1 });
            let fixed = weak("dfs").run(passes_message(repaired.0, repaired.1, [None; 2]));
            assert!(matches!(fixed.verdict, Verdict::Exhausted), "{repair:?}");
        }
    }
    let fences = [Some(Release), Some(Acquire)];
    let fenced = weak("dfs").run(passes_message(Relaxed, Relaxed, fences));
    assert!(matches!(fenced.verdict, Verdict::Exhausted));
}

/// Without memory orderings to blame, the report says so.
#[test]
fn what_orderings_cannot_repair() {
    let report = weak("dfs").run(|| {
        let value = Arc::new(AtomicU32::new(0));
        let other = value.clone();
        let writer = thread::spawn(move || other.store(1, Relaxed));
        assert_eq!(value.load(Relaxed), 0, "the other thread was faster");
        writer.join().unwrap();
    });
    let known = report.failure().and_then(|found| found.explanation.as_ref()).expect("explained");
    assert_eq!(known.no_repairs, Some(Unknown::SeqCstToo));
}

/// Whether a program has the lock that it needs.
#[derive(Copy, Clone, PartialEq)]
enum Lock {
    Missing,
    Held,
}

fn update(lock: Lock) -> impl Fn() + Send + Sync {
    move || {
        let shared = Arc::new((AtomicU32::new(0), Mutex::new(())));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let _guard = (lock == Lock::Held).then(|| shared.1.lock().unwrap());
                    let seen = shared.0.load(SeqCst);
                    shared.0.store(seen + 1, SeqCst);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(shared.0.load(SeqCst), 2, "an update is lost");
    }
}

fn withdraw(lock: Lock) -> impl Fn() + Send + Sync {
    move || {
        let shared = Arc::new((AtomicU32::new(100), Mutex::new(())));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let _guard = (lock == Lock::Held).then(|| shared.1.lock().unwrap());
                    if shared.0.load(SeqCst) >= 80 {
                        shared.0.fetch_sub(80, SeqCst);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(shared.0.load(SeqCst) <= 100, "overdrawn");
    }
}

/// The lock is the one of the condition variable.
fn wake_up(lock: Lock) -> impl Fn() + Send + Sync {
    move || {
        let shared = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
        let other = shared.clone();
        let waker = thread::spawn(move || {
            let _guard = (lock == Lock::Held).then(|| other.1.lock().unwrap());
            other.0.store(true, SeqCst);
            other.2.notify_one();
        });
        let guard = shared.1.lock().unwrap();
        if !shared.0.load(SeqCst) {
            drop(shared.2.wait(guard).unwrap());
        }
        waker.join().unwrap();
    }
}

/// Two threads take two locks in opposite orders.
fn transfer(lock: Lock) -> impl Fn() + Send + Sync {
    move || {
        let shared = Arc::new((Mutex::new(1), Mutex::new(2), Mutex::new(())));
        let other = shared.clone();
        let backwards = thread::spawn(move || {
            let _guard = (lock == Lock::Held).then(|| other.2.lock().unwrap());
            let second = other.1.lock().unwrap();
            *other.0.lock().unwrap() += *second;
        });
        {
            let _guard = (lock == Lock::Held).then(|| shared.2.lock().unwrap());
            let first = shared.0.lock().unwrap();
            *shared.1.lock().unwrap() += *first;
        }
        backwards.join().unwrap();
    }
}

/// A lock around what a report says repairs the program, as a search of the changed source shows.
#[test]
fn one_lock_repairs_the_source() {
    fn check<F: Fn() + Send + Sync + 'static>(
        name: &str,
        program: impl Fn(Lock) -> F,
        regions: usize,
    ) {
        let config = || Config::new().name(name.to_owned()).strategy("dfs").unlimited_time();
        let report = config().run(program(Lock::Missing));
        let failure = report.failure().expect("it fails without the lock");
        let known = failure.explanation.as_ref().expect("it is explained");
        let [repair] = &known.repairs[..] else { panic!("{name}: {:?}", known.repairs) };
        let Change::Excluded(found) = &repair.change else { panic!("{name}: {repair:?}") };
        assert_eq!(found.len(), regions, "{name}: {found:?}");
        let fixed = config().run(program(Lock::Held));
        assert!(matches!(fixed.verdict, Verdict::Exhausted), "{name}: {}", raddle::text(&fixed));
    }
    check("update", update, 1);
    check("withdraw", withdraw, 1);
    check("wake-up", wake_up, 2);

    let report = Config::new().name("transfer").strategy("dfs").run(transfer(Lock::Missing));
    let known = report.failure().unwrap().explanation.as_ref().unwrap();
    let [repair] = &known.repairs[..] else { panic!("{:?}", known.repairs) };
    assert!(matches!(&repair.change, Change::LockOrder { moved, .. } if moved.len() == 1));
    let fixed = Config::new().name("transfer").strategy("dfs").run(transfer(Lock::Held));
    assert!(matches!(fixed.verdict, Verdict::Exhausted), "{fixed}");
}
