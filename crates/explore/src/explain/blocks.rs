//! A schedule as blocks: steps of one thread without a step of another in between.

use std::collections::HashMap;

use raddle_core::{Choice, Effect, EventId, ThreadId, Trace};

/// Steps of one thread, one after the other.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Block {
    pub(super) thread: ThreadId,
    pub(super) steps: u32,
}

/// What a run chose besides threads, where it did not take the newest store or zero.
pub(super) type Answers = HashMap<EventId, Choice>;

/// Returns the blocks of a run.
pub(super) fn blocks_of(trace: &Trace) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for event in &trace.events {
        match blocks.last_mut() {
            Some(last) if last.thread == event.id.thread => last.steps += 1,
            _ => blocks.push(Block { thread: event.id.thread, steps: 1 }),
        }
    }
    blocks
}

/// Returns the unusual choices of a run.
pub(super) fn answers_of(trace: &Trace) -> Answers {
    let stores = trace.sources.iter().map(|&(position, store)| {
        let event = &trace.events[position];
        let reads = event.op.reads_atomic();
        (event.id, if reads { Choice::Source(store) } else { Choice::Place(store) })
    });
    let numbers = trace.events.iter().filter_map(|event| match event.effect {
        Effect::Value(value) if event.op.is_choose() && value > 0 => {
            Some((event.id, Choice::Value(value as u32)))
        }
        _ => None,
    });
    stores.chain(numbers).collect()
}
