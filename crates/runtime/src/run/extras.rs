//! What few runs use. A run that does not leaves nothing to look at, and nothing to clear.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use raddle_core::{ObjectId, ThreadId};

use super::heap::Heap;
use super::keep::Kept;
use super::panicked::Panics;

/// The extras, and whether a run has asked for them.
#[derive(Default)]
pub(super) struct Extras {
    are_used: Cell<bool>,
    parts: Parts,
}

#[derive(Default)]
pub(super) struct Parts {
    /// By [`ThreadId`]: what the mirror keeps for a thread. Nothing is left after a run, unless a
    /// thread got stuck.
    pub(super) belongings: RefCell<Vec<Option<Rc<dyn Any>>>>,
    /// What the program calls objects of the run.
    pub(super) object_names: RefCell<Vec<(ObjectId, String)>>,
    /// By [`ThreadId`]: how often something went wrong for a thread of the run without a reason.
    pub(super) spurious: RefCell<Vec<u32>>,
    /// Threads that are unwinding from a panic. The standard library knows only that some thread on
    /// this OS thread is.
    pub(super) unwinding: RefCell<Vec<ThreadId>>,
    /// Panics that left threads of the run without ending it.
    pub(super) panics: Panics,
    pub(super) kept: Kept,
    pub(super) heap: Heap,
}

impl Extras {
    /// Whether the last run used any of them.
    #[inline(always)]
    pub(super) fn are_used(&self) -> bool {
        self.are_used.get()
    }

    /// To be used by a run.
    #[cold]
    pub(super) fn get(&self) -> &Parts {
        self.are_used.set(true);
        &self.parts
    }

    /// To be looked at, by whoever leaves them as they are.
    pub(super) fn look(&self) -> &Parts {
        &self.parts
    }

    /// A run begins; the last one used them.
    #[cold]
    pub(super) fn clear(&mut self) {
        self.are_used.set(false);
        self.parts.unwinding.get_mut().clear();
        self.parts.object_names.get_mut().clear();
        self.parts.spurious.get_mut().clear();
        self.parts.heap.clear();
    }

    pub(super) fn into_parts(self) -> Parts {
        self.parts
    }
}
