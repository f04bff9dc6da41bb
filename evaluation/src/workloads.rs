//! The programs of the speed table, one source text for every engine.
//!
//! `workloads!(shuttle, Cell)` expands to the programs over `::shuttle::{sync, thread}` and a type of plain
//! cells, and to a `WORKLOADS` list of them. The programs share through `std::sync::Arc`, which no engine controls, so that all
//! engines see the same operations.
//!
//! The letters are those of the published baselines.

/// One program, instantiated for one engine.
pub(crate) struct Workload {
    /// The word that names it on the command line and in a row.
    pub(crate) name: &'static str,
    /// What it does, for people.
    #[allow(dead_code, reason = "only the side that prints a table reads it")]
    pub(crate) about: &'static str,
    /// Threads alive at once at most, the main thread included.
    #[allow(dead_code, reason = "only engines with a limit on threads read it")]
    pub(crate) threads: usize,
    /// One execution.
    pub(crate) body: fn(),
}

/// A plain cell, for engines that have none of their own. No engine looks for races on it.
#[allow(dead_code, reason = "only some engines have no cells")]
pub(crate) struct Unwatched(std::cell::UnsafeCell<u64>);

#[allow(dead_code, reason = "only some engines have no cells")]
impl Unwatched {
    pub(crate) fn new(number: u64) -> Unwatched {
        Unwatched(std::cell::UnsafeCell::new(number))
    }

    pub(crate) fn with_mut<R>(&self, change: impl FnOnce(*mut u64) -> R) -> R {
        change(self.0.get())
    }
}

/// Finds a program by its name.
pub(crate) fn find(lists: &[&'static [Workload]], name: &str) -> Result<&'static Workload, String> {
    let workloads = || lists.iter().copied().flatten();
    workloads().find(|workload| workload.name == name).ok_or_else(|| {
        let known: Vec<_> = workloads().map(|workload| workload.name).collect();
        format!("no workload `{name}`; there are {}", known.join(", "))
    })
}

/// Expands to the programs over one engine's `sync` and `thread`, and to their list `WORKLOADS`.
macro_rules! workloads {
    ($engine:ident, $plain:ty) => {
        use std::collections::VecDeque;
        use std::sync::Arc;

        use ::$engine::sync::atomic::{AtomicU64, Ordering};
        use ::$engine::sync::{Condvar, Mutex, mpsc};
        use ::$engine::thread;

        use crate::workloads::Workload;

        /// A plain number, shared without synchronisation of its own.
        type Plain = $plain;

        pub(crate) const WORKLOADS: &[Workload] = &[
            Workload { name: "a", about: "2 threads × 5 fetch_add", threads: 3, body: a },
            Workload { name: "b", about: "3 threads × 100 lock and unlock", threads: 4, body: b },
            Workload { name: "c", about: "8 threads × 1,000 fetch_add", threads: 9, body: c },
            Workload {
                name: "d",
                about: "bounded buffer of 4 with condition variables, 2 + 2 threads × 20 items",
                threads: 5,
                body: d,
            },
            Workload { name: "e", about: "4 senders × 50 messages", threads: 5, body: e },
            Workload { name: "f", about: "100 threads × 1 fetch_add", threads: 101, body: f },
            Workload { name: "g", about: "the empty program", threads: 1, body: g },
            Workload { name: "h", about: "b with a plain cell", threads: 4, body: h },
            Workload {
                name: "thousand",
                about: "1,000 threads × 1 fetch_add",
                threads: 1001,
                body: thousand,
            },
        ];

        fn a() {
            increments(2, 5);
        }

        fn b() {
            let counter = Arc::new(Mutex::new(0u64));
            let handles: Vec<_> = (0..3)
                .map(|_| {
                    let counter = counter.clone();
                    thread::spawn(move || {
                        for _ in 0..100 {
                            *counter.lock().unwrap() += 1;
                        }
                    })
                })
                .collect();
            for handle in handles {
                handle.join().unwrap();
            }
        }

        fn c() {
            increments(8, 1000);
        }

        fn d() {
            const CAPACITY: usize = 4;
            struct Buffer {
                items: Mutex<VecDeque<u64>>,
                not_empty: Condvar,
                not_full: Condvar,
            }
            let buffer = Arc::new(Buffer {
                items: Mutex::new(VecDeque::with_capacity(CAPACITY)),
                not_empty: Condvar::new(),
                not_full: Condvar::new(),
            });
            let mut handles = Vec::new();
            for producer in 0..2u64 {
                let buffer = buffer.clone();
                handles.push(thread::spawn(move || {
                    for item in 0..20 {
                        let mut items = buffer.items.lock().unwrap();
                        while items.len() == CAPACITY {
                            items = buffer.not_full.wait(items).unwrap();
                        }
                        items.push_back(producer * 20 + item);
                        drop(items);
                        buffer.not_empty.notify_one();
                    }
                }));
            }
            for _ in 0..2 {
                let buffer = buffer.clone();
                handles.push(thread::spawn(move || {
                    for _ in 0..20 {
                        let mut items = buffer.items.lock().unwrap();
                        while items.is_empty() {
                            items = buffer.not_empty.wait(items).unwrap();
                        }
                        items.pop_front();
                        drop(items);
                        buffer.not_full.notify_one();
                    }
                }));
            }
            for handle in handles {
                handle.join().unwrap();
            }
        }

        fn e() {
            let (sender, receiver) = mpsc::channel();
            let handles: Vec<_> = (0..4u64)
                .map(|number| {
                    let sender = sender.clone();
                    thread::spawn(move || {
                        for message in 0..50 {
                            sender.send(number * 50 + message).unwrap();
                        }
                    })
                })
                .collect();
            drop(sender);
            // Not until it hangs up: Loom's receivers do not hear of that.
            for _ in 0..200 {
                receiver.recv().unwrap();
            }
            for handle in handles {
                handle.join().unwrap();
            }
        }

        fn f() {
            increments(100, 1);
        }

        fn g() {}

        fn h() {
            // The engine sees the access; the number itself does not matter.
            let counter = Arc::new(Mutex::new(Plain::new(0)));
            let handles: Vec<_> = (0..3)
                .map(|_| {
                    let counter = counter.clone();
                    thread::spawn(move || {
                        for _ in 0..100 {
                            counter.lock().unwrap().with_mut(|number| _ = number);
                        }
                    })
                })
                .collect();
            for handle in handles {
                handle.join().unwrap();
            }
        }

        fn thousand() {
            increments(1000, 1);
        }

        fn increments(threads: usize, each: usize) {
            let counter = Arc::new(AtomicU64::new(0));
            let handles: Vec<_> = (0..threads)
                .map(|_| {
                    let counter = counter.clone();
                    thread::spawn(move || {
                        for _ in 0..each {
                            counter.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                })
                .collect();
            for handle in handles {
                handle.join().unwrap();
            }
        }
    };
}

pub(crate) use workloads;

/// Expands to a module of the programs with tasks over one engine's `future`, `sync` and `thread`, with their list
/// `TASKS`.
macro_rules! tasks {
    ($engine:ident) => {
        mod tasks {
            use std::collections::VecDeque;
            use std::future::poll_fn;
            use std::sync::Arc;
            use std::task::{Poll, Waker};

            use ::$engine::sync::Mutex;
            use ::$engine::{future, thread};

            use crate::workloads::Workload;

            pub(crate) const TASKS: &[Workload] = &[
                Workload { name: "i", about: "4 tasks × 50 yields", threads: 5, body: i },
                Workload {
                    name: "j",
                    about: "2 + 1 tasks × 20 items through a queue with a waker",
                    threads: 4,
                    body: j,
                },
                Workload {
                    name: "yields",
                    about: "4 threads × 50 yields",
                    threads: 5,
                    body: yields,
                },
                Workload {
                    name: "thousand-tasks",
                    about: "1,000 tasks × 1 yield",
                    threads: 1001,
                    body: thousand,
                },
            ];

            fn i() {
                tasks(4, 50);
            }

            fn j() {
                struct Queue {
                    items: VecDeque<u64>,
                    waiting: Option<Waker>,
                }
                let queue = Queue { items: VecDeque::with_capacity(40), waiting: None };
                let queue = Arc::new(Mutex::new(queue));
                let senders: Vec<_> = (0..2u64)
                    .map(|sender| {
                        let queue = queue.clone();
                        future::spawn(async move {
                            for item in 0..20 {
                                let mut queue = queue.lock().unwrap();
                                queue.items.push_back(sender * 20 + item);
                                let waiting = queue.waiting.take();
                                drop(queue);
                                if let Some(waiting) = waiting {
                                    waiting.wake();
                                }
                            }
                        })
                    })
                    .collect();
                let receiver = future::spawn(async move {
                    for _ in 0..40 {
                        poll_fn(|context| {
                            let mut queue = queue.lock().unwrap();
                            if let Some(item) = queue.items.pop_front() {
                                return Poll::Ready(item);
                            }
                            queue.waiting = Some(context.waker().clone());
                            Poll::Pending
                        })
                        .await;
                    }
                });
                future::block_on(async {
                    for sender in senders {
                        sender.await.unwrap();
                    }
                    receiver.await.unwrap();
                });
            }

            fn yields() {
                let handles: Vec<_> = (0..4)
                    .map(|_| {
                        thread::spawn(|| {
                            for _ in 0..50 {
                                thread::yield_now();
                            }
                        })
                    })
                    .collect();
                for handle in handles {
                    handle.join().unwrap();
                }
            }

            fn thousand() {
                tasks(1000, 1);
            }

            fn tasks(number: usize, yields: usize) {
                let tasks: Vec<_> = (0..number)
                    .map(|_| {
                        future::spawn(async move {
                            for _ in 0..yields {
                                future::yield_now().await;
                            }
                        })
                    })
                    .collect();
                future::block_on(async {
                    for task in tasks {
                        task.await.unwrap();
                    }
                });
            }
        }
    };
}

pub(crate) use tasks;
