//! Readers of reader-writer locks.
//!
//! Readers that come and leave commute with each other: each *shares* the state that the update before left. A writer reads
//! all readers between that update and itself, so they lead to it. When a writer is added, each group of readers that
//! leaves the lock free may come before it. The first of the others to have been added is revisited.
//!
//! If two readers come before a writer that was added first, either could revisit it. The one with the smaller thread does,
//! unless the other one leads to it. So while a writer waits for a reader, readers with smaller threads come after the
//! writer, or revisit it in its first place.
//!
//! An *attempt* to write-lock a lock is never blocked, and has no wait. It reads the readers of one thread after those of
//! another, smaller threads first, as if each thread had a variable of its own for its steps as a reader. A reader that
//! comes or leaves after the attempt was added revisits the attempt: the attempt then reads this step, and some of the
//! steps of smaller threads. Its reads of larger threads are deleted with what was added after them, and are added again
//! ([`Part::Readers`](super::graph::Part)). An attempt that fails does not write: other attempts and readers may start
//! from the same state.
//!
//! Not covered: an attempt beside several threads that read the lock. An attempt that reads one reader again may find that
//! all readers that it has read have left, while others that have come were left out. Such an attempt cannot be run,
//! although a later reader might revisit it. The search begins anew as [`Graphs`](crate::Graphs).

use super::graph::{Graph, NodeId};

/// The state from which an update or share starts.
#[derive(Copy, Clone, Debug)]
pub(super) struct State<'a> {
    /// The number of updates.
    pub(super) updates: usize,
    /// The shares after the last of these updates that come before.
    pub(super) shares: &'a [NodeId],
}

/// Returns the groups of steps of readers that may come before a writer. Each has the steps that `is_needed` says, and the
/// steps of a thread before another one of the thread. `shares` are in the order in which they were performed.
pub(super) fn groups_before(
    graph: &Graph,
    shares: impl Iterator<Item = NodeId>,
    is_needed: impl Fn(NodeId) -> bool,
) -> Vec<Vec<NodeId>> {
    let threads = by_thread(graph, shares);
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
        groups.push(group);
        // Advances to the next combination, like the digits of a number.
        let is_less = |&thread: &usize| counts[thread] < threads[thread].len();
        let Some(thread) = (0..counts.len()).find(is_less) else { return groups };
        counts[..thread].copy_from_slice(&least[..thread]);
        counts[thread] += 1;
    }
}

fn by_thread(graph: &Graph, shares: impl Iterator<Item = NodeId>) -> Vec<Vec<NodeId>> {
    let mut threads: Vec<Vec<NodeId>> = Vec::new();
    for share in shares {
        let thread = |node: NodeId| graph.nodes[node].id.thread;
        match threads.iter_mut().find(|steps| thread(steps[0]) == thread(share)) {
            Some(steps) => steps.push(share),
            None => threads.push(vec![share]),
        }
    }
    threads
}
