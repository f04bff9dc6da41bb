//! The counts of references to a value of a run.
//!
//! The algorithms and their orderings are those of `std::sync::Arc`, with one deviation. Where its `downgrade`
//! spins until the weak count is unlocked, this one waits, so that a search comes to an end. For that the count
//! is unlocked by a swap, not a store: if all changes of a variable are updates, each reads what is newest.
//! Whoever acquires it learns the same from either, because the one who unlocks has acquired what came before.

use std::sync::{Arc, Mutex, PoisonError};

use raddle_core::{Action, ChannelOp, ObjectId, Op, Site};
use raddle_engine::Initial;
use raddle_runtime::port::{self, Kind, Name};

use crate::naming::Named;
use crate::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
    fence_at,
};

/// The weak count while somebody asks whether his reference is the only one.
const LOCKED: usize = usize::MAX;

/// A reference's part of the counts, or nothing for a value that was made outside of any run.
pub(super) struct Handle {
    counts: Option<Arc<Counts>>,
    /// Where the reference was made; the report shows it for its end, which has no line of its own.
    pub(super) site: Site,
}

impl Handle {
    /// The handle of the first reference to a new value, of which so many are strong.
    pub(super) fn new(strong: usize, site: Site) -> Handle {
        Handle { counts: port::active().then(|| Counts::new(strong, site)), site }
    }

    /// The handle of a reference that nobody counts.
    pub(super) const fn uncounted() -> Handle {
        Handle { counts: None, site: Site::UNKNOWN }
    }

    /// The handle of another reference, made at `site`.
    pub(super) fn share(&self, site: Site) -> Handle {
        Handle { counts: self.counts.clone(), site }
    }

    /// The counts, if the calling thread is of the run that they belong to.
    pub(super) fn here(&self) -> Option<&Counts> {
        self.counts.as_deref().filter(|counts| counts.run == port::run_number())
    }

    /// Calls the counts after what the program calls the value.
    pub(super) fn call(&self, name: &str, site: Site) {
        if let Some(counts) = self.here() {
            counts.strong.call(&format!("strong count of {name}"), site);
            counts.weak.call(&format!("weak count of {name}"), site);
        }
    }
}

/// Whom a value belongs to that somebody wants to change.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Owner {
    /// There are other strong references.
    Several,
    /// The strong reference of the caller was the only one, and is counted no more: there are weak ones.
    CallerOfLate,
    /// There is no other reference of any kind.
    Caller,
}

/// How many references there are to a value of a run.
pub(super) struct Counts {
    /// The run that made it.
    run: u64,
    strong: AtomicUsize,
    /// Invariant: counts weak references, and one more until the value is gone; [`LOCKED`] only if it was one.
    weak: AtomicUsize,
    /// What threads wait for that have seen a locked weak count, if there are any: a channel without messages
    /// that is closed when the count is unlocked. Nobody waits for the mutex itself.
    gate: Mutex<Option<Arc<Name>>>,
}

impl Counts {
    fn new(strong: usize, site: Site) -> Arc<Counts> {
        let counts = Counts {
            run: port::run_number(),
            strong: AtomicUsize::new(strong),
            weak: AtomicUsize::new(1),
            gate: Mutex::new(None),
        };
        let counts = Arc::new(counts);
        counts.strong.call("strong count", site);
        counts.weak.call("weak count", site);
        counts
    }

    /// One strong reference more, made from another.
    #[track_caller]
    pub(super) fn add_strong(&self) {
        self.strong.fetch_add(1, Relaxed);
    }

    /// The first strong reference to a value that had weak ones while it was made.
    #[track_caller]
    pub(super) fn begin(&self) {
        self.strong.fetch_add(1, Release);
    }

    /// One strong reference less. Whether it was the last.
    pub(super) fn drop_strong(&self, site: Site) -> bool {
        self.strong.fetch_sub_at(1, Release, site) == 1
    }

    /// One strong reference less, if it is the last. Whether it was.
    #[track_caller]
    pub(super) fn drop_last(&self) -> bool {
        self.strong.compare_exchange(1, 0, Relaxed, Relaxed).is_ok()
    }

    /// One strong reference more, made from a weak one, if there is any yet.
    #[track_caller]
    pub(super) fn upgrade(&self) -> bool {
        let more = |strong: usize| (strong != 0).then(|| strong.wrapping_add(1));
        self.strong.fetch_update(Acquire, Relaxed, more).is_ok()
    }

    /// Whether the caller's reference is the only one of any kind.
    #[track_caller]
    pub(super) fn is_unique(&self) -> bool {
        if self.weak.compare_exchange(1, LOCKED, Acquire, Relaxed).is_err() {
            return false;
        }
        let mut lock = Lock { counts: self, site: Site::caller(), is_held: true, gate: None };
        let is_unique = self.strong.load(Acquire) == 1;
        lock.release();
        is_unique
    }

    /// Who owns the value, which the caller has a strong reference to. That is taken from the count if he is
    /// the only one who has.
    #[track_caller]
    pub(super) fn claim(&self) -> Owner {
        if self.strong.compare_exchange(1, 0, Acquire, Relaxed).is_err() {
            return Owner::Several;
        }
        let site = Site::caller();
        let counts_again = Otherwise(|| _ = self.strong.swap_at(1, Release, site));
        let has_weak = self.weak.load(Relaxed) != 1;
        if !has_weak {
            self.strong.store(1, Release);
        }
        std::mem::forget(counts_again);
        if has_weak { Owner::CallerOfLate } else { Owner::Caller }
    }

    #[track_caller]
    pub(super) fn strong(&self) -> usize {
        self.strong.load(Relaxed)
    }

    /// How many weak references there are, for whoever has a strong one.
    #[track_caller]
    pub(super) fn weak(&self) -> usize {
        match self.weak.load(Relaxed) {
            LOCKED => 0,
            weak => weak.saturating_sub(1),
        }
    }

    /// How many weak references there are, for whoever has one, if there are strong ones too.
    #[track_caller]
    pub(super) fn weak_seen_by_weak(&self) -> usize {
        let weak = self.weak.load(Acquire);
        if self.strong.load(Relaxed) == 0 { 0 } else { weak.saturating_sub(1) }
    }

    /// One weak reference more, made from a strong one.
    #[track_caller]
    pub(super) fn downgrade(&self) {
        let mut weak = self.weak.load(Relaxed);
        loop {
            if weak == LOCKED {
                self.wait();
                // A load could read the old value for ever under RC11.
                weak = self.weak.fetch_add(0, Relaxed);
                continue;
            }
            match self.weak.compare_exchange_weak(weak, weak + 1, Acquire, Relaxed) {
                Ok(_) => return,
                Err(newer) => weak = newer,
            }
        }
    }

    /// One weak reference more, made from another.
    #[track_caller]
    pub(super) fn add_weak(&self) {
        self.weak.fetch_add(1, Relaxed);
    }

    /// One weak reference less.
    pub(super) fn drop_weak(&self, site: Site) {
        let drop_one = || self.weak.fetch_sub_at(1, Release, site);
        let again = Otherwise(|| _ = drop_one());
        let is_last = drop_one() == 1;
        std::mem::forget(again);
        if is_last {
            fence_at(Acquire, site);
        }
    }

    /// Waits until the weak count, which the caller has just seen locked, is unlocked.
    #[cold]
    #[track_caller]
    fn wait(&self) {
        const WAIT: Op = on_gate(ChannelOp::Receive { timed: false });
        if self.weak.newest() != LOCKED {
            // What was seen is old.
            return;
        }
        let gate = {
            let mut gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
            gate.get_or_insert_with(|| Arc::new(Name::new())).clone()
        };
        let site = Site::caller();
        port::name_object(&gate, new_gate, "unlocking of the weak count", site);
        port::operate(Kind::Any, &gate, new_gate, WAIT, site);
    }
}

const fn on_gate(op: ChannelOp) -> Op {
    Op::new(ObjectId::NONE, Action::Channel(op))
}

fn new_gate() -> Option<Initial> {
    Some(Initial::Channel { capacity: None })
}

/// What is done if the run ends before this is forgotten. Its threads are unwound then, and their operations
/// performed without asking, so that the counts agree with what there is.
struct Otherwise<F: FnMut()>(F);

impl<F: FnMut()> Drop for Otherwise<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The weak count is locked.
struct Lock<'a> {
    counts: &'a Counts,
    site: Site,
    is_held: bool,
    /// What is still to be opened for those who wait.
    gate: Option<Arc<Name>>,
}

impl Lock<'_> {
    fn release(&mut self) {
        const OPEN: Op = on_gate(ChannelOp::CloseSenders);
        if self.is_held {
            self.counts.weak.swap_at(1, Release, self.site);
            self.is_held = false;
            self.gate = self.counts.gate.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
        if let Some(gate) = &self.gate {
            port::operate(Kind::Any, gate, new_gate, OPEN, self.site);
            self.gate = None;
        }
    }
}

impl Drop for Lock<'_> {
    /// Goes on where a run has ended: destructors of other threads may wait for it.
    fn drop(&mut self) {
        self.release();
    }
}
