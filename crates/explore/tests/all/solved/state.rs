//! The state at the end of a run: the effects of all operations, the values of variables, and the ending.

use std::collections::BTreeMap;

use raddle_core::{Effect, Ending, ObjectId, ThreadId, ThreadOp, Trace};

/// The state at the end of a run, with names that are the same in every search.
pub(crate) type State = (Vec<((Vec<u32>, u32), String)>, Vec<u64>, String);

/// The state at the end of a run, without the effects of operations.
pub(crate) type FinalState = (Vec<u64>, String);

pub(crate) fn state(trace: &Trace) -> State {
    let paths = paths(trace);
    let mut effects: Vec<_> = trace
        .events
        .iter()
        .map(|event| {
            let is_spawn = event.op.is_thread() && event.op.thread() == ThreadOp::Spawn;
            // The id of the new thread depends on the order of spawns.
            let effect = if is_spawn { Effect::None } else { event.effect };
            ((paths[&event.id.thread].clone(), event.id.index), format!("{effect:?}"))
        })
        .collect();
    effects.sort();
    let (values, ending) = final_state(trace);
    (effects, values, ending)
}

pub(crate) fn final_state(trace: &Trace) -> FinalState {
    let mut last = BTreeMap::new();
    for event in &trace.events {
        if event.op.object() != ObjectId::NONE && event.op.is_atomic() {
            let name = trace.objects[event.op.object().index()].identity;
            let value =
                last.entry(name).or_insert(trace.objects[event.op.object().index()].initial);
            *value = event.op.apply_to_atomic(*value).0.unwrap_or(*value);
        }
    }
    let ending = match trace.ending {
        Ending::Finished => "finished",
        Ending::Deadlock => "deadlock",
        Ending::Panicked(_) => "panicked",
        Ending::Stopped => "stopped",
        Ending::StepLimit => "step limit",
        Ending::TimeLimit => "time limit",
        Ending::Abandoned => "abandoned",
        Ending::Diverged(_) => "diverged",
    };
    (last.into_iter().flat_map(|(name, value)| [name, value]).collect(), ending.to_owned())
}

fn paths(trace: &Trace) -> BTreeMap<ThreadId, Vec<u32>> {
    let mut paths = BTreeMap::from([(ThreadId::MAIN, Vec::new())]);
    for thread in &trace.threads[1..] {
        let mut path = paths[&thread.parent].clone();
        path.push(thread.position);
        paths.insert(thread.id, path);
    }
    paths
}
