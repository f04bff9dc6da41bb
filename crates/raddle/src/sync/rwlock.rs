//! Reader-writer locks, as [`std::sync::RwLock`].

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use raddle_core::{Action, Effect, ObjectId, Op, RwLockOp, Site};
use raddle_engine::Initial;
use raddle_runtime::Origin;
use raddle_runtime::port::{self, Kind, Name, Unwinding};

use super::poison::{Poison, result};
use crate::naming::Named;
use crate::unexpected;

/// A reader-writer lock, as [`std::sync::RwLock`].
///
/// Inside a check neither readers nor writers are preferred: a reader gets in whenever no writer
/// holds the lock, even if one waits.
///
/// ```
/// let list = raddle::sync::RwLock::new(vec![1]);
/// list.write().unwrap().push(2);
/// assert_eq!(list.read().unwrap().len(), 2);
/// ```
pub struct RwLock<T: ?Sized> {
    name: Name,
    /// The lock outside runs. Inside one the engine decides.
    outside: std::sync::RwLock<()>,
    poison: Poison,
    origin: Origin,
    data: UnsafeCell<T>,
}

// SAFETY: the data goes with the lock; as for `std::sync::RwLock`.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: references to the data are handed out only by guards, and there are only readers or one
// writer at a time: outside runs by `outside`, inside a run by the engine, and between the two by
// `Name`, which refuses an object that is in use elsewhere.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

impl<T> RwLock<T> {
    /// A free lock around `value`.
    pub const fn new(value: T) -> RwLock<T> {
        RwLock {
            name: Name::new(),
            outside: std::sync::RwLock::new(()),
            poison: Poison::new(),
            origin: Origin::new(),
            data: UnsafeCell::new(value),
        }
    }

    /// The data, as [`std::sync::RwLock::into_inner`].
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.is_poisoned();
        result(self.data.into_inner(), poisoned)
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until no writer holds the lock and takes it for reading, as
    /// [`std::sync::RwLock::read`].
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let site = Site::caller();
        if self.submit(RwLockOp::Read, site).is_some() {
            return self.reader_in_run(site);
        }
        match self.outside.read() {
            Ok(held) => Ok(self.reader_outside(held, site)),
            Err(held) => Err(PoisonError::new(self.reader_outside(held.into_inner(), site))),
        }
    }

    /// Takes the lock for reading if no writer holds it, as [`std::sync::RwLock::try_read`].
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let site = Site::caller();
        if let Some(effect) = self.submit(RwLockOp::TryRead, site) {
            taken(effect)?;
            return self.reader_in_run(site).map_err(TryLockError::Poisoned);
        }
        match self.outside.try_read() {
            Ok(held) => Ok(self.reader_outside(held, site)),
            Err(TryLockError::Poisoned(held)) => {
                let guard = self.reader_outside(held.into_inner(), site);
                Err(TryLockError::Poisoned(PoisonError::new(guard)))
            }
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        }
    }

    /// Waits until nobody holds the lock and takes it for writing, as [`std::sync::RwLock::write`].
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let site = Site::caller();
        if self.submit(RwLockOp::Write, site).is_some() {
            return self.writer_in_run(site);
        }
        match self.outside.write() {
            Ok(held) => Ok(self.writer_outside(held, site)),
            Err(held) => Err(PoisonError::new(self.writer_outside(held.into_inner(), site))),
        }
    }

    /// Takes the lock for writing if nobody holds it, as [`std::sync::RwLock::try_write`].
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let site = Site::caller();
        if let Some(effect) = self.submit(RwLockOp::TryWrite, site) {
            taken(effect)?;
            return self.writer_in_run(site).map_err(TryLockError::Poisoned);
        }
        match self.outside.try_write() {
            Ok(held) => Ok(self.writer_outside(held, site)),
            Err(TryLockError::Poisoned(held)) => {
                let guard = self.writer_outside(held.into_inner(), site);
                Err(TryLockError::Poisoned(PoisonError::new(guard)))
            }
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        }
    }

    /// Whether a thread panicked while it held the lock for writing.
    pub fn is_poisoned(&self) -> bool {
        if port::active() { self.poison.is_set() } else { self.outside.is_poisoned() }
    }

    /// Forgets that a thread panicked while it held the lock for writing.
    pub fn clear_poison(&self) {
        if port::active() {
            self.poison.clear();
        } else {
            self.outside.clear_poison();
        }
    }

    /// The data, without locking: nobody else can have a reference.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.is_poisoned();
        result(self.data.get_mut(), poisoned)
    }

    /// `None` outside a run.
    fn submit(&self, op: RwLockOp, site: Site) -> Option<Effect> {
        port::operate(
            Kind::Any,
            &self.name,
            move || self.begin(site),
            Op::new(ObjectId::NONE, Action::RwLock(op)),
            site,
        )
    }

    /// The run under way uses the lock for the first time. `None` if somebody outside holds it.
    #[cold]
    fn begin(&self, site: Site) -> Option<Initial> {
        if matches!(self.outside.try_write(), Err(TryLockError::WouldBlock)) {
            return None;
        }
        // SAFETY: nobody holds the lock, so that there are no references to the data.
        unsafe { self.origin.used_in_run(self.data.get(), "RwLock", site) };
        Some(Initial::RwLock)
    }

    fn reader_in_run(&self, site: Site) -> LockResult<RwLockReadGuard<'_, T>> {
        let held = Held::InRun { run: port::run_number(), site };
        result(RwLockReadGuard { lock: self, held, _not_send: PhantomData }, self.poison.is_set())
    }

    fn writer_in_run(&self, site: Site) -> LockResult<RwLockWriteGuard<'_, T>> {
        let held = Held::InRun { run: port::run_number(), site };
        let was_panicking = port::unwinding() != Unwinding::No;
        let guard = RwLockWriteGuard { lock: self, held, was_panicking, _not_send: PhantomData };
        result(guard, self.poison.is_set())
    }

    fn reader_outside<'a>(
        &'a self,
        held: std::sync::RwLockReadGuard<'a, ()>,
        site: Site,
    ) -> RwLockReadGuard<'a, T> {
        self.name.assert_outside(site);
        self.origin.used_outside();
        RwLockReadGuard { lock: self, held: Held::Outside(held), _not_send: PhantomData }
    }

    fn writer_outside<'a>(
        &'a self,
        held: std::sync::RwLockWriteGuard<'a, ()>,
        site: Site,
    ) -> RwLockWriteGuard<'a, T> {
        self.name.assert_outside(site);
        self.origin.used_outside();
        let held = Held::Outside(held);
        RwLockWriteGuard { lock: self, held, was_panicking: false, _not_send: PhantomData }
    }
}

/// Whether a lock was taken that might have been held.
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
        // Inside a run looking is no operation of the program, and somebody may be writing.
        if !port::active() {
            let held = match self.outside.try_read() {
                Ok(held) => Some(held),
                Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            };
            match held {
                Some(_held) if self.name.is_unused() => {
                    // SAFETY: no check uses the lock, and outside of checks nobody writes while
                    // it is held for reading.
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
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}

impl<T: ?Sized> Named for RwLock<T> {
    fn call(&self, name: &str, site: Site) {
        port::name_object(&self.name, || self.begin(site), name, site);
    }
}

/// How a guard has the lock.
enum Held<G> {
    /// By the real one.
    Outside(G),
    /// By the engine, in this run; taken at `site`, which the report shows for the unlock, which has
    /// no line of its own.
    InRun { run: u64, site: Site },
}

impl<G> Held<G> {
    /// # Panics
    /// If the guard has left its run, whose locks are gone.
    fn assert_valid(&self) {
        if let Held::InRun { run, .. } = self {
            assert!(
                *run == port::run_number(),
                "a guard of a RwLock was used outside the execution that made it"
            );
        }
    }

    /// Gives up what the engine gave. The real lock goes with `self`.
    fn release(&self, name: &Name, op: RwLockOp) {
        let Held::InRun { run, site } = *self else { return };
        if run == port::run_number() {
            if let Some(object) = name.known() {
                port::submit(Kind::Any, Op::new(object, Action::RwLock(op)), site);
            }
        }
    }
}

/// A [`RwLock`] held for reading, as [`std::sync::RwLockReadGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    held: Held<std::sync::RwLockReadGuard<'a, ()>>,
    /// A guard stays on its thread.
    _not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives shared access to the data, nothing more.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        self.held.release(&self.lock.name, RwLockOp::UnlockRead);
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.held.assert_valid();
        // SAFETY: while this guard has the lock, no mutable reference to the data is handed out.
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
    /// Inside a run: whether the thread was unwinding when it took the lock.
    was_panicking: bool,
    /// A guard stays on its thread.
    _not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives shared access to the data, nothing more.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        let in_run = matches!(self.held, Held::InRun { .. });
        if in_run && !self.was_panicking && port::unwinding() == Unwinding::Surely {
            self.lock.poison.set();
        }
        self.held.release(&self.lock.name, RwLockOp::UnlockWrite);
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.held.assert_valid();
        // SAFETY: while this guard has the lock, no other reference to the data is handed out.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.held.assert_valid();
        // SAFETY: likewise, and the guard is borrowed mutably.
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
