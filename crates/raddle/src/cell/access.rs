//! Accesses to plain memory that last.
//!
//! An access that lasts is recorded when it begins, and again when it ends if there was a step in between. What is
//! unordered with either is a data race. An access of another thread that is ordered between the two overlaps with it,
//! and is refused when it begins.

use std::cell::RefCell;

use raddle_core::{ObjectId, Site, ThreadId};
use raddle_runtime::port;

/// An access to an [`UnsafeCell`](super::UnsafeCell), which ends when it is dropped.
#[derive(Debug)]
#[must_use = "the access ends when this is dropped"]
pub struct Access {
    /// `None` outside a run.
    in_run: Option<InRun>,
}

#[derive(Copy, Clone, Debug)]
struct InRun {
    run: u64,
    thread: ThreadId,
    object: ObjectId,
    writes: bool,
    site: Site,
    /// The number of steps of the run when the access began.
    steps: usize,
}

thread_local! {
    /// The accesses that the threads of a run have begun and not ended.
    static UNDER_WAY: RefCell<Vec<InRun>> = const { RefCell::new(Vec::new()) };
}

impl Access {
    /// Begins an access to `object`, which was just recorded. `None` outside a run.
    ///
    /// # Panics
    /// Panics if the access overlaps with one of another thread and one of them writes.
    #[inline]
    pub(super) fn begin(object: Option<ObjectId>, writes: bool, site: Site) -> Access {
        let Some(object) = object else { return Access { in_run: None } };
        let (run, thread, steps) = (port::run_number(), port::thread(), port::step_count());
        let access = InRun { run, thread, object, writes, site, steps };
        let other = UNDER_WAY.with_borrow_mut(|under_way| {
            if under_way.first().is_some_and(|first| first.run != run) {
                under_way.clear();
            }
            let other = under_way.iter().find(|other| other.overlaps(&access)).copied();
            if other.is_none() {
                under_way.push(access);
            }
            other
        });
        match other {
            Some(other) if !port::is_over() => refuse(&other, &access),
            Some(_) => Access { in_run: None },
            None => Access { in_run: Some(access) },
        }
    }
}

impl InRun {
    fn overlaps(&self, other: &InRun) -> bool {
        self.object == other.object && self.thread != other.thread && (self.writes || other.writes)
    }

    fn word(&self) -> &'static str {
        if self.writes { "write" } else { "read" }
    }
}

impl Drop for Access {
    #[inline]
    fn drop(&mut self) {
        let Some(access) = self.in_run.take_if(|access| access.run == port::run_number()) else {
            return;
        };
        UNDER_WAY.with_borrow_mut(|under_way| {
            let key = |access: &InRun| (access.object, access.thread, access.steps);
            let is_this = |other: &InRun| key(other) == key(&access);
            if let Some(place) = under_way.iter().rposition(is_this) {
                under_way.remove(place);
            }
        });
        // Without a step in between, no other thread has run.
        if port::step_count() != access.steps && !port::is_over() {
            port::touch_again(access.object, access.writes, access.site);
        }
    }
}

#[cold]
fn refuse(other: &InRun, access: &InRun) -> ! {
    panic!(
        "two accesses to a cell overlap: the {} at {} by {} begins before the {} at {} by {} has ended",
        access.word(),
        access.site,
        access.thread,
        other.word(),
        other.site,
        other.thread,
    )
}
