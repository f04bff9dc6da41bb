//! The order of polls.
//!
//! Futures share channels and locks that are made of `std`, which raddle does not see. So that searches try the orders of
//! polls, every poll begins with a step on one object of the execution. A poll that made other steps also ends with one:
//! others may have run meanwhile.
//!
//! The steps are relaxed: they order nothing in the memory model.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use raddle_core::Site;
use raddle_runtime::port;

use crate::naming::Named;
use crate::sync::atomic::{AtomicUsize, Ordering};

/// Whether the order of polls matters.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// It may: polls share what raddle does not see.
    Matters,
    /// It does not: polls share nothing but raddle's objects.
    Free,
}

/// The object that all polls of a run access.
pub(super) type Polls = Arc<ManuallyDrop<AtomicUsize>>;

thread_local! {
    /// The object of the last run on this OS thread, and the number of that run.
    static POLLS: RefCell<Option<(u64, Polls)>> = const { RefCell::new(None) };
}

/// Returns whether the order of polls matters in the current run. Outside runs it is free.
pub(super) fn order() -> Order {
    if port::ordered_polls() { Order::Matters } else { Order::Free }
}

/// Returns the object that all polls of the run access, if their order matters. All threads that are spawned from now on
/// share it.
#[track_caller]
pub(super) fn shared(order: Order, site: Site) -> Option<Polls> {
    if order == Order::Matters && !port::is_over() { Some(object(site)) } else { None }
}

/// Begins a poll.
pub(super) fn begin(polls: Option<&Polls>, site: Site) -> PollUnderWay<'_> {
    if let Some(polls) = polls {
        polls.fetch_add_at(1, Ordering::Relaxed, site);
    }
    let steps = if polls.is_some() { port::step_count() } else { 0 };
    PollUnderWay { polls, steps, site }
}

/// A poll, until it is dropped.
pub(super) struct PollUnderWay<'a> {
    polls: Option<&'a Polls>,
    /// The number of steps of the run after the first of this poll.
    steps: usize,
    site: Site,
}

impl Drop for PollUnderWay<'_> {
    fn drop(&mut self) {
        let Some(polls) = self.polls else { return };
        if port::step_count() != self.steps && !port::is_over() && !std::thread::panicking() {
            polls.fetch_add_at(1, Ordering::Relaxed, self.site);
        }
    }
}

#[track_caller]
fn object(site: Site) -> Polls {
    let run = port::run_number();
    let known = POLLS.with_borrow(|last| {
        last.as_ref().filter(|(known, _)| *known == run).map(|(_, polls)| polls.clone())
    });
    if let Some(polls) = known {
        return polls;
    }
    let polls = Arc::new(ManuallyDrop::new(AtomicUsize::new(0)));
    POLLS.set(Some((run, polls.clone())));
    polls.call("order of polls", site);
    polls
}
