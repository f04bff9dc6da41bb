//! Loops that wait: on flags, spinlocks, ticket locks.

use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use raddle::{Config, Memory, hint, thread};

fn flag() {
    let shared = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
    let other = shared.clone();
    let writer = thread::spawn(move || {
        other.1.store(1, Relaxed);
        other.0.store(true, Release);
    });
    while !shared.0.load(Acquire) {
        hint::spin_loop();
    }
    assert_eq!(shared.1.load(Relaxed), 1);
    writer.join().unwrap();
}

fn readers() {
    let flag = Arc::new(AtomicBool::new(false));
    let reader = || {
        let flag = flag.clone();
        thread::spawn(move || {
            while !flag.load(Acquire) {
                thread::yield_now();
            }
        })
    };
    let readers = [reader(), reader(), reader()];
    flag.store(true, Release);
    readers.map(|reader| reader.join().unwrap());
}

fn spinlock() {
    let shared = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
    let add = |shared: &(AtomicBool, AtomicU32)| {
        while shared.0.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            thread::yield_now();
        }
        let value = shared.1.load(Relaxed);
        shared.1.store(value + 1, Relaxed);
        shared.0.store(false, Release);
    };
    let others = [shared.clone(), shared.clone()];
    let others = others.map(|shared| thread::spawn(move || add(&shared)));
    add(&shared);
    others.map(|other| other.join().unwrap());
    assert_eq!(shared.1.load(Relaxed), 3);
}

fn ticket() {
    let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)));
    let add = |shared: &(AtomicU32, AtomicU32, AtomicU32)| {
        let mine = shared.0.fetch_add(1, SeqCst);
        while shared.1.load(SeqCst) != mine {
            hint::spin_loop();
        }
        let value = shared.2.load(SeqCst);
        shared.2.store(value + 1, SeqCst);
        shared.1.fetch_add(1, SeqCst);
    };
    let others = [shared.clone(), shared.clone()];
    let others = others.map(|shared| thread::spawn(move || add(&shared)));
    add(&shared);
    others.map(|other| other.join().unwrap());
    assert_eq!(shared.2.load(SeqCst), 3);
}

fn lost_flag() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let waiter = thread::spawn(move || {
        while !other.load(SeqCst) {
            thread::yield_now();
        }
    });
    flag.load(SeqCst);
    waiter.join().unwrap();
}

#[test]
fn try_them() {
    for (name, program) in [
        ("spinlock", spinlock as fn()),
        ("flag", flag as fn()),
        ("readers", readers),
        ("spinlock", spinlock),
        ("ticket", ticket),
        ("lost", lost_flag),
    ] {
        for memory in [Memory::Sc, Memory::Rc11] {
            for strategy in ["dpor", "dfs", "dpor-classic", "bpor:1"] {
                if memory == Memory::Rc11 && ["dpor-classic", "bpor:1", "mcr"].contains(&strategy) {
                    continue;
                }
                let config = Config::new()
                    .memory(memory)
                    .strategy(strategy)
                    .runs(20000)
                    .time(std::time::Duration::from_secs(2))
                    .max_steps(20000);
                let begin = std::time::Instant::now();
                let report = config.try_run(program);
                let time = begin.elapsed();
                match report {
                    Err(e) => println!("{name} {memory:?} {strategy}: refused {e}"),
                    Ok(report) => {
                        let text = raddle::text(&report);
                        println!(
                            "{name} {memory:?} {strategy}: {} {:?} {:?} {}",
                            report.executions,
                            report.incomplete,
                            time,
                            text.lines()
                                .take(if report.failure().is_some() { 12 } else { 2 })
                                .collect::<Vec<_>>()
                                .join(" | ")
                        );
                    }
                }
            }
        }
    }
}
