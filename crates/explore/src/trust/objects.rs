//! The states of the objects of a run that are no variables.

use raddle_core::{Access, ObjectInfo, ObjectKind, Op, ThreadId, Trace};
use raddle_engine::Object;
use raddle_engine::objects::Life;

/// The states of all objects, which follow from their updates.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// By object: its states, the first before all updates.
    states: Vec<Vec<Object>>,
}

impl Objects {
    pub(super) fn clear(&mut self, trace: &Trace) {
        self.states.truncate(trace.objects.len());
        self.states.resize_with(trace.objects.len(), Vec::new);
        for (states, object) in self.states.iter_mut().zip(&trace.objects) {
            states.clear();
            states.push(initial(object));
        }
    }

    /// Adds an update of an object.
    pub(super) fn update(&mut self, object: usize, op: Op, by: ThreadId) {
        let states = &mut self.states[object];
        let mut state = states[states.len() - 1].clone();
        state.apply(op, by);
        states.push(state);
    }

    /// Returns how `by` accesses an object by `op` after `updates` updates. Returns `None` if the operation is disabled.
    pub(super) fn access(
        &self,
        object: usize,
        updates: usize,
        op: Op,
        by: ThreadId,
    ) -> Option<Access> {
        let state = &self.states[object][updates];
        state.enabled(op, by).then(|| op.access_with(state.clone().apply(op, by)))
    }

    /// Returns whether `op` by `by` is enabled after `updates` updates and then `first`.
    pub(super) fn is_enabled_after(
        &self,
        object: usize,
        updates: usize,
        first: (Op, ThreadId),
        (op, by): (Op, ThreadId),
    ) -> bool {
        let mut state = self.states[object][updates].clone();
        state.apply(first.0, first.1);
        state.enabled(op, by)
    }
}

/// Returns the state of an object before its operations that are ordered. Spawns are not.
fn initial(object: &ObjectInfo) -> Object {
    match object.kind {
        ObjectKind::Thread(_) => Object::Life(Life::Running),
        ObjectKind::Atomic(_)
        | ObjectKind::Cell
        | ObjectKind::Mutex
        | ObjectKind::RwLock
        | ObjectKind::Condvar
        | ObjectKind::Barrier
        | ObjectKind::Once
        | ObjectKind::Parker(_)
        | ObjectKind::Channel
        | ObjectKind::Semaphore
        | ObjectKind::Notify => Object::from(object),
    }
}
