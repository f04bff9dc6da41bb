//! The name of an object in a run.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use raddle_core::{ObjectId, Site};
use raddle_engine::Initial;

use super::{flags, run, run_number, unobserved};
use crate::epoch;

/// The name of an object in the current run, kept inside the object itself.
///
/// `const fn new` cannot register a new object, so an object is declared when it is first used in a run, and again in
/// the next run. The name is the sum of the number of the run and the number of the object in it.
#[derive(Debug)]
pub struct Name {
    word: AtomicU64,
    /// Where the object was made.
    made: Site,
}

/// The name of an object at some moment: who has it need not look at the object again.
#[derive(Copy, Clone, Debug)]
pub struct NameCopy(u64);

impl NameCopy {
    /// Returns the object, or `None` if it was not used in the current run before the copy or there is no run.
    #[inline(always)]
    pub fn known(self) -> Option<ObjectId> {
        // What remains is the number of the object, or more than that if another run or none has used it.
        let object = self.0 ^ run_number();
        if object < epoch::STEP { Some(ObjectId(object as u32)) } else { None }
    }
}

/// The name of an object that no run uses. It is the number of no run.
const UNUSED: u64 = u64::MAX;

/// The name of an object in zeroed memory, as lock-free containers allocate it, which no run uses. It is the number of no run.
const ZEROED: u64 = 0;

/// The number of an object that ended before it was used, in its tombstone.
const UNDECLARED: u64 = epoch::STEP - 1;

/// The end of the object, which may not be used any more.
///
/// A tombstone replaces the name, the complement of a name of the run: who uses the object later finds it, if the memory
/// still has what was in it (see `raddle::Alloc`).
impl Drop for Name {
    #[inline]
    fn drop(&mut self) {
        if run_number() != 0 {
            self.end();
        }
    }
}

impl Default for Name {
    #[track_caller]
    fn default() -> Name {
        Name::new()
    }
}

impl Name {
    /// The name of an object that no run has used. The caller is where the object is made.
    #[inline(always)]
    #[track_caller]
    pub const fn new() -> Name {
        Name::made_at(Site::caller())
    }

    /// The name of an object that no run has used, made at `made`.
    #[inline(always)]
    pub const fn made_at(made: Site) -> Name {
        Name { word: AtomicU64::new(UNUSED), made }
    }

    /// Returns the object in the current run, or `None` if the run has not used it or there is no run.
    #[inline(always)]
    pub fn known(&self) -> Option<ObjectId> {
        self.copy().known()
    }

    /// Returns a copy of the name.
    #[inline(always)]
    pub fn copy(&self) -> NameCopy {
        NameCopy(self.word.load(Ordering::Relaxed))
    }

    /// Makes the object new to the current run again.
    pub fn forget(&self) {
        self.word.store(UNUSED, Ordering::Relaxed);
    }

    /// To be called outside a run by the thread that has just taken hold of the object there.
    ///
    /// # Panics
    /// If a check on another OS thread uses the object.
    #[inline]
    pub fn assert_outside(&self, site: Site) {
        if !self.is_unused() {
            shared(site)
        }
    }

    /// Returns whether no check ever used the object. To be called outside a run by the thread that has just taken hold
    /// of the object there.
    #[inline]
    pub fn is_new(&self) -> bool {
        // As in `is_unused`.
        is_unused_word(self.word.load(Ordering::SeqCst))
    }

    /// Returns whether no check uses the object. To be called outside a run by the thread that has just taken hold of
    /// the object there.
    #[inline]
    pub fn is_unused(&self) -> bool {
        // Pairs with `claim`: of a run and an outsider that meet, at least one sees the other.
        let known = self.word.load(Ordering::SeqCst);
        known == UNUSED || !epoch::is_foreign(known, 0)
    }

    /// Notes the end of the object in the current run.
    #[cold]
    #[inline(never)]
    fn end(&mut self) {
        let here = run_number();
        let known = *self.word.get_mut();
        if known != UNUSED && (!known ^ here) < epoch::STEP {
            return self.late_use(true, Site::UNKNOWN);
        }
        let object = known ^ here;
        let address = std::ptr::from_ref(self).addr();
        let tombstone = if object < epoch::STEP {
            let object = ObjectId(object as u32);
            run().ended(Some(object), address, self.made).then_some(known)
        } else if is_unused_word(known) {
            run().ended(None, address, self.made).then_some(here | UNDECLARED)
        } else {
            if !epoch::is_possible(known, here) {
                self.overwritten(true, Site::UNKNOWN);
            }
            None
        };
        if let Some(name) = tombstone {
            let place: *mut u64 = self.word.get_mut();
            // SAFETY: the place is that of this name, which is still there. The write is volatile, because it is read after
            // the end of the object, if at all.
            unsafe { place.write_volatile(!name) };
        }
    }

    /// Returns whether the object has ended in the current run.
    fn has_ended(&self) -> bool {
        let known = self.word.load(Ordering::Relaxed);
        known != UNUSED && (!known ^ run_number()) < epoch::STEP
    }

    /// Reports the use of the object after its end, at `site`, or another end. Returns only if the run is over.
    #[cold]
    fn late_use(&self, ends: bool, site: Site) {
        let object = !self.word.load(Ordering::Relaxed) ^ run_number();
        let object = (object != UNDECLARED).then_some(ObjectId(object as u32));
        run().late_use(object, std::ptr::from_ref(self).addr(), ends, site);
    }

    /// Reports the use of the object at `site`, or another end, if an object ended in this place in the current run. The
    /// name was overwritten since. Returns only if no object ended here or the run is over, and then with the object, if
    /// it is known.
    #[cold]
    fn overwritten(&self, ends: bool, site: Site) -> Option<ObjectId> {
        let address = std::ptr::from_ref(self).addr();
        let object = run().ended_at(address)?;
        run().late_use(object, address, ends, site);
        object
    }

    /// Declares the object in the current run. An owner also needs that no other OS thread touches the object.
    #[cold]
    pub(super) fn declare(
        &self,
        is_owner: bool,
        initial: impl FnOnce() -> Option<Initial>,
        site: Site,
    ) -> ObjectId {
        if self.has_ended() {
            self.late_use(false, site);
            let object = !self.word.load(Ordering::Relaxed) ^ run_number();
            if object != UNDECLARED {
                return ObjectId(object as u32);
            }
            self.forget();
        }
        if let Some(object) = self.claim(is_owner, site) {
            return object;
        }
        let Some(initial) = initial() else {
            self.forget();
            shared(site)
        };
        let address = std::ptr::from_ref(self).addr();
        let object = unobserved(|| run().declare(initial, address, site));
        assert!(
            u64::from(object.0) < epoch::STEP,
            "raddle: more than 16 million objects in one run"
        );
        self.word.store(run_number() | u64::from(object.0), Ordering::Release);
        if flags().records {
            unobserved(|| run().describe(object, self.made));
        }
        object
    }

    /// Marks the object as used by the current run, before its state is read. Returns an object if one ended in this place
    /// and the run is over.
    fn claim(&self, is_owner: bool, site: Site) -> Option<ObjectId> {
        // A thread that sees what another run has written here also sees that the other runtime exists.
        let known = self.word.load(Ordering::Acquire);
        let mine = run_number();
        if known != UNUSED && epoch::is_foreign(known, mine) {
            shared(site)
        }
        if !is_unused_word(known) && !epoch::is_possible(known, mine) {
            let ended = self.overwritten(false, site);
            return Some(ended.unwrap_or_else(|| no_object(site)));
        }
        // Without an owner nothing depends on it: if two runs come at the very same time, the next use shows it.
        if is_owner
            && self.word.compare_exchange(known, mine, Ordering::SeqCst, Ordering::SeqCst).is_err()
        {
            shared(site)
        }
        None
    }
}

/// Returns whether a name is that of an object that no run has used.
#[inline(always)]
fn is_unused_word(word: u64) -> bool {
    matches!(word, UNUSED | ZEROED)
}

thread_local! {
    /// Whether a run on this OS thread met an object in use on another one.
    static MET_SHARED: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a run on this OS thread met an object in use on another OS thread, since the last call.
pub fn take_met_shared() -> bool {
    MET_SHARED.take()
}

#[cold]
fn no_object(site: Site) -> ! {
    panic!(
        "raddle: what is used at {site} is no object: its memory was overwritten. Use after free? With \
         `raddle::Alloc` as the global allocator, raddle says where the object was freed."
    )
}

#[cold]
fn shared(site: Site) -> ! {
    MET_SHARED.set(true);
    panic!(
        "raddle: the object used at {site} is in use on another OS thread at the same time: by \
         another check, outside of any, or by this check, if it searches on several OS threads. A \
         static can be used by one check on one OS thread at a time: run these tests one after the \
         other (`cargo test -- --test-threads=1`), search on one OS thread (`Config::threads`, \
         RADDLE_THREADS), or let each execution make its own object."
    )
}
