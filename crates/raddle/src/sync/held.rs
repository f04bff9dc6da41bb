//! How a guard holds its lock.

use raddle_core::{Op, Site};
use raddle_runtime::port::{self, Kind, Name, NameCopy};

use super::poison::Poison;

/// How a guard holds its lock.
pub(super) enum Held<G> {
    /// Outside runs, by the guard of `std`.
    Outside(G),
    /// In a run, by the engine.
    InRun(HeldInRun),
    /// Not at all: the guard waits on a condition variable.
    Released,
}

/// A lock that the engine has granted.
#[derive(Copy, Clone)]
pub(super) struct HeldInRun {
    lock: NameCopy,
    /// The place where the lock was taken. Reports show it for the unlock, which has no place of its own.
    site: Site,
    /// Whether the thread was unwinding when it took the lock.
    was_panicking: bool,
}

impl<G> Held<G> {
    /// The lock called `name`, which the calling thread has just taken in the current run.
    #[inline]
    pub(super) fn in_run(name: &Name, site: Site) -> Held<G> {
        let was_panicking = std::thread::panicking();
        Held::InRun(HeldInRun { lock: name.copy(), site, was_panicking })
    }

    /// Unlocks by `unlock` if the engine granted the lock, unless the run is over. Sets `poison` if the thread began to
    /// panic while it held the lock. The guard of `std` unlocks when it is dropped.
    #[inline(always)]
    pub(super) fn release(&self, kind: Kind, unlock: Op, poison: Option<&Poison>) {
        if let Held::InRun(held) = self {
            held.release(kind, unlock, poison);
        }
    }

    /// Sets the place that reports show for the unlock.
    pub(super) fn set_site(&mut self, site: Site) {
        if let Held::InRun(held) = self {
            held.site = site;
        }
    }

    /// # Panics
    /// Panics if the run in which the lock was taken is over.
    pub(super) fn assert_valid(&self) {
        if let Held::InRun(held) = self {
            assert!(
                held.lock.known().is_some(),
                "a guard of a RwLock was used outside the execution that created it"
            );
        }
    }
}

impl HeldInRun {
    /// Apart from [`Held::release`], so that dropping a guard outside runs is small enough to be inlined.
    #[inline]
    fn release(&self, kind: Kind, unlock: Op, poison: Option<&Poison>) {
        // A guard may outlive its run, whose locks are gone.
        let Some(object) = self.lock.known() else { return };
        if let Some(poison) = poison {
            if !self.was_panicking && std::thread::panicking() {
                poison.set();
            }
        }
        port::submit(kind, unlock.on(object), self.site);
    }
}
