//! Leaks: blocked threads, held locks and unfreed memory that a finished run leaves behind.

use raddle_core::{Action, Ending, ObjectKind, ThreadOp, Trace};
use raddle_results::Leak;

use raddle_core::locks::Holdings;

/// Returns the first leak of a run. Returns `None` if it has none or did not finish.
pub fn leak(trace: &Trace) -> Option<Leak> {
    if trace.ending != Ending::Finished {
        return None;
    }
    if let Some(pending) = trace.pending.first() {
        let (thread, object) = (pending.thread, pending.op.object());
        return Some(Leak::Thread { thread, object, site: pending.site });
    }
    let kept = Holdings::after(trace);
    // A thread that has ended cannot release a lock.
    let held = kept.all().iter().find(|held| {
        trace.events.iter().any(|event| {
            let ends = event.op.action() == Action::Thread(ThreadOp::Exit);
            ends && trace.objects[event.op.object().index()].kind == ObjectKind::Thread(held.thread)
        })
    });
    if let Some(held) = held {
        return Some(Leak::Lock { thread: held.thread, object: held.lock, site: held.site });
    }
    let first = trace.unfreed.iter().min_by_key(|creation| creation.object.0)?;
    let site = trace.objects[first.object.index()].site;
    Some(Leak::Memory { thread: first.thread, object: first.object, site, bytes: first.bytes })
}
