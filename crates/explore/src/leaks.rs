//! What a run that ended well leaves behind: threads that wait for ever, locks that nobody will give back,
//! and memory that nobody will free.

use raddle_core::{Action, Ending, ObjectKind, ThreadOp, Trace};
use raddle_results::Leak;

use crate::locks::Holdings;

/// The first thing that a run leaves behind, if any.
pub fn leak(trace: &Trace) -> Option<Leak> {
    if trace.ending != Ending::Finished {
        return None;
    }
    if let Some(pending) = trace.pending.first() {
        let (thread, object) = (pending.thread, pending.op.object());
        return Some(Leak::Thread { thread, object, site: pending.site });
    }
    let kept = Holdings::after(trace);
    // A thread that has ended cannot give a lock back.
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
