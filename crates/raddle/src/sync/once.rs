//! One-time initialisation, as [`std::sync::Once`].

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use raddle_core::{Action, Effect, ObjectId, OnceOp, Op, Site};
use raddle_engine::Initial;
use raddle_runtime::port::{self, Kind, Name};

use super::poison::Poison;
use crate::unexpected;

/// A one-time initialisation, as [`std::sync::Once`].
///
/// If it was completed outside a check, it is complete inside too. Completing it in an execution does not complete it in
/// the next.
///
/// ```
/// static START: raddle::sync::Once = raddle::sync::Once::new();
/// let mut calls = 0;
/// START.call_once(|| calls += 1);
/// START.call_once(|| calls += 1);
/// assert_eq!(calls, 1);
/// ```
pub struct Once {
    initialisation: Initialisation,
    outside: std::sync::Once,
}

/// The state of a [`Once`], passed to the function that it calls, as [`std::sync::OnceState`].
#[derive(Debug)]
pub struct OnceState {
    poisoned: bool,
}

impl OnceState {
    /// Returns whether an earlier call panicked.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

impl Once {
    /// Returns a `Once` that is not complete.
    #[track_caller]
    pub const fn new() -> Once {
        Once { initialisation: Initialisation::new(), outside: std::sync::Once::new() }
    }

    /// Calls `f` if no call has completed before, as [`std::sync::Once::call_once`].
    ///
    /// # Panics
    /// Panics if an earlier call panicked.
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        let site = Site::caller();
        if self.outside.is_completed() {
            return;
        }
        match self.initialisation.begin(site) {
            Start::Outside => self.outside.call_once(|| {
                let _hold = self.initialisation.hold_outside(site);
                f();
            }),
            Start::Done => {}
            Start::First(running) => {
                if self.initialisation.poison.is_set() {
                    drop(running);
                    panic!("Once instance has previously been poisoned");
                }
                f();
                running.complete();
            }
        }
    }

    /// Calls `f` if no call has completed before, even if an earlier call panicked, as
    /// [`std::sync::Once::call_once_force`].
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        let site = Site::caller();
        if self.outside.is_completed() {
            return;
        }
        match self.initialisation.begin(site) {
            Start::Outside => self.outside.call_once_force(|state| {
                let _hold = self.initialisation.hold_outside(site);
                f(&OnceState { poisoned: state.is_poisoned() });
            }),
            Start::Done => {}
            Start::First(running) => {
                f(&OnceState { poisoned: self.initialisation.poison.is_set() });
                running.complete();
            }
        }
    }

    /// Returns whether a call has completed, as [`std::sync::Once::is_completed`].
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.outside.is_completed() || self.initialisation.is_complete(Site::caller())
    }
}

impl Default for Once {
    #[track_caller]
    fn default() -> Once {
        Once::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

/// The progress of an initialisation inside a run.
#[derive(Debug)]
pub(super) struct Initialisation {
    name: Name,
    poison: Poison,
    /// Whether a thread outside any run is initialising.
    held_outside: AtomicBool,
}

/// The result of [`Initialisation::begin`].
pub(super) enum Start<'a> {
    /// The caller is not part of a run.
    Outside,
    /// The initialisation is complete.
    Done,
    /// The caller must initialise. Until the value is dropped, no other thread does, inside or outside the run.
    First(Running<'a>),
}

impl Initialisation {
    #[track_caller]
    pub(super) const fn new() -> Initialisation {
        Initialisation {
            name: Name::new(),
            poison: Poison::new(),
            held_outside: AtomicBool::new(false),
        }
    }

    /// Begins the initialisation, waiting while another thread of the run initialises.
    pub(super) fn begin(&self, site: Site) -> Start<'_> {
        match self.submit(OnceOp::Begin, site) {
            None => Start::Outside,
            Some(Effect::No) => Start::Done,
            Some(Effect::Yes) => {
                Start::First(Running { initialisation: self, site, is_complete: false })
            }
            Some(other) => unexpected(other),
        }
    }

    /// Returns whether the initialisation is complete in the current run. Returns false outside a run.
    pub(super) fn is_complete(&self, site: Site) -> bool {
        match self.submit(OnceOp::IsComplete, site) {
            None | Some(Effect::No) => false,
            Some(Effect::Yes) => true,
            Some(other) => unexpected(other),
        }
    }

    /// Returns whether the current run has used the object.
    pub(super) fn is_known(&self) -> bool {
        self.name.known().is_some()
    }

    /// Makes the object new to the current run again.
    pub(super) fn forget(&mut self) {
        self.name.forget();
    }

    /// Refuses runs until the result is dropped. To be called by a thread outside any run before it initialises.
    ///
    /// # Panics
    /// Panics if a check on another OS thread uses the object.
    pub(super) fn hold_outside(&self, site: Site) -> HeldOutside<'_> {
        self.held_outside.store(true, Ordering::SeqCst);
        let held = HeldOutside(self);
        self.name.assert_outside(site);
        held
    }

    /// Performs an operation on the object. Returns `None` outside a run.
    fn submit(&self, op: OnceOp, site: Site) -> Option<Effect> {
        let initial = || (!self.held_outside.load(Ordering::SeqCst)).then_some(Initial::Once);
        let op = Op::new(ObjectId::NONE, Action::Once(op));
        port::operate(Kind::Any, &self.name, initial, op, site)
    }
}

/// Refuses runs while it exists, see [`Initialisation::hold_outside`].
pub(super) struct HeldOutside<'a>(&'a Initialisation);

impl Drop for HeldOutside<'_> {
    fn drop(&mut self) {
        self.0.held_outside.store(false, Ordering::SeqCst);
    }
}

/// An initialisation in progress in a run. It has failed if it is dropped before [`complete`](Running::complete).
pub(super) struct Running<'a> {
    initialisation: &'a Initialisation,
    site: Site,
    is_complete: bool,
}

impl Running<'_> {
    pub(super) fn complete(mut self) {
        self.is_complete = true;
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let op = if self.is_complete {
            self.initialisation.poison.clear();
            OnceOp::Complete
        } else {
            self.initialisation.poison.set();
            OnceOp::Reset
        };
        self.initialisation.submit(op, self.site);
    }
}
