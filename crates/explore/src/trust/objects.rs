//! The states of the objects of a run that are no variables.

use raddle_core::{Access, ObjectInfo, ObjectKind, Op, ThreadId, Trace};
use raddle_engine::Object;
use raddle_engine::objects::Life;

use super::graph::{Graph, clear_lists};
use super::readers::State;

/// A run and its graph.
#[derive(Copy, Clone, Debug)]
pub(super) struct Run<'a> {
    pub(super) trace: &'a Trace,
    pub(super) graph: &'a Graph,
}

/// The states of objects, which follow from their updates. They are computed when they are asked for.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// By object: its first states, beginning before all updates.
    states: Vec<Vec<Object>>,
}

impl Objects {
    pub(super) fn clear(&mut self, trace: &Trace) {
        clear_lists(&mut self.states, trace.objects.len());
    }

    /// Returns how `by` accesses an object by `op` in a state. Returns `None` if the operation is disabled.
    pub(super) fn access(
        &mut self,
        run: Run<'_>,
        object: usize,
        state: State<'_>,
        (op, by): (Op, ThreadId),
    ) -> Option<Access> {
        let mut state = self.shared(run, object, state);
        state.enabled(op, by).then(|| op.access_with(state.apply(op, by)))
    }

    /// Returns whether an operation is enabled in a state after `first`.
    pub(super) fn is_enabled_after(
        &mut self,
        run: Run<'_>,
        object: usize,
        state: State<'_>,
        first: (Op, ThreadId),
        (op, by): (Op, ThreadId),
    ) -> bool {
        let mut state = self.shared(run, object, state);
        state.apply(first.0, first.1);
        state.enabled(op, by)
    }

    fn shared(&mut self, run: Run<'_>, object: usize, state: State<'_>) -> Object {
        let mut shared = self.state(run, object, state.updates).clone();
        for &share in state.shares {
            let share = &run.graph.nodes[share];
            shared.apply(share.op, share.id.thread);
        }
        shared
    }

    fn state(&mut self, run: Run<'_>, object: usize, updates: usize) -> &Object {
        let states = &mut self.states[object];
        if states.is_empty() {
            states.push(initial(&run.trace.objects[object]));
        }
        while states.len() <= updates {
            let update = &run.graph.nodes[run.graph.order(object)[states.len() - 1]];
            let mut state = states[states.len() - 1].clone();
            state.apply(update.op, update.id.thread);
            states.push(state);
        }
        &states[updates]
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
