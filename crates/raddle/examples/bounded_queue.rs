//! A bounded queue with a lock and one condition variable. Bug: `notify_one` of a producer can wake another producer, which
//! waits again, and no consumer is woken.
//!
//! ```sh
//! cargo run -p raddle --example bounded_queue
//! ```

mod support;

use std::collections::VecDeque;

use raddle::sync::{Condvar, Mutex};
use raddle::thread;

/// The threads that a change of the queue wakes.
#[derive(Copy, Clone)]
enum Wake {
    One,
    All,
}

struct Queue {
    items: Mutex<VecDeque<u32>>,
    changed: Condvar,
    capacity: usize,
    wake: Wake,
}

impl Queue {
    fn new(capacity: usize, wake: Wake) -> Queue {
        Queue { items: Mutex::new(VecDeque::new()), changed: Condvar::new(), capacity, wake }
    }

    fn push(&self, item: u32) {
        let mut items = self.items.lock().unwrap();
        while items.len() == self.capacity {
            items = self.changed.wait(items).unwrap();
        }
        items.push_back(item);
        self.notify();
    }

    fn pop(&self) -> u32 {
        let mut items = self.items.lock().unwrap();
        loop {
            if let Some(item) = items.pop_front() {
                self.notify();
                return item;
            }
            items = self.changed.wait(items).unwrap();
        }
    }

    fn notify(&self) {
        match self.wake {
            Wake::One => self.changed.notify_one(),
            Wake::All => self.changed.notify_all(),
        }
    }
}

/// Two producers and two consumers share a queue with a capacity of one.
fn exchange(wake: Wake) {
    let queue = Queue::new(1, wake);
    let total = thread::scope(|scope| {
        let consumers = [scope.spawn(|| queue.pop()), scope.spawn(|| queue.pop())];
        scope.spawn(|| queue.push(1));
        queue.push(2);
        consumers.map(|consumer| consumer.join().unwrap()).iter().sum::<u32>()
    });
    assert_eq!(total, 3);
}

fn bugged() {
    exchange(Wake::One);
}

fn fixed() {
    exchange(Wake::All);
}

fn main() {
    support::show("bounded queue", bugged, fixed);
}

#[test]
fn the_bug_is_found_and_fixed() {
    support::assert_deadlock(bugged);
    support::assert_clean(fixed);
}
