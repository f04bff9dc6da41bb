//! The operations of a run that could have been performed earlier: Algorithm 2 of BPOR, lines 4 to 7, as
//! a pure function over a finished trace.
//!
//! At every state, for every thread's next operation, performed later or still pending at the end:
//! the most recent event of each other thread that it is dependent with. A panic ends the run, so the
//! event before it is dependent with everything.

use raddle_core::dependence::conflict;
use raddle_core::{Access, Action, Effect, Ending, Event, ObjectId, Op, ThreadId, ThreadOp, Trace};

use super::clock::Clocks;

/// A thread's next operation is dependent with an earlier event of another thread.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Race {
    /// The position of the event.
    pub(super) event: usize,
    /// The thread.
    pub(super) thread: ThreadId,
    /// What makes the operation dependent.
    pub(super) why: Why,
}

/// Why an operation is dependent with an event.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Why {
    /// They conflict, and the operation was performed in the end.
    Performed,
    /// They conflict, and the operation was still pending at the end.
    Pending,
    /// One of them ended the run by a panic.
    Panic,
}

/// Returns the races at the states after the event at position `fresh` and later ones.
pub(super) fn races(trace: &Trace, fresh: usize, clocks: Option<&Clocks>) -> Vec<Race> {
    let mut search = Search::new(trace, clocks);
    for position in 0..trace.events.len() {
        search.enter(position);
        if position >= fresh {
            search.after(position);
        }
    }
    if let (Ending::Panicked(_), Some(last)) =
        (&trace.ending, trace.events.len().checked_sub(1).filter(|&last| last >= fresh))
    {
        search.panic(last);
    }
    search.found
}

/// Returns, for every thread's next operation at `state`, the most recent event of each other thread that it
/// is dependent with: the definition, word for word.
pub(super) fn most_recent(trace: &Trace, state: usize) -> Vec<(usize, ThreadId)> {
    let search = Search::new(trace, None);
    let threads = || (0..search.next.len()).map(|thread| ThreadId(thread as u32));
    let mut pairs = Vec::new();
    for thread in threads() {
        let Some(next) = search.next_at(thread, state) else { continue };
        for other in threads().filter(|&other| other != thread) {
            let event = (0..state).rev().find(|&position| {
                trace.events[position].id.thread == other && search.depends(position, next, state)
            });
            pairs.extend(event.map(|event| (event, thread)));
        }
    }
    pairs
}

/// An operation of a thread.
#[derive(Copy, Clone, Debug)]
struct Next {
    op: Op,
    /// The state at which it was announced.
    announced: usize,
    /// The position of the event, or the end of the trace if it was never performed.
    performed: usize,
}

struct Search<'a> {
    trace: &'a Trace,
    clocks: Option<&'a Clocks>,
    /// By [`ThreadId`], in order.
    next: Vec<Vec<Next>>,
    /// By [`ObjectId`], the events on it so far.
    objects: Vec<History>,
    /// By [`ObjectId`], the positions of all events that changed it.
    changes: Vec<Vec<usize>>,
    found: Vec<Race>,
}

/// The most recent events on an object, one entry for each thread.
#[derive(Clone, Default)]
struct History(Vec<Recent>);

#[derive(Copy, Clone)]
struct Recent {
    thread: ThreadId,
    read: Option<usize>,
    update: Option<usize>,
    share: Option<usize>,
}

impl Recent {
    /// Returns the most recent event that conflicts with `access`.
    fn conflicting(&self, access: Access) -> Option<usize> {
        let all =
            [(Access::Read, self.read), (Access::Update, self.update), (Access::Share, self.share)];
        let conflicting = all.into_iter().filter(|(other, _)| access.conflicts(*other));
        conflicting.filter_map(|(_, event)| event).max()
    }
}

impl<'a> Search<'a> {
    fn new(trace: &'a Trace, clocks: Option<&'a Clocks>) -> Search<'a> {
        let mut changes = vec![Vec::new(); trace.objects.len()];
        for (position, event) in trace.events.iter().enumerate() {
            if event.op.object() != ObjectId::NONE && event.access().changes() {
                changes[event.op.object().index()].push(position);
            }
        }
        let objects = vec![History::default(); trace.objects.len()];
        let next = next_operations(trace);
        Search { trace, clocks, next, objects, changes, found: Vec::new() }
    }

    /// Adds the event at `position` to the history of its object.
    fn enter(&mut self, position: usize) {
        let event = &self.trace.events[position];
        let Some(history) = self.objects.get_mut(event.op.object().index()) else { return };
        let thread = event.id.thread;
        let known = history.0.iter().position(|recent| recent.thread == thread);
        let place = known.unwrap_or_else(|| {
            history.0.push(Recent { thread, read: None, update: None, share: None });
            history.0.len() - 1
        });
        let recent = &mut history.0[place];
        match event.access() {
            Access::Read => recent.read = Some(position),
            Access::Update => recent.update = Some(position),
            Access::Share => recent.share = Some(position),
        }
    }

    /// Handles the event at `position`: it may be dependent with announced operations of other threads, and
    /// its thread, and a thread it spawned, announce an operation.
    fn after(&mut self, position: usize) {
        let event = &self.trace.events[position];
        let (thread, state) = (event.id.thread, position + 1);
        for other in 0..self.next.len() {
            let other = ThreadId(other as u32);
            let Some(next) = self.next_at(other, state) else { continue };
            if next.announced == state {
                self.announced(other, next);
            } else if other != thread && self.depends(position, next, state) {
                let why = self.why(next);
                self.found.push(Race { event: position, thread: other, why });
            }
        }
    }

    /// Handles the announcement of `thread`, which may be dependent with earlier events.
    fn announced(&mut self, thread: ThreadId, next: Next) {
        let Some(history) = self.objects.get(next.op.object().index()) else { return };
        let state = next.announced;
        let others = history.0.iter().filter(|recent| recent.thread != thread);
        let access = self.access(next, state);
        let latest: Vec<usize> = others.filter_map(|recent| recent.conflicting(access)).collect();
        debug_assert!(latest.iter().all(|&event| self.depends(event, next, state)));
        self.keep(thread, state, latest, self.why(next));
    }

    fn why(&self, next: Next) -> Why {
        if next.performed < self.trace.events.len() { Why::Performed } else { Why::Pending }
    }

    /// Handles a panic, which ended the run after the event at `last`.
    fn panic(&mut self, last: usize) {
        let event = &self.trace.events[last];
        let thread = event.id.thread;
        for pending in &self.trace.pending {
            if pending.thread != thread {
                let thread = pending.thread;
                self.found.push(Race { event: last, thread, why: Why::Panic });
            }
        }
        let announced = self.next[thread.index()][event.id.index as usize].announced;
        let mut latest: Vec<usize> = Vec::new();
        for position in (0..last).rev() {
            let by = self.trace.events[position].id.thread;
            let is_known = latest.iter().any(|&known| self.trace.events[known].id.thread == by);
            if by == thread {
                continue;
            } else if position >= announced {
                self.found.push(Race { event: position, thread, why: Why::Panic });
            } else if !is_known {
                latest.push(position);
            }
        }
        self.keep(thread, announced, latest, Why::Panic);
    }

    /// Keeps those events that matter, among the ones dependent with the operation that `thread` announced at
    /// `state`.
    fn keep(&mut self, thread: ThreadId, state: usize, events: Vec<usize>, why: Why) {
        for &event in &events {
            let is_immediate = self.clocks.is_none_or(|clocks| {
                let own = clocks.at_announcement(thread, state);
                !own.contains(self.trace.events[event].id)
                    && !events.iter().any(|&other| {
                        other != event && clocks.of(other).contains(self.trace.events[event].id)
                    })
            });
            if is_immediate {
                self.found.push(Race { event, thread, why });
            }
        }
    }

    /// Returns the next operation of `thread` at `state`.
    fn next_at(&self, thread: ThreadId, state: usize) -> Option<Next> {
        let next = &self.next[thread.index()];
        let place = next.partition_point(|next| next.performed < state);
        next.get(place).copied().filter(|next| next.announced <= state)
    }

    /// Returns whether the event at `position` is dependent with the next operation of another thread at `state`.
    fn depends(&self, position: usize, next: Next, state: usize) -> bool {
        let event = &self.trace.events[position];
        let access = self.access(next, state);
        conflict((event.op.object(), event.access()), (next.op.object(), access))
    }

    /// Returns the access of an operation if it were performed at `state`: the recorded one, if the object does
    /// not change between.
    ///
    /// The paper's dependence is constant. Accesses that depend on the state add races when the state changes,
    /// but these are never immediate.
    fn access(&self, next: Next, state: usize) -> Access {
        let performed = self.trace.events.get(next.performed);
        let (Some(event), Some(_)) = (performed, self.clocks) else { return next.op.access() };
        let Some(changes) = self.changes.get(next.op.object().index()) else {
            return event.access();
        };
        let later = changes[changes.partition_point(|&position| position < state)..].first();
        if later.is_some_and(|&position| position < next.performed) {
            next.op.access()
        } else {
            event.access()
        }
    }
}

/// Returns the operations of each thread, including the one that is pending at the end.
fn next_operations(trace: &Trace) -> Vec<Vec<Next>> {
    let threads = trace.threads.iter().map(|info| info.id.index() + 1).max().unwrap_or(0);
    let mut next: Vec<Vec<Next>> = vec![Vec::new(); threads];
    let mut announced = vec![0; threads];
    for (position, event) in trace.events.iter().enumerate() {
        let thread = event.id.thread.index();
        next[thread].push(Next { op: event.op, announced: announced[thread], performed: position });
        announced[thread] = position + 1;
        if let Some(child) = spawned(event) {
            announced[child.index()] = position + 1;
        }
    }
    for pending in &trace.pending {
        let thread = pending.thread.index();
        let performed = trace.events.len();
        next[thread].push(Next { op: pending.op, announced: announced[thread], performed });
    }
    next
}

/// Returns the thread that an event started.
pub(super) fn spawned(event: &Event) -> Option<ThreadId> {
    match (event.op.action(), event.effect) {
        (Action::Thread(ThreadOp::Spawn), Effect::Value(child)) => Some(ThreadId(child as u32)),
        _ => None,
    }
}
