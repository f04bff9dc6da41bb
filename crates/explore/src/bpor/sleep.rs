//! Sleep sets under a bound.
//!
//! Once everything after a thread's next event has been explored at a state, that event need not be next
//! again below the state until an event dependent with it has happened: every continuation has been
//! explored with the event moved to the front.
//!
//! Under a bound, moving it to the front can cost more, and then its place at the front was pruned.
//! The paper (§5.4) only keeps transitions out of sleep sets that were added conservatively. That is
//! not enough. Take `A: r(x); w(x)` and `B: r(x)` without preemptions. A goes first; B is added
//! conservatively where A began; but A's read sleeps there, B's read does not wake it, and after B
//! no thread is left to run. (One in eighty random programs of three threads shows this.) Here an event
//! sleeps if either holds:
//!
//! - *Complete*: the bound excluded nothing below it, so that cost does not matter.
//! - *Cheap*: moving it to the front costs nothing. For preemptions: its thread was in force, so that
//!   every other choice cost one more, or its thread was disabled or yielded after it, so that the switch
//!   away from it is free. For the fair bound: it enabled no thread. Besides, while it sleeps no thread
//!   may be blocked by something that it could provide (for preemptions: not the thread that ran last),
//!   because with the event moved to the front that thread would not have blocked.

use raddle_core::dependence::conflict;
use raddle_core::{Access, Event, ObjectId, ThreadId, Threads};

use super::bound::Account;

/// Why an event may sleep.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Reason {
    /// Everything after it has been explored, whatever it costs.
    Complete,
    /// Everything after it that the bound allows has been explored, and at the front it costs no
    /// more than later.
    Cheap,
}

/// An event that need not be next.
#[derive(Copy, Clone, Debug)]
pub(super) struct Asleep {
    pub(super) thread: ThreadId,
    /// Its object and access, which are still the same.
    pub(super) touched: (ObjectId, Access),
    pub(super) reason: Reason,
}

/// The blocked threads that wake the sleepers which could enable them.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Waiters {
    /// All blocked threads.
    All,
    /// The thread that ran last.
    Last,
    /// None.
    None,
}

/// Wakes the sleepers that depend on the event `last`, or that could enable a blocked thread.
pub(super) fn wake(
    sleep: &mut Vec<Asleep>,
    last: &Event,
    threads: &Threads<'_>,
    account: &Account,
    waiters: Waiters,
) {
    if sleep.is_empty() {
        return;
    }
    let happened = (last.op.object(), last.access());
    sleep.retain(|asleep| {
        if asleep.thread == last.id.thread || conflict(asleep.touched, happened) {
            return false;
        }
        asleep.reason == Reason::Complete
            || !threads.pending.iter().any(|pending| {
                let counts = match waiters {
                    Waiters::All => true,
                    Waiters::Last => pending.thread == last.id.thread,
                    Waiters::None => false,
                };
                let waits = !pending.enabled && pending.op.may_block();
                counts
                    && waits
                    && account.is_alive(pending.thread)
                    && conflict(asleep.touched, (pending.op.object(), pending.op.access()))
            })
    });
}
