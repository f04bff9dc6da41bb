//! Mutual exclusion, as [`std::sync::Mutex`].

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use raddle_core::{Action, Effect, MutexOp, ObjectId, Op, Site};
use raddle_engine::Initial;
use raddle_runtime::Origin;
use raddle_runtime::port::{self, Kind, Name, Unwinding};

use super::poison::result;
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
    /// Belongs to whoever holds the lock.
    hold: UnsafeCell<Hold>,
    /// The lock outside runs. Inside one the engine decides.
    outside: std::sync::Mutex<()>,
    /// The run in which a thread panicked while it held the lock.
    poisoned_in: AtomicU64,
    origin: Origin,
    data: UnsafeCell<T>,
}

/// What is remembered while the lock is held. Kept here and not in the guard, which is one word
/// then and stays in a register.
struct Hold {
    /// The real lock, outside runs. It borrows from the mutex that it is kept in, so it must be given
    /// back while that has not moved: by the guard, or, if that is forgotten, never.
    outside: Option<ManuallyDrop<std::sync::MutexGuard<'static, ()>>>,
    /// Where the lock was taken; the report shows it for the unlock, which has no line of its own.
    site: Site,
    /// Whether the thread was unwinding when it took the lock.
    was_panicking: bool,
}

// SAFETY: the data goes with the mutex; as for `std::sync::Mutex`.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: a reference to the data is handed out only by a guard, and there is one guard at a time:
// outside runs by `outside`, inside a run by the engine, and between the two by `Name`, which refuses
// an object that is in use elsewhere.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

impl<T> Mutex<T> {
    /// A free mutex around `value`.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex {
            name: Name::new(),
            hold: UnsafeCell::new(Hold {
                outside: None,
                site: Site::UNKNOWN,
                was_panicking: false,
            }),
            outside: std::sync::Mutex::new(()),
            poisoned_in: AtomicU64::new(0),
            origin: Origin::new(),
            data: UnsafeCell::new(value),
        }
    }

    /// The data, as [`std::sync::Mutex::into_inner`].
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.is_poisoned();
        result(self.data.into_inner(), poisoned)
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock and takes it, as [`std::sync::Mutex::lock`].
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let site = Site::caller();
        match port::operate(Kind::Lock, &self.name, || self.begin(site), LOCK, site) {
            Some(_) => self.guard_in_run(site),
            None => self.lock_outside(site),
        }
    }

    /// Takes the lock if it is free, as [`std::sync::Mutex::try_lock`].
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
        match self.outside.try_lock() {
            Ok(held) => Ok(self.guard_outside(held, site)),
            Err(TryLockError::Poisoned(held)) => {
                let guard = self.guard_outside(held.into_inner(), site);
                Err(TryLockError::Poisoned(PoisonError::new(guard)))
            }
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        }
    }

    /// Whether a thread panicked while it held the lock.
    pub fn is_poisoned(&self) -> bool {
        match port::run_number() {
            0 => self.outside.is_poisoned(),
            run => self.poisoned_in.load(Ordering::Relaxed) == run,
        }
    }

    /// Forgets that a thread panicked while it held the lock.
    pub fn clear_poison(&self) {
        if port::active() {
            self.poisoned_in.store(0, Ordering::Relaxed);
        } else {
            self.outside.clear_poison();
        }
    }

    /// The data, without locking: nobody else can have a reference.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.is_poisoned();
        result(self.data.get_mut(), poisoned)
    }

    /// The run under way uses the mutex for the first time. `None` if somebody outside holds it.
    #[cold]
    fn begin(&self, site: Site) -> Option<Initial> {
        if matches!(self.outside.try_lock(), Err(TryLockError::WouldBlock)) {
            return None;
        }
        // SAFETY: nobody holds the lock, so that there are no references to the data.
        unsafe { self.origin.used_in_run(self.data.get(), "Mutex", site) };
        Some(Initial::Mutex)
    }

    #[inline]
    fn guard_in_run(&self, site: Site) -> LockResult<MutexGuard<'_, T>> {
        let guard = self.guard(site);
        result(guard, self.poisoned_in.load(Ordering::Relaxed) == port::run_number())
    }

    /// The guard of whoever has just taken the lock in a run.
    #[inline]
    fn guard(&self, site: Site) -> MutexGuard<'_, T> {
        // SAFETY: the caller holds the lock, and with it the hold.
        let hold = unsafe { &mut *self.hold.get() };
        hold.site = site;
        hold.was_panicking = port::unwinding_in_run() != Unwinding::No;
        MutexGuard { mutex: self, _not_send: PhantomData }
    }

    fn lock_outside(&self, site: Site) -> LockResult<MutexGuard<'_, T>> {
        let (held, is_poisoned) = match self.outside.lock() {
            Ok(held) => (held, false),
            Err(held) => (held.into_inner(), true),
        };
        result(self.guard_outside(held, site), is_poisoned)
    }

    fn guard_outside<'a>(
        &'a self,
        held: std::sync::MutexGuard<'a, ()>,
        site: Site,
    ) -> MutexGuard<'a, T> {
        let is_usual = self.name.is_new() && self.origin.is_outside();
        self.keep(if is_usual { held } else { self.begin_outside(held, site) });
        // What else is kept of a hold is for runs: the real lock knows of panics.
        MutexGuard { mutex: self, _not_send: PhantomData }
    }

    /// Somebody outside runs has taken the lock, for the first time or after a run used it.
    ///
    /// The real lock goes through here, so that nothing has to be cleared up elsewhere if this panics.
    #[cold]
    fn begin_outside<'a>(
        &self,
        held: std::sync::MutexGuard<'a, ()>,
        site: Site,
    ) -> std::sync::MutexGuard<'a, ()> {
        self.name.assert_outside(site);
        self.origin.used_outside();
        held
    }

    /// Keeps the real lock in the hold.
    fn keep<'a>(&'a self, held: std::sync::MutexGuard<'a, ()>) {
        // SAFETY: it is taken out again only by the guard, which borrows the mutex: until then the
        // lock that it borrows from neither moves nor ends.
        let held = unsafe {
            std::mem::transmute::<std::sync::MutexGuard<'a, ()>, std::sync::MutexGuard<'static, ()>>(
                held,
            )
        };
        // SAFETY: whoever has the real lock has the hold.
        let hold = unsafe { &mut *self.hold.get() };
        hold.outside = Some(ManuallyDrop::new(held));
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Mutex");
        // Inside a run looking is no operation of the program, and the data may be locked.
        if !port::active() {
            let held = match self.outside.try_lock() {
                Ok(held) => Some(held),
                Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            };
            match held {
                Some(_held) if self.name.is_unused() => {
                    // SAFETY: no check uses the mutex, and outside of checks it is held.
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
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
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
    /// A guard stays on its thread.
    _not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives shared access to the data, nothing more.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Inside a run: gives the lock up without a guard's end, waits as `wait` does, takes it again.
    pub(super) fn suspend_in_run(self, site: Site, wait: impl FnOnce()) -> LockResult<Self> {
        let mutex = self.mutex;
        drop(self);
        wait();
        port::operate(Kind::Lock, &mutex.name, || mutex.begin(site), LOCK, site);
        mutex.guard_in_run(site)
    }

    /// Outside runs: passes the real lock through `wait`.
    pub(super) fn suspend_outside<R>(
        self,
        wait: impl FnOnce(std::sync::MutexGuard<'a, ()>) -> Waited<'a, R>,
    ) -> LockResult<(Self, R)> {
        // SAFETY: this guard has the hold.
        let hold = unsafe { &mut *self.mutex.hold.get() };
        let held = hold.outside.take().expect("a MutexGuard left the execution it belongs to");
        let (poisoned, (held, outcome)) = match wait(ManuallyDrop::into_inner(held)) {
            Ok(back) => (false, back),
            Err(back) => (true, back.into_inner()),
        };
        self.mutex.keep(held);
        result((self, outcome), poisoned)
    }
}

/// The real lock after a wait, and how that went.
pub(super) type Waited<'a, R> = LockResult<(std::sync::MutexGuard<'a, ()>, R)>;

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this guard has the hold.
        let hold = unsafe { &mut *self.mutex.hold.get() };
        if let Some(held) = hold.outside.take() {
            return drop(ManuallyDrop::into_inner(held));
        }
        // A guard may outlive the run it was made in; then there is nothing to do.
        let Some(object) = self.mutex.name.known() else { return };
        if !hold.was_panicking && port::unwinding_in_run() == Unwinding::Surely {
            self.mutex.poisoned_in.store(port::run_number(), Ordering::Relaxed);
        }
        port::submit(Kind::Unlock, UNLOCK.on(object), hold.site);
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: while this guard exists, no other reference to the data is handed out.
        unsafe { &*self.mutex.data.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: likewise, and the guard is borrowed mutably.
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
