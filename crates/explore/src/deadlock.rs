//! Who waits for whom, read off the trace of a run in which nobody can go on.

use raddle_core::{ObjectId, ObjectKind, Pending, Site, ThreadId, Trace};
use raddle_results::Wait;

use crate::locks::Holdings;

/// The threads that cannot go on at the end of `trace`, and who holds what they wait for.
pub fn waits(trace: &Trace) -> Vec<Wait> {
    let mut waits: Vec<Wait> = trace
        .pending
        .iter()
        .filter(|pending| !pending.enabled)
        .map(|pending| Wait {
            thread: pending.thread,
            object: pending.op.object(),
            site: pending.site,
            holders: holders(trace, pending),
            in_cycle: false,
        })
        .collect();
    let reached: Vec<bool> =
        waits.iter().map(|wait| reaches(&waits, wait.thread, wait.thread)).collect();
    for (wait, in_cycle) in waits.iter_mut().zip(reached) {
        wait.in_cycle = in_cycle;
    }
    waits
}

/// Whether following holders from `from` leads to `to`.
fn reaches(waits: &[Wait], from: ThreadId, to: ThreadId) -> bool {
    let mut seen = Vec::new();
    let mut open = vec![from];
    while let Some(thread) = open.pop() {
        let holders = waits.iter().filter(|wait| wait.thread == thread).flat_map(|w| &w.holders);
        for &(holder, _) in holders {
            if holder == to {
                return true;
            }
            if !seen.contains(&holder) {
                seen.push(holder);
                open.push(holder);
            }
        }
    }
    false
}

/// Who keeps a pending operation from going on.
fn holders(trace: &Trace, pending: &Pending) -> Vec<(ThreadId, Site)> {
    let object = pending.op.object();
    match trace.objects[object.index()].kind {
        ObjectKind::Mutex | ObjectKind::RwLock => lock_holders(trace, object),
        // The thread that is joined keeps the joiner waiting.
        ObjectKind::Thread(thread) => vec![(thread, Site::UNKNOWN)],
        ObjectKind::Atomic(_)
        | ObjectKind::Cell
        | ObjectKind::Condvar
        | ObjectKind::Barrier
        | ObjectKind::Once
        | ObjectKind::Parker(_)
        | ObjectKind::Channel => Vec::new(),
    }
}

fn lock_holders(trace: &Trace, object: ObjectId) -> Vec<(ThreadId, Site)> {
    let holdings = Holdings::after(trace);
    let holders = holdings.all().iter().filter(|held| held.lock == object);
    holders.map(|held| (held.thread, held.site)).collect()
}
