//! Which operations of a run could have come earlier: Algorithm 2 of BPOR, lines 4 to 7, as a pure
//! function over a finished trace.
//!
//! At every state, for every thread's next operation, performed later or still pending at the end:
//! the most recent event of each other thread that it is dependent with. A panic ends everything, so
//! the event it came after is dependent with everything.

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
    /// How many events there had been when this was seen.
    pub(super) state: usize,
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

/// The races seen at the states after the event at position `fresh` and later ones.
pub(super) fn races(trace: &Trace, fresh: usize, clocks: Option<&Clocks>) -> Vec<Race> {
    let mut search = Search {
        trace,
        clocks,
        next: next_operations(trace),
        objects: by_object(trace),
        found: Vec::new(),
    };
    for position in fresh..trace.events.len() {
        search.after(position);
    }
    if let (Ending::Panicked(_), Some(last)) =
        (&trace.ending, trace.events.len().checked_sub(1).filter(|&last| last >= fresh))
    {
        search.panic(last);
    }
    search.found
}

/// For every thread's next operation at `state`, the most recent event of each other thread that it
/// is dependent with: the definition, word for word.
pub(super) fn most_recent(trace: &Trace, state: usize) -> Vec<(usize, ThreadId)> {
    let search = Search {
        trace,
        clocks: None,
        next: next_operations(trace),
        objects: by_object(trace),
        found: Vec::new(),
    };
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
    /// At which state it was announced.
    announced: usize,
    /// The position of the event, or the end of the trace if it was never performed.
    performed: usize,
}

struct Search<'a> {
    trace: &'a Trace,
    clocks: Option<&'a Clocks>,
    /// By [`ThreadId`], in order.
    next: Vec<Vec<Next>>,
    /// By [`ObjectId`], the positions of its events.
    objects: Vec<Vec<usize>>,
    found: Vec<Race>,
}

impl Search<'_> {
    /// What the event at `position` changes: it may be dependent with what others have announced,
    /// and its thread, and a thread it spawned, announces something.
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
                self.found.push(Race { event: position, thread: other, state, why });
            }
        }
    }

    /// What `thread` announced may be dependent with what has happened before.
    fn announced(&mut self, thread: ThreadId, next: Next) {
        let object = next.op.object();
        if object == ObjectId::NONE {
            return;
        }
        let state = next.announced;
        let mut latest: Vec<usize> = Vec::new();
        for &position in self.objects[object.index()].iter().rev() {
            let by = self.trace.events[position].id.thread;
            let is_known = latest.iter().any(|&known| self.trace.events[known].id.thread == by);
            let is_earlier = position < state && by != thread && !is_known;
            if is_earlier && self.depends(position, next, state) {
                latest.push(position);
            }
        }
        self.keep(thread, state, latest, self.why(next));
    }

    fn why(&self, next: Next) -> Why {
        if next.performed < self.trace.events.len() { Why::Performed } else { Why::Pending }
    }

    /// The event at `last` ended the run by a panic.
    fn panic(&mut self, last: usize) {
        let event = &self.trace.events[last];
        let thread = event.id.thread;
        for pending in &self.trace.pending {
            if pending.thread != thread {
                let (thread, state) = (pending.thread, last + 1);
                self.found.push(Race { event: last, thread, state, why: Why::Panic });
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
                let (event, state) = (position, last);
                self.found.push(Race { event, thread, state, why: Why::Panic });
            } else if !is_known {
                latest.push(position);
            }
        }
        self.keep(thread, announced, latest, Why::Panic);
    }

    /// Keeps of events that are dependent with what `thread` announced at `state` those that count.
    fn keep(&mut self, thread: ThreadId, state: usize, events: Vec<usize>, why: Why) {
        for &event in &events {
            let is_immediate = self.clocks.is_none_or(|clocks| {
                let own = clocks.at_announcement(thread, state);
                !own.knows(self.trace.events[event].id)
                    && !events.iter().any(|&other| {
                        other != event && clocks.of(other).knows(self.trace.events[event].id)
                    })
            });
            if is_immediate {
                self.found.push(Race { event, thread, state, why });
            }
        }
    }

    /// What `thread` is to do next at `state`.
    fn next_at(&self, thread: ThreadId, state: usize) -> Option<Next> {
        let next = &self.next[thread.index()];
        let place = next.partition_point(|next| next.performed < state);
        next.get(place).copied().filter(|next| next.announced <= state)
    }

    /// Whether the event at `position` is dependent with what another thread would do at `state`.
    fn depends(&self, position: usize, next: Next, state: usize) -> bool {
        let event = &self.trace.events[position];
        let access = self.access(next, state);
        conflict((event.op.object(), event.access()), (next.op.object(), access))
    }

    /// How an operation would touch its object if it were performed at `state`: as it did, if the
    /// object has not changed until then.
    ///
    /// The paper's dependence is constant. That what an operation does depends on the state adds
    /// races when the state changes; but they are never immediate.
    fn access(&self, next: Next, state: usize) -> Access {
        let performed = self.trace.events.get(next.performed);
        let (Some(event), Some(_)) = (performed, self.clocks) else { return next.op.access() };
        let changes = |position: &&usize| {
            (state..next.performed).contains(*position)
                && self.trace.events[**position].access() == Access::Update
        };
        match self.objects.get(next.op.object().index()) {
            Some(events) if events.iter().any(|position| changes(&position)) => next.op.access(),
            Some(_) | None => event.access(),
        }
    }
}

/// What each thread did and was about to do at the end.
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

fn by_object(trace: &Trace) -> Vec<Vec<usize>> {
    let mut objects = vec![Vec::new(); trace.objects.len()];
    for (position, event) in trace.events.iter().enumerate() {
        if event.op.object() != ObjectId::NONE {
            objects[event.op.object().index()].push(position);
        }
    }
    objects
}

/// The thread that an event started.
pub(super) fn spawned(event: &Event) -> Option<ThreadId> {
    match (event.op.action(), event.effect) {
        (Action::Thread(ThreadOp::Spawn), Effect::Value(child)) => Some(ThreadId(child as u32)),
        _ => None,
    }
}
