//! Lock-order inversions: deadlocks that a finished run narrowly missed (Goodlock: Havelund, SPIN 2000).
//!
//! A suspicion is a cycle of threads of one run, each of which holds a lock while it acquires the one that
//! the next holds. No common lock guards two of them, and no spawn or join orders two of them. Whether the
//! deadlock is possible is for an explorer to try.

use raddle_core::{Action, Effect, Event, EventId, ObjectId, Site, ThreadOp, Trace};
use raddle_engine::causality::Clock;
use raddle_results::LockOrder;

use raddle_core::locks::{Change, Holdings, Mode, change, has_locks};
/// The maximal number of threads in a cycle that is looked for.
const MAX_THREADS: usize = 4;
/// The maximal number of nestings of a run that are kept.
const MAX_NESTINGS: usize = 256;

/// Threads that could deadlock.
#[derive(Clone, PartialEq, Debug)]
pub struct Suspicion {
    /// Which thread holds which lock while it acquires which. Each waits for the next, the last for the
    /// first.
    pub orders: Vec<LockOrder>,
    /// The events that acquire the second lock, in the order of `orders`.
    pub waits: Vec<EventId>,
}

/// A thread acquires a lock while it holds another.
#[derive(Clone, Debug)]
struct Nesting {
    event: EventId,
    held: (ObjectId, Mode, Site),
    wanted: (ObjectId, Mode, Site),
    /// The other locks the thread holds.
    around: Vec<ObjectId>,
    /// What happens before the event, by spawns and joins alone.
    before: Clock,
    /// The thread's own time of the event.
    time: u32,
}

/// Returns every suspicion of a run.
pub fn suspicions(trace: &Trace) -> Vec<Suspicion> {
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

/// Adds the cycles that begin with `path` to `found`. The first member of a path is its earliest.
fn extend(nestings: &[Nesting], path: &mut Vec<usize>, found: &mut Vec<Suspicion>) {
    let (first, last) = (&nestings[path[0]], &nestings[path[path.len() - 1]]);
    if path.len() > 1 && waits_for(last, first) {
        found.push(suspicion(nestings, path));
        return;
    }
    if path.len() == MAX_THREADS {
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

/// Returns whether the wanted lock of `waiter` is unavailable while `holder` holds its own.
fn waits_for(waiter: &Nesting, holder: &Nesting) -> bool {
    let both_share = waiter.wanted.1 == Mode::Shared && holder.held.1 == Mode::Shared;
    waiter.wanted.0 == holder.held.0 && !both_share
}

/// Returns whether two nestings can be active at the same time.
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

/// Returns the nestings of a run, each at its first occurrence.
fn nestings(trace: &Trace) -> Vec<Nesting> {
    let mut holdings = Holdings::default();
    let mut order = SpawnJoinOrder::new(trace);
    let mut found: Vec<Nesting> = Vec::new();
    for event in &trace.events {
        let thread = event.id.thread;
        if let Some(Change::Acquired { mode, blocks: true }) = change(event) {
            let wanted = (event.op.object(), mode, event.site);
            let mine = || holdings.all().iter().filter(|held| held.thread == thread);
            for held in mine() {
                let is_known = |known: &Nesting| {
                    let locks = (known.held.0, known.wanted.0);
                    known.event.thread == thread && locks == (held.lock, wanted.0)
                };
                if found.len() < MAX_NESTINGS && !found.iter().any(is_known) {
                    let others = mine().map(|held| held.lock).filter(|&lock| lock != held.lock);
                    found.push(Nesting {
                        event: event.id,
                        held: (held.lock, held.mode, held.site),
                        wanted,
                        around: others.collect(),
                        before: order.clocks[thread.index()].clone(),
                        time: order.clocks[thread.index()].of(thread),
                    });
                }
            }
        }
        holdings.advance(event);
        order.advance(event);
    }
    found
}

/// The part of happens-before that follows from spawns and joins.
struct SpawnJoinOrder {
    clocks: Vec<Clock>,
    /// By object: the clock of the thread at its exit, if the object is a thread.
    exits: Vec<Clock>,
}

impl SpawnJoinOrder {
    fn new(trace: &Trace) -> SpawnJoinOrder {
        let threads = trace.threads.iter().map(|info| info.id.index() + 1).max().unwrap_or(1);
        let mut clocks = vec![Clock::default(); threads];
        for info in &trace.threads {
            clocks[info.id.index()].advance(info.id);
        }
        SpawnJoinOrder { clocks, exits: vec![Clock::default(); trace.objects.len()] }
    }

    fn advance(&mut self, event: &Event) {
        let Action::Thread(op) = event.op.action() else { return };
        let (thread, life) = (event.id.thread, event.op.object().index());
        match (op, event.effect) {
            (ThreadOp::Spawn, Effect::Value(child)) => {
                let clock = self.clocks[thread.index()].clone();
                self.clocks[child as usize].join(&clock);
            }
            (ThreadOp::Exit, _) => self.exits[life].join(&self.clocks[thread.index()]),
            (ThreadOp::Join, _) => self.clocks[thread.index()].join(&self.exits[life]),
            (ThreadOp::Spawn | ThreadOp::IsFinished, _) => {}
        }
        self.clocks[thread.index()].advance(thread);
    }
}
