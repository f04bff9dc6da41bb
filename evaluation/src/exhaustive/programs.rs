//! Small programs that can be explored to the end, one source text for every engine.
//!
//! `bodies!(loom)` expands to the programs over `::loom::{sync, thread}` and a list `BODIES` of them;
//! [`PROGRAMS`] is what is known about each. They share through the
//! engine's own `Arc`, as its documentation has it.
//! All accesses are SeqCst. A program with `checked` in its name ends with a check by main, after it
//! has joined the others.

/// What is known about a program.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) classes: Classes,
    pub(crate) role: Role,
    /// Threads alive at once at most, main included.
    #[allow(dead_code, reason = "only engines with a limit on threads read it")]
    pub(crate) threads: usize,
}

/// How many equivalence classes a program has, counted without the explorer that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Classes {
    /// Orders of the threads' operations, or sections, on one object: the number of each thread.
    Orders(&'static [u64]),
    /// Counted by hand.
    Few(u64),
    /// The different ones that plain depth-first search meets.
    Searched,
}

/// What a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Raddle has to be so much faster than Loom.
    Compared,
    /// Every engine is done at once.
    Instant,
    /// How long a million classes take.
    Million,
}

/// All programs.
pub(crate) const PROGRAMS: &[Program] = &[
    orders("add-2x1", "2 threads × 1 fetch_add", &[1, 1]),
    orders("add-2x2", "2 threads × 2 fetch_add", &[2, 2]),
    orders("add-2x3", "2 threads × 3 fetch_add", &[3, 3]),
    orders("add-2x5", "2 threads × 5 fetch_add", &[5, 5]),
    orders("add-3x1", "3 threads × 1 fetch_add", &[1, 1, 1]),
    orders("add-3x2", "3 threads × 2 fetch_add", &[2, 2, 2]),
    orders("add-4x2", "4 threads × 2 fetch_add", &[2, 2, 2, 2]),
    orders("add-2x3-checked", "2 threads × 3 fetch_add, main checks the sum", &[3, 3]),
    orders("add-2x5-checked", "2 threads × 5 fetch_add, main checks the sum", &[5, 5]),
    orders("add-3x2-checked", "3 threads × 2 fetch_add, main checks the sum", &[2, 2, 2]),
    orders("mutex-2x2", "2 threads × 2 lock and unlock", &[2, 2]),
    orders("mutex-3x2", "3 threads × 2 lock and unlock", &[2, 2, 2]),
    orders("mutex-2x2-checked", "2 threads × 2 lock and unlock, main checks the sum", &[2, 2]),
    orders("mutex-3x2-checked", "3 threads × 2 lock and unlock, main checks the sum", &[2, 2, 2]),
    Program {
        classes: Classes::Few(3),
        ..orders("sb-checked", "store buffering, main checks the flags", &[1, 1])
    },
    Program {
        classes: Classes::Few(2),
        ..orders("mp-checked", "message passing, main checks the message", &[1, 1])
    },
    Program {
        classes: Classes::Searched,
        ..orders("treiber-checked", "Treiber stack, 2 threads push and pop, main checks", &[1, 1])
    },
    Program {
        classes: Classes::Few(1),
        role: Role::Instant,
        ..orders("private-4x2", "4 threads × 2 fetch_add, each on its own atomic", &[1, 1, 1, 1])
    },
    orders("nested", "2 threads take two locks, one inside the other", &[1, 1]),
    Program {
        classes: Classes::Few(3),
        ..orders("ab-ba", "2 threads take two locks in either order; ends at the deadlock", &[1, 1])
    },
    Program {
        role: Role::Million,
        ..orders("million", "4 threads with 3, 3, 3 and 4 fetch_add", &[3, 3, 3, 4])
    },
];

const fn orders(name: &'static str, about: &'static str, of: &'static [u64]) -> Program {
    let classes = Classes::Orders(of);
    Program { name, about, classes, role: Role::Compared, threads: of.len() + 1 }
}

impl Classes {
    /// The number, unless it takes a search.
    pub(crate) fn known(self) -> Option<u64> {
        match self {
            Classes::Orders(of) => Some(multinomial(of)),
            Classes::Few(classes) => Some(classes),
            Classes::Searched => None,
        }
    }
}

/// Finds a program's body by its name.
pub(crate) fn find(bodies: &[(&'static str, fn())], name: &str) -> Result<fn(), String> {
    bodies.iter().find(|(known, _)| *known == name).map(|(_, body)| *body).ok_or_else(|| {
        let known: Vec<_> = bodies.iter().map(|(name, _)| *name).collect();
        format!("no program `{name}`; there are {}", known.join(", "))
    })
}

/// In how many orders sequences of these lengths can be merged.
fn multinomial(lengths: &[u64]) -> u64 {
    let mut orders = 1;
    let mut placed = 0;
    for &length in lengths {
        for index in 1..=length {
            placed += 1;
            // A product of consecutive numbers that begins above is divided by what came before.
            orders = orders * placed / index;
        }
    }
    orders
}

/// Expands to the programs over one engine's `sync` and `thread`, and to their list `BODIES`.
macro_rules! bodies {
    ($engine:ident) => {
        use ::$engine::sync::atomic::{AtomicU64, Ordering::SeqCst};
        use ::$engine::sync::{Arc, Mutex};
        use ::$engine::thread;

        pub(crate) const BODIES: &[(&str, fn())] = &[
            ("add-2x1", || drop(adds(&[1, 1]))),
            ("add-2x2", || drop(adds(&[2, 2]))),
            ("add-2x3", || drop(adds(&[3, 3]))),
            ("add-2x5", || drop(adds(&[5, 5]))),
            ("add-3x1", || drop(adds(&[1, 1, 1]))),
            ("add-3x2", || drop(adds(&[2, 2, 2]))),
            ("add-4x2", || drop(adds(&[2, 2, 2, 2]))),
            ("add-2x3-checked", || assert_eq!(adds(&[3, 3]).load(SeqCst), 6)),
            ("add-2x5-checked", || assert_eq!(adds(&[5, 5]).load(SeqCst), 10)),
            ("add-3x2-checked", || assert_eq!(adds(&[2, 2, 2]).load(SeqCst), 6)),
            ("mutex-2x2", || drop(sections(2, 2))),
            ("mutex-3x2", || drop(sections(3, 2))),
            ("mutex-2x2-checked", || assert_eq!(*sections(2, 2).lock().unwrap(), 4)),
            ("mutex-3x2-checked", || assert_eq!(*sections(3, 2).lock().unwrap(), 6)),
            ("sb-checked", store_buffering),
            ("mp-checked", message_passing),
            ("treiber-checked", treiber),
            ("private-4x2", private),
            ("nested", || two_locks(Arc::new(Default::default()), [0, 0])),
            // Loom's own would abort the process at the deadlock.
            ("ab-ba", || two_locks(std::sync::Arc::new(Default::default()), [0, 1])),
            ("million", || drop(adds(&[3, 3, 3, 4]))),
        ];

        /// Threads that add to one counter, so often each.
        fn adds(each: &[u64]) -> Arc<AtomicU64> {
            let counter = Arc::new(AtomicU64::new(0));
            let threads = each.iter().map(|&each| {
                let counter = counter.clone();
                thread::spawn(move || {
                    for _ in 0..each {
                        counter.fetch_add(1, SeqCst);
                    }
                })
            });
            join(threads.collect());
            counter
        }

        fn sections(threads: u64, each: u64) -> Arc<Mutex<u64>> {
            let counter = Arc::new(Mutex::new(0));
            let threads = (0..threads).map(|_| {
                let counter = counter.clone();
                thread::spawn(move || {
                    for _ in 0..each {
                        *counter.lock().unwrap() += 1;
                    }
                })
            });
            join(threads.collect());
            counter
        }

        fn store_buffering() {
            let flags = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
            let threads = [0, 1].map(|me| {
                let flags = flags.clone();
                thread::spawn(move || {
                    flags[me].store(1, SeqCst);
                    flags[1 - me].load(SeqCst);
                })
            });
            join(threads.into());
            // What the loads saw is not asserted: Loom takes SeqCst accesses for weaker ones.
            assert_eq!([0, 1].map(|flag| flags[flag].load(SeqCst)), [1, 1]);
        }

        fn message_passing() {
            let shared = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
            let writer = {
                let shared = shared.clone();
                thread::spawn(move || {
                    shared[0].store(42, SeqCst);
                    shared[1].store(1, SeqCst);
                })
            };
            let reader = thread::spawn(move || {
                (shared[1].load(SeqCst) == 1).then(|| shared[0].load(SeqCst))
            });
            writer.join().unwrap();
            assert!(reader.join().unwrap().is_none_or(|message| message == 42));
        }

        /// A node is named by its number and 1, so that 0 is the end of the list. Each is pushed once.
        fn treiber() {
            struct Stack {
                head: AtomicU64,
                next: [AtomicU64; 2],
            }
            let stack = Arc::new(Stack {
                head: AtomicU64::new(0),
                next: [AtomicU64::new(0), AtomicU64::new(0)],
            });
            let [left, right] = [0, 1].map(|me: u64| {
                let stack = stack.clone();
                thread::spawn(move || {
                    loop {
                        let head = stack.head.load(SeqCst);
                        stack.next[me as usize].store(head, SeqCst);
                        if stack.head.compare_exchange(head, me + 1, SeqCst, SeqCst).is_ok() {
                            break;
                        }
                    }
                    loop {
                        let head = stack.head.load(SeqCst);
                        let next = stack.next[head as usize - 1].load(SeqCst);
                        if stack.head.compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                            break head;
                        }
                    }
                })
            });
            assert_eq!(left.join().unwrap() + right.join().unwrap(), 1 + 2);
            assert_eq!(stack.head.load(SeqCst), 0);
        }

        fn private() {
            let threads = (0..4).map(|_| {
                let own = AtomicU64::new(0);
                thread::spawn(move || {
                    own.fetch_add(1, SeqCst);
                    own.fetch_add(1, SeqCst);
                })
            });
            join(threads.collect());
        }

        /// Two threads that take both locks; which one each takes first.
        fn two_locks<L>(locks: L, firsts: [usize; 2])
        where
            L: std::ops::Deref<Target = [Mutex<()>; 2]> + Clone + Send + 'static,
        {
            let threads = firsts.map(|first| {
                let locks = locks.clone();
                thread::spawn(move || {
                    let _first = locks[first].lock().unwrap();
                    let _second = locks[1 - first].lock().unwrap();
                })
            });
            join(threads.into());
        }

        fn join(threads: Vec<thread::JoinHandle<()>>) {
            for thread in threads {
                thread.join().unwrap();
            }
        }
    };
}

pub(crate) use bodies;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_counted() {
        for (lengths, orders) in [
            (&[1, 1][..], 2),
            (&[2, 2], 6),
            (&[3, 3], 20),
            (&[5, 5], 252),
            (&[1, 1, 1], 6),
            (&[2, 2, 2], 90),
            (&[2, 2, 2, 2], 2_520),
            (&[5, 5, 5], 756_756),
            (&[3, 3, 3, 4], 1_201_200),
        ] {
            assert_eq!(multinomial(lengths), orders, "{lengths:?}");
        }
    }
}
