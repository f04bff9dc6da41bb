//! Counts the local states that a search visits: different causal pasts of single events.
//!
//! What a thread knows after an event follows from what happened before the event, causally. The past
//! of an event is hashed from the past of the thread's event before it, and from those of the events
//! on the same object that it depends on: the last Update, and for an Update the Reads since. Threads
//! go by their spawn paths, so that the states of different searches can be compared.
//!
//! Traces are seen from below the search: [`Watched`] is a substrate that runs the program on another
//! and looks at the trace after every run. So any strategy can be watched, by its word.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use raddle_core::{Access, Action, Choices, Effect, Event, ObjectId, ObjectKind, ThreadOp, Trace};
use raddle_engine::{Engine, Memory, Substrate};

/// A substrate that looks at every trace.
pub(super) struct Watched<S> {
    pub(super) substrate: S,
    pub(super) states: LocalStates,
}

impl<S: Substrate> Substrate for Watched<S> {
    type Program = S::Program;

    fn execute<M: Memory>(
        &mut self,
        engine: &mut Engine<M>,
        choices: Choices<'_>,
        program: &S::Program,
    ) {
        self.substrate.execute(engine, choices, program);
        self.states.add(engine.trace());
    }
}

/// The local states visited so far.
#[derive(Default)]
pub(super) struct LocalStates {
    visited: HashSet<u64, BuildHasherDefault<AsIs>>,
    /// By thread: the past of its last event. Kept between runs for its memory.
    threads: Vec<u64>,
    /// By object.
    objects: Vec<History>,
}

/// A set of local states, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Coverage {
    pub(super) count: u64,
    /// The sum of the states' hashes: equal for equal sets.
    pub(super) fingerprint: u64,
}

/// What has happened to an object.
#[derive(Clone, Copy, Default)]
struct History {
    update: u64,
    /// The sum over the Reads since, whose order does not matter.
    reads: u64,
    /// The sum over the Shares since.
    shares: u64,
}

impl LocalStates {
    pub(super) fn coverage(&self) -> Coverage {
        let fingerprint = self.visited.iter().fold(0u64, |sum, state| sum.wrapping_add(*state));
        Coverage { count: self.visited.len() as u64, fingerprint }
    }

    /// Enters the local states of a run.
    fn add(&mut self, trace: &Trace) {
        self.objects.clear();
        self.objects.resize(trace.objects.len(), History::default());
        self.threads.clear();
        for thread in &trace.threads {
            let index = thread.id.index();
            if self.threads.len() <= index {
                self.threads.resize(index + 1, 0);
            }
            // Parents stand before their children.
            let parent = self.threads[thread.parent.index()];
            self.threads[index] = mix(parent, u64::from(thread.position) + 1);
        }
        for event in &trace.events {
            let past = self.past(event);
            self.visited.insert(past);
            self.threads[event.id.thread.index()] = past;
            if let Action::Thread(ThreadOp::Spawn) = event.op.action() {
                let child = trace.objects[event.op.object().index()].kind;
                if let ObjectKind::Thread(child) = child {
                    let path = self.threads[child.index()];
                    self.threads[child.index()] = mix(path, past);
                }
            }
        }
    }

    /// The past of an event, itself included; also enters it into the object's history.
    fn past(&mut self, event: &Event) -> u64 {
        let before = self.threads[event.id.thread.index()];
        if event.op.object() == ObjectId::NONE {
            let chosen = match event.effect {
                Effect::Value(value) => value + 1,
                _ => 0,
            };
            return mix(before, chosen);
        }
        let history = &mut self.objects[event.op.object().index()];
        match event.access() {
            Access::Read => {
                let past = mix(before, mix(history.update, history.shares));
                history.reads = history.reads.wrapping_add(past);
                past
            }
            Access::Share => {
                let past = mix(before, mix(history.update, history.reads));
                history.shares = history.shares.wrapping_add(past);
                past
            }
            Access::Update => {
                let others = history.reads.wrapping_add(history.shares);
                let past = mix(before, mix(history.update, others));
                *history = History { update: past, reads: 0, shares: 0 };
                past
            }
        }
    }
}

/// A hash of two words, in order.
fn mix(first: u64, second: u64) -> u64 {
    let word = first.rotate_left(25) ^ second.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_add(0x8bb8_4b93_962e_acc9);
    let word = word.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// States are hashes already.
#[derive(Clone, Copy, Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("only whole words are hashed");
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}
