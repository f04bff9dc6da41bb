//! One-time initialisation, as [`std::sync::Once`].

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use raddle_core::{Action, Effect, ObjectId, OnceOp, Op, Site};
use raddle_engine::Initial;
use raddle_runtime::port::{self, Kind, Name};

use super::poison::Poison;
use crate::unexpected;

/// Something that is done once, as [`std::sync::Once`].
///
/// What was done outside a check is done in it too; what is done in an execution is not done in the
/// next.
///
/// ```
/// static START: raddle::sync::Once = raddle::sync::Once::new();
/// let mut calls = 0;
/// START.call_once(|| calls += 1);
/// START.call_once(|| calls += 1);
/// assert_eq!(calls, 1);
/// ```
pub struct Once {
    course: Course,
    outside: std::sync::Once,
}

/// What a [`Once`] tells the function that it calls, as [`std::sync::OnceState`].
#[derive(Debug)]
pub struct OnceState {
    poisoned: bool,
}

impl OnceState {
    /// Whether an earlier call ended by a panic.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

impl Once {
    /// Nothing was done yet.
    pub const fn new() -> Once {
        Once { course: Course::new(), outside: std::sync::Once::new() }
    }

    /// Calls `f` if nobody has before, as [`std::sync::Once::call_once`].
    ///
    /// # Panics
    /// If an earlier call ended by a panic.
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        let site = Site::caller();
        if self.outside.is_completed() {
            return;
        }
        match self.course.begin(site) {
            Start::Outside => self.outside.call_once(|| {
                let _hold = self.course.hold_outside(site);
                f();
            }),
            Start::Done => {}
            Start::First(running) => {
                if self.course.poison.is_set() {
                    drop(running);
                    panic!("Once instance has previously been poisoned");
                }
                f();
                running.complete();
            }
        }
    }

    /// As [`call_once`](Once::call_once), even if an earlier call ended by a panic, as
    /// [`std::sync::Once::call_once_force`].
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        let site = Site::caller();
        if self.outside.is_completed() {
            return;
        }
        match self.course.begin(site) {
            Start::Outside => self.outside.call_once_force(|state| {
                let _hold = self.course.hold_outside(site);
                f(&OnceState { poisoned: state.is_poisoned() });
            }),
            Start::Done => {}
            Start::First(running) => {
                f(&OnceState { poisoned: self.course.poison.is_set() });
                running.complete();
            }
        }
    }

    /// Whether it is done, as [`std::sync::Once::is_completed`].
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.outside.is_completed() || self.course.is_complete(Site::caller())
    }
}

impl Default for Once {
    fn default() -> Once {
        Once::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

/// How far an initialisation is inside a run, and who is at it.
#[derive(Debug)]
pub(super) struct Course {
    name: Name,
    poison: Poison,
    /// Whether somebody outside of any run is at it.
    held_outside: AtomicBool,
}

/// What came of wanting to begin.
pub(super) enum Start<'a> {
    /// The caller is not part of a run.
    Outside,
    /// Somebody has done it.
    Done,
    /// It is up to the caller. Nobody else of the run, and nobody outside, is at it meanwhile.
    First(Running<'a>),
}

impl Course {
    pub(super) const fn new() -> Course {
        Course { name: Name::new(), poison: Poison::new(), held_outside: AtomicBool::new(false) }
    }

    /// Waits while somebody else of the run is at it.
    pub(super) fn begin(&self, site: Site) -> Start<'_> {
        match self.submit(OnceOp::Begin, site) {
            None => Start::Outside,
            Some(Effect::No) => Start::Done,
            Some(Effect::Yes) => {
                Start::First(Running { course: self, site, outcome: Outcome::Failed })
            }
            Some(other) => unexpected(other),
        }
    }

    /// Whether it is done in the run that the caller is part of, if it is.
    pub(super) fn is_complete(&self, site: Site) -> bool {
        match self.submit(OnceOp::IsComplete, site) {
            None | Some(Effect::No) => false,
            Some(Effect::Yes) => true,
            Some(other) => unexpected(other),
        }
    }

    /// Whether the current run has heard of it.
    pub(super) fn is_known(&self) -> bool {
        self.name.known().is_some()
    }

    /// Makes it new to the current run.
    pub(super) fn forget(&mut self) {
        self.name.forget();
    }

    /// To be called by the one who is at it outside of any run: until the result is dropped, no run
    /// may begin.
    ///
    /// # Panics
    /// If a check on another OS thread uses it.
    pub(super) fn hold_outside(&self, site: Site) -> HeldOutside<'_> {
        self.held_outside.store(true, Ordering::SeqCst);
        let held = HeldOutside(self);
        self.name.assert_outside(site);
        held
    }

    /// `None` outside a run.
    fn submit(&self, op: OnceOp, site: Site) -> Option<Effect> {
        let initial = || (!self.held_outside.load(Ordering::SeqCst)).then_some(Initial::Once);
        port::operate(
            Kind::Any,
            &self.name,
            initial,
            Op::new(ObjectId::NONE, Action::Once(op)),
            site,
        )
    }
}

/// Keeps runs away, see [`Course::hold_outside`].
pub(super) struct HeldOutside<'a>(&'a Course);

impl Drop for HeldOutside<'_> {
    fn drop(&mut self) {
        self.0.held_outside.store(false, Ordering::SeqCst);
    }
}

/// An initialisation under way inside a run. Dropped before it is complete, it has failed.
pub(super) struct Running<'a> {
    course: &'a Course,
    site: Site,
    outcome: Outcome,
}

enum Outcome {
    Failed,
    Complete,
}

impl Running<'_> {
    pub(super) fn complete(mut self) {
        self.outcome = Outcome::Complete;
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let op = match self.outcome {
            Outcome::Failed => {
                self.course.poison.set();
                OnceOp::Reset
            }
            Outcome::Complete => {
                self.course.poison.clear();
                OnceOp::Complete
            }
        };
        self.course.submit(op, self.site);
    }
}
