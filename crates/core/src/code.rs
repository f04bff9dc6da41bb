//! The encoding of actions in an [`Op`](crate::Op).

use crate::{
    Action, AtomicOp, BarrierOp, CellOp, ChannelOp, CondvarOp, FutexOp, MutexOp, OnceOp, Order,
    ParkOp, PauseOp, Question, Rmw, RwLockOp, Scalar, SemaphoreOp, ThreadOp,
};

/// The variants of [`Action`], in the high half of an action's code.
pub(crate) mod group {
    pub(crate) const THREAD: u8 = 0;
    pub(crate) const ATOMIC: u8 = 1;
    pub(crate) const CELL: u8 = 2;
    pub(crate) const MUTEX: u8 = 3;
    pub(crate) const RWLOCK: u8 = 4;
    pub(crate) const CONDVAR: u8 = 5;
    pub(crate) const BARRIER: u8 = 6;
    pub(crate) const ONCE: u8 = 7;
    pub(crate) const PARK: u8 = 8;
    pub(crate) const CHANNEL: u8 = 9;
    pub(crate) const FENCE: u8 = 10;
    pub(crate) const PAUSE: u8 = 11;
    pub(crate) const CHOOSE: u8 = 12;
    pub(crate) const SEMAPHORE: u8 = 13;
    pub(crate) const FUTEX: u8 = 14;
}

/// The operations on an atomic variable, in the low half of their codes.
pub(crate) mod atomic {
    pub(crate) const LOAD: u8 = 0;
    pub(crate) const STORE: u8 = 1;
    pub(crate) const COMPARE_EXCHANGE: u8 = 2;
    /// The first update. The others follow, in the order of [`Rmw`](crate::Rmw).
    pub(crate) const UPDATE: u8 = 3;
    /// The last of swap, addition and subtraction, which come first. This is the subtraction.
    pub(crate) const LAST_SUM: u8 = 5;
}

/// Code, small fields, first and second operand.
type Encoded = (u8, u16, u64, u64);

/// Returns the encoding of an action without fields.
const fn plain(group: u8, variant: u8) -> Encoded {
    (group << 4 | variant, 0, 0, 0)
}

impl Action {
    #[inline(always)]
    pub(crate) const fn encode(self) -> Encoded {
        match self {
            Action::Thread(op) => match op {
                ThreadOp::Spawn => plain(group::THREAD, 0),
                ThreadOp::Exit => plain(group::THREAD, 1),
                ThreadOp::Join => plain(group::THREAD, 2),
                ThreadOp::IsFinished => plain(group::THREAD, 3),
            },
            Action::Atomic(op) => match op {
                AtomicOp::Load { order } => (group::ATOMIC << 4 | atomic::LOAD, order as u16, 0, 0),
                AtomicOp::Store { order, value } => {
                    (group::ATOMIC << 4 | atomic::STORE, order as u16, value, 0)
                }
                AtomicOp::Update { order, scalar, function, operand } => {
                    let small =
                        order as u16 | (scalar as u16) << 4 | (64 - scalar.bits() as u16) << 8;
                    // `Op::apply_to_atomic` computes the first three by one formula.
                    let (first, second) = match function {
                        Rmw::Swap => (operand, 0),
                        Rmw::Add => (operand, u64::MAX),
                        Rmw::Sub => (operand.wrapping_neg(), u64::MAX),
                        Rmw::And | Rmw::Nand | Rmw::Or | Rmw::Xor | Rmw::Max | Rmw::Min => {
                            (operand, 0)
                        }
                    };
                    let variant = atomic::UPDATE + function as u8;
                    (group::ATOMIC << 4 | variant, small, first, second)
                }
                AtomicOp::CompareExchange { success, failure, weak, expected, new } => {
                    let small = success as u16 | (failure as u16) << 4 | (weak as u16) << 8;
                    (group::ATOMIC << 4 | atomic::COMPARE_EXCHANGE, small, expected, new)
                }
            },
            Action::Cell(op) => match op {
                CellOp::Read => plain(group::CELL, 0),
                CellOp::Write => plain(group::CELL, 1),
            },
            Action::Mutex(op) => match op {
                MutexOp::Lock => plain(group::MUTEX, 0),
                MutexOp::TryLock => plain(group::MUTEX, 1),
                MutexOp::Unlock => plain(group::MUTEX, 2),
            },
            Action::RwLock(op) => match op {
                RwLockOp::Read => plain(group::RWLOCK, 0),
                RwLockOp::TryRead => plain(group::RWLOCK, 1),
                RwLockOp::UnlockRead => plain(group::RWLOCK, 2),
                RwLockOp::Write => plain(group::RWLOCK, 3),
                RwLockOp::TryWrite => plain(group::RWLOCK, 4),
                RwLockOp::UnlockWrite => plain(group::RWLOCK, 5),
            },
            Action::Condvar(op) => match op {
                CondvarOp::Enqueue => plain(group::CONDVAR, 0),
                CondvarOp::Consume { timed: false } => plain(group::CONDVAR, 1),
                CondvarOp::Consume { timed: true } => plain(group::CONDVAR, 2),
                CondvarOp::NotifyOne => plain(group::CONDVAR, 3),
                CondvarOp::NotifyAll => plain(group::CONDVAR, 4),
            },
            Action::Barrier(op) => match op {
                BarrierOp::Arrive => plain(group::BARRIER, 0),
                BarrierOp::Leave { generation } => (group::BARRIER << 4 | 1, 0, generation, 0),
            },
            Action::Once(op) => match op {
                OnceOp::Begin => plain(group::ONCE, 0),
                OnceOp::Complete => plain(group::ONCE, 1),
                OnceOp::Reset => plain(group::ONCE, 2),
                OnceOp::IsComplete => plain(group::ONCE, 3),
            },
            Action::Park(op) => match op {
                ParkOp::Park { timed: false } => plain(group::PARK, 0),
                ParkOp::Park { timed: true } => plain(group::PARK, 1),
                ParkOp::Unpark => plain(group::PARK, 2),
            },
            Action::Channel(op) => match op {
                ChannelOp::Send => plain(group::CHANNEL, 0),
                ChannelOp::TrySend => plain(group::CHANNEL, 1),
                ChannelOp::AwaitTaken { ticket } => (group::CHANNEL << 4 | 2, 0, ticket, 0),
                ChannelOp::Receive { timed: false } => plain(group::CHANNEL, 3),
                ChannelOp::Receive { timed: true } => plain(group::CHANNEL, 4),
                ChannelOp::TryReceive => plain(group::CHANNEL, 5),
                ChannelOp::CloseSenders => plain(group::CHANNEL, 6),
                ChannelOp::CloseReceiver => plain(group::CHANNEL, 7),
            },
            Action::Fence(order) => (group::FENCE << 4, order as u16, 0, 0),
            Action::Pause(op) => match op {
                PauseOp::Yield => plain(group::PAUSE, 0),
                PauseOp::Spin => plain(group::PAUSE, 1),
                PauseOp::Sleep { nanos } => (group::PAUSE << 4 | 2, 0, nanos, 0),
            },
            Action::Choose { bound, question } => {
                (group::CHOOSE << 4 | question as u8, 0, bound as u64, 0)
            }
            Action::Semaphore(op) => match op {
                SemaphoreOp::Wait { timed: false } => plain(group::SEMAPHORE, 0),
                SemaphoreOp::Wait { timed: true } => plain(group::SEMAPHORE, 1),
                SemaphoreOp::TryWait => plain(group::SEMAPHORE, 2),
                SemaphoreOp::Post => plain(group::SEMAPHORE, 3),
                SemaphoreOp::Value => plain(group::SEMAPHORE, 4),
            },
            Action::Futex(op) => match op {
                FutexOp::Enqueue { part, mask } => (group::FUTEX << 4, part as u16, mask as u64, 0),
                FutexOp::Consume { timed: false } => plain(group::FUTEX, 1),
                FutexOp::Consume { timed: true } => plain(group::FUTEX, 2),
                FutexOp::Wake { part, count, mask } => {
                    (group::FUTEX << 4 | 3, part as u16, count as u64, mask as u64)
                }
                FutexOp::Requeue { from, to, wakes, moves } => {
                    let parts = from as u16 | (to as u16) << 8;
                    (group::FUTEX << 4 | 4, parts, wakes as u64, moves as u64)
                }
                FutexOp::Look => plain(group::FUTEX, 5),
            },
        }
    }

    /// Returns the action with this [encoding](Action::encode). Other codes do not occur. A check for them would slow
    /// every step down, so they decode as the last variant of their group.
    #[inline(always)]
    pub(crate) const fn decode(code: u8, small: u16, first: u64, second: u64) -> Action {
        let variant = code & 0x0f;
        match code >> 4 {
            group::THREAD => Action::Thread(ThreadOp::decode(variant)),
            group::ATOMIC => Action::Atomic(AtomicOp::decode(variant, small, first, second)),
            group::CELL => Action::Cell(CellOp::decode(variant)),
            group::MUTEX => Action::Mutex(MutexOp::decode(variant)),
            group::RWLOCK => Action::RwLock(RwLockOp::decode(variant)),
            group::CONDVAR => Action::Condvar(CondvarOp::decode(variant)),
            group::BARRIER => Action::Barrier(BarrierOp::decode(variant, first)),
            group::ONCE => Action::Once(OnceOp::decode(variant)),
            group::PARK => Action::Park(ParkOp::decode(variant)),
            group::CHANNEL => Action::Channel(ChannelOp::decode(variant, first)),
            group::FENCE => Action::Fence(order(small)),
            group::PAUSE => Action::Pause(PauseOp::decode(variant, first)),
            group::CHOOSE => {
                let question = if variant == 0 { Question::Number } else { Question::Spurious };
                Action::Choose { bound: first as u32, question }
            }
            group::SEMAPHORE => Action::Semaphore(SemaphoreOp::decode(variant)),
            group::FUTEX.. => Action::Futex(FutexOp::decode(variant, small, first, second)),
        }
    }
}

impl ThreadOp {
    #[inline(always)]
    pub(crate) const fn decode(variant: u8) -> ThreadOp {
        match variant {
            0 => ThreadOp::Spawn,
            1 => ThreadOp::Exit,
            2 => ThreadOp::Join,
            3.. => ThreadOp::IsFinished,
        }
    }
}

impl CellOp {
    #[inline(always)]
    pub(crate) const fn decode(variant: u8) -> CellOp {
        match variant {
            0 => CellOp::Read,
            1.. => CellOp::Write,
        }
    }
}

impl RwLockOp {
    #[inline(always)]
    pub(crate) const fn decode(variant: u8) -> RwLockOp {
        match variant {
            0 => RwLockOp::Read,
            1 => RwLockOp::TryRead,
            2 => RwLockOp::UnlockRead,
            3 => RwLockOp::Write,
            4 => RwLockOp::TryWrite,
            5.. => RwLockOp::UnlockWrite,
        }
    }
}

impl CondvarOp {
    #[inline(always)]
    pub(crate) const fn decode(variant: u8) -> CondvarOp {
        match variant {
            0 => CondvarOp::Enqueue,
            1 => CondvarOp::Consume { timed: false },
            2 => CondvarOp::Consume { timed: true },
            3 => CondvarOp::NotifyOne,
            4.. => CondvarOp::NotifyAll,
        }
    }
}

impl BarrierOp {
    #[inline(always)]
    pub(crate) const fn decode(variant: u8, first: u64) -> BarrierOp {
        match variant {
            0 => BarrierOp::Arrive,
            1.. => BarrierOp::Leave { generation: first },
        }
    }
}

impl OnceOp {
    #[inline(always)]
    pub(crate) const fn decode(variant: u8) -> OnceOp {
        match variant {
            0 => OnceOp::Begin,
            1 => OnceOp::Complete,
            2 => OnceOp::Reset,
            3.. => OnceOp::IsComplete,
        }
    }
}

impl ParkOp {
    #[inline(always)]
    pub(crate) const fn decode(variant: u8) -> ParkOp {
        match variant {
            0 => ParkOp::Park { timed: false },
            1 => ParkOp::Park { timed: true },
            2.. => ParkOp::Unpark,
        }
    }
}

impl ChannelOp {
    #[inline(always)]
    pub(crate) const fn decode(variant: u8, first: u64) -> ChannelOp {
        match variant {
            0 => ChannelOp::Send,
            1 => ChannelOp::TrySend,
            2 => ChannelOp::AwaitTaken { ticket: first },
            3 => ChannelOp::Receive { timed: false },
            4 => ChannelOp::Receive { timed: true },
            5 => ChannelOp::TryReceive,
            6 => ChannelOp::CloseSenders,
            7.. => ChannelOp::CloseReceiver,
        }
    }
}

impl SemaphoreOp {
    #[inline(always)]
    pub(crate) const fn decode(variant: u8) -> SemaphoreOp {
        match variant {
            0 => SemaphoreOp::Wait { timed: false },
            1 => SemaphoreOp::Wait { timed: true },
            2 => SemaphoreOp::TryWait,
            3 => SemaphoreOp::Post,
            4.. => SemaphoreOp::Value,
        }
    }
}

impl FutexOp {
    #[inline(always)]
    pub(crate) const fn decode(variant: u8, small: u16, first: u64, second: u64) -> FutexOp {
        let (from, to) = (small as u8, (small >> 8) as u8);
        match variant {
            0 => FutexOp::Enqueue { part: from, mask: first as u32 },
            1 => FutexOp::Consume { timed: false },
            2 => FutexOp::Consume { timed: true },
            3 => FutexOp::Wake { part: from, count: first as u32, mask: second as u32 },
            4 => FutexOp::Requeue { from, to, wakes: first as u32, moves: second as u32 },
            5.. => FutexOp::Look,
        }
    }
}

impl PauseOp {
    #[inline(always)]
    pub(crate) const fn decode(variant: u8, first: u64) -> PauseOp {
        match variant {
            0 => PauseOp::Yield,
            1 => PauseOp::Spin,
            2.. => PauseOp::Sleep { nanos: first },
        }
    }
}

impl MutexOp {
    #[inline(always)]
    pub(crate) const fn decode(variant: u8) -> MutexOp {
        match variant {
            0 => MutexOp::Lock,
            1 => MutexOp::TryLock,
            2.. => MutexOp::Unlock,
        }
    }
}

impl AtomicOp {
    #[inline(always)]
    pub(crate) const fn decode(variant: u8, small: u16, first: u64, second: u64) -> AtomicOp {
        match variant {
            atomic::LOAD => AtomicOp::Load { order: order(small) },
            atomic::STORE => AtomicOp::Store { order: order(small), value: first },
            atomic::COMPARE_EXCHANGE => AtomicOp::CompareExchange {
                success: order(small),
                failure: order(small >> 4),
                weak: small >> 8 & 1 == 1,
                expected: first,
                new: second,
            },
            atomic::UPDATE.. => {
                let function = function(variant - atomic::UPDATE);
                let operand = match function {
                    Rmw::Sub => first.wrapping_neg(),
                    Rmw::Swap | Rmw::Add => first,
                    Rmw::And | Rmw::Nand | Rmw::Or | Rmw::Xor | Rmw::Max | Rmw::Min => first,
                };
                AtomicOp::Update {
                    order: order(small),
                    scalar: scalar(small >> 4),
                    function,
                    operand,
                }
            }
        }
    }
}

#[inline(always)]
pub(crate) const fn order(small: u16) -> Order {
    match small & 15 {
        0 => Order::Relaxed,
        1 => Order::Acquire,
        2 => Order::Release,
        3 => Order::AcqRel,
        4.. => Order::SeqCst,
    }
}

#[inline(always)]
const fn scalar(small: u16) -> Scalar {
    match small & 15 {
        0 => Scalar::Bool,
        1 => Scalar::U8,
        2 => Scalar::U16,
        3 => Scalar::U32,
        4 => Scalar::U64,
        5 => Scalar::I8,
        6 => Scalar::I16,
        7 => Scalar::I32,
        8 => Scalar::I64,
        9 => Scalar::Pointer,
        10 => Scalar::Usize,
        11 => Scalar::Isize,
        12.. => Scalar::Departures,
    }
}

#[inline(always)]
const fn function(number: u8) -> Rmw {
    match number {
        0 => Rmw::Swap,
        1 => Rmw::Add,
        2 => Rmw::Sub,
        3 => Rmw::And,
        4 => Rmw::Nand,
        5 => Rmw::Or,
        6 => Rmw::Xor,
        7 => Rmw::Max,
        8.. => Rmw::Min,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Effect, ObjectId, Op};
    use alloc::vec::Vec;

    fn all_actions() -> Vec<Action> {
        let mut all = Vec::new();
        let orders = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];
        let orders = &orders[if cfg!(miri) { 4 } else { 0 }..];
        let scalars = (0..13).map(scalar);
        let functions = (0..9).map(function);
        for &order in orders {
            all.push(Action::Fence(order));
            all.push(Action::Atomic(AtomicOp::Load { order }));
            all.push(Action::Atomic(AtomicOp::Store { order, value: u64::MAX }));
            for &failure in orders {
                for weak in [false, true] {
                    all.push(Action::Atomic(AtomicOp::CompareExchange {
                        success: order,
                        failure,
                        weak,
                        expected: 1,
                        new: u64::MAX - 1,
                    }));
                }
            }
            for scalar in scalars.clone() {
                for function in functions.clone() {
                    let operand = 1 << 63;
                    let op = AtomicOp::Update { order, scalar, function, operand };
                    all.push(Action::Atomic(op));
                }
            }
        }
        for question in [Question::Number, Question::Spurious] {
            all.push(Action::Choose { bound: u32::MAX, question });
        }
        all.push(Action::Pause(PauseOp::Sleep { nanos: u64::MAX }));
        all.push(Action::Barrier(BarrierOp::Leave { generation: 7 }));
        all.push(Action::Channel(ChannelOp::AwaitTaken { ticket: 9 }));
        all.push(Action::Futex(FutexOp::Enqueue { part: 255, mask: u32::MAX }));
        all.push(Action::Futex(FutexOp::Wake { part: 254, count: u32::MAX, mask: 3 }));
        all.push(Action::Futex(FutexOp::Requeue { from: 255, to: 7, wakes: 1, moves: u32::MAX }));
        for code in 0..=u8::MAX {
            let counts = [4, 0, 2, 3, 6, 5, 1, 4, 3, 8, 0, 2, 0, 5, 6, 0];
            if code & 15 < counts[usize::from(code >> 4)] {
                all.push(Action::decode(code, 0, 0, 0));
            }
        }
        all
    }

    #[test]
    fn the_object_can_be_replaced() {
        for action in all_actions() {
            let op = Op::new(ObjectId(77), action);
            assert_eq!(Op::new(ObjectId(5), action).on(ObjectId(77)), op, "{action:?}");
        }
    }

    #[test]
    fn apply_to_atomic_agrees_with_the_action() {
        for action in all_actions() {
            let Action::Atomic(op) = action else { continue };
            for old in [0, 1, 0x7f, 0x80, 0xff, 1 << 63, u64::MAX] {
                let expected = match op {
                    AtomicOp::Load { .. } => (None, Effect::Value(old)),
                    AtomicOp::Store { value, .. } => (Some(value), Effect::None),
                    AtomicOp::Update { scalar, function, operand, .. } => {
                        (Some(function.apply(scalar, old, operand)), Effect::Value(old))
                    }
                    AtomicOp::CompareExchange { expected, new, .. } if expected == old => {
                        (Some(new), Effect::Exchanged(old))
                    }
                    AtomicOp::CompareExchange { .. } => (None, Effect::Kept(old)),
                };
                assert_eq!(Op::new(ObjectId(1), action).apply_to_atomic(old), expected, "{op:?}");
            }
        }
    }

    #[test]
    fn queries_agree_with_the_action() {
        for action in all_actions() {
            let op = Op::new(ObjectId(1), action);
            assert_eq!(op.fence().map(Action::Fence).is_some_and(|fence| fence == action), {
                matches!(action, Action::Fence(_))
            });
            let Action::Atomic(atomic) = action else { continue };
            let (orders, reads, writes) = match atomic {
                AtomicOp::Load { order } => ([order; 2], true, false),
                AtomicOp::Store { order, .. } => ([order; 2], false, true),
                AtomicOp::Update { order, .. } => ([order; 2], true, true),
                AtomicOp::CompareExchange { success, failure, .. } => {
                    ([success, failure], true, false)
                }
            };
            assert_eq!([true, false].map(|writes| op.atomic_order(writes)), orders, "{action:?}");
            assert_eq!((op.reads_atomic(), op.always_writes_atomic()), (reads, writes));
        }
    }

    #[test]
    fn decoding_inverts_encoding_and_encodings_are_distinct() {
        let all = all_actions();
        for (index, &action) in all.iter().enumerate() {
            let op = Op::new(ObjectId(index as u32), action);
            assert_eq!(op.action(), action);
            assert_eq!(op.object(), ObjectId(index as u32));
            let [head, first, second] = op.into_words();
            assert_eq!(Op::from_words(head, first, second), op);
            for &other in &all[..index] {
                let same = Op::new(ObjectId(0), other) == Op::new(ObjectId(0), action);
                assert_eq!(same, other == action);
            }
        }
    }
}
