//! Operations that do not commute conflict, and a performed Read has not changed the state. Commutation is computed
//! from `enabled` and `apply` in reachable states.

use std::collections::BTreeSet;

use raddle_core::{
    Access, Action, AtomicOp, BarrierOp, CellOp, ChannelOp, CondvarOp, Effect, EventId, FutexOp,
    MutexOp, ObjectId, OnceOp, Op, Order, ParkOp, Question, Rmw, RwLockOp, Scalar, SemaphoreOp,
    ThreadId, ThreadOp,
};
use raddle_engine::objects::{Futex, Life, Parker};
use raddle_engine::{Initial, Memory, Object, Sc};
use raddle_strategy::{Rng, mix};
use raddle_testkit::{Kind, scaled};

const OBJECT: ObjectId = ObjectId(0);
const THREADS: u32 = 3;

/// An object in some state.
#[derive(Clone, Debug)]
enum Subject {
    Object(Object),
    Variable(u64),
    /// A plain variable. The last writer represents the value, which the front end keeps.
    Cell(Option<ThreadId>),
}

/// A reachable state: an object, and what the threads may do next.
#[derive(Clone, Debug)]
struct Scene {
    subject: Subject,
    /// By thread, the actions that its earlier actions require or allow.
    follow_ups: Vec<Vec<Action>>,
}

impl Subject {
    fn enabled(&self, op: Op, by: ThreadId) -> bool {
        match self {
            Subject::Object(object) => object.enabled(op, by),
            Subject::Variable(_) | Subject::Cell(_) => true,
        }
    }

    fn apply(&mut self, op: Op, by: ThreadId) -> Effect {
        match self {
            Subject::Object(object) => object.apply(op, by),
            Subject::Variable(value) => {
                Sc.access(value, EventId { thread: by, index: 0 }, &op, None)
            }
            Subject::Cell(writer) => match op.action() {
                Action::Cell(CellOp::Write) => {
                    *writer = Some(by);
                    Effect::None
                }
                _ => Effect::Value(writer.map_or(0, |writer| 1 + u64::from(writer.0))),
            },
        }
    }

    fn is(&self, other: &Subject) -> bool {
        match (self, other) {
            (Subject::Object(a), Subject::Object(b)) => a == b,
            (Subject::Variable(a), Subject::Variable(b)) => a == b,
            (Subject::Cell(a), Subject::Cell(b)) => a == b,
            _ => false,
        }
    }
}

impl Scene {
    fn new(kind: Kind, rng: &mut Rng) -> Option<Scene> {
        let made = |initial| Subject::Object(Object::from(initial));
        let subject = match kind {
            Kind::Atomic => Subject::Variable(0),
            Kind::Cell => Subject::Cell(None),
            Kind::Mutex => made(Initial::Mutex),
            Kind::RwLock => made(Initial::RwLock),
            Kind::Condvar => made(Initial::Condvar),
            Kind::Barrier => made(Initial::Barrier(1 + rng.below(3) as u64)),
            Kind::Once => made(Initial::Once),
            Kind::Channel => {
                let capacity = [Some(0), Some(1), Some(2), None][rng.below(4)];
                made(Initial::Channel { capacity })
            }
            Kind::Semaphore => made(Initial::Semaphore(rng.below(3) as u64)),
            Kind::Futex => Subject::Object(Object::Futex(Futex::default())),
            Kind::Park => Subject::Object(Object::Parker(Parker::default())),
            Kind::Thread => Subject::Object(Object::Life(Life::default())),
            Kind::Alone | Kind::Readers => return None,
        };
        let mut follow_ups = vec![Vec::new(); THREADS as usize];
        if kind == Kind::Thread {
            // The first thread spawns the second, which ends.
            follow_ups[0].push(Action::Thread(ThreadOp::Spawn));
        }
        Some(Scene { subject, follow_ups })
    }

    /// Returns the actions that `thread` may announce.
    fn possible_actions(&self, kind: Kind, thread: u32, rng: &mut Rng) -> Vec<Action> {
        let follow_ups = self.follow_ups[thread as usize].clone();
        let also = |more: &[Action]| follow_ups.iter().chain(more).copied().collect();
        match kind {
            Kind::Atomic => atomics(rng),
            Kind::Cell => vec![Action::Cell(CellOp::Read), Action::Cell(CellOp::Write)],
            Kind::Mutex => also(&[MutexOp::Lock, MutexOp::TryLock].map(Action::Mutex)),
            Kind::RwLock => {
                use RwLockOp::{Read, TryRead, TryWrite, Write};
                also(&[Read, TryRead, Write, TryWrite].map(Action::RwLock))
            }
            Kind::Condvar if follow_ups.is_empty() => {
                use CondvarOp::{Enqueue, NotifyAll, NotifyOne};
                [Enqueue, NotifyOne, NotifyAll].map(Action::Condvar).to_vec()
            }
            Kind::Barrier if follow_ups.is_empty() => vec![Action::Barrier(BarrierOp::Arrive)],
            Kind::Once if follow_ups.is_empty() => {
                [OnceOp::Begin, OnceOp::IsComplete].map(Action::Once).to_vec()
            }
            Kind::Condvar | Kind::Barrier | Kind::Once => follow_ups,
            Kind::Park => {
                let mut possible_actions = vec![Action::Park(ParkOp::Unpark)];
                if thread == 0 {
                    possible_actions
                        .extend([true, false].map(|timed| Action::Park(ParkOp::Park { timed })));
                }
                possible_actions
            }
            Kind::Channel => {
                use ChannelOp::{CloseReceiver, CloseSenders, Receive, Send, TryReceive, TrySend};
                let waits = [Receive { timed: true }, Receive { timed: false }];
                let others = [Send, TrySend, TryReceive, CloseSenders, CloseReceiver];
                also(
                    &[waits.map(Action::Channel).as_slice(), &others.map(Action::Channel)].concat(),
                )
            }
            Kind::Semaphore => {
                use SemaphoreOp::{Post, TryWait, Value, Wait};
                [Wait { timed: true }, Wait { timed: false }, TryWait, Post, Value]
                    .map(Action::Semaphore)
                    .to_vec()
            }
            Kind::Futex if follow_ups.is_empty() => {
                let (part, mask) = (rng.below(2) as u8, 1 + rng.below(3) as u32);
                let (wakes, moves) = (rng.below(2) as u32, rng.below(3) as u32);
                [
                    FutexOp::Enqueue { part, mask },
                    FutexOp::Look,
                    FutexOp::Wake { part, count: 1 + moves, mask },
                    FutexOp::Requeue { from: part, to: 1 - part, wakes, moves },
                ]
                .map(Action::Futex)
                .to_vec()
            }
            Kind::Futex => follow_ups,
            Kind::Thread if follow_ups == [Action::Thread(ThreadOp::Spawn)] => follow_ups,
            Kind::Thread => also(&[ThreadOp::Join, ThreadOp::IsFinished].map(Action::Thread)),
            Kind::Alone | Kind::Readers => Vec::new(),
        }
    }

    /// Performs `action` by `thread`, and updates its follow-ups.
    fn perform(&mut self, thread: u32, action: Action) -> Effect {
        let effect = self.subject.apply(Op::new(OBJECT, action), ThreadId(thread));
        let follow_ups = &mut self.follow_ups[thread as usize];
        let pair = [OnceOp::Complete, OnceOp::Reset].map(Action::Once);
        if let Some(done) = follow_ups.iter().position(|&follow_up| follow_up == action) {
            follow_ups.remove(done);
        }
        if effect == Effect::No && !matches!(action, Action::Condvar(_) | Action::Futex(_)) {
            return effect;
        }
        match action {
            Action::Mutex(MutexOp::Lock | MutexOp::TryLock) => {
                follow_ups.push(Action::Mutex(MutexOp::Unlock));
            }
            Action::RwLock(RwLockOp::Read | RwLockOp::TryRead) => {
                follow_ups.push(Action::RwLock(RwLockOp::UnlockRead));
            }
            Action::RwLock(RwLockOp::Write | RwLockOp::TryWrite) => {
                follow_ups.push(Action::RwLock(RwLockOp::UnlockWrite));
            }
            Action::Condvar(CondvarOp::Enqueue) => {
                let consume = |timed| Action::Condvar(CondvarOp::Consume { timed });
                follow_ups.extend([consume(true), consume(false)]);
            }
            Action::Condvar(CondvarOp::Consume { .. }) => follow_ups.clear(),
            Action::Futex(FutexOp::Enqueue { .. }) => {
                let consume = |timed| Action::Futex(FutexOp::Consume { timed });
                follow_ups.extend([consume(true), consume(false)]);
            }
            Action::Futex(FutexOp::Consume { .. }) => follow_ups.clear(),
            Action::Barrier(BarrierOp::Arrive) => {
                let (Effect::Ticket(generation) | Effect::LastTicket(generation)) = effect else {
                    panic!("{effect:?} from a barrier")
                };
                follow_ups.push(Action::Barrier(BarrierOp::Leave { generation }));
            }
            Action::Once(OnceOp::Begin) => follow_ups.extend(pair),
            Action::Once(OnceOp::Complete | OnceOp::Reset) => follow_ups.clear(),
            Action::Channel(ChannelOp::Send) => {
                if let Effect::Ticket(ticket) = effect {
                    follow_ups.push(Action::Channel(ChannelOp::AwaitTaken { ticket }));
                }
            }
            Action::Thread(ThreadOp::Spawn) => {
                self.follow_ups[1].push(Action::Thread(ThreadOp::Exit));
            }
            _ => {}
        }
        effect
    }
}

fn atomics(rng: &mut Rng) -> Vec<Action> {
    let order = Order::SeqCst;
    let value = rng.below(3) as u64;
    let functions = [Rmw::Add, Rmw::Swap, Rmw::And, Rmw::Max, Rmw::Nand];
    let function = functions[rng.below(functions.len())];
    let compare = |expected| AtomicOp::CompareExchange {
        success: order,
        failure: order,
        weak: false,
        expected,
        new: value,
    };
    let update = AtomicOp::Update { order, scalar: Scalar::U8, function, operand: value };
    let store = AtomicOp::Store { order, value };
    [AtomicOp::Load { order }, store, update, compare(0), compare(1)].map(Action::Atomic).to_vec()
}

/// The pairs that were checked for one kind of object.
#[derive(Default)]
struct Seen {
    /// The pairs of operations, by name.
    pairs: BTreeSet<(String, String)>,
    commuting: u64,
    conflicting: u64,
    independent_as_performed: u64,
}

fn name(action: Action) -> String {
    let text = format!("{action:?}");
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '(').next().unwrap().to_owned()
}

/// Checks every pair of actions that two threads may announce in `scene`.
fn check_pairs(scene: &Scene, kind: Kind, rng: &mut Rng, seen: &mut Seen) {
    for (s, t) in [(0, 1), (1, 0), (0, 2), (2, 1)] {
        let (first, second) =
            (scene.possible_actions(kind, s, rng), scene.possible_actions(kind, t, rng));
        for &a in &first {
            for &b in &second {
                if !cfg!(miri) {
                    seen.pairs.insert((name(a), name(b)));
                }
                check_pair(&scene.subject, (a, ThreadId(s)), (b, ThreadId(t)), seen);
            }
        }
    }
}

fn check_pair(
    state: &Subject,
    (a, by_a): (Action, ThreadId),
    (b, by_b): (Action, ThreadId),
    seen: &mut Seen,
) {
    let (a, b) = (Op::new(OBJECT, a), Op::new(OBJECT, b));
    if !state.enabled(a, by_a) {
        return;
    }
    let b_enabled_before = state.enabled(b, by_b);
    let mut after_a = state.clone();
    let effect_a = after_a.apply(a, by_a);
    let b_enabled_after = after_a.enabled(b, by_b);
    let mut same = b_enabled_before == b_enabled_after;
    if b_enabled_before && b_enabled_after {
        let mut a_then_b = after_a.clone();
        let second_b = a_then_b.apply(b, by_b);
        let mut b_then_a = state.clone();
        let effect_b = b_then_a.apply(b, by_b);
        same &= b_then_a.enabled(a, by_a);
        if same {
            let second_a = b_then_a.apply(a, by_a);
            same = (effect_a, second_b) == (second_a, effect_b) && a_then_b.is(&b_then_a);
        }
    }
    let case = || format!("{a:?} by {by_a} and {b:?} by {by_b} in {state:?}");
    assert!(same || a.conflicts(&b) && b.conflicts(&a), "they do not commute: {}", case());
    seen.commuting += u64::from(same);
    seen.conflicting += u64::from(!same);

    let access_a = a.access_with(effect_a);
    let read_a = access_a == Access::Read;
    assert!(!read_a || state.is(&after_a), "a Read changed the state: {}", case());
    if b_enabled_after {
        let mut after_both = after_a.clone();
        let effect_b = after_both.apply(b, by_b);
        if !access_a.conflicts(b.access_with(effect_b)) {
            assert!(same, "two {access_a:?}s do not commute: {}", case());
            seen.independent_as_performed += 1;
        }
    }
}

#[test]
fn operations_that_do_not_commute_conflict() {
    let scenes = scaled(400);
    for kind in Kind::ALL {
        let mut seen = Seen::default();
        for number in 0..scenes {
            let mut rng = Rng::new(mix(7, number));
            let Some(mut scene) = Scene::new(kind, &mut rng) else { continue };
            for _ in 0..rng.below(12) {
                let thread = rng.below(THREADS as usize) as u32;
                let possible_actions = scene.possible_actions(kind, thread, &mut rng);
                let action = possible_actions[rng.below(possible_actions.len())];
                if scene.subject.enabled(Op::new(OBJECT, action), ThreadId(thread)) {
                    scene.perform(thread, action);
                }
            }
            check_pairs(&scene, kind, &mut rng, &mut seen);
        }
        println!(
            "{kind:?}: {} pairs of operations, {} commuting, {} not, {} independent as performed",
            seen.pairs.len(),
            seen.commuting,
            seen.conflicting,
            seen.independent_as_performed
        );
        let is_covered =
            seen.commuting > 0 && seen.conflicting > 0 && seen.independent_as_performed > 0;
        assert!(is_covered || kind == Kind::Alone || cfg!(miri), "{kind:?} was not covered");
    }
}

/// Operations that access no object are independent of all operations of other threads.
#[test]
fn operations_without_object_do_not_conflict() {
    let alone = [
        Action::Fence(Order::SeqCst),
        Action::Choose { bound: 2, question: Question::Number },
        Action::Pause(raddle_core::PauseOp::Yield),
    ];
    for a in alone.map(|action| Op::new(ObjectId::NONE, action)) {
        for b in alone.map(|action| Op::new(ObjectId::NONE, action)) {
            assert!(!a.conflicts(&b));
        }
        assert!(!a.conflicts(&Op::new(OBJECT, Action::Mutex(MutexOp::Lock))));
    }
}
