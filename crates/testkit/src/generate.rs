//! Random programs.

use raddle_core::{
    Action, AtomicOp, CellOp, ChannelOp, CondvarOp, FutexOp, MutexOp, OnceOp, Order, PauseOp,
    Question, Rmw, RwLockOp, Scalar, SemaphoreOp,
};
use raddle_engine::Initial;
use raddle_strategy::Rng;

use crate::{Program, Relative, Step};

/// The kinds of operations in programs.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Loads, stores, read-modify-writes, compare-exchanges.
    Atomic,
    /// Plain reads and writes.
    Cell,
    /// Mutexes.
    Mutex,
    /// Reader-writer locks.
    RwLock,
    /// Condition variables, with a mutex each.
    Condvar,
    /// Barriers.
    Barrier,
    /// One-time initialisations.
    Once,
    /// Park tokens.
    Park,
    /// Channels.
    Channel,
    /// Semaphores.
    Semaphore,
    /// Waiters of atomic variables, and accesses to these.
    Futex,
    /// Joins of children, and queries whether they have ended.
    Thread,
    /// Pauses, fences and choices.
    Alone,
    /// Reader-writer locks that are read by most, with other operations inside the sections.
    Readers,
}

impl Kind {
    /// Every kind but [`Kind::Readers`], whose operations are those of other kinds.
    pub const ALL: [Kind; 13] = [
        Kind::Atomic,
        Kind::Cell,
        Kind::Mutex,
        Kind::RwLock,
        Kind::Condvar,
        Kind::Barrier,
        Kind::Once,
        Kind::Park,
        Kind::Channel,
        Kind::Semaphore,
        Kind::Futex,
        Kind::Thread,
        Kind::Alone,
    ];

    /// Returns the kind of an action.
    pub fn of(action: Action) -> Kind {
        match action {
            Action::Thread(_) => Kind::Thread,
            Action::Atomic(_) => Kind::Atomic,
            Action::Cell(_) => Kind::Cell,
            Action::Mutex(_) => Kind::Mutex,
            Action::RwLock(_) => Kind::RwLock,
            Action::Condvar(_) => Kind::Condvar,
            Action::Barrier(_) => Kind::Barrier,
            Action::Once(_) => Kind::Once,
            Action::Park(_) => Kind::Park,
            Action::Channel(_) => Kind::Channel,
            Action::Semaphore(_) => Kind::Semaphore,
            Action::Futex(_) => Kind::Futex,
            Action::Fence(_) | Action::Pause(_) | Action::Choose { .. } => Kind::Alone,
        }
    }
}

/// The size and content of random programs.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The kinds of operations.
    pub kinds: Vec<Kind>,
    /// The maximal number of kinds in one program.
    pub kinds_at_once: usize,
    /// The maximal number of scripts, main's included; at least two.
    pub scripts: usize,
    /// The maximal number of pieces in a script. A piece is one to four steps.
    pub pieces: usize,
    /// One in this number of scripts has a panic. Zero if none has.
    pub panics: usize,
}

impl Shape {
    /// Returns the shape of programs of all kinds of operations.
    pub fn large() -> Shape {
        let kinds = Kind::ALL.to_vec();
        Shape { kinds, kinds_at_once: 4, scripts: 5, pieces: 6, panics: 24 }
    }

    /// Returns the shape of programs whose executions can be enumerated.
    pub fn small() -> Shape {
        let kinds = Kind::ALL.to_vec();
        Shape { kinds, kinds_at_once: 2, scripts: 3, pieces: 2, panics: 0 }
    }

    /// Returns a random program of this shape.
    pub fn generate(&self, rng: &mut Rng) -> Program {
        let mut kinds = self.kinds.clone();
        while kinds.len() > 1.max(self.kinds_at_once) {
            kinds.swap_remove(rng.below(kinds.len()));
        }
        let mut program = Program { objects: Vec::new(), scripts: Vec::new() };
        let parts = make_objects(&kinds, &mut program, rng);
        let scripts = 2 + rng.below(self.scripts - 1);
        for _ in 0..scripts {
            let mut steps = Vec::new();
            for _ in 0..1 + rng.below(self.pieces) {
                add_piece(&parts[rng.below(parts.len())], &mut steps, rng);
            }
            if self.panics > 0 && rng.below(self.panics) == 0 {
                steps.insert(rng.below(steps.len() + 1), Step::Panic);
            }
            program.scripts.push(steps);
        }
        for script in 1..scripts {
            add_spawn(script, &kinds, &mut program, rng);
        }
        program
    }
}

/// A kind, with the objects that a piece of it may use.
enum Part {
    One(Kind, Vec<usize>),
    Condvar { condvar: usize, mutex: usize },
    Readers { lock: usize, variable: usize, barrier: usize },
}

fn make_objects(kinds: &[Kind], program: &mut Program, rng: &mut Rng) -> Vec<Part> {
    let mut parts = Vec::new();
    for &kind in kinds {
        let mut add = |initial: Initial| {
            program.objects.push(initial);
            program.objects.len() - 1
        };
        let count = 1 + rng.below(2);
        let mut several = |initial: &mut dyn FnMut(&mut Rng) -> Initial, rng: &mut Rng| {
            Part::One(kind, (0..count).map(|_| add(initial(rng))).collect())
        };
        parts.push(match kind {
            Kind::Atomic | Kind::Futex => several(&mut |_| Initial::Atomic(Scalar::U8, 0), rng),
            Kind::Semaphore => several(&mut |rng| Initial::Semaphore(rng.below(3) as u64), rng),
            Kind::Cell => several(&mut |_| Initial::Cell, rng),
            Kind::Mutex => several(&mut |_| Initial::Mutex, rng),
            Kind::RwLock => several(&mut |_| Initial::RwLock, rng),
            Kind::Barrier => several(&mut |rng| Initial::Barrier(1 + rng.below(3) as u64), rng),
            Kind::Once => several(&mut |_| Initial::Once, rng),
            Kind::Channel => several(
                &mut |rng| Initial::Channel { capacity: [Some(0), Some(1), None][rng.below(3)] },
                rng,
            ),
            Kind::Condvar => {
                Part::Condvar { condvar: add(Initial::Condvar), mutex: add(Initial::Mutex) }
            }
            Kind::Readers => Part::Readers {
                lock: add(Initial::RwLock),
                variable: add(Initial::Atomic(Scalar::U8, 0)),
                barrier: add(Initial::Barrier(2)),
            },
            Kind::Park | Kind::Thread | Kind::Alone => Part::One(kind, Vec::new()),
        });
    }
    parts
}

fn add_piece(part: &Part, steps: &mut Vec<Step>, rng: &mut Rng) {
    match part {
        Part::Condvar { condvar, mutex } => add_condvar(*condvar, *mutex, steps, rng),
        Part::Readers { lock, variable, barrier } => {
            add_readers([*lock, *variable, *barrier], steps, rng);
        }
        Part::One(kind, objects) => {
            let object = if objects.is_empty() { 0 } else { objects[rng.below(objects.len())] };
            add_one(*kind, object, steps, rng);
        }
    }
}

fn add_one(kind: Kind, object: usize, steps: &mut Vec<Step>, rng: &mut Rng) {
    match kind {
        Kind::Atomic => {
            steps.push(Step::On(object, Action::Atomic(atomic(rng))));
            if rng.below(4) == 0 {
                steps.push(Step::SkipIfOdd(1 + rng.below(2)));
            }
        }
        Kind::Cell => {
            let op = [CellOp::Read, CellOp::Write][rng.below(2)];
            steps.push(Step::On(object, Action::Cell(op)));
        }
        Kind::Mutex => {
            let op = [MutexOp::Lock, MutexOp::Lock, MutexOp::TryLock][rng.below(3)];
            steps.push(Step::On(object, Action::Mutex(op)));
            if rng.below(8) > 0 {
                steps.push(Step::On(object, Action::Mutex(MutexOp::Unlock)));
            }
        }
        Kind::RwLock => add_rwlock(object, steps, rng),
        Kind::Barrier => steps.push(Step::Meet(object)),
        Kind::Once => {
            steps.push(Step::On(object, Action::Once(OnceOp::Begin)));
            let end = [OnceOp::Complete, OnceOp::Complete, OnceOp::Reset][rng.below(3)];
            if rng.below(8) > 0 {
                steps.push(Step::On(object, Action::Once(end)));
            }
        }
        Kind::Park => {
            steps.push(match rng.below(6) {
                0 | 1 => Step::Park { timed: rng.below(2) == 0 },
                2 => Step::Unpark(Relative::Myself),
                3 => Step::Unpark(Relative::Parent),
                child => Step::Unpark(Relative::Child(child - 4)),
            });
        }
        Kind::Channel => {
            let op = match rng.below(9) {
                0..3 => ChannelOp::Send,
                3 => ChannelOp::TrySend,
                4 | 5 => ChannelOp::Receive { timed: rng.below(3) == 0 },
                6 => ChannelOp::TryReceive,
                7 => ChannelOp::CloseSenders,
                _ => ChannelOp::CloseReceiver,
            };
            steps.push(Step::On(object, Action::Channel(op)));
        }
        Kind::Semaphore => {
            let op = match rng.below(6) {
                0 | 1 => SemaphoreOp::Post,
                2 => SemaphoreOp::TryWait,
                3 => SemaphoreOp::Value,
                _ => SemaphoreOp::Wait { timed: rng.below(3) == 0 },
            };
            steps.push(Step::On(object, Action::Semaphore(op)));
        }
        Kind::Futex => add_futex(object, steps, rng),
        Kind::Thread => steps.push(match rng.below(3) {
            0 => Step::Join(rng.below(2)),
            _ => Step::IsFinished(rng.below(2)),
        }),
        Kind::Alone => steps.push(Step::Alone(match rng.below(5) {
            0 => Action::Fence(Order::SeqCst),
            1 => Action::Pause(PauseOp::Yield),
            2 => Action::Pause(PauseOp::Spin),
            3 => Action::Pause(PauseOp::Sleep { nanos: 1 + rng.below(5) as u64 }),
            _ => Action::Choose { bound: 1 + rng.below(3) as u32, question: Question::Number },
        })),
        Kind::Condvar | Kind::Readers => unreachable!("these come with other objects"),
    }
}

fn atomic(rng: &mut Rng) -> AtomicOp {
    let order = Order::SeqCst;
    let value = rng.below(3) as u64;
    match rng.below(4) {
        0 => AtomicOp::Load { order },
        1 => AtomicOp::Store { order, value },
        2 => {
            let functions = [Rmw::Add, Rmw::Swap, Rmw::Xor, Rmw::Max];
            let function = functions[rng.below(functions.len())];
            AtomicOp::Update { order, scalar: Scalar::U8, function, operand: value }
        }
        _ => AtomicOp::CompareExchange {
            success: order,
            failure: order,
            weak: false,
            expected: rng.below(2) as u64,
            new: value,
        },
    }
}

fn add_futex(object: usize, steps: &mut Vec<Step>, rng: &mut Rng) {
    let part = rng.below(2) as u8;
    let mask = [u32::MAX, 1, 2][rng.below(3)];
    let wakes = rng.below(3) as u32;
    steps.push(match rng.below(8) {
        7 => Step::On(object, Action::Futex(FutexOp::Look)),
        0..3 => Step::FutexWait { variable: object, part, mask, timed: rng.below(3) == 0 },
        3 | 4 => Step::On(object, Action::Futex(FutexOp::Wake { part, count: 1 + wakes, mask })),
        5 => {
            let requeue = FutexOp::Requeue { from: part, to: 1 - part, wakes, moves: 1 };
            Step::On(object, Action::Futex(requeue))
        }
        _ => Step::On(object, Action::Atomic(atomic(rng))),
    });
}

fn add_rwlock(object: usize, steps: &mut Vec<Step>, rng: &mut Rng) {
    let (lock, unlock) = match rng.below(4) {
        0 => (RwLockOp::Read, RwLockOp::UnlockRead),
        1 => (RwLockOp::TryRead, RwLockOp::UnlockRead),
        2 => (RwLockOp::Write, RwLockOp::UnlockWrite),
        _ => (RwLockOp::TryWrite, RwLockOp::UnlockWrite),
    };
    steps.push(Step::On(object, Action::RwLock(lock)));
    if rng.below(8) > 0 {
        steps.push(Step::On(object, Action::RwLock(unlock)));
    }
}

fn add_readers([lock, variable, barrier]: [usize; 3], steps: &mut Vec<Step>, rng: &mut Rng) {
    let on_lock = |op| Step::On(lock, Action::RwLock(op));
    match rng.below(6) {
        0 => steps.extend([RwLockOp::Write, RwLockOp::UnlockWrite].map(on_lock)),
        1 => steps.extend([RwLockOp::TryWrite, RwLockOp::UnlockWrite].map(on_lock)),
        acquire => {
            let acquire = if acquire == 2 { RwLockOp::TryRead } else { RwLockOp::Read };
            steps.push(on_lock(acquire));
            match rng.below(5) {
                0 => {}
                1 => steps.push(Step::Meet(barrier)),
                2 => steps.extend([RwLockOp::Read, RwLockOp::UnlockRead].map(on_lock)),
                _ => steps.push(Step::On(variable, Action::Atomic(atomic(rng)))),
            }
            if rng.below(8) > 0 {
                steps.push(on_lock(RwLockOp::UnlockRead));
            }
        }
    }
}

fn add_condvar(condvar: usize, mutex: usize, steps: &mut Vec<Step>, rng: &mut Rng) {
    let notify = [CondvarOp::NotifyOne, CondvarOp::NotifyAll][rng.below(2)];
    let notify = Step::On(condvar, Action::Condvar(notify));
    match rng.below(5) {
        0 | 1 => steps.extend([
            Step::On(mutex, Action::Mutex(MutexOp::Lock)),
            Step::Wait { condvar, mutex, timed: rng.below(2) == 0 },
            Step::On(mutex, Action::Mutex(MutexOp::Unlock)),
        ]),
        2 => steps.extend([
            Step::On(mutex, Action::Mutex(MutexOp::Lock)),
            notify,
            Step::On(mutex, Action::Mutex(MutexOp::Unlock)),
        ]),
        _ => steps.push(notify),
    }
}

/// Adds a spawn of `script` to an earlier script, often at its beginning, and sometimes a join.
fn add_spawn(script: usize, kinds: &[Kind], program: &mut Program, rng: &mut Rng) {
    let by = if rng.below(3) > 0 { 0 } else { rng.below(script) };
    let steps = &mut program.scripts[by];
    let at = rng.below(steps.len() + 1) * rng.below(2);
    steps.insert(at, Step::Spawn(script));
    if kinds.contains(&Kind::Thread) || rng.below(3) == 0 {
        steps.push(Step::Join(rng.below(2)));
    }
}
