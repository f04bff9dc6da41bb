//! Readers of reader-writer locks.
//!
//! Readers that come and leave commute with each other: each *shares* the state that the update before left. A writer reads
//! all readers between that update and itself, so they lead to it. When a writer is added, each group of readers that
//! leaves the lock free may come before it. The first of the others to have been added is revisited.
//!
//! If two readers come before a writer that was added first, either could revisit it. The one with the smaller thread does,
//! unless the other one leads to it. So while a writer waits for a reader, readers with smaller threads come after the
//! writer, or revisit it in its first place.

use raddle_core::{Action, Op, RwLockOp};

use super::additions::Additions;
use super::graph::{Graph, Node, NodeId};
use super::objects::{Objects, Run};

/// Returns whether an operation lets a reader in, in some state.
pub(super) fn comes(op: &Op) -> bool {
    match op.action() {
        Action::RwLock(op) => match op {
            RwLockOp::Read | RwLockOp::TryRead => true,
            RwLockOp::Write | RwLockOp::TryWrite | RwLockOp::UnlockRead | RwLockOp::UnlockWrite => {
                false
            }
        },
        Action::Thread(_)
        | Action::Atomic(_)
        | Action::Cell(_)
        | Action::Mutex(_)
        | Action::Condvar(_)
        | Action::Barrier(_)
        | Action::Once(_)
        | Action::Park(_)
        | Action::Channel(_)
        | Action::Semaphore(_)
        | Action::Futex(_)
        | Action::Fence(_)
        | Action::Pause(_)
        | Action::Choose { .. } => false,
    }
}

/// The state from which an update or share starts.
#[derive(Copy, Clone, Debug)]
pub(super) struct State<'a> {
    /// The number of updates.
    pub(super) updates: usize,
    /// The shares after the last of these updates that come before.
    pub(super) shares: &'a [NodeId],
}

/// Returns the groups of the readers after `updates` updates that can come before the writer `node`. Each has the readers
/// that `is_needed` says.
pub(super) fn groups_before(
    run: Run<'_>,
    objects: &mut Objects,
    additions: &Additions,
    node: &Node,
    updates: usize,
    is_needed: impl Fn(NodeId) -> bool,
) -> Vec<Vec<NodeId>> {
    let threads = readers_by_thread(run.graph, additions, node.object, updates);
    // By thread: how many of its steps are in the group.
    let least: Vec<usize> = threads
        .iter()
        .map(|steps| steps.iter().rposition(|&step| is_needed(step)).map_or(0, |last| last + 1))
        .collect();
    let mut counts = least.clone();
    let mut groups = Vec::new();
    loop {
        let taken = threads.iter().zip(&counts).flat_map(|(steps, &count)| &steps[..count]);
        let mut group: Vec<NodeId> = taken.copied().collect();
        group.sort_unstable();
        let state = State { updates, shares: &group };
        if objects.is_enabled(run, node.object, state, (node.op, node.id.thread)) {
            groups.push(group);
        }
        // Advances to the next combination, like the digits of a number.
        let is_less = |&thread: &usize| counts[thread] < threads[thread].len();
        let Some(thread) = (0..counts.len()).find(is_less) else { return groups };
        counts[..thread].copy_from_slice(&least[..thread]);
        counts[thread] += 1;
    }
}

/// Returns the added steps of readers after `updates` updates, thread by thread.
fn readers_by_thread(
    graph: &Graph,
    additions: &Additions,
    object: usize,
    updates: usize,
) -> Vec<Vec<NodeId>> {
    let source = graph.update(object, updates);
    let mut threads: Vec<Vec<NodeId>> = Vec::new();
    for &share in graph.shares(object) {
        let node = &graph.nodes[share];
        if node.source != Some(source) || additions.place_of_read(share).is_none() {
            continue;
        }
        let is_of_thread =
            |steps: &&mut Vec<NodeId>| graph.nodes[steps[0]].id.thread == node.id.thread;
        match threads.iter_mut().find(is_of_thread) {
            Some(steps) => steps.push(share),
            None => threads.push(vec![share]),
        }
    }
    threads
}
