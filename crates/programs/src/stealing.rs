//! A work-stealing pool: an owner pushes and pops tasks at the tail of a small queue. Thieves steal from its head, spinning
//! with a yield while there is nothing to steal.
//!
//! The queue is Cilk's: head and tail are plain counters, and only thieves acquire the lock, and an owner that competes with
//! a thief for the last task. A thief that finds nothing sleeps until it is woken, which is a spin loop here. The defects
//! are those of the programs that use the pool.

use raddle::cell::Shared;
use raddle::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::thread;

use super::join_all;

/// The defect of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Defect {
    None,
    /// The owner pushes into a slot that a thief has claimed and not read yet.
    Guard,
    /// A thief goes to sleep without a second test, so it misses its wakeup.
    Wake,
}

/// The bit mask of slot numbers.
const MASK: i32 = 1;

/// A pool whose tasks are numbers.
pub(super) struct Pool {
    defect: Defect,
    head: AtomicI32,
    tail: AtomicI32,
    slots: [Shared<u32>; MASK as usize + 1],
    lock: Mutex<()>,
    /// The number of tasks that have not run.
    left: AtomicU32,
    /// Whether the thief sleeps.
    is_asleep: AtomicBool,
}

impl Pool {
    /// Runs `tasks` tasks with an owner and one thief. Returns when both have ended.
    pub(super) fn run(
        tasks: u32,
        defect: Defect,
        task: impl Fn(Worker, u32) + Send + Sync + 'static,
    ) {
        let pool = Arc::new(Pool {
            defect,
            head: AtomicI32::new(0),
            tail: AtomicI32::new(0),
            slots: [const { Shared::new(0) }; MASK as usize + 1],
            lock: Mutex::new(()),
            left: AtomicU32::new(tasks),
            is_asleep: AtomicBool::new(false),
        });
        let task = Arc::new(task);
        let thief = {
            let (pool, task) = (pool.clone(), task.clone());
            thread::spawn(move || pool.run_thief(&*task))
        };
        let owner = thread::spawn(move || pool.run_owner(tasks, &*task));
        join_all(vec![thief, owner]);
    }

    fn run_owner(&self, tasks: u32, task: &impl Fn(Worker, u32)) {
        for number in 0..tasks {
            if self.push(number) {
                self.wake();
            } else {
                self.finish(Worker::Owner, number, task);
            }
        }
        while let Some(number) = self.pop() {
            self.finish(Worker::Owner, number, task);
        }
    }

    fn run_thief(&self, task: &impl Fn(Worker, u32)) {
        while self.left.load(SeqCst) != 0 {
            match self.steal() {
                Some(number) => self.finish(Worker::Thief, number, task),
                None => self.sleep(),
            }
        }
    }

    fn finish(&self, worker: Worker, number: u32, task: &impl Fn(Worker, u32)) {
        task(worker, number);
        // If a defect runs a task twice, the count passes zero, and the thief must still be woken.
        if self.left.fetch_sub(1, SeqCst) == 1 {
            self.wake();
        }
    }

    fn sleep(&self) {
        if self.defect == Defect::Wake {
            if self.left.load(SeqCst) != 0 {
                self.is_asleep.store(true, SeqCst);
            }
        } else {
            self.is_asleep.store(true, SeqCst);
            if self.left.load(SeqCst) == 0 || self.head.load(SeqCst) < self.tail.load(SeqCst) {
                self.is_asleep.store(false, SeqCst);
            }
        }
        while self.is_asleep.load(SeqCst) {
            thread::yield_now();
        }
    }

    fn wake(&self) {
        if self.is_asleep.load(SeqCst) {
            self.is_asleep.store(false, SeqCst);
        }
    }

    /// Returns false if the queue is full.
    fn push(&self, number: u32) -> bool {
        let room = match self.defect {
            Defect::Guard => MASK + 1,
            Defect::None | Defect::Wake => MASK,
        };
        let tail = self.tail.load(SeqCst);
        if tail >= self.head.load(SeqCst) + room {
            return false;
        }
        self.slot(tail).set(number);
        self.tail.store(tail + 1, SeqCst);
        true
    }

    fn pop(&self) -> Option<u32> {
        let tail = self.tail.load(SeqCst) - 1;
        self.tail.store(tail, SeqCst);
        if self.head.load(SeqCst) > tail {
            // A thief may have claimed this task, or given it up. The lock decides.
            self.tail.store(tail + 1, SeqCst);
            let _guard = self.lock.lock().unwrap();
            if self.head.load(SeqCst) > tail {
                return None;
            }
            self.tail.store(tail, SeqCst);
        }
        Some(self.slot(tail).get())
    }

    fn steal(&self) -> Option<u32> {
        let _guard = self.lock.lock().unwrap();
        let head = self.head.load(SeqCst);
        self.head.store(head + 1, SeqCst);
        if head + 1 > self.tail.load(SeqCst) {
            self.head.store(head, SeqCst);
            return None;
        }
        Some(self.slot(head).get())
    }

    fn slot(&self, at: i32) -> &Shared<u32> {
        &self.slots[(at & MASK) as usize]
    }
}

/// The thread that runs a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worker {
    Owner,
    Thief,
}
