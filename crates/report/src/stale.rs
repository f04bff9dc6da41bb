//! Why loads could read what is out of date.
//!
//! A load may read any store that no newer one makes invisible. A newer store does if it happens before
//! the load, so that it takes synchronisation to rule an old value out: a releasing store or fence behind
//! the newer store, and an acquiring load or fence of what it stored before this load. Where a thread has
//! read something that the other stored after the newer store, that synchronisation was missed, and it is
//! said by what.

use raddle_analysis::Reads;
use raddle_core::{Action, AtomicOp, Effect, Event, MemoryModel, Order, Trace};
use raddle_results::Report;

/// The most stale reads explained.
const MOST: usize = 10;

/// A paragraph on each stale read of the run, and what the memory model leaves out. Empty if no weak
/// memory is involved.
pub(crate) fn explanation(report: &Report, trace: &Trace) -> String {
    if report.memory == MemoryModel::Sc {
        return String::new();
    }
    let reads = Reads::of(trace);
    let stale: Vec<usize> = (0..trace.events.len())
        .filter(|&step| reads.at(step).is_some_and(|read| read.newer > 0))
        .collect();
    let mut text = String::new();
    for &step in stale.iter().take(MOST) {
        text += &format!("  {}\n", sentence(trace, &reads, step));
    }
    if stale.len() > MOST {
        text += &format!("  … and {} more stale reads\n", stale.len() - MOST);
    }
    text + "  Memory model RC11: load buffering was not explored.\n"
}

fn sentence(trace: &Trace, reads: &Reads, step: usize) -> String {
    let Some(read) = reads.at(step) else { return String::new() };
    let position = |id| trace.events.iter().position(|event| event.id == id);
    let what = match position(read.source) {
        Some(source) => format!("what step {} stored", source + 1),
        None => "the initial value".to_owned(),
    };
    let newest = position(read.newest).unwrap_or(0);
    let begin = format!("Step {} read {what}, although step {} is newer: ", step + 1, newest + 1);
    match missed_chance(trace, reads, step, newest) {
        None => format!("{begin}nothing makes step {} happen before it.", newest + 1),
        Some(Chance { read, from, weak }) => {
            let (read, from) = (read + 1, from + 1);
            let why = match weak {
                Weak::Load => format!("step {read} does not acquire"),
                Weak::Store => format!("step {from} does not release"),
                Weak::Both => {
                    format!("step {from} does not release and step {read} does not acquire")
                }
            };
            format!("{begin}step {read} read what step {from} stored, but {why}.")
        }
    }
}

/// A read that would have synchronised with what came after the newer store.
struct Chance {
    read: usize,
    from: usize,
    weak: Weak,
}

/// What kept it from synchronising.
enum Weak {
    Load,
    Store,
    Both,
}

/// The last read before `step`, by the same thread, of something that the thread of `newest` stored after
/// `newest` or by it.
fn missed_chance(trace: &Trace, reads: &Reads, step: usize, newest: usize) -> Option<Chance> {
    let (reader, writer) = (trace.events[step].id.thread, trace.events[newest].id);
    (0..step).rev().find_map(|read| {
        let event = &trace.events[read];
        let source = reads.at(read)?.source;
        if event.id.thread != reader
            || source.thread != writer.thread
            || source.index < writer.index
        {
            return None;
        }
        let from = trace.events.iter().position(|event| event.id == source)?;
        let fenced = |range: std::ops::Range<usize>, thread, does: fn(Order) -> bool| {
            trace.events[range].iter().any(|event| {
                event.id.thread == thread
                    && matches!(event.op.action(), Action::Fence(order) if does(order))
            })
        };
        let releases = order(&trace.events[from])?.releases()
            || fenced(newest..from, writer.thread, Order::releases);
        let acquires = order(event)?.acquires() || fenced(read..step, reader, Order::acquires);
        let weak = match (releases, acquires) {
            (false, false) => Weak::Both,
            (false, true) => Weak::Store,
            (true, false) => Weak::Load,
            (true, true) => return None,
        };
        Some(Chance { read, from, weak })
    })
}

/// The memory ordering with which an access took effect.
fn order(event: &Event) -> Option<Order> {
    let Action::Atomic(op) = event.op.action() else { return None };
    Some(match op {
        AtomicOp::Load { order }
        | AtomicOp::Store { order, .. }
        | AtomicOp::Update { order, .. } => order,
        AtomicOp::CompareExchange { success, failure, .. } => match event.effect {
            Effect::Exchanged(_) => success,
            _ => failure,
        },
    })
}
