//! What objects are called in a run.

use std::sync::atomic::{AtomicU64, Ordering};

use raddle_core::{ObjectId, Site};
use raddle_engine::Initial;

use super::{Port, port, run_number, unnoted};
use crate::{bare, epoch};

/// The name an object goes by in the current run, kept inside the object itself.
///
/// `const fn new` cannot tell anybody of a new object, so it is declared when it is first used in a
/// run, and again in the next.
///
/// It is the number of the run, plus that of the object in it.
#[derive(Debug)]
pub struct Name(AtomicU64);

/// The name of an object that no run uses. No run has such a number, and nor has the absence of one.
const UNUSED: u64 = u64::MAX;

impl Default for Name {
    fn default() -> Name {
        Name::new()
    }
}

/// Numbers of objects are below this.
pub(super) const NONE: u64 = epoch::STEP;

impl Name {
    /// The name of an object not used in any run yet.
    pub const fn new() -> Name {
        Name(AtomicU64::new(UNUSED))
    }

    /// The object in the current run, if it was used in it.
    #[inline(always)]
    pub fn known(&self) -> Option<ObjectId> {
        let object = self.in_run(run_number());
        if object < NONE { Some(ObjectId(object as u32)) } else { None }
    }

    /// The number of the object in the run of this number, if it was used in it last, or no less than [`NONE`].
    /// Never for the number zero, which is no run's.
    #[inline(always)]
    pub(super) fn in_run(&self, run: u64) -> u64 {
        // What is left is the object, or more than that if it was another run.
        bare::load(&self.0) ^ run
    }

    /// Makes the object new to the current run again.
    pub fn forget(&self) {
        self.0.store(UNUSED, Ordering::Relaxed);
    }

    /// To be called outside a run, by whoever has just taken hold of the object there.
    ///
    /// # Panics
    /// If a check on another OS thread uses the object.
    #[inline]
    pub fn assert_outside(&self, site: Site) {
        if !self.is_unused() {
            shared(site)
        }
    }

    /// To be called outside a run, by whoever has just taken hold of the object there: whether no
    /// check ever used it.
    #[inline]
    pub fn is_new(&self) -> bool {
        // As in `is_unused`.
        self.0.load(Ordering::SeqCst) == UNUSED
    }

    /// To be called outside a run, by whoever has just taken hold of the object there: whether no
    /// check uses it.
    #[inline]
    pub fn is_unused(&self) -> bool {
        // Pairs with `claim`: of a run and an outsider that meet, at least one sees the other.
        let known = self.0.load(Ordering::SeqCst);
        known == UNUSED || !epoch::is_foreign(known, 0)
    }

    /// Makes the object known to the current run. What belongs to whoever `owns` it must not be touched by
    /// anybody else meanwhile.
    #[cold]
    pub(super) fn declare(
        &self,
        owns: bool,
        initial: impl FnOnce() -> Option<Initial>,
        site: Site,
    ) -> ObjectId {
        // Looked up again: whoever calls this would otherwise keep it in a register for that.
        let port = port();
        self.claim(port, owns, site);
        let Some(initial) = initial() else {
            self.forget();
            shared(site)
        };
        let (run, entries) = port.get();
        // SAFETY: both were set together by `connect`, for a run that has not ended.
        let object = unsafe { (entries.declare)(run, initial, site) };
        assert!(u64::from(object.0) < epoch::STEP, "more than 16 million objects in one run");
        if port.ways.get().heap {
            let address = std::ptr::from_ref(self).addr();
            // SAFETY: as above.
            unnoted(|| unsafe { (entries.born)(run, object, address) });
        }
        self.0.store(port.epoch.get() | u64::from(object.0), Ordering::Release);
        object
    }

    /// Marks the object as used by the current run, before anybody looks at its state.
    fn claim(&self, port: &Port, owns: bool, site: Site) {
        // Whoever sees what another run has written here sees that its runtime exists.
        let known = self.0.load(Ordering::Acquire);
        let mine = port.epoch.get();
        if known != UNUSED && epoch::is_foreign(known, mine) {
            shared(site)
        }
        // Otherwise nothing depends on it: if two runs come at the very same time, the next use tells.
        if owns && self.0.compare_exchange(known, mine, Ordering::SeqCst, Ordering::SeqCst).is_err()
        {
            shared(site)
        }
    }
}

#[cold]
fn shared(site: Site) -> ! {
    panic!(
        "raddle: the object used at {site} is in use on another OS thread at the same time: by \
         another check, outside of any, or by this check, if it searches on several OS threads. A \
         static can be used by one check on one OS thread at a time: run these tests one after the \
         other (`cargo test -- --test-threads=1`), search on one OS thread (`Config::threads`, \
         RADDLE_THREADS), or let each execution make its own object."
    )
}
