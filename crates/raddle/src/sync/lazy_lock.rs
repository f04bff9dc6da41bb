//! A value that is initialised on first access, as [`std::sync::LazyLock`].

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use raddle_core::Site;
use raddle_runtime::port;

use super::OnceLock;

/// A value that is initialised on first access, as [`std::sync::LazyLock`].
///
/// A value that was initialised outside a check is there inside too. A value that is initialised in an execution is
/// initialised again in the next. This needs a plain `fn() -> T`, as in a static. A lock with any other function must be
/// created inside the check.
///
/// ```
/// use raddle::sync::LazyLock;
///
/// static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| vec!["a".to_owned()]);
/// assert_eq!(WORDS.len(), 1);
/// ```
pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    /// Accessed only by the thread that initialises `cell`, so the mutex is never contended.
    function: Mutex<Option<F>>,
    /// The run that called the function last, or zero.
    called_in: AtomicU64,
}

impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}
impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Returns a lock whose value `f` will return.
    #[track_caller]
    pub const fn new(f: F) -> LazyLock<T, F> {
        LazyLock {
            cell: OnceLock::new(),
            function: Mutex::new(Some(f)),
            called_in: AtomicU64::new(0),
        }
    }

    /// Returns the value, after initialising it if necessary, as [`std::sync::LazyLock::force`].
    ///
    /// # Panics
    /// Panics if the function panics or has panicked before.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.cell.initialise(|| this.take_function()(), Site::caller())
    }

    /// Returns the value, after initialising it if necessary: the caller has the only reference.
    ///
    /// # Panics
    /// Panics if the function panics or has panicked before.
    #[track_caller]
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        LazyLock::force(this);
        this.cell.get_mut().expect("raddle invariant broken: an initialised value is gone")
    }

    /// Returns the function. To be called only by the thread that initialises `cell`.
    fn take_function(&self) -> F {
        let last = self.called_in.load(Ordering::Relaxed);
        let here = port::run_number();
        let mut function = self.function.lock().unwrap_or_else(PoisonError::into_inner);
        if port::active() {
            self.called_in.store(here, Ordering::Relaxed);
            if is_plain::<T, F>() {
                let again = function.as_ref().filter(|_| last != here);
                let copy = again.map(|function| {
                    // SAFETY: `F` is `fn() -> T`, which is `Copy`.
                    unsafe { std::ptr::read(function) }
                });
                return copy.unwrap_or_else(|| poisoned());
            }
        }
        let function = function.take();
        match function {
            Some(function) => function,
            None if last == here => poisoned(),
            None => panic!(
                "raddle: a LazyLock was used in an earlier execution, which has called its function. \
                 Create it inside the check, or give it a plain `fn`, which can be called again."
            ),
        }
    }
}

impl<T, F> LazyLock<T, F> {
    /// Returns the value, or `None` if it is not initialised.
    #[track_caller]
    pub fn get(this: &LazyLock<T, F>) -> Option<&T> {
        this.cell.get()
    }

    /// Returns the value, or `None` if it is not initialised: the caller has the only reference.
    pub fn get_mut(this: &mut LazyLock<T, F>) -> Option<&mut T> {
        this.cell.get_mut()
    }
}

#[cold]
fn poisoned() -> ! {
    panic!("LazyLock instance has previously been poisoned")
}

/// Returns whether `F` is the type `fn() -> T`.
fn is_plain<T, F>() -> bool {
    erased_id::<F>() == erased_id::<fn() -> T>()
}

/// Returns the id that the type would have if its lifetimes were `'static`.
fn erased_id<T>() -> TypeId {
    trait Identified {
        fn id(&self) -> TypeId
        where
            Self: 'static;
    }
    impl<T> Identified for PhantomData<T> {
        fn id(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<T>()
        }
    }
    let phantom = PhantomData::<T>;
    let short: &dyn Identified = &phantom;
    // SAFETY: the value has no fields. Only its type's id is used, which does not depend on lifetimes.
    let long =
        unsafe { std::mem::transmute::<&dyn Identified, &(dyn Identified + 'static)>(short) };
    long.id()
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[track_caller]
    fn default() -> LazyLock<T> {
        LazyLock::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_tuple("LazyLock");
        match self.cell.peek() {
            Some(value) => text.field(value),
            None => text.field(&format_args!("<uninit>")),
        };
        text.finish()
    }
}
