//! Notifications and the threads that they woke.
//!
//! A condition variable keeps a token for each thread that a notification wakes, and any thread that waited then may
//! take it. Which thread took which token is derived here, by the rules of `raddle_engine::objects::Condvar`.

use std::collections::HashMap;

use raddle_core::{Action, CondvarOp, Effect, EventId, FutexOp, ObjectId, ThreadId, Trace};
use raddle_results::Wait;

/// Which notification woke which thread. Steps are positions in the trace.
#[derive(Clone, Debug, Default)]
pub struct Wakeups {
    /// Pairs of a notification and the step with which a thread took it, in the order of the latter.
    taken: Vec<(usize, usize)>,
    /// Notifications that no thread took, and the threads that still could.
    open: Vec<(usize, Vec<ThreadId>)>,
}

/// A notification that a waiting thread did not get.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Missed {
    /// The notification.
    pub step: usize,
    /// The thread that took it instead. `None` if the notification came before the thread waited, and woke no thread.
    pub taken_by: Option<ThreadId>,
}

/// The state of a condition variable.
#[derive(Default)]
struct State {
    /// The waiting threads, each with the step that began the wait, ascending.
    waiters: Vec<(ThreadId, usize)>,
    /// The notifications that can be taken, one entry for each thread to wake, ascending.
    tokens: Vec<usize>,
}

impl Wakeups {
    /// Derives the wake-ups of `trace`.
    pub fn of(trace: &Trace) -> Wakeups {
        let mut found = Wakeups::default();
        let mut states: HashMap<ObjectId, State> = HashMap::new();
        for (step, event) in trace.events.iter().enumerate() {
            let Action::Condvar(op) = event.op.action() else { continue };
            let state = states.entry(event.op.object()).or_default();
            let by = event.id.thread;
            match op {
                CondvarOp::Enqueue => state.waiters.push((by, step)),
                CondvarOp::NotifyOne => state.notify(1, step, event.effect),
                CondvarOp::NotifyAll => state.notify(usize::MAX, step, event.effect),
                CondvarOp::Consume { .. } => {
                    if let Some(notification) = state.consume(by) {
                        found.taken.push((notification, step));
                    }
                }
            }
        }
        for State { waiters, mut tokens } in states.into_values() {
            tokens.dedup();
            let able = |token: usize| waiters.iter().filter(move |waiter| waiter.1 < token);
            let open = tokens
                .into_iter()
                .map(|token| (token, able(token).map(|waiter| waiter.0).collect()));
            found.open.extend(open);
        }
        found.open.sort();
        found
    }

    /// Returns the notification that ended the wait at `step`, if one did.
    pub fn notification(&self, step: usize) -> Option<usize> {
        let at = self.taken.binary_search_by_key(&step, |taken| taken.1).ok()?;
        Some(self.taken[at].0)
    }

    /// Returns the steps with which threads took the notification at `step`, in order.
    pub fn taken(&self, step: usize) -> impl Iterator<Item = usize> + '_ {
        self.taken.iter().filter(move |taken| taken.0 == step).map(|taken| taken.1)
    }

    /// Returns the threads that could still take the notification at `step` when the run ended.
    pub fn open(&self, step: usize) -> &[ThreadId] {
        self.open.iter().find(|open| open.0 == step).map_or(&[], |open| &open.1)
    }

    /// Returns the last notification that the thread of `wait` did not get: another thread took it while this one
    /// waited, or it came before that and woke no thread. Returns `None` if the thread does not wait for one.
    pub fn missed(&self, trace: &Trace, wait: &Wait) -> Option<Missed> {
        let pending = trace.pending.iter().find(|pending| pending.thread == wait.thread)?;
        let waits = matches!(
            pending.op.action(),
            Action::Condvar(CondvarOp::Consume { .. }) | Action::Futex(FutexOp::Consume { .. })
        );
        let begun = trace.events.iter().rposition(|event| {
            let enqueues = matches!(
                event.op.action(),
                Action::Condvar(CondvarOp::Enqueue) | Action::Futex(FutexOp::Enqueue { .. })
            );
            waits && enqueues && event.id.thread == wait.thread
        })?;
        let is_here = |step: &usize| trace.events[*step].op.object() == wait.object;
        let taken = self.taken.iter().rev().find(|(step, _)| *step > begun && is_here(step));
        if let Some(&(step, by)) = taken {
            return Some(Missed { step, taken_by: Some(trace.events[by].id.thread) });
        }
        let is_lost = |step: &usize| {
            let event = &trace.events[*step];
            let EventId { thread, .. } = event.id;
            let notifies = matches!(
                event.op.action(),
                Action::Condvar(CondvarOp::NotifyOne | CondvarOp::NotifyAll)
                    | Action::Futex(FutexOp::Wake { .. } | FutexOp::Requeue { .. })
            );
            // A thread does not wait for its own notifications.
            notifies && is_here(step) && event.effect == Effect::No && thread != wait.thread
        };
        let step = (0..begun).rev().find(is_lost)?;
        Some(Missed { step, taken_by: None })
    }
}

impl State {
    fn notify(&mut self, count: usize, step: usize, effect: Effect) {
        if effect == Effect::No {
            return;
        }
        if count >= self.waiters.len() {
            self.tokens.clear();
        }
        let tokens = self.tokens.len().saturating_add(count).min(self.waiters.len());
        self.tokens.resize(tokens, step);
    }

    /// Removes a thread from the waiters, and returns the notification that it takes, if there is one for it.
    fn consume(&mut self, by: ThreadId) -> Option<usize> {
        let since = self.waiters.iter().find(|waiter| waiter.0 == by)?.1;
        let token = self.tokens.iter().position(|&made| made > since);
        self.waiters.retain(|waiter| waiter.0 != by);
        let taken = token.map(|token| self.tokens.remove(token));
        let oldest = self.waiters.first().map_or(usize::MAX, |waiter| waiter.1);
        self.tokens.retain(|&made| made > oldest);
        taken
    }
}
