//! A work-stealing pool: an owner pushes tasks into a small queue and works from its end; thieves steal
//! from its front, spinning, with a yield, while there is nothing to steal.
//!
//! The queue is Cilk's: head and tail are plain counters, and only thieves, and an owner that meets
//! one at the last task, take the lock. A thief that finds nothing lies down until it is woken; it
//! spins while it lies. The defects are those of the programs that use the pool.

use raddle::cell::Shared;
use raddle::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::thread;

use super::join_all;

/// What is wrong with a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Defect {
    None,
    /// The owner pushes into a slot that a thief has claimed and not read yet.
    Guard,
    /// A thief lies down without a second look: whoever would have woken it has gone by.
    Wake,
}

/// One bit less than the slots of the queue.
const MASK: i32 = 1;

/// A pool that runs tasks by number.
pub(super) struct Pool {
    defect: Defect,
    head: AtomicI32,
    tail: AtomicI32,
    slots: [Shared<u32>; MASK as usize + 1],
    lock: Mutex<()>,
    /// Tasks that have not been run yet.
    left: AtomicU32,
    /// Whether the thief lies down.
    lying: AtomicBool,
}

impl Pool {
    /// Runs the tasks below `tasks` by an owner and one thief; returns when both have gone.
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
            lying: AtomicBool::new(false),
        });
        let task = Arc::new(task);
        let thief = {
            let (pool, task) = (pool.clone(), task.clone());
            thread::spawn(move || pool.thieve(&*task))
        };
        let owner = thread::spawn(move || pool.own(tasks, &*task));
        join_all(vec![thief, owner]);
    }

    fn own(&self, tasks: u32, task: &impl Fn(Worker, u32)) {
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

    fn thieve(&self, task: &impl Fn(Worker, u32)) {
        while self.left.load(SeqCst) != 0 {
            match self.steal() {
                Some(number) => self.finish(Worker::Thief, number, task),
                None => self.lie(),
            }
        }
    }

    fn finish(&self, worker: Worker, number: u32, task: &impl Fn(Worker, u32)) {
        task(worker, number);
        // In a pool that runs a task twice the count passes zero: the thief must still be told.
        if self.left.fetch_sub(1, SeqCst) == 1 {
            self.wake();
        }
    }

    fn lie(&self) {
        if self.defect == Defect::Wake {
            if self.left.load(SeqCst) != 0 {
                self.lying.store(true, SeqCst);
            }
        } else {
            self.lying.store(true, SeqCst);
            if self.left.load(SeqCst) == 0 || self.head.load(SeqCst) < self.tail.load(SeqCst) {
                self.lying.store(false, SeqCst);
            }
        }
        while self.lying.load(SeqCst) {
            thread::yield_now();
        }
    }

    fn wake(&self) {
        if self.lying.load(SeqCst) {
            self.lying.store(false, SeqCst);
        }
    }

    /// False if there is no room.
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
            // A thief may be at this task, or only have looked: the lock tells.
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

/// Who runs a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worker {
    Owner,
    Thief,
}
