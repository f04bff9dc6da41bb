//! States of objects, implemented a second time and as simply as possible.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::{
    Action, AtomicOp, BarrierOp, CellOp, ChannelOp, CondvarOp, Effect, FutexOp, MutexOp, OnceOp,
    ParkOp, Rmw, RwLockOp, SemaphoreOp, ThreadId, ThreadOp,
};
use raddle_engine::Initial;

/// The state of an object.
#[derive(Clone, Debug)]
pub(super) enum Model {
    Atomic {
        value: u8,
        /// The threads that wait, by the time at which they joined, with their parts and bits.
        queue: BTreeMap<u64, (ThreadId, u8, u32)>,
        woken: BTreeSet<ThreadId>,
        time: u64,
    },
    Cell,
    Mutex {
        held: bool,
    },
    RwLock {
        readers: u32,
        writer: bool,
    },
    Condvar {
        waiting: BTreeSet<ThreadId>,
        tokens: Vec<BTreeSet<ThreadId>>,
    },
    Barrier {
        size: u64,
        arrivals: u64,
    },
    Once {
        begun: bool,
        complete: bool,
    },
    Channel {
        capacity: Option<u64>,
        sent: u64,
        taken: u64,
        senders: bool,
        receiver: bool,
    },
    Semaphore {
        count: u64,
    },
    Life {
        ended: bool,
    },
    Parker {
        token: bool,
    },
}

impl Model {
    pub(super) fn new(initial: Initial) -> Model {
        match initial {
            Initial::Atomic(_, value) => Model::Atomic {
                value: value as u8,
                queue: BTreeMap::new(),
                woken: BTreeSet::new(),
                time: 0,
            },
            Initial::Semaphore(count) => Model::Semaphore { count },
            Initial::Notify => Model::Parker { token: false },
            Initial::Cell => Model::Cell,
            Initial::Mutex => Model::Mutex { held: false },
            Initial::RwLock => Model::RwLock { readers: 0, writer: false },
            Initial::Condvar => Model::Condvar { waiting: BTreeSet::new(), tokens: Vec::new() },
            Initial::Barrier(size) => Model::Barrier { size, arrivals: 0 },
            Initial::Once => Model::Once { begun: false, complete: false },
            Initial::Channel { capacity } => {
                Model::Channel { capacity, sent: 0, taken: 0, senders: true, receiver: true }
            }
        }
    }

    /// Returns whether `by` can perform `action` in this state.
    pub(super) fn allows(&self, action: Action, by: ThreadId) -> bool {
        match (self, action) {
            (Model::Mutex { held }, Action::Mutex(MutexOp::Lock)) => !held,
            (Model::RwLock { writer, .. }, Action::RwLock(RwLockOp::Read)) => !writer,
            (Model::RwLock { readers, writer }, Action::RwLock(RwLockOp::Write)) => {
                !writer && *readers == 0
            }
            (
                Model::Condvar { tokens, .. },
                Action::Condvar(CondvarOp::Consume { timed: false }),
            ) => tokens.iter().any(|eligible| eligible.contains(&by)),
            (
                Model::Barrier { size, arrivals },
                Action::Barrier(BarrierOp::Leave { generation }),
            ) => *arrivals >= (generation + 1) * size,
            (Model::Once { begun, complete }, Action::Once(OnceOp::Begin)) => !begun || *complete,
            (Model::Parker { token }, Action::Park(ParkOp::Park { timed: false })) => *token,
            (
                Model::Channel { capacity, sent, taken, receiver, .. },
                Action::Channel(ChannelOp::Send),
            ) => {
                // A send on a rendezvous channel is always enabled: the sender waits afterwards.
                !receiver
                    || match capacity {
                        None | Some(0) => true,
                        Some(capacity) => sent - taken < *capacity,
                    }
            }
            (
                Model::Channel { taken, receiver, .. },
                Action::Channel(ChannelOp::AwaitTaken { ticket }),
            ) => !receiver || *taken > ticket,
            (
                Model::Channel { sent, taken, senders, .. },
                Action::Channel(ChannelOp::Receive { timed: false }),
            ) => sent > taken || !senders,
            (Model::Semaphore { count }, Action::Semaphore(SemaphoreOp::Wait { timed: false })) => {
                *count != 0
            }
            (Model::Atomic { woken, .. }, Action::Futex(FutexOp::Consume { timed: false })) => {
                woken.contains(&by)
            }
            (Model::Life { ended }, Action::Thread(ThreadOp::Join)) => *ended,
            _ => true,
        }
    }

    /// Performs `action` by `by`.
    pub(super) fn perform(&mut self, action: Action, by: ThreadId) -> Effect {
        match (self, action) {
            (Model::Atomic { value, .. }, Action::Atomic(op)) => atomic(value, op),
            (Model::Atomic { queue, woken, time, .. }, Action::Futex(op)) => {
                futex(queue, woken, time, op, by)
            }
            (Model::Semaphore { count }, Action::Semaphore(op)) => match op {
                SemaphoreOp::Value => Effect::Value(*count),
                SemaphoreOp::Post => {
                    *count += 1;
                    Effect::None
                }
                SemaphoreOp::Wait { .. } | SemaphoreOp::TryWait if *count == 0 => Effect::No,
                SemaphoreOp::Wait { .. } | SemaphoreOp::TryWait => {
                    *count -= 1;
                    Effect::Yes
                }
            },
            (Model::Cell, Action::Cell(CellOp::Read | CellOp::Write)) => Effect::None,
            (Model::Mutex { held }, Action::Mutex(op)) => match op {
                MutexOp::Lock => set(held, true),
                MutexOp::Unlock => set(held, false),
                MutexOp::TryLock if *held => Effect::No,
                MutexOp::TryLock => {
                    *held = true;
                    Effect::Yes
                }
            },
            (Model::RwLock { readers, writer }, Action::RwLock(op)) => rwlock(readers, writer, op),
            (Model::Condvar { waiting, tokens }, Action::Condvar(op)) => {
                condvar(waiting, tokens, op, by)
            }
            (Model::Barrier { size, arrivals }, Action::Barrier(op)) => match op {
                BarrierOp::Arrive => {
                    let generation = *arrivals / *size;
                    *arrivals += 1;
                    if *arrivals % *size == 0 {
                        Effect::LastTicket(generation)
                    } else {
                        Effect::Ticket(generation)
                    }
                }
                BarrierOp::Leave { .. } => Effect::None,
            },
            (Model::Once { begun, complete }, Action::Once(op)) => match op {
                OnceOp::Begin if *complete => Effect::No,
                OnceOp::Begin => {
                    *begun = true;
                    Effect::Yes
                }
                OnceOp::Complete => set(complete, true),
                OnceOp::Reset => set(begun, false),
                OnceOp::IsComplete => yes_if(*complete),
            },
            (Model::Parker { token }, Action::Park(op)) => match op {
                ParkOp::Park { .. } => yes_if(std::mem::take(token)),
                ParkOp::Unpark => yes_if(!std::mem::replace(token, true)),
            },
            (Model::Channel { capacity, sent, taken, senders, receiver }, Action::Channel(op)) => {
                match op {
                    ChannelOp::Send | ChannelOp::TrySend if !*receiver => Effect::Closed,
                    ChannelOp::TrySend
                        if capacity.is_some_and(|capacity| *sent - *taken >= capacity) =>
                    {
                        Effect::No
                    }
                    ChannelOp::Send | ChannelOp::TrySend => {
                        *sent += 1;
                        Effect::Ticket(*sent - 1)
                    }
                    ChannelOp::AwaitTaken { ticket } => yes_if(*taken > ticket),
                    ChannelOp::Receive { .. } | ChannelOp::TryReceive => {
                        if *sent > *taken {
                            *taken += 1;
                            Effect::Yes
                        } else if *senders {
                            Effect::No
                        } else {
                            Effect::Closed
                        }
                    }
                    ChannelOp::CloseSenders => set(senders, false),
                    ChannelOp::CloseReceiver => set(receiver, false),
                }
            }
            (Model::Life { ended }, Action::Thread(op)) => match op {
                ThreadOp::Spawn | ThreadOp::Join => Effect::None,
                ThreadOp::Exit => set(ended, true),
                ThreadOp::IsFinished => yes_if(*ended),
            },
            (model, action) => panic!("{action:?} on {model:?}"),
        }
    }
}

/// Returns whether an operation with this effect left its object unchanged.
pub(super) fn only_read(action: Action, effect: Effect) -> bool {
    let failed = matches!(effect, Effect::No | Effect::Kept(_) | Effect::Closed);
    match action {
        Action::Atomic(AtomicOp::Load { .. })
        | Action::Cell(CellOp::Read)
        | Action::Thread(ThreadOp::Join | ThreadOp::IsFinished)
        | Action::Barrier(BarrierOp::Leave { .. })
        | Action::Channel(ChannelOp::AwaitTaken { .. })
        | Action::Semaphore(SemaphoreOp::Value) => true,
        // A wait that times out removes the thread from the waiters.
        Action::Condvar(CondvarOp::Consume { .. }) => false,
        Action::Futex(op) => op == FutexOp::Look,
        _ => failed,
    }
}

/// Returns whether an operation with this effect made a reader of a lock come or leave.
pub(super) fn is_reader(action: Action, effect: Effect) -> bool {
    match action {
        Action::RwLock(RwLockOp::Read | RwLockOp::UnlockRead) => true,
        Action::RwLock(RwLockOp::TryRead) => effect == Effect::Yes,
        _ => false,
    }
}

fn set(flag: &mut bool, value: bool) -> Effect {
    *flag = value;
    Effect::None
}

fn yes_if(condition: bool) -> Effect {
    if condition { Effect::Yes } else { Effect::No }
}

fn atomic(value: &mut u8, op: AtomicOp) -> Effect {
    let old = *value;
    match op {
        AtomicOp::Load { .. } => Effect::Value(u64::from(old)),
        AtomicOp::Store { value: new, .. } => {
            *value = new as u8;
            Effect::None
        }
        AtomicOp::Update { function, operand, .. } => {
            let operand = operand as u8;
            *value = match function {
                Rmw::Add => old.wrapping_add(operand),
                Rmw::Swap => operand,
                Rmw::Xor => old ^ operand,
                Rmw::Max => old.max(operand),
                Rmw::Sub | Rmw::And | Rmw::Nand | Rmw::Or | Rmw::Min => {
                    panic!("programs are generated without {function:?}")
                }
            };
            Effect::Value(u64::from(old))
        }
        AtomicOp::CompareExchange { expected, new, .. } if u64::from(old) == expected => {
            *value = new as u8;
            Effect::Exchanged(expected)
        }
        AtomicOp::CompareExchange { .. } => Effect::Kept(u64::from(old)),
    }
}

fn rwlock(readers: &mut u32, writer: &mut bool, op: RwLockOp) -> Effect {
    match op {
        RwLockOp::Read => {
            *readers += 1;
            Effect::None
        }
        RwLockOp::TryRead => {
            *readers += u32::from(!*writer);
            yes_if(!*writer)
        }
        RwLockOp::UnlockRead => {
            *readers -= 1;
            Effect::None
        }
        RwLockOp::Write => set(writer, true),
        RwLockOp::TryWrite => {
            let free = !*writer && *readers == 0;
            *writer |= free;
            yes_if(free)
        }
        RwLockOp::UnlockWrite => set(writer, false),
    }
}

/// Performs an operation on the waiters of a variable, one waiter after the other.
fn futex(
    queue: &mut BTreeMap<u64, (ThreadId, u8, u32)>,
    woken: &mut BTreeSet<ThreadId>,
    time: &mut u64,
    op: FutexOp,
    by: ThreadId,
) -> Effect {
    let mut wake = |queue: &mut BTreeMap<u64, (ThreadId, u8, u32)>, part: u8, mask: u32| {
        let oldest = queue.iter().find(|(_, waiter)| waiter.1 == part && waiter.2 & mask != 0);
        let oldest = oldest.map(|(&time, _)| time);
        oldest.and_then(|oldest| queue.remove(&oldest)).map(|waiter| woken.insert(waiter.0))
    };
    let mut affected = 0;
    match op {
        FutexOp::Enqueue { part, mask } => {
            queue.insert(*time, (by, part, mask));
            *time += 1;
            return Effect::None;
        }
        FutexOp::Look => return Effect::None,
        FutexOp::Consume { .. } => {
            queue.retain(|_, waiter| waiter.0 != by);
            return yes_if(woken.remove(&by));
        }
        FutexOp::Wake { part, count, mask } => {
            while affected < u64::from(count) && wake(queue, part, mask).is_some() {
                affected += 1;
            }
        }
        FutexOp::Requeue { from, to, wakes, moves } => {
            for _ in 0..wakes {
                affected += u64::from(wake(queue, from, u32::MAX).is_some());
            }
            for _ in 0..moves {
                let oldest = queue.iter().find(|(_, waiter)| waiter.1 == from);
                let Some((&oldest, &(thread, _, mask))) = oldest else { break };
                queue.remove(&oldest);
                queue.insert(*time, (thread, to, mask));
                *time += 1;
                affected += 1;
            }
        }
    }
    if affected == 0 { Effect::No } else { Effect::Value(affected) }
}

/// Performs an operation on a condition variable. A token is the set of threads that may take it.
fn condvar(
    waiting: &mut BTreeSet<ThreadId>,
    tokens: &mut Vec<BTreeSet<ThreadId>>,
    op: CondvarOp,
    by: ThreadId,
) -> Effect {
    match op {
        CondvarOp::Enqueue => {
            waiting.insert(by);
            Effect::None
        }
        CondvarOp::NotifyOne => {
            let useful = waiting.len() > tokens.len();
            if useful {
                tokens.push(waiting.clone());
            }
            yes_if(useful)
        }
        CondvarOp::NotifyAll => {
            let useful = waiting.len() > tokens.len();
            *tokens = waiting.iter().map(|_| waiting.clone()).collect();
            yes_if(useful)
        }
        CondvarOp::Consume { .. } => {
            let taken = tokens.iter().position(|eligible| eligible.contains(&by));
            if let Some(taken) = taken {
                tokens.remove(taken);
            }
            waiting.remove(&by);
            for eligible in tokens.iter_mut() {
                eligible.remove(&by);
            }
            tokens.retain(|eligible| !eligible.is_empty());
            yes_if(taken.is_some())
        }
    }
}
