//! Operations in words. What follows `→` is what the operation returned to its thread.

use std::time::Duration;

use raddle_core::{
    Action, AtomicOp, BarrierOp, CellOp, ChannelOp, CondvarOp, Effect, Event, FutexOp, MutexOp,
    ObjectKind, OnceOp, Op, Order, ParkOp, PauseOp, Rmw, RwLockOp, Scalar, SemaphoreOp, ThreadOp,
};

use super::names::Names;
use crate::number;

/// Programs that wake all waiters of a variable ask for at least this number.
const MANY: u32 = i32::MAX as u32;

/// Returns a performed operation in words: `atomic 1.load → 0`.
pub(super) fn performed(event: &Event, names: &Names<'_>) -> String {
    let announced = announced(event.op, names);
    match outcome(event, names) {
        Some(outcome) => format!("{announced} → {outcome}"),
        None => announced,
    }
}

/// Returns an operation in words, without its effect: `atomic 1.load`.
pub(super) fn announced(op: Op, names: &Names<'_>) -> String {
    let name = names.name(op.object());
    match op.action() {
        Action::Thread(op) => match op {
            ThreadOp::Spawn => format!("spawn {name}"),
            ThreadOp::Exit => "ends".into(),
            ThreadOp::Join => format!("join {name}"),
            ThreadOp::IsFinished => format!("{name}.is_finished"),
        },
        Action::Atomic(access) => format!("{name}.{}", atomic(access, names.scalar(op))),
        Action::Cell(op) => match op {
            CellOp::Read => format!("{name}.get"),
            CellOp::Write => format!("{name}.set"),
        },
        Action::Mutex(op) => match op {
            MutexOp::Lock => format!("{name}.lock"),
            MutexOp::TryLock => format!("{name}.try_lock"),
            MutexOp::Unlock => format!("{name}.unlock"),
        },
        Action::RwLock(op) => match op {
            RwLockOp::Read => format!("{name}.read"),
            RwLockOp::TryRead => format!("{name}.try_read"),
            RwLockOp::UnlockRead => format!("{name}.unlock (read)"),
            RwLockOp::Write => format!("{name}.write"),
            RwLockOp::TryWrite => format!("{name}.try_write"),
            RwLockOp::UnlockWrite => format!("{name}.unlock (write)"),
        },
        Action::Condvar(op) => match op {
            CondvarOp::Enqueue => format!("{name}.wait begins"),
            CondvarOp::Consume { timed: false } => format!("{name}.wait"),
            CondvarOp::Consume { timed: true } => format!("{name}.wait_timeout"),
            CondvarOp::NotifyOne => format!("{name}.notify_one"),
            CondvarOp::NotifyAll => format!("{name}.notify_all"),
        },
        Action::Barrier(op) => match op {
            BarrierOp::Arrive => format!("{name}.wait begins"),
            BarrierOp::Leave { .. } => format!("{name}.wait"),
        },
        Action::Once(op) => match op {
            OnceOp::Begin => format!("{name}.call"),
            OnceOp::Complete => format!("{name} is complete"),
            OnceOp::Reset => format!("{name} failed"),
            OnceOp::IsComplete => format!("{name}.is_completed"),
        },
        Action::Park(park) => match park {
            ParkOp::Park { timed: false } => "park".into(),
            ParkOp::Park { timed: true } => "park_timeout".into(),
            ParkOp::Unpark => format!("unpark {}", parked(op, names)),
        },
        Action::Channel(op) => match op {
            ChannelOp::Send => format!("{name}.send"),
            ChannelOp::TrySend => format!("{name}.try_send"),
            ChannelOp::AwaitTaken { .. } => format!("{name}.send waits"),
            ChannelOp::Receive { timed: false } => format!("{name}.recv"),
            ChannelOp::Receive { timed: true } => format!("{name}.recv_timeout"),
            ChannelOp::TryReceive => format!("{name}.try_recv"),
            ChannelOp::CloseSenders => format!("{name}: last sender gone"),
            ChannelOp::CloseReceiver => format!("{name}: receiver gone"),
        },
        Action::Semaphore(op) => match op {
            SemaphoreOp::Wait { timed: false } => format!("{name}.wait"),
            SemaphoreOp::Wait { timed: true } => format!("{name}.timed_wait"),
            SemaphoreOp::TryWait => format!("{name}.try_wait"),
            SemaphoreOp::Post => format!("{name}.post"),
            SemaphoreOp::Value => format!("{name}.value"),
        },
        Action::Futex(op) => match op {
            FutexOp::Enqueue { .. } => format!("{name}.futex_wait begins"),
            FutexOp::Look | FutexOp::Consume { timed: false } => format!("{name}.futex_wait"),
            FutexOp::Consume { timed: true } => format!("{name}.futex_wait (timed)"),
            FutexOp::Wake { count, .. } if count >= MANY => format!("{name}.futex_wake all"),
            FutexOp::Wake { count, .. } => format!("{name}.futex_wake {count}"),
            FutexOp::Requeue { .. } => format!("{name}.futex_requeue"),
        },
        Action::Fence(order) => format!("fence {}", ordering(order)),
        Action::Pause(op) => match op {
            PauseOp::Yield => "yield_now".into(),
            PauseOp::Spin => "spin_loop".into(),
            PauseOp::Sleep { nanos } => {
                format!("sleep {}", number::time(Duration::from_nanos(nanos)))
            }
        },
        Action::Choose { bound } => format!("choose below {bound}"),
    }
}

/// Returns the effect of an operation in words, if it is worth showing.
fn outcome(event: &Event, names: &Names<'_>) -> Option<String> {
    let value = |bits| value(names.scalar(event.op), bits);
    match event.op.action() {
        Action::Thread(op) => match op {
            ThreadOp::IsFinished => Some((event.effect == Effect::Yes).to_string()),
            ThreadOp::Spawn | ThreadOp::Exit | ThreadOp::Join => None,
        },
        Action::Atomic(_) => match event.effect {
            Effect::Value(bits) => Some(value(bits)),
            Effect::Exchanged(bits) => Some(format!("Ok({})", value(bits))),
            Effect::Kept(bits) => Some(format!("Err({})", value(bits))),
            Effect::None
            | Effect::Yes
            | Effect::No
            | Effect::Ticket(_)
            | Effect::LastTicket(_)
            | Effect::Closed => None,
        },
        Action::Mutex(op) => match op {
            MutexOp::TryLock => Some(taken_or_not(event.effect)),
            MutexOp::Lock | MutexOp::Unlock => None,
        },
        Action::RwLock(op) => match op {
            RwLockOp::TryRead | RwLockOp::TryWrite => Some(taken_or_not(event.effect)),
            RwLockOp::Read | RwLockOp::Write | RwLockOp::UnlockRead | RwLockOp::UnlockWrite => None,
        },
        Action::Condvar(op) => match op {
            CondvarOp::Consume { .. } => {
                Some(if event.effect == Effect::No { "timed out" } else { "notified" }.into())
            }
            CondvarOp::NotifyOne | CondvarOp::NotifyAll => {
                (event.effect == Effect::No).then(|| "wakes no thread".into())
            }
            CondvarOp::Enqueue => None,
        },
        Action::Barrier(op) => match op {
            BarrierOp::Arrive => {
                matches!(event.effect, Effect::LastTicket(_)).then(|| "all arrived".into())
            }
            BarrierOp::Leave { .. } => None,
        },
        Action::Once(op) => match op {
            OnceOp::Begin => {
                Some(if event.effect == Effect::No { "already done" } else { "first" }.into())
            }
            OnceOp::IsComplete => Some((event.effect == Effect::Yes).to_string()),
            OnceOp::Complete | OnceOp::Reset => None,
        },
        Action::Park(op) => match op {
            ParkOp::Park { timed } => {
                (timed && event.effect == Effect::No).then(|| "timed out".into())
            }
            ParkOp::Unpark => (event.effect == Effect::No).then(|| "already unparked".into()),
        },
        Action::Channel(op) => match op {
            ChannelOp::Send | ChannelOp::TrySend | ChannelOp::AwaitTaken { .. } => {
                match event.effect {
                    Effect::Closed => Some("receiver gone".into()),
                    Effect::No => Some("not taken".into()),
                    Effect::None
                    | Effect::Value(_)
                    | Effect::Exchanged(_)
                    | Effect::Kept(_)
                    | Effect::Yes
                    | Effect::Ticket(_)
                    | Effect::LastTicket(_) => None,
                }
            }
            ChannelOp::Receive { .. } | ChannelOp::TryReceive => match event.effect {
                Effect::Closed => Some("senders gone".into()),
                Effect::No => Some("nothing".into()),
                Effect::None
                | Effect::Value(_)
                | Effect::Exchanged(_)
                | Effect::Kept(_)
                | Effect::Yes
                | Effect::Ticket(_)
                | Effect::LastTicket(_) => Some("a message".into()),
            },
            ChannelOp::CloseSenders | ChannelOp::CloseReceiver => None,
        },
        Action::Semaphore(op) => match op {
            SemaphoreOp::TryWait => Some(taken_or_not(event.effect)),
            SemaphoreOp::Wait { timed } => {
                (timed && event.effect == Effect::No).then(|| "timed out".into())
            }
            SemaphoreOp::Value => chosen(event.effect),
            SemaphoreOp::Post => None,
        },
        Action::Futex(op) => match op {
            FutexOp::Consume { .. } => {
                Some(if event.effect == Effect::No { "timed out" } else { "woken" }.into())
            }
            FutexOp::Wake { .. } | FutexOp::Requeue { .. } => {
                chosen(event.effect).or_else(|| Some("wakes no thread".into()))
            }
            FutexOp::Look => Some("another value".into()),
            FutexOp::Enqueue { .. } => None,
        },
        Action::Choose { .. } => chosen(event.effect),
        Action::Cell(_) | Action::Fence(_) | Action::Pause(_) => None,
    }
}

/// Returns the number that an operation returned.
fn chosen(effect: Effect) -> Option<String> {
    match effect {
        Effect::Value(chosen) => Some(chosen.to_string()),
        Effect::None
        | Effect::Exchanged(_)
        | Effect::Kept(_)
        | Effect::Yes
        | Effect::No
        | Effect::Ticket(_)
        | Effect::LastTicket(_)
        | Effect::Closed => None,
    }
}

/// Returns what a thread blocked on an operation waits for: `waits for room in channel 1`.
pub(super) fn waits_for(op: Op, names: &Names<'_>) -> String {
    let name = names.name(op.object());
    match op.action() {
        Action::Thread(ThreadOp::Join) => format!("waits for {name} to end"),
        Action::Condvar(CondvarOp::Consume { .. }) => {
            format!("waits for a notification of {name}")
        }
        Action::Barrier(BarrierOp::Leave { .. }) => format!("waits for the others at {name}"),
        Action::Once(_) => format!("waits until {name} is complete"),
        Action::Park(ParkOp::Park { .. }) => "waits to be unparked".into(),
        Action::Channel(ChannelOp::Send) => format!("waits for room in {name}"),
        Action::Channel(ChannelOp::AwaitTaken { .. }) => {
            format!("waits until its message to {name} is taken")
        }
        Action::Channel(ChannelOp::Receive { .. }) => format!("waits for a message from {name}"),
        Action::Semaphore(SemaphoreOp::Wait { .. }) => format!("waits for a post of {name}"),
        Action::Futex(FutexOp::Consume { .. }) => format!("waits to be woken at {name}"),
        Action::Semaphore(SemaphoreOp::TryWait | SemaphoreOp::Post | SemaphoreOp::Value)
        | Action::Futex(
            FutexOp::Enqueue { .. }
            | FutexOp::Look
            | FutexOp::Wake { .. }
            | FutexOp::Requeue { .. },
        )
        | Action::Mutex(_)
        | Action::RwLock(_)
        | Action::Thread(ThreadOp::Spawn | ThreadOp::Exit | ThreadOp::IsFinished)
        | Action::Condvar(CondvarOp::Enqueue | CondvarOp::NotifyOne | CondvarOp::NotifyAll)
        | Action::Barrier(BarrierOp::Arrive)
        | Action::Park(ParkOp::Unpark)
        | Action::Channel(
            ChannelOp::TrySend
            | ChannelOp::TryReceive
            | ChannelOp::CloseSenders
            | ChannelOp::CloseReceiver,
        )
        | Action::Atomic(_)
        | Action::Cell(_)
        | Action::Fence(_)
        | Action::Pause(_)
        | Action::Choose { .. } => format!("waits for {name}"),
    }
}

fn atomic(op: AtomicOp, scalar: Scalar) -> String {
    match op {
        AtomicOp::Load { .. } => "load".into(),
        AtomicOp::Store { value: bits, .. } => format!("store {}", value(scalar, bits)),
        AtomicOp::Update { function, operand, .. } => {
            format!("{} {}", rmw(function), value(scalar, operand))
        }
        AtomicOp::CompareExchange { weak, expected, new, .. } => {
            let method = if weak { "compare_exchange_weak" } else { "compare_exchange" };
            format!("{method} {}, {}", value(scalar, expected), value(scalar, new))
        }
    }
}

pub(super) fn rmw(function: Rmw) -> &'static str {
    match function {
        Rmw::Swap => "swap",
        Rmw::Add => "fetch_add",
        Rmw::Sub => "fetch_sub",
        Rmw::And => "fetch_and",
        Rmw::Nand => "fetch_nand",
        Rmw::Or => "fetch_or",
        Rmw::Xor => "fetch_xor",
        Rmw::Max => "fetch_max",
        Rmw::Min => "fetch_min",
    }
}

pub(super) fn ordering(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "Relaxed",
        Order::Acquire => "Acquire",
        Order::Release => "Release",
        Order::AcqRel => "AcqRel",
        Order::SeqCst => "SeqCst",
    }
}

pub(super) fn value(scalar: Scalar, bits: u64) -> String {
    match scalar {
        Scalar::Bool => (bits != 0).to_string(),
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => bits.to_string(),
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => {
            scalar.sign_extend(bits).to_string()
        }
        Scalar::Pointer => format!("{bits:#x}"),
    }
}

/// Returns the thread whose park token the operation is on.
fn parked(op: Op, names: &Names<'_>) -> String {
    match names.kind(op.object()) {
        Some(ObjectKind::Parker(thread)) => names.thread(thread),
        Some(
            ObjectKind::Thread(_)
            | ObjectKind::Atomic(_)
            | ObjectKind::Cell
            | ObjectKind::Mutex
            | ObjectKind::RwLock
            | ObjectKind::Condvar
            | ObjectKind::Barrier
            | ObjectKind::Once
            | ObjectKind::Channel
            | ObjectKind::Semaphore,
        )
        | None => names.name(op.object()).into(),
    }
}

fn taken_or_not(effect: Effect) -> String {
    if effect == Effect::No { "busy" } else { "taken" }.into()
}
