//! A lock that a thread reads twice at once, while another thread may wait to write it.
//!
//! `std::sync::RwLock` may let a waiting writer go first: the second read then waits for the writer, and the writer for
//! the first read. raddle's lock prefers neither, so that no run deadlocks. A run shows the mistake if a thread acquires a
//! read lock while it holds one, and a write lock of another thread is ordered neither before the first nor after the
//! second, except through this lock.

use raddle_core::{Action, EventId, ObjectId, ObjectKind, Op, RwLockOp, Site, ThreadId, Trace};
use raddle_engine::causality::Clock;
use raddle_results::Finding;

use crate::Reads;
use crate::races::Detector;
use raddle_core::locks::{Change, Holdings, Mode, change};

/// Returns the first second read of a lock that a writer may come before, if a run has one.
pub fn read_twice(trace: &Trace) -> Option<Finding> {
    if !trace.objects.iter().any(|object| object.kind == ObjectKind::RwLock) {
        return None;
    }
    let nested = nested_reads(trace);
    let mut locks: Vec<ObjectId> = nested.iter().map(|nested| nested.lock).collect();
    locks.dedup();
    for lock in locks {
        let is_written = |op: &Op| op.object() == lock && is_write(op);
        if trace.events.iter().any(|event| is_written(&event.op))
            || trace.pending.iter().any(|pending| is_written(&pending.op))
        {
            let found = of_lock(trace, lock, &nested);
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

/// A read lock that is acquired while its thread holds one.
struct Nested {
    lock: ObjectId,
    thread: ThreadId,
    first: (Site, usize),
    second: (Site, usize),
}

fn nested_reads(trace: &Trace) -> Vec<Nested> {
    let mut holdings = Holdings::default();
    // By held lock, the positions of acquisitions, in the order of `holdings`.
    let mut taken: Vec<(ThreadId, ObjectId, usize)> = Vec::new();
    let mut found = Vec::new();
    for (position, event) in trace.events.iter().enumerate() {
        let (thread, lock) = (event.id.thread, event.op.object());
        match change(event) {
            Some(Change::Acquired { mode, blocks }) => {
                let mine =
                    |held: &&raddle_core::locks::Held| held.thread == thread && held.lock == lock;
                let first = holdings.all().iter().find(mine);
                if let (Some(first), true, Mode::Shared) = (first, blocks, mode) {
                    let at = taken.iter().find(|known| (known.0, known.1) == (thread, lock));
                    let at = at.map_or(position, |known| known.2);
                    let second = (event.site, position);
                    found.push(Nested { lock, thread, first: (first.site, at), second });
                }
                taken.push((thread, lock, position));
            }
            Some(Change::Released) => {
                let is_it =
                    |known: &(ThreadId, ObjectId, usize)| (known.0, known.1) == (thread, lock);
                if let Some(place) = taken.iter().rposition(is_it) {
                    taken.remove(place);
                }
            }
            None => {}
        }
        holdings.advance(event);
    }
    found
}

fn is_write(op: &Op) -> bool {
    op.is_rwlock() && op.rwlock() == RwLockOp::Write
}

/// An operation, its thread's time, and what happens before it other than through the lock.
struct Stamped {
    thread: ThreadId,
    site: Site,
    time: u32,
    before: Clock,
}

impl Stamped {
    fn precedes(&self, other: &Stamped) -> bool {
        other.before.of(self.thread) >= self.time
    }
}

fn of_lock(trace: &Trace, lock: ObjectId, nested: &[Nested]) -> Option<Finding> {
    let mut detector = Detector::new(trace);
    let reads = detector.carries_all().then(|| Reads::of(trace));
    let mut readers: Vec<Option<Stamped>> = Vec::with_capacity(trace.events.len());
    let mut writers: Vec<Stamped> = Vec::new();
    for (position, event) in trace.events.iter().enumerate() {
        let EventId { thread, .. } = event.id;
        let is_here = event.op.object() == lock;
        let stamped = is_here.then(|| stamped(&detector, thread, event.site));
        if !is_here {
            match event.op.action() {
                Action::Cell(_) => detector.advance(thread),
                Action::Atomic(op) => {
                    let source = reads.as_ref().and_then(|reads| reads.at(position));
                    detector.atomic(op, event, source.map(|read| read.source));
                }
                _ => detector.observe(event),
            }
            readers.push(None);
            continue;
        }
        detector.advance(thread);
        if is_write(&event.op) {
            writers.extend(stamped);
            readers.push(None);
        } else {
            readers.push(stamped);
        }
    }
    for pending in trace.pending.iter().filter(|pending| pending.op.object() == lock) {
        if is_write(&pending.op) {
            writers.push(stamped(&detector, pending.thread, pending.site));
        }
    }
    for Nested { thread, first, second, .. } in nested.iter().filter(|nested| nested.lock == lock) {
        let (Some(Some(begin)), Some(Some(end))) = (readers.get(first.1), readers.get(second.1))
        else {
            continue;
        };
        let comes_between = |writer: &&Stamped| {
            writer.thread != *thread && !writer.precedes(begin) && !end.precedes(writer)
        };
        if let Some(writer) = writers.iter().find(comes_between) {
            return Some(Finding::ReadTwice {
                thread: *thread,
                object: lock,
                first: first.0,
                second: second.0,
                writer: writer.thread,
                written: writer.site,
            });
        }
    }
    None
}

fn stamped(detector: &Detector, thread: ThreadId, site: Site) -> Stamped {
    let before = detector.clock(thread).clone();
    Stamped { thread, site, time: before.of(thread), before }
}
