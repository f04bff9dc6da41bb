//! A condition variable: which threads wait, and which notifications are on their way.
//!
//! `notify_one` makes a token that any thread waiting at that moment may take; *which* one does is
//! an ordinary choice of threads. A token that no thread is left to take disappears.

use alloc::vec::Vec;

use raddle_core::{CondvarOp, Effect, ThreadId};

use super::Shape;

/// The state of a condition variable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Condvar {
    /// Counts enqueues and notifications, to tell which came first.
    clock: u32,
    /// The waiting threads, and since when each of them waits.
    waiters: Vec<(ThreadId, u32)>,
    /// When each outstanding notification was made, ascending. It is for threads that waited then.
    ///
    /// Invariant: no more tokens than waiters, and each has a waiter older than itself.
    tokens: Vec<u32>,
}

impl Condvar {
    /// Makes the condition variable as new, keeping its memory.
    pub(crate) fn clear(&mut self) {
        self.clock = 0;
        self.waiters.clear();
        self.tokens.clear();
    }

    fn notify(&mut self, count: usize) -> Effect {
        let useful = self.waiters.len() - self.tokens.len();
        if useful == 0 {
            return Effect::No;
        }
        let now = self.tick();
        if count >= self.waiters.len() {
            self.tokens.clear();
        }
        let tokens = (self.tokens.len() + count).min(self.waiters.len());
        self.tokens.resize(tokens, now);
        Effect::Yes
    }

    /// Takes a thread from among the waiters, with a notification if there is one for it.
    fn consume(&mut self, by: ThreadId) -> Effect {
        let token = self.token_for(by);
        self.waiters.retain(|waiter| waiter.0 != by);
        if let Some(token) = token {
            self.tokens.remove(token);
        }
        let oldest = self.waiters.first().map_or(u32::MAX, |waiter| waiter.1);
        self.tokens.retain(|&made| made > oldest);
        Effect::of(token.is_some())
    }

    /// Returns the position of the oldest token that `by` may take.
    fn token_for(&self, by: ThreadId) -> Option<usize> {
        if self.tokens.is_empty() {
            return None;
        }
        let since = self.waiters.iter().find(|waiter| waiter.0 == by)?.1;
        self.tokens.iter().position(|&made| made > since)
    }

    fn tick(&mut self) -> u32 {
        self.clock += 1;
        self.clock
    }
}

impl Shape for Condvar {
    type Op = CondvarOp;

    fn enabled(&self, op: CondvarOp, by: ThreadId) -> bool {
        match op {
            CondvarOp::Consume { timed: false } => self.token_for(by).is_some(),
            CondvarOp::Consume { timed: true }
            | CondvarOp::Enqueue
            | CondvarOp::NotifyOne
            | CondvarOp::NotifyAll => true,
        }
    }

    fn apply(&mut self, op: CondvarOp, by: ThreadId) -> Effect {
        match op {
            CondvarOp::Enqueue => {
                let now = self.tick();
                self.waiters.push((by, now));
                Effect::None
            }
            CondvarOp::NotifyOne => self.notify(1),
            CondvarOp::NotifyAll => self.notify(usize::MAX),
            CondvarOp::Consume { .. } => self.consume(by),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    const THREADS: [ThreadId; 3] = [ThreadId(0), ThreadId(1), ThreadId(2)];

    /// The invariants of the tokens, in all states that three threads reach in a few steps.
    #[test]
    fn every_token_has_a_waiter_that_may_take_it() {
        let mut states = vec![Condvar::default()];
        for _ in 0..if cfg!(miri) { 4 } else { 7 } {
            let mut next = Vec::new();
            for state in &states {
                let waits = |thread| state.waiters.iter().any(|waiter| waiter.0 == thread);
                for op in [CondvarOp::NotifyOne, CondvarOp::NotifyAll] {
                    let mut after = state.clone();
                    let is_useful = after.apply(op, THREADS[0]) == Effect::Yes;
                    assert_eq!(is_useful, state.tokens.len() < state.waiters.len(), "{state:?}");
                    if is_useful {
                        let mut waiting = THREADS.into_iter().filter(|&thread| waits(thread));
                        assert!(waiting.all(|thread| after.token_for(thread).is_some()));
                    }
                    next.push(after);
                }
                for by in THREADS {
                    let op = match waits(by) {
                        true => CondvarOp::Consume { timed: true },
                        false => CondvarOp::Enqueue,
                    };
                    let mut after = state.clone();
                    after.apply(op, by);
                    next.push(after);
                }
            }
            for state in &next {
                assert!(state.tokens.len() <= state.waiters.len(), "{state:?}");
                let oldest = state.waiters.first().map_or(u32::MAX, |waiter| waiter.1);
                assert!(state.tokens.iter().all(|&made| made > oldest), "{state:?}");
            }
            states = next;
        }
    }
}
