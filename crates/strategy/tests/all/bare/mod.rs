//! Programs without the spawns and exits of real programs, so that probabilities are those of the papers.

use raddle_core::{
    Access, Action, AtomicOp, ChannelOp, Chooser, Effect, Event, EventId, ObjectId, ObjectInfo,
    ObjectKind, Op, Order, PauseOp, Pending, Pick, Point, Scalar, Site, ThreadId, ThreadInfo,
    Threads, Trace,
};

/// A step of a thread.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Do {
    /// Reads an object.
    Read(u32),
    /// Writes an object.
    Write(u32),
    /// Adds a token.
    Signal(u32),
    /// Takes a token; blocks until there is one.
    Wait(u32),
    /// Yields.
    Yield,
}

/// A program: the steps of each thread.
pub(crate) type Bare = Vec<Vec<Do>>;

/// Which thread runs at each step.
pub(crate) type Steps = Vec<usize>;

/// Runs `program` once under `chooser` and returns the order of the threads. Leaves the events in `past`.
pub(crate) fn run(program: &Bare, chooser: &mut impl Chooser, past: &mut Vec<Event>) -> Steps {
    let mut done = vec![0; program.len()];
    let mut tokens = [0i32; 16];
    let mut order = Vec::new();
    let mut enabled: Vec<ThreadId> = Vec::new();
    let mut pending: Vec<Pending> = Vec::new();
    let mut before: Vec<Option<(usize, bool)>> = vec![None; program.len()];
    past.clear();
    loop {
        enabled.clear();
        pending.clear();
        let mut changed = Vec::new();
        for (thread, script) in program.iter().enumerate() {
            let id = ThreadId(thread as u32);
            let next = script.get(done[thread]);
            let can = match next {
                None => false,
                Some(Do::Wait(object)) => tokens[*object as usize] > 0,
                Some(_) => true,
            };
            let op = op(next.copied().unwrap_or(Do::Yield));
            pending.push(Pending { thread: id, op, site: Site::UNKNOWN, enabled: can });
            if can {
                enabled.push(id);
            }
            if before[thread].replace((done[thread], can)) != Some((done[thread], can)) {
                changed.push(id);
            }
        }
        if enabled.is_empty() {
            return order;
        }
        // Choosers must not depend on the order of enabled threads.
        let turn = order.len() % enabled.len();
        enabled.rotate_left(turn);
        let threads = Threads { pending: &pending, enabled: &enabled, changed: &changed };
        let option = match chooser.choose(&Point::Thread(threads), past) {
            Pick::Take(option) | Pick::Run { option, .. } => option,
            Pick::Abandon => panic!("a sampler abandons the run"),
        };
        let thread = enabled[option].index();
        match program[thread][done[thread]] {
            Do::Signal(object) => tokens[object as usize] += 1,
            Do::Wait(object) => tokens[object as usize] -= 1,
            Do::Read(_) | Do::Write(_) | Do::Yield => {}
        }
        let op = pending[thread].op;
        let effect = if op.access() == Access::Read { Effect::Value(0) } else { Effect::None };
        let id = EventId { thread: ThreadId(thread as u32), index: done[thread] as u32 };
        past.push(Event { id, op, effect, site: Site::UNKNOWN });
        done[thread] += 1;
        order.push(thread);
    }
}

/// Returns the trace of a run of `program`, for `learn`.
pub(crate) fn trace(program: &Bare, past: &[Event]) -> Trace {
    let thread = |number: usize| ThreadInfo {
        id: ThreadId(number as u32),
        // No thread is the child of another, so none is counted with another.
        parent: ThreadId(number as u32),
        position: 0,
    };
    let object = ObjectInfo {
        kind: ObjectKind::Atomic(Scalar::U8),
        initial: 0,
        identity: 0,
        name: EventId { thread: ThreadId(0), index: 0 },
        site: Site::UNKNOWN,
    };
    Trace {
        events: past.to_vec(),
        threads: (0..program.len()).map(thread).collect(),
        objects: vec![object; 16],
        ..Trace::default()
    }
}

fn op(what: Do) -> Op {
    let order = Order::SeqCst;
    match what {
        Do::Read(object) => Op::new(ObjectId(object), Action::Atomic(AtomicOp::Load { order })),
        Do::Write(object) => {
            Op::new(ObjectId(object), Action::Atomic(AtomicOp::Store { order, value: 1 }))
        }
        Do::Signal(object) => Op::new(ObjectId(object), Action::Channel(ChannelOp::Send)),
        Do::Wait(object) => {
            Op::new(ObjectId(object), Action::Channel(ChannelOp::Receive { timed: false }))
        }
        Do::Yield => Op::new(ObjectId::NONE, Action::Pause(PauseOp::Yield)),
    }
}

/// Returns the running example of the POS paper, Fig. 2, and its failing order. Threads A and B use x, y, z and the
/// signal w.
pub(crate) fn figure_2() -> (Bare, Steps) {
    let [x, y, z, w] = [0, 1, 2, 3];
    let a = vec![Do::Write(x), Do::Write(y), Do::Signal(w), Do::Read(z)];
    let b = vec![Do::Write(x), Do::Read(x), Do::Write(y), Do::Wait(w), Do::Read(y), Do::Write(z)];
    // B1 A1 B2 B3 A2 A3 B4 B5 B6 A4, the one order in which the assertion at A4 fails.
    (vec![a, b], vec![1, 0, 1, 1, 0, 0, 1, 1, 1, 0])
}
