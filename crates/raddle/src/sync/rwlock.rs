//! Reader-writer locks, as [`std::sync::RwLock`].

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, TryLockError, TryLockResult};

use raddle_core::{Action, Effect, ObjectId, Op, RwLockOp, Site};
use raddle_engine::Initial;
use raddle_runtime::Origin;
use raddle_runtime::port::{self, Kind, Name};

use super::held::Held;
use super::poison::{Poison, map, result, try_map};
use crate::naming::Named;
use crate::unexpected;

/// A reader-writer lock, as [`std::sync::RwLock`].
///
/// Inside a check neither readers nor writers are preferred: a reader may take the lock whenever no writer
/// holds it, even if a writer waits.
///
/// ```
/// let list = raddle::sync::RwLock::new(vec![1]);
/// list.write().unwrap().push(2);
/// assert_eq!(list.read().unwrap().len(), 2);
/// ```
pub struct RwLock<T: ?Sized> {
    name: Name,
    /// The lock outside runs. In a run the engine grants the lock.
    outside: std::sync::RwLock<()>,
    poison: Poison,
    origin: Origin,
    data: UnsafeCell<T>,
}

// SAFETY: the lock owns the data, as `std::sync::RwLock` does.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: only guards give out references to the data, and at any time there are only readers or one writer. Outside
// runs `outside` ensures this, inside a run the engine. `Name` refuses an object that is in use both in a run and
// elsewhere.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

impl<T> RwLock<T> {
    /// Returns an unlocked lock that holds `value`.
    #[track_caller]
    pub const fn new(value: T) -> RwLock<T> {
        RwLock {
            name: Name::new(),
            outside: std::sync::RwLock::new(()),
            poison: Poison::new(),
            origin: Origin::new(),
            data: UnsafeCell::new(value),
        }
    }

    /// Returns the data, as [`std::sync::RwLock::into_inner`].
    pub fn into_inner(self) -> LockResult<T> {
        let is_poisoned = self.is_poisoned();
        result(self.data.into_inner(), is_poisoned)
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Locks for reading, waiting while a writer holds the lock, as
    /// [`std::sync::RwLock::read`].
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let site = Site::caller();
        if self.submit(RwLockOp::Read, site).is_some() {
            return self.reader_in_run(site);
        }
        map(self.outside.read(), |held| self.reader_outside(held, site))
    }

    /// Locks for reading if no writer holds the lock, as [`std::sync::RwLock::try_read`].
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let site = Site::caller();
        if let Some(effect) = self.submit(RwLockOp::TryRead, site) {
            taken(effect)?;
            return self.reader_in_run(site).map_err(TryLockError::Poisoned);
        }
        try_map(self.outside.try_read(), |held| self.reader_outside(held, site))
    }

    /// Locks for writing, waiting while another thread holds the lock, as [`std::sync::RwLock::write`].
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let site = Site::caller();
        if self.submit(RwLockOp::Write, site).is_some() {
            return self.writer_in_run(site);
        }
        map(self.outside.write(), |held| self.writer_outside(held, site))
    }

    /// Locks for writing if no thread holds the lock, as [`std::sync::RwLock::try_write`].
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let site = Site::caller();
        if let Some(effect) = self.submit(RwLockOp::TryWrite, site) {
            taken(effect)?;
            return self.writer_in_run(site).map_err(TryLockError::Poisoned);
        }
        try_map(self.outside.try_write(), |held| self.writer_outside(held, site))
    }

    /// Returns whether a thread panicked while it held the lock for writing.
    pub fn is_poisoned(&self) -> bool {
        if port::active() { self.poison.is_set() } else { self.outside.is_poisoned() }
    }

    /// Clears the poisoned state, as [`std::sync::RwLock::clear_poison`].
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

    /// Performs an operation on the lock. Returns `None` outside a run.
    fn submit(&self, op: RwLockOp, site: Site) -> Option<Effect> {
        port::operate(Kind::Any, &self.name, || self.begin(site), operation(op), site)
    }

    /// Prepares the lock for its first use in the current run. Returns `None` if a thread outside the run holds it.
    #[cold]
    fn begin(&self, site: Site) -> Option<Initial> {
        if matches!(self.outside.try_write(), Err(TryLockError::WouldBlock)) {
            return None;
        }
        port::declares::<Self>();
        // SAFETY: no thread holds the lock, so there are no references to the data.
        unsafe { self.origin.used_in_run(self.data.get(), "RwLock", site) };
        Some(Initial::RwLock)
    }

    /// Returns the guard of the thread that has just taken the lock for reading in a run.
    fn reader_in_run(&self, site: Site) -> LockResult<RwLockReadGuard<'_, T>> {
        let guard = RwLockReadGuard {
            lock: self,
            held: Held::in_run(&self.name, site),
            _not_send: PhantomData,
        };
        result(guard, self.poison.is_set())
    }

    /// Returns the guard of the thread that has just taken the lock for writing in a run.
    fn writer_in_run(&self, site: Site) -> LockResult<RwLockWriteGuard<'_, T>> {
        let guard = RwLockWriteGuard {
            lock: self,
            held: Held::in_run(&self.name, site),
            _not_send: PhantomData,
        };
        result(guard, self.poison.is_set())
    }

    /// Returns the guard of the thread that has just taken the lock for reading outside a run.
    fn reader_outside<'a>(
        &'a self,
        held: std::sync::RwLockReadGuard<'a, ()>,
        site: Site,
    ) -> RwLockReadGuard<'a, T> {
        self.name.assert_outside(site);
        self.origin.used_outside();
        RwLockReadGuard { lock: self, held: Held::Outside(held), _not_send: PhantomData }
    }

    /// Returns the guard of the thread that has just taken the lock for writing outside a run.
    fn writer_outside<'a>(
        &'a self,
        held: std::sync::RwLockWriteGuard<'a, ()>,
        site: Site,
    ) -> RwLockWriteGuard<'a, T> {
        self.name.assert_outside(site);
        self.origin.used_outside();
        RwLockWriteGuard { lock: self, held: Held::Outside(held), _not_send: PhantomData }
    }
}

const fn operation(op: RwLockOp) -> Op {
    Op::new(ObjectId::NONE, Action::RwLock(op))
}

/// Converts the effect of an attempt to take the lock.
fn taken<G>(effect: Effect) -> Result<(), TryLockError<G>> {
    match effect {
        Effect::Yes => Ok(()),
        Effect::No => Err(TryLockError::WouldBlock),
        other => unexpected(other),
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("RwLock");
        // In a run reading the data here would be no operation, and another thread may write.
        if !port::active() {
            let held = match self.outside.try_read() {
                Ok(held) => Some(held),
                Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            };
            match held {
                Some(_held) if self.name.is_unused() => {
                    // SAFETY: no run uses the lock, and outside runs this thread holds it for reading.
                    let data = unsafe { &*self.data.get() };
                    text.field("data", &data)
                }
                Some(_) | None => text.field("data", &format_args!("<locked>")),
            };
        }
        text.field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}

impl<T: ?Sized> Named for RwLock<T> {
    fn call(&self, name: &str, site: Site) {
        port::name_object(&self.name, || self.begin(site), name, site);
    }
}

/// A [`RwLock`] held for reading, as [`std::sync::RwLockReadGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    held: Held<std::sync::RwLockReadGuard<'a, ()>>,
    /// A guard must be dropped by the thread that locked.
    _not_send: PhantomData<*const ()>,
}

// SAFETY: a shared reference to a guard gives only shared access to the data.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        self.held.release(Kind::Any, operation(RwLockOp::UnlockRead), None);
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.held.assert_valid();
        // SAFETY: this guard holds the lock for reading, so no guard gives out mutable references to the data.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// A [`RwLock`] held for writing, as [`std::sync::RwLockWriteGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    held: Held<std::sync::RwLockWriteGuard<'a, ()>>,
    /// A guard must be dropped by the thread that locked.
    _not_send: PhantomData<*const ()>,
}

// SAFETY: a shared reference to a guard gives only shared access to the data.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        let unlock = operation(RwLockOp::UnlockWrite);
        self.held.release(Kind::Any, unlock, Some(&self.lock.poison));
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.held.assert_valid();
        // SAFETY: this guard holds the lock for writing, so no other guard gives out references to the data.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.held.assert_valid();
        // SAFETY: this guard holds the lock and is borrowed mutably, so there is no other reference to the data.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
