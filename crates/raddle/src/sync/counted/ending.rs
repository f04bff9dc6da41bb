//! The end of a strong reference, step by step.

use std::sync::Arc as Real;

use raddle_core::Site;

use super::counts::Handle;
use crate::sync::atomic::{Ordering::Acquire, fence_at};

/// A strong reference that comes to its end, which goes on wherever it was when this is dropped. A run may end
/// at each operation, and then the counts should still say what has become of the value: the destructors of
/// others may ask.
pub(super) struct Ending<T: ?Sized> {
    /// Until it is gone or somebody has taken it.
    pub(super) value: Option<Real<T>>,
    handle: Handle,
    stage: Stage,
    site: Site,
}

/// How far the end of a reference has come.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// The reference still counts.
    Counted,
    /// It was the last, and counts no more. What others have done with the value may not be known yet.
    Last,
    /// It was the last, and everything is known.
    Alone,
    /// Nothing is left to be counted.
    Gone,
}

impl<T: ?Sized> Ending<T> {
    /// The end of a reference, at `site`, that has come so far.
    pub(super) fn new(
        value: Option<Real<T>>,
        handle: Handle,
        stage: Stage,
        site: Site,
    ) -> Ending<T> {
        let stage = if handle.here().is_some() { stage } else { Stage::Gone };
        Ending { value, handle, stage, site }
    }

    /// Takes the reference from the count. Whether it was the last, so that the value is the caller's: he knows
    /// of everything that was done with it.
    pub(super) fn count(&mut self) -> bool {
        let Some(counts) = self.handle.here() else { return true };
        if self.stage == Stage::Counted {
            self.stage = if counts.drop_strong(self.site) { Stage::Last } else { Stage::Gone };
        }
        if self.stage == Stage::Last {
            fence_at(Acquire, self.site);
            self.stage = Stage::Alone;
        }
        self.stage == Stage::Alone
    }

    fn finish(&mut self) {
        self.count();
        drop(self.value.take());
        if self.stage == Stage::Alone {
            self.stage = Stage::Gone;
            if let Some(counts) = self.handle.here() {
                counts.drop_weak(self.site);
            }
        }
    }
}

impl<T: ?Sized> Drop for Ending<T> {
    fn drop(&mut self) {
        /// Goes on if the run ends, or the value's destructor panics.
        struct Again<'a, T: ?Sized>(&'a mut Ending<T>);

        impl<T: ?Sized> Drop for Again<'_, T> {
            fn drop(&mut self) {
                self.0.finish();
            }
        }

        Again(self).0.finish();
    }
}
