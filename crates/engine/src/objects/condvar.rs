//! A condition variable: who waits, and which notifications are on their way.
//!
//! `notify_one` makes a token that any thread waiting at that moment may take; *which* one does is
//! an ordinary choice of threads. A token that nobody is left to take disappears.

use alloc::vec::Vec;

use raddle_core::{CondvarOp, Effect, ThreadId};

use super::Shape;

/// The state of a condition variable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Condvar {
    /// Counts enqueues and notifications, to tell which came first.
    clock: u32,
    /// Who waits, and since when.
    waiters: Vec<(ThreadId, u32)>,
    /// When each outstanding notification was made, ascending. It is for those who waited then.
    ///
    /// Invariant: no more tokens than waiters, and each has a waiter older than itself.
    tokens: Vec<u32>,
}

impl Condvar {
    /// Makes it as new, keeping its memory.
    pub(crate) fn clear(&mut self) {
        self.clock = 0;
        self.waiters.clear();
        self.tokens.clear();
    }

    /// Whether a notification would be of use to somebody.
    #[inline(always)]
    pub(crate) fn has_use_for_notification(&self) -> bool {
        self.tokens.len() < self.waiters.len()
    }

    /// Performs a notification.
    #[inline(always)]
    pub(crate) fn notify(&mut self, op: CondvarOp) -> Effect {
        let useful = self.has_use_for_notification();
        if useful {
            self.add_tokens(op);
        }
        Effect::of(useful)
    }

    fn add_tokens(&mut self, op: CondvarOp) {
        let now = self.tick();
        if op == CondvarOp::NotifyOne {
            self.tokens.push(now);
        } else {
            self.tokens.clear();
            self.tokens.resize(self.waiters.len(), now);
        }
    }

    fn waiting_since(&self, thread: ThreadId) -> Option<u32> {
        self.waiters.iter().find(|waiter| waiter.0 == thread).map(|waiter| waiter.1)
    }

    fn tick(&mut self) -> u32 {
        self.clock += 1;
        self.clock
    }

    /// The oldest token for somebody who has waited since `since`.
    fn token_for(&self, since: u32) -> Option<usize> {
        self.tokens.iter().position(|&made| made > since)
    }
}

impl Shape for Condvar {
    type Op = CondvarOp;

    #[inline]
    fn enabled(&self, op: CondvarOp, by: ThreadId) -> bool {
        match op {
            CondvarOp::Consume { timed: false } => {
                self.waiting_since(by).is_some_and(|since| self.token_for(since).is_some())
            }
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
            CondvarOp::NotifyOne | CondvarOp::NotifyAll => self.notify(op),
            CondvarOp::Consume { .. } => {
                let since = self.waiting_since(by);
                let token = since.and_then(|since| self.token_for(since));
                self.waiters.retain(|waiter| waiter.0 != by);
                if let Some(token) = token {
                    self.tokens.remove(token);
                }
                let oldest = self.waiters.first().map_or(u32::MAX, |waiter| waiter.1);
                self.tokens.retain(|&made| made > oldest);
                Effect::of(token.is_some())
            }
        }
    }
}
