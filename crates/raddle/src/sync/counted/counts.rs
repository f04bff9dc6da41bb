//! The counts of references to a value of a run.
//!
//! The algorithms and their orderings are those of `std::sync::Arc`, with one deviation. `downgrade` of `std` spins until
//! the weak count is unlocked. Here it waits, so that a search ends. For this the count is unlocked by a swap instead
//! of a store: if all writes to a variable are updates, each reads the newest value. An acquire load synchronises with the
//! same writes in both cases, because the unlocking thread has acquired the earlier ones.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use raddle_core::{Action, ChannelOp, ObjectId, Op, Site};
use raddle_engine::Initial;
use raddle_runtime::port::{self, Kind, Name};

use crate::naming::Named;
use crate::run_cell::RunCell;
use crate::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
    fence_at,
};

/// The weak count while a thread tests whether its reference is the only one.
const LOCKED: usize = usize::MAX;

/// A reference's handle to the counts, which a value that was created outside runs does not have.
pub(super) struct Handle {
    counts: Option<Arc<Counts>>,
    /// The place where the reference was created. Reports show it for the drop, which has no place of its own.
    pub(super) site: Site,
}

impl Handle {
    /// Returns the handle of the first reference to a new value of `bytes` bytes with `strong` strong references.
    #[track_caller]
    pub(super) fn new(strong: usize, bytes: usize, site: Site) -> Handle {
        let counts = if port::active() { Some(Counts::new(strong, site)) } else { None };
        if let Some(counts) = &counts {
            counts.strong.own(bytes, site);
        }
        Handle { counts, site }
    }

    /// Returns the handle of a reference that is not counted.
    pub(super) const fn uncounted() -> Handle {
        Handle { counts: None, site: Site::UNKNOWN }
    }

    /// Returns the handle of another reference, created at `site`.
    pub(super) fn share(&self, site: Site) -> Handle {
        Handle { counts: self.counts.clone(), site }
    }

    /// Returns the counts, or `None` if the calling thread is not part of their run.
    pub(super) fn here(&self) -> Option<&Counts> {
        self.counts.as_deref().filter(|counts| counts.gate.is_here())
    }

    /// Names the counts after the name that the program gave to the value.
    pub(super) fn call(&self, name: &str, site: Site) {
        if let Some(counts) = self.here() {
            counts.strong.call(&format!("strong count of {name}"), site);
            counts.weak.call(&format!("weak count of {name}"), site);
        }
    }
}

/// The owner of a value that a thread wants to change.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Owner {
    /// There are other strong references.
    Several,
    /// The caller had the only strong reference, which is no longer counted. There are weak references.
    CallerUncounted,
    /// There is no other reference of any kind.
    Caller,
}

/// The numbers of references to a value of a run.
pub(super) struct Counts {
    /// Neither count is dropped: the last handle frees the counts, which no operation shows.
    strong: ManuallyDrop<AtomicUsize>,
    /// Invariant: the number of weak references, plus one until the value is dropped. [`LOCKED`] only instead of 1.
    weak: ManuallyDrop<AtomicUsize>,
    /// The object on which threads wait that have seen a locked weak count, if there are any. It is a channel without
    /// messages that is closed when the count is unlocked.
    gate: RunCell<Option<Arc<ManuallyDrop<Name>>>>,
}

impl Counts {
    #[track_caller]
    fn new(strong: usize, site: Site) -> Arc<Counts> {
        let counts = Counts {
            strong: ManuallyDrop::new(AtomicUsize::new(strong)),
            weak: ManuallyDrop::new(AtomicUsize::new(1)),
            gate: RunCell::new(None),
        };
        let counts = Arc::new(counts);
        counts.strong.call("strong count", site);
        counts.weak.call("weak count", site);
        counts
    }

    /// Counts a strong reference that is cloned from another.
    #[track_caller]
    pub(super) fn add_strong(&self) {
        self.strong.fetch_add(1, Relaxed);
    }

    /// Counts the first strong reference to a value that had weak references during its construction.
    #[track_caller]
    pub(super) fn begin(&self) {
        self.strong.fetch_add(1, Release);
    }

    /// Removes a strong reference. Returns whether it was the last.
    pub(super) fn drop_strong(&self, site: Site) -> bool {
        self.strong.fetch_sub_at(1, Release, site) == 1
    }

    /// Removes a strong reference if it is the last. Returns whether it was.
    #[track_caller]
    pub(super) fn drop_last(&self) -> bool {
        self.strong.compare_exchange(1, 0, Relaxed, Relaxed).is_ok()
    }

    /// Counts a strong reference made from a weak one. Returns false if there is no strong reference any more.
    #[track_caller]
    pub(super) fn upgrade(&self) -> bool {
        let add = |strong: usize| (strong != 0).then(|| strong.wrapping_add(1));
        self.strong.fetch_update(Acquire, Relaxed, add).is_ok()
    }

    /// Returns whether the caller's reference is the only one, strong or weak.
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

    /// Returns the owner of the value, to which the caller has a strong reference. Removes the reference from the count if
    /// it is the only strong one and there are weak ones.
    #[track_caller]
    pub(super) fn claim(&self) -> Owner {
        if self.strong.compare_exchange(1, 0, Acquire, Relaxed).is_err() {
            return Owner::Several;
        }
        let site = Site::caller();
        let restore = IfRunEnds(|| _ = self.strong.swap_at(1, Release, site));
        let has_weak = self.weak.load(Relaxed) != 1;
        if !has_weak {
            self.strong.store(1, Release);
        }
        std::mem::forget(restore);
        if has_weak { Owner::CallerUncounted } else { Owner::Caller }
    }

    #[track_caller]
    pub(super) fn strong(&self) -> usize {
        self.strong.load(Relaxed)
    }

    /// Returns the number of weak references, to the owner of a strong one.
    #[track_caller]
    pub(super) fn weak(&self) -> usize {
        match self.weak.load(Relaxed) {
            LOCKED => 0,
            weak => weak.saturating_sub(1),
        }
    }

    /// Returns the number of weak references, to the owner of a weak one, or 0 if there is no strong one.
    #[track_caller]
    pub(super) fn weak_seen_by_weak(&self) -> usize {
        let weak = self.weak.load(Acquire);
        if self.strong.load(Relaxed) == 0 { 0 } else { weak.saturating_sub(1) }
    }

    /// Counts a weak reference made from a strong one.
    #[track_caller]
    pub(super) fn downgrade(&self) {
        let mut weak = self.weak.load(Relaxed);
        loop {
            if weak == LOCKED {
                self.wait();
                // Under RC11 a load could read the old value again and again.
                weak = self.weak.fetch_add(0, Relaxed);
                continue;
            }
            match self.weak.compare_exchange_weak(weak, weak + 1, Acquire, Relaxed) {
                Ok(_) => return,
                Err(newer) => weak = newer,
            }
        }
    }

    /// Counts a weak reference that is cloned from another.
    #[track_caller]
    pub(super) fn add_weak(&self) {
        self.weak.fetch_add(1, Relaxed);
    }

    /// Notes that the value has been dropped, so that it is no leak.
    pub(super) fn disown(&self) {
        self.strong.disown();
    }

    /// Removes a weak reference.
    pub(super) fn drop_weak(&self, site: Site) {
        let drop_one = || self.weak.fetch_sub_at(1, Release, site);
        let retry = IfRunEnds(|| _ = drop_one());
        let is_last = drop_one() == 1;
        std::mem::forget(retry);
        if is_last {
            fence_at(Acquire, site);
        }
    }

    /// Waits until the weak count is unlocked, which the caller has just seen locked.
    #[cold]
    #[track_caller]
    fn wait(&self) {
        const WAIT: Op = on_gate(ChannelOp::Receive { timed: false });
        if self.weak.newest() != LOCKED {
            // The caller has read an old value.
            return;
        }
        let gate = self.gate.with(|gate| {
            gate.get_or_insert_with(|| Arc::new(ManuallyDrop::new(Name::new()))).clone()
        });
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

/// Calls the function if the run ends before this value is forgotten. The threads are unwound then, and their operations
/// are performed without a choice. So the counts stay consistent with the references.
struct IfRunEnds<F: FnMut()>(F);

impl<F: FnMut()> Drop for IfRunEnds<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A locked weak count.
struct Lock<'a> {
    counts: &'a Counts,
    site: Site,
    is_held: bool,
    /// The gate that is still to be opened for the waiting threads.
    gate: Option<Arc<ManuallyDrop<Name>>>,
}

impl Lock<'_> {
    fn release(&mut self) {
        const OPEN: Op = on_gate(ChannelOp::CloseSenders);
        if self.is_held {
            self.counts.weak.swap_at(1, Release, self.site);
            self.is_held = false;
            self.gate = self.counts.gate.with(Option::take);
        }
        if let Some(gate) = &self.gate {
            port::operate(Kind::Any, gate, new_gate, OPEN, self.site);
            self.gate = None;
        }
    }
}

impl Drop for Lock<'_> {
    /// Unlocks if the run ended before that: destructors of other threads may wait for it.
    fn drop(&mut self) {
        self.release();
    }
}
