//! Operations and effects, by kind. Values of variables are texts, as the program would print them: JSON's
//! numbers are not wide enough everywhere.

use raddle_analysis::{ordering, rmw, value};
use raddle_core::{
    Action, AtomicOp, BarrierOp, CellOp, ChannelOp, CondvarOp, Effect, Event, FutexOp, MutexOp,
    OnceOp, Op, Order, ParkOp, PauseOp, Question, RwLockOp, Scalar, SemaphoreOp, ThreadOp,
};
use raddle_results::Json;
use raddle_results::document::Operation;

/// Returns the kind of an operation and the fields that belong to it, without its object.
pub(super) fn operation(op: Op, scalar: Scalar) -> Operation {
    let shown = |bits| Json::Text(value(scalar, bits));
    let order = |order: Order| Json::text(ordering(order));
    let word = match op.action() {
        Action::Thread(op) => match op {
            ThreadOp::Spawn => "thread.spawn",
            ThreadOp::Exit => "thread.exit",
            ThreadOp::Join => "thread.join",
            ThreadOp::IsFinished => "thread.is_finished",
        },
        Action::Atomic(op) => {
            return match op {
                AtomicOp::Load { order: is } => kind("atomic.load", [("order", order(is))]),
                AtomicOp::Store { order: is, value } => {
                    kind("atomic.store", [("order", order(is)), ("value", shown(value))])
                }
                AtomicOp::Update { order: is, scalar: _, function, operand } => kind(
                    "atomic.update",
                    [
                        ("function", Json::text(rmw(function))),
                        ("order", order(is)),
                        ("operand", shown(operand)),
                    ],
                ),
                AtomicOp::CompareExchange { success, failure, weak, expected, new } => kind(
                    "atomic.compare_exchange",
                    [
                        ("weak", Json::Bool(weak)),
                        ("success", order(success)),
                        ("failure", order(failure)),
                        ("expected", shown(expected)),
                        ("new", shown(new)),
                    ],
                ),
            };
        }
        Action::Cell(op) => match op {
            CellOp::Read => "cell.read",
            CellOp::Write => "cell.write",
        },
        Action::Mutex(op) => match op {
            MutexOp::Lock => "mutex.lock",
            MutexOp::TryLock => "mutex.try_lock",
            MutexOp::Unlock => "mutex.unlock",
        },
        Action::RwLock(op) => match op {
            RwLockOp::Read => "rwlock.read",
            RwLockOp::TryRead => "rwlock.try_read",
            RwLockOp::UnlockRead => "rwlock.unlock_read",
            RwLockOp::Write => "rwlock.write",
            RwLockOp::TryWrite => "rwlock.try_write",
            RwLockOp::UnlockWrite => "rwlock.unlock_write",
        },
        Action::Condvar(op) => match op {
            CondvarOp::Enqueue => "condvar.enqueue",
            CondvarOp::Consume { timed } => return waiting("condvar.consume", timed),
            CondvarOp::NotifyOne => "condvar.notify_one",
            CondvarOp::NotifyAll => "condvar.notify_all",
        },
        Action::Barrier(op) => match op {
            BarrierOp::Arrive => "barrier.arrive",
            BarrierOp::Leave { generation } => {
                return kind("barrier.leave", [("generation", Json::Number(generation))]);
            }
        },
        Action::Once(op) => match op {
            OnceOp::Begin => "once.begin",
            OnceOp::Complete => "once.complete",
            OnceOp::Reset => "once.reset",
            OnceOp::IsComplete => "once.is_complete",
        },
        Action::Park(op) => match op {
            ParkOp::Park { timed } => return waiting("park.park", timed),
            ParkOp::Unpark => "park.unpark",
        },
        Action::Channel(op) => match op {
            ChannelOp::Send => "channel.send",
            ChannelOp::TrySend => "channel.try_send",
            ChannelOp::AwaitTaken { ticket } => {
                return kind("channel.await_taken", [("ticket", Json::Number(ticket))]);
            }
            ChannelOp::Receive { timed } => return waiting("channel.receive", timed),
            ChannelOp::TryReceive => "channel.try_receive",
            ChannelOp::CloseSenders => "channel.close_senders",
            ChannelOp::CloseReceiver => "channel.close_receiver",
        },
        Action::Semaphore(op) => match op {
            SemaphoreOp::Wait { timed } => return waiting("semaphore.wait", timed),
            SemaphoreOp::TryWait => "semaphore.try_wait",
            SemaphoreOp::Post => "semaphore.post",
            SemaphoreOp::Value => "semaphore.value",
        },
        Action::Futex(op) => {
            let number = |value: u32| Json::Number(value.into());
            return match op {
                FutexOp::Enqueue { part, mask } => {
                    kind("futex.enqueue", [("part", number(part.into())), ("mask", number(mask))])
                }
                FutexOp::Look => kind("futex.look", []),
                FutexOp::Consume { timed } => waiting("futex.consume", timed),
                FutexOp::Wake { part, count, mask } => kind(
                    "futex.wake",
                    [
                        ("part", number(part.into())),
                        ("count", number(count)),
                        ("mask", number(mask)),
                    ],
                ),
                FutexOp::Requeue { from, to, wakes, moves } => kind(
                    "futex.requeue",
                    [
                        ("from", number(from.into())),
                        ("to", number(to.into())),
                        ("wakes", number(wakes)),
                        ("moves", number(moves)),
                    ],
                ),
            };
        }
        Action::Fence(is) => return kind("fence", [("order", order(is))]),
        Action::Pause(op) => match op {
            PauseOp::Yield => "pause.yield",
            PauseOp::Spin => "pause.spin",
            PauseOp::Sleep { nanos } => {
                return kind("pause.sleep", [("nanoseconds", Json::Number(nanos))]);
            }
        },
        Action::Choose { bound, question: Question::Number } => {
            return kind("choose", [("bound", Json::Number(bound.into()))]);
        }
        Action::Choose { question: Question::Spurious, .. } => "choose.spurious",
    };
    kind(word, [])
}

fn waiting(word: &str, timed: bool) -> Operation {
    kind(word, [("timed", Json::Bool(timed))])
}

/// Returns what the operation returned to its thread. Returns `None` for nothing.
pub(super) fn effect(event: &Event, scalar: Scalar) -> Option<Operation> {
    let shown = |bits| ("value", Json::Text(value(scalar, bits)));
    Some(match event.effect {
        Effect::None => return None,
        Effect::Value(bits) => kind("value", [shown(bits)]),
        Effect::Exchanged(bits) => kind("exchanged", [shown(bits)]),
        Effect::Kept(bits) => kind("kept", [shown(bits)]),
        Effect::Yes => kind("yes", []),
        Effect::No => kind("no", []),
        Effect::Ticket(ticket) => kind("ticket", [("ticket", Json::Number(ticket))]),
        Effect::LastTicket(ticket) => kind("last-ticket", [("ticket", Json::Number(ticket))]),
        Effect::Closed => kind("closed", []),
    })
}

fn kind<const N: usize>(word: &str, fields: [(&'static str, Json); N]) -> Operation {
    let fields = fields.into_iter().map(|(name, value)| (name.into(), value)).collect();
    Operation { kind: word.to_owned(), fields }
}
