//! Litmus tests on an engine.
//!
//! Main declares the variables, spawns the threads and joins them. Loops that await a value are cut off or await as the
//! chooser asks.

use std::collections::BTreeMap;

use raddle_analysis::Reads;
use raddle_core::{
    Action, AtomicOp, Choices, Effect, EventId, ObjectId, Op, Rmw, Scalar, Site, ThreadId,
    ThreadOp, Trace,
};
use raddle_engine::{Engine, Frames, Initial, Kind, Memory, Substrate, Turn};

use super::{Code, Graph, Instruction, Outcome, Place};

/// Runs litmus tests directly on an engine.
#[derive(Debug, Default)]
pub struct Litmus;

/// Runs litmus tests as [`Litmus`] does. In some runs, loops that await a value do not seem to repeat at first.
#[derive(Debug, Default)]
pub struct ForgetfulLitmus {
    runs: u32,
}

impl Substrate for Litmus {
    type Program = Code;

    fn execute<M: Memory>(&mut self, engine: &mut Engine<M>, choices: Choices<'_>, code: &Code) {
        execute(engine, choices, code, 0);
    }
}

impl Substrate for ForgetfulLitmus {
    type Program = Code;

    fn execute<M: Memory>(&mut self, engine: &mut Engine<M>, choices: Choices<'_>, code: &Code) {
        self.runs += 1;
        execute(engine, choices, code, self.runs % 3);
    }
}

/// Runs `code`. A loop seems to repeat after `unseen` rounds.
fn execute<M: Memory>(engine: &mut Engine<M>, choices: Choices<'_>, code: &Code, unseen: u32) {
    engine.begin(&choices);
    let is_await = |instruction: &Instruction| matches!(instruction, Instruction::Await(_));
    if code.threads.iter().flatten().any(is_await) {
        engine.offer_frames(Frames::FromTheBeginning);
    }
    let declare = |variable| {
        let initial = Initial::Atomic(Scalar::U64, 0);
        (variable, engine.declare(ThreadId::MAIN, initial, Site::UNKNOWN))
    };
    let variables = code.variables().into_iter().map(declare).collect();
    let threads = vec![Thread::default(); code.threads.len() + 1];
    let mut run = Run { engine, choices, code, variables, threads, unseen };
    let mut next = Some(run.announce(ThreadId::MAIN));
    while let Some(thread) = next.and_then(Turn::thread) {
        next = run.turn(thread);
    }
}

struct Run<'a, 'c, M: Memory> {
    engine: &'a mut Engine<M>,
    choices: Choices<'c>,
    code: &'a Code,
    variables: BTreeMap<char, ObjectId>,
    /// By [`ThreadId`]; main first.
    threads: Vec<Thread>,
    /// The rounds of a loop that do not seem to repeat.
    unseen: u32,
}

#[derive(Clone, Default)]
struct Thread {
    /// The number of processed instructions; for main, of spawns and joins.
    at: usize,
    /// The value read last.
    read: u64,
    announced: Option<Op>,
    /// By place in the code: how often it was reached.
    visits: BTreeMap<usize, u32>,
}

impl<M: Memory> Run<'_, '_, M> {
    fn announce(&mut self, thread: ThreadId) -> Turn {
        let op = if thread == ThreadId::MAIN { self.main_op() } else { self.thread_op(thread) };
        let state = &mut self.threads[thread.index()];
        state.announced = Some(op);
        if self.engine.takes_frames() {
            // The value read last is tested only right after it was read.
            // The end of a thread is another place than its last operation.
            let place = 2 * state.at + usize::from(op.is_thread());
            let visits = state.visits.entry(place).or_default();
            *visits += 1;
            let round = u64::from((*visits).min(self.unseen + 1));
            self.engine.arrive(thread, (place as u64) << 32 | round);
        }
        self.engine.submit(Kind::Any, thread, &op, Site::UNKNOWN, &mut self.choices)
    }

    fn main_op(&mut self) -> Op {
        let (at, count) = (self.threads[0].at, self.code.threads.len());
        self.threads[0].at += 1;
        if at < count {
            let (_, life) = self.engine.declare_child(ThreadId::MAIN, Site::UNKNOWN);
            return Op::new(life, Action::Thread(ThreadOp::Spawn));
        }
        let (of, op) = match at - count {
            joined if joined < count => (ThreadId(joined as u32 + 1), ThreadOp::Join),
            _ => (ThreadId::MAIN, ThreadOp::Exit),
        };
        Op::new(self.engine.life(of), Action::Thread(op))
    }

    fn thread_op(&mut self, thread: ThreadId) -> Op {
        let state = &mut self.threads[thread.index()];
        let text = &self.code.threads[thread.index() - 1];
        loop {
            state.at = match text.get(state.at) {
                Some(Instruction::Require(value)) if *value != state.read => text.len(),
                Some(Instruction::Await(value)) if *value != state.read => state.at - 1,
                Some(Instruction::Require(_) | Instruction::Await(_)) => state.at + 1,
                Some(_) | None => break,
            };
        }
        let Some(&instruction) = text.get(state.at) else {
            return Op::new(self.engine.life(thread), Action::Thread(ThreadOp::Exit));
        };
        state.at += 1;
        let (variable, op) = match instruction {
            Instruction::Store(variable, value, order) => {
                (variable, AtomicOp::Store { order, value: value.unwrap_or(state.read) })
            }
            Instruction::Load(variable, order) => (variable, AtomicOp::Load { order }),
            Instruction::Add(variable, operand, order) => {
                let function = Rmw::Add;
                (variable, AtomicOp::Update { order, scalar: Scalar::U64, function, operand })
            }
            Instruction::Swap(variable, operand, order) => {
                let function = Rmw::Swap;
                (variable, AtomicOp::Update { order, scalar: Scalar::U64, function, operand })
            }
            Instruction::Exchange(variable, expected, new, success, failure) => {
                let weak = false;
                (variable, AtomicOp::CompareExchange { success, failure, weak, expected, new })
            }
            Instruction::Fence(order) => return Op::new(ObjectId::NONE, Action::Fence(order)),
            Instruction::Require(_) | Instruction::Await(_) => {
                unreachable!("tests were processed above")
            }
        };
        Op::new(self.variables[&variable], Action::Atomic(op))
    }

    fn turn(&mut self, thread: ThreadId) -> Option<Turn> {
        let op =
            self.threads[thread.index()].announced.expect("the thread has announced an operation");
        match op.action() {
            Action::Thread(ThreadOp::Spawn) => {
                let child = self.engine.start(thread, op.object(), Site::UNKNOWN);
                self.announce(child);
            }
            Action::Thread(ThreadOp::Exit) => {
                return Some(self.engine.exit(thread, &mut self.choices));
            }
            _ => {
                let kind = Kind::Any;
                let effect =
                    self.engine.perform(kind, thread, &op, Site::UNKNOWN, &mut self.choices)?;
                if let Effect::Value(value) | Effect::Exchanged(value) | Effect::Kept(value) =
                    effect
                {
                    self.threads[thread.index()].read = value;
                }
            }
        }
        Some(self.announce(thread))
    }
}

/// Returns the execution graph and the outcome of a run of `code`.
pub fn graph_of(code: &Code, trace: &Trace) -> (Graph, Outcome) {
    let place = |id: EventId| -> Place { (id.thread.index() - 1, id.index as usize) };
    let reads = Reads::of(trace);
    let mut graph = Graph::default();
    let mut values: BTreeMap<Place, u64> = BTreeMap::new();
    let mut written: BTreeMap<EventId, u64> = BTreeMap::new();
    for (position, event) in trace.events.iter().enumerate() {
        let Action::Atomic(_) = event.op.action() else { continue };
        if let Some(read) = reads.at(position) {
            let source = (read.source != EventId::INITIAL).then(|| place(read.source));
            graph.reads.insert(place(event.id), source);
            let value = written.get(&read.source).copied().unwrap_or(0);
            values.insert(place(event.id), value);
            if let (Some(new), _) = event.op.apply_to_atomic(value) {
                written.insert(event.id, new);
            }
        } else if let (Some(new), _) = event.op.apply_to_atomic(0) {
            written.insert(event.id, new);
        }
    }
    // Main declares the variables first, in alphabetical order.
    let mut outcome = Outcome::default();
    for (at, variable) in code.variables().into_iter().enumerate() {
        let order = &reads.orders()[at + 1];
        let last = order.last().map_or(0, |store| written[store]);
        outcome.last.insert(variable, last);
        graph.orders.push(order.iter().map(|&store| place(store)).collect());
    }
    for (thread, text) in code.threads.iter().enumerate() {
        let real = text.iter().filter(|instruction| instruction.is_operation());
        for (at, instruction) in real.enumerate() {
            if instruction.reads() {
                outcome.read.push(values.get(&(thread, at)).copied());
            }
        }
    }
    (graph, outcome)
}
