//! Programs without a bug whose numbers of execution graphs under RC11 are known, most of them from the tests of GenMC.
//!
//! A search runs each graph once, so that its cost is the number of graphs times the cost of a run.

use raddle::sync::atomic::{
    AtomicU32,
    Ordering::{self, Acquire, Relaxed, Release, SeqCst},
};
use raddle::sync::mpsc::channel;
use raddle::sync::{Arc, Mutex, RwLock};
use raddle::thread::{self, JoinHandle};

/// A program of any size.
pub struct Family {
    /// The name in tables.
    pub name: &'static str,
    /// A description of the program of size n.
    pub about: &'static str,
    /// Sizes that are searched within moments, and their numbers of graphs.
    pub small: &'static [(u32, u64)],
    /// A size that takes longer, and its number of graphs.
    pub large: (u32, u64),
    /// Runs the program of a size once.
    pub body: fn(u32),
}

/// All families.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "ainc",
        about: "n threads add to one variable: n! graphs",
        small: &[(2, 2), (3, 6), (4, 24), (5, 120)],
        large: (7, 5_040),
        body: |size| threads(size, &[0], |_, variables| add(&variables[0])),
    },
    Family {
        name: "casrot",
        about: "n threads; thread i exchanges i for i + 1",
        small: &[(2, 2), (3, 5), (4, 14), (5, 43), (6, 144)],
        large: (9, 8_597),
        body: |size| {
            threads(size, &[0], |thread, variables| {
                _ = variables[0].compare_exchange(thread, thread + 1, Relaxed, Relaxed);
            });
        },
    },
    Family {
        name: "lastzero",
        about: "n threads copy a neighbour, plus one; one looks for the last zero (release, acquire)",
        small: &[(3, 12), (4, 28), (5, 64), (6, 144)],
        large: (10, 3_328),
        body: last_zero,
    },
    Family {
        name: "readers",
        about: "one store and n loads: 2^n graphs",
        small: &[(2, 4), (4, 16), (7, 128)],
        large: (13, 8_192),
        body: |size| {
            threads(size + 1, &[0], |thread, variables| match thread {
                0 => variables[0].store(1, Relaxed),
                _ => _ = variables[0].load(Relaxed),
            });
        },
    },
    Family {
        name: "sb",
        about: "n threads, each stores to its variable and loads the next: 2^n graphs",
        small: &[(2, 4), (3, 8), (6, 64)],
        large: (12, 4_096),
        body: |size| store_buffering(size, Relaxed, Relaxed),
    },
    Family {
        name: "sb-sc",
        about: "the same with sequentially consistent accesses: 2^n − 1 graphs",
        small: &[(2, 3), (3, 7), (6, 63)],
        large: (10, 1_023),
        body: |size| store_buffering(size, SeqCst, SeqCst),
    },
    Family {
        name: "iriw",
        about: "two stores, and n threads that load both variables (release, acquire): 4^n graphs",
        small: &[(1, 4), (2, 16), (3, 64)],
        large: (6, 4_096),
        body: |size| {
            threads(size + 2, &[0; 2], |thread, variables| match thread {
                0 | 1 => variables[thread as usize].store(1, Release),
                _ => {
                    let first = thread as usize % 2;
                    variables[first].load(Acquire);
                    variables[1 - first].load(Acquire);
                }
            });
        },
    },
    Family {
        name: "corr",
        about: "n stores, and two threads with n loads each: C(2n, n)² graphs",
        small: &[(1, 4), (2, 36), (3, 400)],
        large: (4, 4_900),
        body: |size| {
            threads(3, &[0, size], |thread, variables| {
                let size = variables[1].load(Relaxed);
                for step in 1..=size {
                    match thread {
                        0 => variables[0].store(step, Relaxed),
                        _ => _ = variables[0].load(Relaxed),
                    }
                }
            });
        },
    },
    Family {
        name: "private",
        about: "n threads, each adds to a variable of its own: one graph",
        small: &[(2, 1), (5, 1)],
        large: (8, 1),
        body: |size| {
            threads(size, &vec![0; size as usize], |thread, variables| {
                add(&variables[thread as usize]);
            });
        },
    },
    Family {
        name: "indexer",
        about: "n threads enter four numbers each into a hash table of 128 (Flanagan and Godefroid, POPL 2005)",
        small: &[(11, 1), (12, 8), (13, 64)],
        large: (15, 4_096),
        body: |size| threads(size, &[0; 128], index),
    },
    Family {
        name: "fib",
        about: "two threads, each adds the variable of the other to its own, n times; main loads both",
        small: &[(1, 11), (2, 153)],
        large: (5, 525_630),
        body: fibonacci,
    },
    Family {
        name: "mutex",
        about: "n threads lock a mutex and add to what it protects: n! graphs",
        small: &[(2, 2), (3, 6), (4, 24), (5, 120)],
        large: (7, 5_040),
        body: |size| {
            let total = Arc::new(Mutex::new(0));
            join((0..size).map(|_| {
                let total = total.clone();
                thread::spawn(move || *total.lock().expect("no thread panics") += 1)
            }));
        },
    },
    Family {
        name: "mutex-atomic",
        about: "n threads load and store a relaxed variable inside a mutex: n! graphs",
        small: &[(2, 2), (3, 6), (4, 24)],
        large: (6, 720),
        body: |size| {
            let total = Arc::new((Mutex::new(()), AtomicU32::new(0)));
            join((0..size).map(|_| {
                let total = total.clone();
                thread::spawn(move || {
                    let _guard = total.0.lock().expect("no thread panics");
                    total.1.store(total.1.load(Relaxed) + 1, Relaxed);
                })
            }));
        },
    },
    Family {
        name: "rwlock",
        about: "n readers and a writer of a reader-writer lock: 2^n graphs",
        small: &[(1, 2), (3, 8), (6, 64)],
        large: (11, 2_048),
        body: |size| {
            let lock = Arc::new(RwLock::new(0));
            join((0..=size).map(|thread| {
                let lock = lock.clone();
                thread::spawn(move || match thread {
                    0 => *lock.write().expect("no thread panics") += 1,
                    _ => assert!(*lock.read().expect("no thread panics") <= 1),
                })
            }));
        },
    },
    Family {
        name: "channel",
        about: "n threads send to one receiver, which receives after the sends: n! graphs",
        small: &[(2, 2), (3, 6), (4, 24)],
        large: (6, 720),
        body: |size| {
            let (sender, receiver) = channel();
            join((0..size).map(|thread| {
                let sender = sender.clone();
                thread::spawn(move || {
                    sender.send(thread).expect("the receiver lives");
                    // Dropped at the end of the run: its order among the others would count.
                    std::mem::forget(sender);
                })
            }));
            for _ in 0..size {
                receiver.recv().expect("a message was sent");
            }
        },
    },
];

/// Runs `count` threads that share variables with these initial values.
fn threads(count: u32, initial: &[u32], body: fn(u32, &[AtomicU32])) {
    let variables: Arc<Vec<AtomicU32>> =
        Arc::new(initial.iter().map(|&value| AtomicU32::new(value)).collect());
    join((0..count).map(|thread| {
        let variables = variables.clone();
        thread::spawn(move || body(thread, &variables))
    }));
}

/// Waits for all threads, which are spawned first.
fn join(threads: impl Iterator<Item = JoinHandle<()>>) {
    for thread in threads.collect::<Vec<_>>() {
        thread.join().expect("a panic ends the execution");
    }
}

fn add(variable: &AtomicU32) {
    variable.fetch_add(1, Relaxed);
}

fn store_buffering(size: u32, store: Ordering, load: Ordering) {
    let variables: Arc<Vec<AtomicU32>> = Arc::new((0..size).map(|_| AtomicU32::new(0)).collect());
    join((0..size).map(|thread| {
        let variables = variables.clone();
        thread::spawn(move || {
            variables[thread as usize].store(1, store);
            variables[(thread as usize + 1) % variables.len()].load(load);
        })
    }));
}

fn last_zero(size: u32) {
    threads(size + 1, &vec![0; size as usize + 1], |thread, variables| match thread {
        0 => {
            let mut last = variables.len() - 1;
            while variables[last].load(Acquire) != 0 {
                last -= 1;
            }
        }
        _ => {
            let neighbour = variables[thread as usize - 1].load(Acquire);
            variables[thread as usize].store(neighbour + 1, Release);
        }
    });
}

fn fibonacci(size: u32) {
    let variables = Arc::new([AtomicU32::new(1), AtomicU32::new(1)]);
    let handles: Vec<_> = (0..2)
        .map(|thread| {
            let variables = variables.clone();
            thread::spawn(move || {
                for _ in 0..size {
                    let (mine, other) = (&variables[thread], &variables[1 - thread]);
                    mine.store(mine.load(Acquire) + other.load(Acquire), Release);
                }
            })
        })
        .collect();
    for variable in &*variables {
        variable.load(Acquire);
    }
    join(handles.into_iter());
}

fn index(thread: u32, table: &[AtomicU32]) {
    for message in 1..=4 {
        let word = message * 11 + thread;
        let mut place = (word * 7) as usize % table.len();
        while table[place].compare_exchange(0, word, Relaxed, Relaxed).is_err() {
            place = (place + 1) % table.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use raddle::{Config, Memory, Report};

    use super::*;

    fn search(family: &Family, size: u32, strategy: &str) -> Report {
        let config = Config::new().name(family.name).memory(Memory::Rc11).strategy(strategy);
        let body = family.body;
        config.runs(u64::MAX).unlimited_time().run(move || body(size))
    }

    #[test]
    fn every_graph_is_run_once() {
        let mut wrong = Vec::new();
        for family in FAMILIES {
            for &(size, graphs) in family.small {
                let report = search(family, size, "dpor");
                let lost = report.search.map_or(0, |search| search.blocked);
                if (report.classes, report.executions) != (graphs, graphs) {
                    wrong.push(format!(
                        "{} {size}: {} graphs instead of {graphs}, {} executions, {lost} lost",
                        family.name, report.classes, report.executions
                    ));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
