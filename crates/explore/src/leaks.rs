//! What a run that ended well leaves behind: threads that wait for ever, and locks that nobody will give
//! back.

use raddle_core::{Action, Ending, Leak, ObjectKind, ThreadOp, Trace};

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
    })?;
    Some(Leak::Lock { thread: held.thread, object: held.lock, site: held.site })
}
