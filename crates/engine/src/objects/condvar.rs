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

    /// Puts a thread among the waiters.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, by: ThreadId) -> Effect {
        let now = self.tick();
        self.waiters.push((by, now));
        Effect::None
    }

    /// Whether there is a notification that `by`, who waits, may take.
    #[inline(always)]
    pub(crate) fn is_notified(&self, by: ThreadId) -> bool {
        !self.has_no_notifications() && self.is_notified_among_others(by)
    }

    #[inline(never)]
    fn is_notified_among_others(&self, by: ThreadId) -> bool {
        self.waiting_since(by).is_some_and(|since| self.token_for(since).is_some())
    }

    /// Whether no notification is on its way to anybody.
    #[inline(always)]
    pub(crate) fn has_no_notifications(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Takes a thread from among the waiters, with a notification if there is one for it.
    #[inline(always)]
    pub(crate) fn consume(&mut self, by: ThreadId) -> Effect {
        if !matches!(*self.waiters, [(only, _)] if only == by) {
            return Effect::of(self.consume_among_others(by));
        }
        // Whatever is on its way is for whoever waits alone.
        let is_notified = !self.has_no_notifications();
        self.waiters.clear();
        self.tokens.clear();
        Effect::of(is_notified)
    }

    #[inline(never)]
    fn consume_among_others(&mut self, by: ThreadId) -> bool {
        let since = self.waiting_since(by);
        let token = since.and_then(|since| self.token_for(since));
        self.waiters.retain(|waiter| waiter.0 != by);
        if let Some(token) = token {
            self.tokens.remove(token);
        }
        let oldest = self.waiters.first().map_or(u32::MAX, |waiter| waiter.1);
        self.tokens.retain(|&made| made > oldest);
        token.is_some()
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
            CondvarOp::Consume { timed: false } => self.is_notified(by),
            CondvarOp::Consume { timed: true }
            | CondvarOp::Enqueue
            | CondvarOp::NotifyOne
            | CondvarOp::NotifyAll => true,
        }
    }

    fn apply(&mut self, op: CondvarOp, by: ThreadId) -> Effect {
        match op {
            CondvarOp::Enqueue => self.enqueue(by),
            CondvarOp::NotifyOne | CondvarOp::NotifyAll => self.notify(op),
            CondvarOp::Consume { .. } => self.consume(by),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    /// What those who look after waiters rely on, in all states that three threads reach in a few steps.
    #[test]
    fn what_is_said_of_waiters_is_true() {
        const THREADS: [ThreadId; 3] = [ThreadId(0), ThreadId(1), ThreadId(2)];
        let mut states = vec![Condvar::default()];
        for _ in 0..if cfg!(miri) { 4 } else { 7 } {
            let mut next = Vec::new();
            for state in &states {
                let waits = |thread| state.waiting_since(thread).is_some();
                let is_notified = |state: &Condvar, thread| {
                    let since = state.waiting_since(thread);
                    since.is_some_and(|since| state.token_for(since).is_some())
                };
                for op in [CondvarOp::NotifyOne, CondvarOp::NotifyAll] {
                    let mut after = state.clone();
                    if after.notify(op) == Effect::Yes {
                        let mut waiting = THREADS.into_iter().filter(|&thread| waits(thread));
                        assert!(waiting.all(|thread| is_notified(&after, thread)), "{state:?}");
                    }
                    next.push(after);
                }
                for by in THREADS {
                    assert_eq!(state.is_notified(by), is_notified(state, by), "{state:?} {by}");
                    let mut after = state.clone();
                    if waits(by) {
                        let mut others = state.clone();
                        let effect = after.consume(by);
                        assert_eq!(effect, Effect::of(others.consume_among_others(by)));
                        assert_eq!(after, others, "{state:?} {by}");
                    } else {
                        after.enqueue(by);
                        for other in THREADS {
                            let (before, after) =
                                (is_notified(state, other), is_notified(&after, other));
                            assert_eq!(before, after, "{state:?} {by} {other}");
                        }
                    }
                    if after.has_no_notifications() {
                        assert!(THREADS.iter().all(|&thread| !is_notified(&after, thread)));
                    }
                    next.push(after);
                }
            }
            states = next;
        }
    }
}
