//! Condition variables: the waiting threads and the pending notifications.
//!
//! `notify_one` creates a token that any thread waiting at that moment may take. Which thread takes it is
//! an ordinary choice of threads. A token is removed when no thread is left that may take it.

use alloc::vec::Vec;

use raddle_core::{CondvarOp, Effect, ThreadId};

use super::ObjectState;

/// The state of a condition variable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Condvar {
    /// The number of enqueues and notifications so far: the time of the next one.
    clock: u32,
    /// The waiting threads, each with the time of its enqueue, ascending.
    waiters: Vec<(ThreadId, u32)>,
    /// The times of the pending notifications, ascending. Each is for a thread that waited at that time.
    ///
    /// Invariant: there are no more tokens than waiters, and every token is newer than some waiter.
    tokens: Vec<u32>,
}

impl Condvar {
    /// Resets the condition variable. Keeps the allocated memory.
    pub(crate) fn clear(&mut self) {
        self.clock = 0;
        self.waiters.clear();
        self.tokens.clear();
    }

    /// Adds up to `count` tokens, at most one for each waiter.
    fn notify(&mut self, count: usize) -> Effect {
        if self.tokens.len() == self.waiters.len() {
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

    /// Removes a thread from the waiters, with a notification if there is one for it.
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

    /// Returns the position of the oldest token that `by` may take, or `None`.
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

impl ObjectState for Condvar {
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

    /// Checks the invariants of the tokens in all states that three threads reach in a few steps.
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
