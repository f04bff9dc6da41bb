//! Operations in words. What follows `→` is what the operation returned to its thread.

use std::time::Duration;

use raddle_core::{
    Action, AtomicOp, BarrierOp, CellOp, ChannelOp, CondvarOp, Effect, Event, FutexOp, MutexOp,
    ObjectKind, OnceOp, Op, Order, ParkOp, PauseOp, Question, Rmw, RwLockOp, Scalar, SemaphoreOp,
    ThreadId, ThreadOp, Trace,
};

use crate::{Names, Wakeups};

/// Programs that wake all waiters of a variable ask for at least this number.
const MANY: u32 = i32::MAX as u32;

/// The steps of a run in words.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    trace: &'a Trace,
    /// The names of threads and objects.
    pub names: Names<'a>,
    wakeups: Wakeups,
    /// The positions of steps that failed spuriously, ascending.
    spurious: Vec<usize>,
}

impl<'a> Words<'a> {
    /// Prepares the words for `trace`.
    pub fn of(trace: &'a Trace) -> Words<'a> {
        let (names, wakeups) = (Names::new(trace), Wakeups::of(trace));
        Words { trace, names, wakeups, spurious: spurious(trace) }
    }

    /// Returns the execution.
    pub fn trace(&self) -> &'a Trace {
        self.trace
    }

    /// Returns the step at `position`: `atomic 1.load → 0`.
    pub fn performed(&self, position: usize) -> String {
        let event = &self.trace.events[position];
        if self.spurious.binary_search(&position).is_ok() {
            return self.failed_spuriously(event);
        }
        let announced = self.announced(event.op);
        match self.outcome(position, event) {
            Some(outcome) => format!("{announced} → {outcome}"),
            None => announced,
        }
    }

    /// Returns a step that failed spuriously. It is recorded as a wait that may time out, or as a load.
    fn failed_spuriously(&self, event: &Event) -> String {
        let name = self.names.name(event.op.object());
        match (event.op.action(), event.effect) {
            (Action::Atomic(_), Effect::Value(bits)) => {
                let value = value(self.names.scalar(event.op), bits);
                format!("{name}.compare_exchange_weak → Err({value}), spuriously")
            }
            (Action::Park(_), _) if !is_notify(event.op, &self.names) => {
                "park → woken spuriously".into()
            }
            _ => format!("{name}.wait → woken spuriously"),
        }
    }

    /// Returns an operation without its effect: `atomic 1.load`.
    pub fn announced(&self, op: Op) -> String {
        announced(op, &self.names)
    }

    /// Returns what a thread blocked on an operation waits for: `waits for room in channel 1`.
    pub fn waits_for(&self, op: Op) -> String {
        waits_for(op, &self.names)
    }

    /// Returns the effect of a step, if it is worth showing.
    fn outcome(&self, position: usize, event: &Event) -> Option<String> {
        match event.op.action() {
            Action::Condvar(CondvarOp::NotifyOne | CondvarOp::NotifyAll) => {
                self.woken(position, event.effect)
            }
            Action::Condvar(CondvarOp::Enqueue | CondvarOp::Consume { .. })
            | Action::Thread(_)
            | Action::Atomic(_)
            | Action::Cell(_)
            | Action::Mutex(_)
            | Action::RwLock(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Channel(_)
            | Action::Semaphore(_)
            | Action::Futex(_)
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => outcome(event, &self.names),
        }
    }

    /// Returns whom a notification woke.
    fn woken(&self, position: usize, effect: Effect) -> Option<String> {
        if effect == Effect::No {
            return Some("wakes no thread".into());
        }
        let taken = self.wakeups.taken(position).map(|step| self.trace.events[step].id.thread);
        let taken: Vec<String> = taken.map(|thread| self.names.thread(thread)).collect();
        let open = self.wakeups.open(position).iter().map(|&thread| self.names.thread(thread));
        let open: Vec<String> = open.collect();
        let mut parts = Vec::new();
        if !taken.is_empty() {
            parts.push(format!("wakes {}", enumerated(&taken, "and")));
        }
        if !open.is_empty() {
            parts.push(format!("may wake {}", enumerated(&open, "or")));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Returns words as a list: `a, b and c`. Of many words, only the first are listed.
fn enumerated(words: &[String], last: &str) -> String {
    const MAX_LISTED: usize = 3;
    match words {
        [one] => one.clone(),
        _ if words.len() > MAX_LISTED + 1 => {
            let more = words.len() - MAX_LISTED;
            format!("{} {last} {more} more", words[..MAX_LISTED].join(", "))
        }
        [all @ .., one] => format!("{} {last} {one}", all.join(", ")),
        [] => String::new(),
    }
}

/// Returns the positions of the steps that failed spuriously: the first of its thread that can fail so, after it was
/// chosen that it does.
fn spurious(trace: &Trace) -> Vec<usize> {
    let mut chosen: Vec<ThreadId> = Vec::new();
    let mut found = Vec::new();
    for (position, event) in trace.events.iter().enumerate() {
        let thread = event.id.thread;
        match event.op.action() {
            Action::Choose { question: Question::Spurious, .. } => {
                if event.effect == Effect::Value(1) {
                    chosen.push(thread);
                }
            }
            Action::Atomic(AtomicOp::Load { .. })
            | Action::Park(ParkOp::Park { timed: true })
            | Action::Condvar(CondvarOp::Consume { timed: true }) => {
                let Some(place) = chosen.iter().position(|known| *known == thread) else {
                    continue;
                };
                chosen.swap_remove(place);
                // A wait that may end spuriously may as well be notified.
                if event.effect != Effect::Yes {
                    found.push(position);
                }
            }
            Action::Atomic(_)
            | Action::Park(_)
            | Action::Condvar(_)
            | Action::Thread(_)
            | Action::Cell(_)
            | Action::Mutex(_)
            | Action::RwLock(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Channel(_)
            | Action::Semaphore(_)
            | Action::Futex(_)
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => {}
        }
    }
    found
}

fn announced(op: Op, names: &Names<'_>) -> String {
    let name = names.name(op.object());
    match op.action() {
        Action::Thread(op) => match op {
            ThreadOp::Spawn => format!("spawn {name}"),
            ThreadOp::Exit => "ends".into(),
            ThreadOp::Join => format!("join {name}"),
            ThreadOp::IsFinished => format!("{name}.is_finished"),
        },
        Action::Atomic(access) => match names.scalar(op) {
            Scalar::Departures => "drop a sender".into(),
            scalar => format!("{name}.{}", atomic(access, scalar)),
        },
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
        Action::Park(park) if is_notify(op, names) => match park {
            ParkOp::Park { .. } => format!("{name}.wait"),
            ParkOp::Unpark => format!("{name}.notify"),
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
                format!("sleep {:?}", Duration::from_nanos(nanos))
            }
        },
        Action::Choose { bound, question: Question::Number } => format!("choose below {bound}"),
        Action::Choose { question: Question::Spurious, .. } => "spurious failure?".into(),
    }
}

/// Returns the effect of an operation other than a notification, if it is worth showing.
fn outcome(event: &Event, names: &Names<'_>) -> Option<String> {
    let value = |bits| value(names.scalar(event.op), bits);
    match event.op.action() {
        Action::Thread(op) => match op {
            ThreadOp::IsFinished => Some((event.effect == Effect::Yes).to_string()),
            ThreadOp::Spawn | ThreadOp::Exit | ThreadOp::Join => None,
        },
        Action::Atomic(_) => match event.effect {
            _ if names.scalar(event.op) == Scalar::Departures => None,
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
            CondvarOp::Enqueue | CondvarOp::NotifyOne | CondvarOp::NotifyAll => None,
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
            ParkOp::Park { timed } if event.effect == Effect::No && timed => {
                // The wait of a future that has woken itself, or is new. `Notify` has no wait with a time limit.
                let is_due = is_notify(event.op, names);
                Some(if is_due { "already woken" } else { "timed out" }.into())
            }
            ParkOp::Park { .. } => None,
            ParkOp::Unpark if event.effect != Effect::No => None,
            ParkOp::Unpark if is_notify(event.op, names) => Some("already notified".into()),
            ParkOp::Unpark => Some("already unparked".into()),
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
        Action::Choose { question: Question::Spurious, .. } => {
            Some(if event.effect == Effect::Value(1) { "yes" } else { "no" }.into())
        }
        Action::Choose { question: Question::Number, .. } => chosen(event.effect),
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

fn waits_for(op: Op, names: &Names<'_>) -> String {
    let name = names.name(op.object());
    match op.action() {
        Action::Thread(ThreadOp::Join) => format!("waits for {name} to end"),
        Action::Condvar(CondvarOp::Consume { .. }) => {
            format!("waits for a notification of {name}")
        }
        Action::Barrier(BarrierOp::Leave { .. }) => format!("waits for the others at {name}"),
        Action::Once(_) => format!("waits until {name} is complete"),
        Action::Park(ParkOp::Park { .. }) if is_notify(op, names) => {
            format!("waits for a notification of {name}")
        }
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
        AtomicOp::Load { order } => format!("load{}", weaker(order)),
        AtomicOp::Store { order, value: bits } => {
            format!("store {}{}", value(scalar, bits), weaker(order))
        }
        AtomicOp::Update { order, function, operand, .. } => {
            format!("{} {}{}", rmw(function), value(scalar, operand), weaker(order))
        }
        AtomicOp::CompareExchange { success, failure, weak, expected, new } => {
            let method = if weak { "compare_exchange_weak" } else { "compare_exchange" };
            let orders = match (success, failure) {
                (Order::SeqCst, Order::SeqCst) => String::new(),
                (success, failure) => format!(" ({}, {})", ordering(success), ordering(failure)),
            };
            format!("{method} {}, {}{orders}", value(scalar, expected), value(scalar, new))
        }
    }
}

/// Returns a memory ordering if it is weaker than sequential consistency: ` (Relaxed)`.
fn weaker(order: Order) -> String {
    match order {
        Order::SeqCst => String::new(),
        Order::Relaxed | Order::Acquire | Order::Release | Order::AcqRel => {
            format!(" ({})", ordering(order))
        }
    }
}

/// Returns the name of the method of a read-modify-write.
pub fn rmw(function: Rmw) -> &'static str {
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

/// Returns the name of an access to an atomic variable, as a program calls it, or of a fence. Empty for other operations.
pub fn access_name(op: Op) -> &'static str {
    match op.action() {
        Action::Atomic(AtomicOp::Load { .. }) => "load",
        Action::Atomic(AtomicOp::Store { .. }) => "store",
        Action::Atomic(AtomicOp::Update { function, .. }) => rmw(function),
        Action::Atomic(AtomicOp::CompareExchange { weak: true, .. }) => "compare_exchange_weak",
        Action::Atomic(AtomicOp::CompareExchange { weak: false, .. }) => "compare_exchange",
        _ if op.fence().is_some() => "fence",
        _ => "",
    }
}

/// Returns the name of a memory ordering.
pub fn ordering(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "Relaxed",
        Order::Acquire => "Acquire",
        Order::Release => "Release",
        Order::AcqRel => "AcqRel",
        Order::SeqCst => "SeqCst",
    }
}

/// Returns a value of an atomic variable, as the program would print it.
pub fn value(scalar: Scalar, bits: u64) -> String {
    match scalar {
        Scalar::Bool => (bits != 0).to_string(),
        Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::U64
        | Scalar::Usize
        | Scalar::Departures => bits.to_string(),
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 | Scalar::Isize => {
            scalar.sign_extend(bits).to_string()
        }
        Scalar::Pointer => format!("{bits:#x}"),
    }
}

/// Returns whether an operation of a park token is on a notification that belongs to no thread.
fn is_notify(op: Op, names: &Names<'_>) -> bool {
    names.kind(op.object()) == Some(ObjectKind::Notify)
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
            | ObjectKind::Semaphore
            | ObjectKind::Notify,
        )
        | None => names.name(op.object()).into(),
    }
}

fn taken_or_not(effect: Effect) -> String {
    if effect == Effect::No { "busy" } else { "taken" }.into()
}
