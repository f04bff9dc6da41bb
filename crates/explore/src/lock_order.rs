//! Locks taken in different orders: a deadlock that a run which ended well has just missed.
//!
//! Of one run: a cycle of threads each of which holds a lock while it waits for one that the next holds,
//! with no lock that two of them hold around it, and no spawn or join that keeps two of them apart. That
//! is a suspicion (Goodlock: Havelund, SPIN 2000). [`Directed`] tries to make it true: it lets every thread
//! of the cycle come to where it is about to wait and keeps it there until the others have come too. What
//! then happens is an execution like any other.

use raddle_core::{
    Action, Chooser, Effect, Event, EventId, ObjectId, Pick, Point, Site, ThreadId, ThreadOp, Trace,
};
use raddle_results::LockOrder;

use crate::locks::{Change, Holdings, Mode, change, has_locks};
use raddle_engine::causality::Clock;

/// Cycles of more threads are not looked for.
const LONGEST: usize = 4;
/// Of a run that nests locks in more ways than this only the first are looked at.
const MOST_NESTINGS: usize = 256;

/// Threads that could wait for one another.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Suspicion {
    /// Who holds which lock while it takes which; each waits for the next, the last for the first.
    pub(crate) orders: Vec<LockOrder>,
    /// The events by which they take the second lock, in the same order.
    waits: Vec<EventId>,
}

/// A thread takes a lock while it holds another.
#[derive(Clone, Debug)]
struct Nesting {
    event: EventId,
    held: (ObjectId, Mode, Site),
    wanted: (ObjectId, Mode, Site),
    /// What else it holds.
    around: Vec<ObjectId>,
    /// What had to happen before, by spawns and joins alone; and when it was for its thread.
    before: Clock,
    time: u32,
}

/// Every cycle of a run.
pub(crate) fn suspicions(trace: &Trace) -> Vec<Suspicion> {
    if !has_locks(trace) {
        return Vec::new();
    }
    let nestings = nestings(trace);
    let mut found = Vec::new();
    for first in 0..nestings.len() {
        extend(&nestings, &mut vec![first], &mut found);
    }
    found
}

/// Adds the cycles that begin with `path`, whose first member is the earliest.
fn extend(nestings: &[Nesting], path: &mut Vec<usize>, found: &mut Vec<Suspicion>) {
    let (first, last) = (&nestings[path[0]], &nestings[path[path.len() - 1]]);
    if path.len() > 1 && waits_for(last, first) {
        found.push(suspicion(nestings, path));
        return;
    }
    if path.len() == LONGEST {
        return;
    }
    for next in path[0] + 1..nestings.len() {
        let candidate = &nestings[next];
        let fits = path.iter().all(|&member| can_coincide(&nestings[member], candidate));
        if fits && waits_for(last, candidate) {
            path.push(next);
            extend(nestings, path, found);
            path.pop();
        }
    }
}

/// Whether what `waiter` wants cannot be had while `holder` has what it holds.
fn waits_for(waiter: &Nesting, holder: &Nesting) -> bool {
    let both_share = waiter.wanted.1 == Mode::Shared && holder.held.1 == Mode::Shared;
    waiter.wanted.0 == holder.held.0 && !both_share
}

/// Whether two threads can be there at the same time.
fn can_coincide(a: &Nesting, b: &Nesting) -> bool {
    let (one, other) = (a.event.thread, b.event.thread);
    let ordered = a.before.of(other) >= b.time || b.before.of(one) >= a.time;
    let guarded = a.around.iter().any(|lock| b.around.contains(lock));
    one != other && a.held.0 != b.held.0 && !ordered && !guarded
}

fn suspicion(nestings: &[Nesting], path: &[usize]) -> Suspicion {
    let members = || path.iter().map(|&member| &nestings[member]);
    let order = |nesting: &Nesting| LockOrder {
        thread: nesting.event.thread,
        held: nesting.held.0,
        taken_at: nesting.held.2,
        wanted: nesting.wanted.0,
        wanted_at: nesting.wanted.2,
    };
    Suspicion {
        orders: members().map(order).collect(),
        waits: members().map(|nesting| nesting.event).collect(),
    }
}

/// Every way in which the threads of a run nest locks, the first time each does.
fn nestings(trace: &Trace) -> Vec<Nesting> {
    let mut holdings = Holdings::default();
    let mut families = Families::new(trace);
    let mut found: Vec<Nesting> = Vec::new();
    for event in &trace.events {
        let thread = event.id.thread;
        if let Some(Change::Taken { mode, waits: true }) = change(event) {
            let wanted = (event.op.object(), mode, event.site);
            let mine = || holdings.all().iter().filter(|held| held.thread == thread);
            for held in mine() {
                let is_known = |known: &Nesting| {
                    let locks = (known.held.0, known.wanted.0);
                    known.event.thread == thread && locks == (held.lock, wanted.0)
                };
                if found.len() < MOST_NESTINGS && !found.iter().any(is_known) {
                    let others = mine().map(|held| held.lock).filter(|&lock| lock != held.lock);
                    found.push(Nesting {
                        event: event.id,
                        held: (held.lock, held.mode, held.site),
                        wanted,
                        around: others.collect(),
                        before: families.clocks[thread.index()].clone(),
                        time: families.clocks[thread.index()].of(thread),
                    });
                }
            }
        }
        holdings.pass(event);
        families.pass(event);
    }
    found
}

/// What has to happen before what because of spawns and joins.
struct Families {
    clocks: Vec<Clock>,
    /// By object: what the thread had done whose life it is.
    lives: Vec<Clock>,
}

impl Families {
    fn new(trace: &Trace) -> Families {
        let threads = trace.threads.iter().map(|info| info.id.index() + 1).max().unwrap_or(1);
        let mut clocks = vec![Clock::default(); threads];
        for info in &trace.threads {
            clocks[info.id.index()].advance(info.id);
        }
        Families { clocks, lives: vec![Clock::default(); trace.objects.len()] }
    }

    fn pass(&mut self, event: &Event) {
        let Action::Thread(op) = event.op.action() else { return };
        let (thread, life) = (event.id.thread, event.op.object().index());
        match (op, event.effect) {
            (ThreadOp::Spawn, Effect::Value(child)) => {
                let clock = self.clocks[thread.index()].clone();
                self.clocks[child as usize].join(&clock);
            }
            (ThreadOp::Exit, _) => self.lives[life].join(&self.clocks[thread.index()]),
            (ThreadOp::Join, _) => self.clocks[thread.index()].join(&self.lives[life]),
            (ThreadOp::Spawn | ThreadOp::IsFinished, _) => {}
        }
        self.clocks[thread.index()].advance(thread);
    }
}

/// Follows a run as far as it can, but keeps some threads waiting before a certain event.
#[derive(Clone, Debug)]
pub(crate) struct Directed {
    /// The events before which threads are kept.
    stops: Vec<EventId>,
    /// Who went when in the run that is followed.
    order: Vec<EventId>,
    /// How many events each thread has had.
    done: Vec<u32>,
    /// How many events were counted.
    counted: usize,
    /// Every event of `order` before this one is done.
    next: usize,
}

impl Directed {
    pub(crate) fn new(trace: &Trace, suspicion: &Suspicion) -> Directed {
        Directed {
            stops: suspicion.waits.clone(),
            order: trace.events.iter().map(|event| event.id).collect(),
            done: Vec::new(),
            counted: 0,
            next: 0,
        }
    }

    fn count(&mut self, past: &[Event]) {
        for event in &past[self.counted..] {
            let index = event.id.thread.index();
            if self.done.len() <= index {
                self.done.resize(index + 1, 0);
            }
            self.done[index] = event.id.index + 1;
        }
        self.counted = past.len();
    }

    fn coming(&self, thread: ThreadId) -> EventId {
        EventId { thread, index: self.done.get(thread.index()).copied().unwrap_or(0) }
    }
}

impl Chooser for Directed {
    const WATCHES_CHANGES: bool = false;

    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else { return Pick::Take(0) };
        self.count(past);
        while self.order.get(self.next).is_some_and(|event| {
            self.done.get(event.thread.index()).is_some_and(|&done| done > event.index)
        }) {
            self.next += 1;
        }
        let rank = |option: &usize| {
            let coming = self.coming(threads.enabled[*option]);
            let is_kept = self.stops.contains(&coming);
            let ahead = &self.order[self.next..];
            let place = ahead.iter().position(|event| *event == coming).unwrap_or(ahead.len());
            (is_kept, place, coming.thread)
        };
        let option = (0..threads.enabled.len()).min_by_key(rank);
        Pick::Take(option.expect("raddle invariant broken: a thread point without options"))
    }
}
