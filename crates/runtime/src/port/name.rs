//! What objects are called in a run.

use std::sync::atomic::{AtomicU64, Ordering};

use raddle_core::{ObjectId, Site};
use raddle_engine::Initial;

use super::{Port, run_number, unnoted};
use crate::epoch;

/// The name an object goes by in the current run, kept inside the object itself.
///
/// `const fn new` cannot tell anybody of a new object, so it is declared when it is first used in a
/// run, and again in the next.
#[derive(Debug, Default)]
pub struct Name(pub(super) AtomicU64);

/// Object numbers take this many bits of a [`Name`], the run the others.
pub(super) const OBJECT_BITS: u32 = 24;

impl Name {
    /// The name of an object not used in any run yet.
    pub const fn new() -> Name {
        Name(AtomicU64::new(0))
    }

    /// The object in the current run, if it was used in it.
    #[inline]
    pub fn known(&self) -> Option<ObjectId> {
        let known = self.0.load(Ordering::Relaxed);
        let here = run_number();
        (here != 0 && known >> OBJECT_BITS == here).then_some(number(known))
    }

    /// Makes the object new to the current run again.
    pub fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
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
        self.0.load(Ordering::SeqCst) == 0
    }

    /// To be called outside a run, by whoever has just taken hold of the object there: whether no
    /// check uses it.
    #[inline]
    pub fn is_unused(&self) -> bool {
        // Pairs with `claim`: of a run and an outsider that meet, at least one sees the other.
        let known = self.0.load(Ordering::SeqCst);
        known == 0 || !epoch::is_foreign(known >> OBJECT_BITS, 0)
    }

    /// Makes the object known to the current run.
    #[cold]
    pub(super) fn declare(
        &self,
        port: &Port,
        initial: impl FnOnce() -> Option<Initial>,
        site: Site,
    ) -> u64 {
        self.claim(port, site);
        let Some(initial) = initial() else {
            self.forget();
            shared(site)
        };
        let (run, entries) = port.get();
        // SAFETY: both were set together by `connect`, for a run that has not ended.
        let object = unsafe { (entries.declare)(run, initial, site) };
        assert!(object.0 < 1 << OBJECT_BITS, "more than 16 million objects in one run");
        if port.ways.get().heap {
            let address = std::ptr::from_ref(self).addr();
            // SAFETY: as above.
            unnoted(|| unsafe { (entries.born)(run, object, address) });
        }
        let name = port.epoch.get() << OBJECT_BITS | u64::from(object.0);
        self.0.store(name, Ordering::Relaxed);
        name
    }

    /// Marks the object as used by the current run, before anybody looks at its state.
    fn claim(&self, port: &Port, site: Site) {
        let known = self.0.load(Ordering::Relaxed);
        let mine = port.epoch.get();
        let foreign = known != 0 && epoch::is_foreign(known >> OBJECT_BITS, mine);
        let claimed = !foreign
            && self
                .0
                .compare_exchange(known, mine << OBJECT_BITS, Ordering::SeqCst, Ordering::SeqCst)
                .is_ok();
        if !claimed {
            shared(site)
        }
    }
}

/// The object in a name.
pub(super) fn number(name: u64) -> ObjectId {
    ObjectId(name as u32 & ((1 << OBJECT_BITS) - 1))
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
