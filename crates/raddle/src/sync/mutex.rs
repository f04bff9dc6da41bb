//! Mutual exclusion, as [`std::sync::Mutex`].

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, TryLockError, TryLockResult};

use raddle_core::{Action, Effect, MutexOp, ObjectId, Op, Site};
use raddle_engine::Initial;
use raddle_runtime::Origin;
use raddle_runtime::port::{self, Kind, Name};

use super::held::Held;
use super::poison::{Poison, map, result, try_map};
use crate::naming::Named;
use crate::unexpected;

const LOCK: Op = Op::new(ObjectId::NONE, Action::Mutex(MutexOp::Lock));
const TRY_LOCK: Op = Op::new(ObjectId::NONE, Action::Mutex(MutexOp::TryLock));
const UNLOCK: Op = Op::new(ObjectId::NONE, Action::Mutex(MutexOp::Unlock));

/// A mutex, as [`std::sync::Mutex`].
///
/// ```
/// let total = raddle::sync::Mutex::new(1);
/// *total.lock().unwrap() += 1;
/// assert_eq!(*total.lock().unwrap(), 2);
/// ```
pub struct Mutex<T: ?Sized> {
    name: Name,
    /// The lock outside runs. In a run the engine grants the lock.
    outside: std::sync::Mutex<()>,
    poison: Poison,
    origin: Origin,
    data: UnsafeCell<T>,
}

// SAFETY: the mutex owns the data, as `std::sync::Mutex` does.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: only a guard gives out references to the data, and there is one guard at a time. Outside runs `outside`
// ensures this, inside a run the engine. `Name` refuses an object that is in use both in a run and elsewhere.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

impl<T> Mutex<T> {
    /// Returns an unlocked mutex that holds `value`.
    #[track_caller]
    pub const fn new(value: T) -> Mutex<T> {
        Mutex {
            name: Name::new(),
            outside: std::sync::Mutex::new(()),
            poison: Poison::new(),
            origin: Origin::new(),
            data: UnsafeCell::new(value),
        }
    }

    /// Returns the data, as [`std::sync::Mutex::into_inner`].
    pub fn into_inner(self) -> LockResult<T> {
        let is_poisoned = self.is_poisoned();
        result(self.data.into_inner(), is_poisoned)
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Locks the mutex, waiting while another thread holds it, as [`std::sync::Mutex::lock`].
    #[inline(always)]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let site = Site::caller();
        match port::operate(Kind::Lock, &self.name, || self.begin(site), LOCK, site) {
            Some(_) => self.guard_in_run(site),
            None => map(self.outside.lock(), |held| self.guard_outside(held, site)),
        }
    }

    /// Locks the mutex if it is unlocked, as [`std::sync::Mutex::try_lock`].
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let site = Site::caller();
        let begin = || self.begin(site);
        if let Some(effect) = port::operate(Kind::Any, &self.name, begin, TRY_LOCK, site) {
            return match effect {
                Effect::Yes => self.guard_in_run(site).map_err(TryLockError::Poisoned),
                Effect::No => Err(TryLockError::WouldBlock),
                other => unexpected(other),
            };
        }
        try_map(self.outside.try_lock(), |held| self.guard_outside(held, site))
    }

    /// Returns whether a thread panicked while it held the lock.
    pub fn is_poisoned(&self) -> bool {
        if port::active() { self.poison.is_set() } else { self.outside.is_poisoned() }
    }

    /// Clears the poisoned state, as [`std::sync::Mutex::clear_poison`].
    pub fn clear_poison(&self) {
        if port::active() {
            self.poison.clear();
        } else {
            self.outside.clear_poison();
        }
    }

    /// Returns the data without locking: the caller has the only reference.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let is_poisoned = self.is_poisoned();
        result(self.data.get_mut(), is_poisoned)
    }

    /// Prepares the mutex for its first use in the current run. Returns `None` if a thread outside the run holds it.
    #[cold]
    fn begin(&self, site: Site) -> Option<Initial> {
        if matches!(self.outside.try_lock(), Err(TryLockError::WouldBlock)) {
            return None;
        }
        port::declares::<Self>();
        // SAFETY: no thread holds the lock, so there are no references to the data.
        unsafe { self.origin.used_in_run(self.data.get(), "Mutex", site) };
        Some(Initial::Mutex)
    }

    /// Returns the guard of the thread that has just taken the lock in a run.
    #[inline]
    fn guard_in_run(&self, site: Site) -> LockResult<MutexGuard<'_, T>> {
        let held = Held::in_run(&self.name, site);
        let guard = MutexGuard { mutex: self, held, _not_send: PhantomData };
        result(guard, self.poison.is_set())
    }

    /// Returns the guard of the thread that has just taken the lock outside a run.
    #[inline]
    fn guard_outside<'a>(
        &'a self,
        held: std::sync::MutexGuard<'a, ()>,
        site: Site,
    ) -> MutexGuard<'a, T> {
        self.name.assert_outside(site);
        self.origin.used_outside();
        MutexGuard { mutex: self, held: Held::Outside(held), _not_send: PhantomData }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Mutex");
        // In a run reading the data here would be no operation, and another thread may hold the lock.
        if !port::active() {
            let held = match self.outside.try_lock() {
                Ok(held) => Some(held),
                Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            };
            match held {
                Some(_held) if self.name.is_unused() => {
                    // SAFETY: no run uses the mutex, and outside runs this thread holds it.
                    let data = unsafe { &*self.data.get() };
                    text.field("data", &data)
                }
                Some(_) | None => text.field("data", &format_args!("<locked>")),
            };
        }
        text.field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}

impl<T: ?Sized> Named for Mutex<T> {
    fn call(&self, name: &str, site: Site) {
        port::name_object(&self.name, || self.begin(site), name, site);
    }
}

/// A held [`Mutex`], as [`std::sync::MutexGuard`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    held: Held<std::sync::MutexGuard<'a, ()>>,
    /// A guard must be dropped by the thread that locked.
    _not_send: PhantomData<*const ()>,
}

// SAFETY: a shared reference to a guard gives only shared access to the data.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// In a run: unlocks, calls `wait` and locks again.
    pub(super) fn suspend_in_run(mut self, site: Site, wait: impl FnOnce()) -> LockResult<Self> {
        let mutex = self.mutex;
        self.held.set_site(site);
        drop(self);
        wait();
        port::operate(Kind::Lock, &mutex.name, || mutex.begin(site), LOCK, site);
        mutex.guard_in_run(site)
    }

    /// Outside runs: passes the guard of `std` through `wait`.
    pub(super) fn suspend_outside<R>(
        mut self,
        wait: impl FnOnce(std::sync::MutexGuard<'a, ()>) -> Waited<'a, R>,
    ) -> LockResult<(Self, R)> {
        let Held::Outside(held) = std::mem::replace(&mut self.held, Held::Released) else {
            panic!("a MutexGuard left the execution it belongs to");
        };
        map(wait(held), |(held, outcome)| {
            self.held = Held::Outside(held);
            (self, outcome)
        })
    }
}

/// The guard of `std` after a wait, and the outcome of the wait.
pub(super) type Waited<'a, R> = LockResult<(std::sync::MutexGuard<'a, ()>, R)>;

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.held.release(Kind::Unlock, UNLOCK, Some(&self.mutex.poison));
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard holds the lock, so no other guard gives out references to the data.
        unsafe { &*self.mutex.data.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard holds the lock and is borrowed mutably, so there is no other reference to the data.
        unsafe { &mut *self.mutex.data.get() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
