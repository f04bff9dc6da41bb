//! The drop of a strong reference, step by step.

use std::sync::Arc as Real;

use raddle_core::Site;

use super::counts::Handle;
use crate::sync::atomic::{Ordering::Acquire, fence_at};

/// A strong reference that is being dropped. Dropping this value performs the remaining stages.
///
/// A run may end at each operation. The counts must stay correct then, because destructors of other threads may read them.
pub(super) struct Release<T: ?Sized> {
    /// `None` once the value was dropped or taken out.
    pub(super) value: Option<Real<T>>,
    handle: Handle,
    stage: Stage,
    site: Site,
}

/// The progress of the drop of a reference.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// The reference is still counted.
    Counted,
    /// The reference was the last and is no longer counted. The accesses of other threads may not have been acquired.
    Last,
    /// The reference was the last, and the accesses of other threads have been acquired.
    Exclusive,
    /// The counts are final.
    Released,
}

impl<T: ?Sized> Release<T> {
    /// Returns the drop of a reference at `site`, from `stage` on.
    pub(super) fn new(
        value: Option<Real<T>>,
        handle: Handle,
        stage: Stage,
        site: Site,
    ) -> Release<T> {
        let stage = if handle.here().is_some() { stage } else { Stage::Released };
        Release { value, handle, stage, site }
    }

    /// Removes the reference from the count. Returns whether it was the last. Then the caller owns the value and has
    /// acquired all accesses to it.
    pub(super) fn count(&mut self) -> bool {
        let Some(counts) = self.handle.here() else { return true };
        if self.stage == Stage::Counted {
            self.stage = if counts.drop_strong(self.site) { Stage::Last } else { Stage::Released };
        }
        if self.stage == Stage::Last {
            fence_at(Acquire, self.site);
            self.stage = Stage::Exclusive;
        }
        self.stage == Stage::Exclusive
    }

    /// Performs the remaining stages. Not inlined: the runtime recognises the drop of the value by this function.
    #[inline(never)]
    fn finish(&mut self) {
        self.count();
        drop(self.value.take());
        if self.stage == Stage::Exclusive {
            self.stage = Stage::Released;
            if let Some(counts) = self.handle.here() {
                counts.disown();
                counts.drop_weak(self.site);
            }
        }
    }
}

impl<T: ?Sized> Drop for Release<T> {
    fn drop(&mut self) {
        /// Performs the remaining stages if the run ends or the destructor of the value panics.
        struct FinishOnUnwind<'a, T: ?Sized>(&'a mut Release<T>);

        impl<T: ?Sized> Drop for FinishOnUnwind<'_, T> {
            fn drop(&mut self) {
                self.0.finish();
            }
        }

        FinishOnUnwind(self).0.finish();
    }
}
