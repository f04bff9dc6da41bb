//! Sleep sets under a bound.
//!
//! Once everything after a thread's next event has been explored at a state, that event need not come
//! next again below the state until something dependent with it has happened: whatever follows has
//! been seen with the event moved to the front.
//!
//! Under a bound, moving it to the front can cost more, and then its place at the front was pruned.
//! The paper (§5.4) only keeps transitions out of sleep sets that were added conservatively. That is
//! not enough. Take `A: r(x); w(x)` and `B: r(x)` without preemptions. A goes first; B is added
//! conservatively where A began; but A's read sleeps there, B's read does not wake it, and after B
//! nobody is left to go on. (One in eighty random programs of three threads shows this.) Here an event
//! sleeps if either holds:
//!
//! - *Complete*: nothing below it was kept out by the bound, so that cost does not matter.
//! - *Cheap*: to move it to the front costs nothing. For preemptions: its thread was in force, so that
//!   every other choice cost one more, or could not go on or gave way after it, so that the switch
//!   away from it is free. For the fair bound: it enabled nobody. Besides, while it sleeps no thread
//!   may wait for something that it could provide (for preemptions: not the thread that went last),
//!   for with the event moved to the front it would not have waited.

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

/// An event that need not come next.
#[derive(Copy, Clone, Debug)]
pub(super) struct Asleep {
    pub(super) thread: ThreadId,
    /// How it touched its object; it would do the same now.
    pub(super) touched: (ObjectId, Access),
    pub(super) reason: Reason,
}

/// Whose waiting wakes what could end it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Waiters {
    /// That of any thread.
    All,
    /// That of the thread that went last.
    Last,
    /// Nobody's.
    None,
}

/// Wakes what `last`, which has just happened, or those who wait now let sleep no longer.
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
