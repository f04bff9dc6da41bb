//! RUSTSEC-2021-0093: in crossbeam-deque 0.8.0 a task can be popped twice, when tasks are stolen while the queue grows.

use std::thread;

use crossbeam_deque::{Steal, Worker};

#[test]
fn a_batch_is_stolen_while_the_queue_grows() {
    let worker = Worker::new_lifo();
    // The queue has room for 64 tasks before it grows.
    for task in 0..64 {
        worker.push(task);
    }
    let stealer = worker.stealer();
    let thief = thread::spawn(move || {
        let mine = Worker::new_lifo();
        let mut tasks = Vec::new();
        if let Steal::Success(task) = stealer.steal_batch_and_pop(&mine) {
            tasks.push(task);
        }
        while let Some(task) = mine.pop() {
            tasks.push(task);
        }
        tasks
    });
    let mut tasks = Vec::new();
    worker.push(64);
    for _ in 0..63 {
        tasks.extend(worker.pop());
    }
    for task in 100..163 {
        worker.push(task);
    }
    tasks.extend(thief.join().unwrap());
    while let Some(task) = worker.pop() {
        tasks.push(task);
    }
    tasks.sort_unstable();
    let expected: Vec<i32> = (0..65).chain(100..163).collect();
    assert_eq!(tasks, expected);
}
