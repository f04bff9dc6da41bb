//! The threads that wait for a change of an atomic variable, as Linux keeps them: the oldest waiter is woken first.
//!
//! Whether a thread may wait depends on the value of the variable, which the memory model holds. The front end compares
//! it when the thread has its turn, and performs [`FutexOp::Look`] in place of [`FutexOp::Enqueue`] if it is another.

use alloc::vec::Vec;

use raddle_core::{Effect, FutexOp, ThreadId};

use super::ObjectState;

/// The waiters of a variable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Futex {
    /// The threads that are not woken, the oldest first.
    waiters: Vec<Waiter>,
    /// The threads that were woken and have not left, in the order of their ids.
    woken: Vec<ThreadId>,
}

/// A thread that waits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Waiter {
    thread: ThreadId,
    part: u8,
    mask: u32,
}

impl Futex {
    /// Wakes up to `count` of the waiters of a part that share a bit with `mask`. Returns their number.
    fn wake(&mut self, part: u8, count: u32, mask: u32) -> u64 {
        let mut number = 0;
        let woken = &mut self.woken;
        self.waiters.retain(|waiter| {
            let is_woken = number < count && waiter.part == part && waiter.mask & mask != 0;
            if is_woken {
                number += 1;
                let place = woken.partition_point(|&other| other < waiter.thread);
                woken.insert(place, waiter.thread);
            }
            !is_woken
        });
        u64::from(number)
    }

    /// Moves up to `count` of the waiters of a part to another. Returns their number.
    fn requeue(&mut self, from: u8, to: u8, count: u32) -> u64 {
        let is_moved = |waiter: &Waiter| waiter.part == from;
        let mut moved = Vec::new();
        self.waiters.retain(|waiter| {
            let moves = moved.len() < count as usize && is_moved(waiter);
            if moves {
                moved.push(Waiter { part: to, ..*waiter });
            }
            !moves
        });
        let number = moved.len() as u64;
        // They are behind those that wait there already.
        self.waiters.extend(moved);
        number
    }

    /// Removes a thread. Returns whether it was woken.
    fn consume(&mut self, by: ThreadId) -> Effect {
        self.waiters.retain(|waiter| waiter.thread != by);
        let place = self.woken.iter().position(|&thread| thread == by);
        if let Some(place) = place {
            self.woken.remove(place);
        }
        Effect::of(place.is_some())
    }
}

impl ObjectState for Futex {
    type Op = FutexOp;

    fn enabled(&self, op: FutexOp, by: ThreadId) -> bool {
        match op {
            FutexOp::Consume { timed: false } => self.woken.contains(&by),
            FutexOp::Consume { timed: true }
            | FutexOp::Enqueue { .. }
            | FutexOp::Look
            | FutexOp::Wake { .. }
            | FutexOp::Requeue { .. } => true,
        }
    }

    fn apply(&mut self, op: FutexOp, by: ThreadId) -> Effect {
        let affected = |number: u64| if number > 0 { Effect::Value(number) } else { Effect::No };
        match op {
            FutexOp::Enqueue { part, mask } => {
                self.waiters.push(Waiter { thread: by, part, mask });
                Effect::None
            }
            FutexOp::Look => Effect::None,
            FutexOp::Consume { .. } => self.consume(by),
            FutexOp::Wake { part, count, mask } => affected(self.wake(part, count, mask)),
            FutexOp::Requeue { from, to, wakes, moves } => {
                let woken = self.wake(from, wakes, u32::MAX);
                affected(woken + self.requeue(from, to, moves))
            }
        }
    }
}
