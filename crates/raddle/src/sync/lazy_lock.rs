//! A value that is made when it is first used, as [`std::sync::LazyLock`].

use std::any::TypeId;
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};

use raddle_core::Site;
use raddle_runtime::port;

use super::OnceLock;

/// A value that is made when it is first used, as [`std::sync::LazyLock`].
///
/// A value that was made outside a check is there in it too; a value that is made in an execution is
/// made anew in the next. For that the function has to be a plain `fn() -> T`, as it is in a static;
/// with any other, the lock has to be made inside the check.
///
/// ```
/// use raddle::sync::LazyLock;
///
/// static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| vec!["a".to_owned()]);
/// assert_eq!(WORDS.len(), 1);
/// ```
pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    /// Belongs to whoever is at initialising `cell`.
    function: UnsafeCell<Option<F>>,
    /// The run that called the function last, or zero.
    called_in: AtomicU64,
}

// SAFETY: `cell` is `Sync`, and `function` is touched only by the one who initialises it, so that it
// only has to be `Send`; as for `std::sync::LazyLock`.
unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}

impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}
impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that `f` will make.
    pub const fn new(f: F) -> LazyLock<T, F> {
        LazyLock {
            cell: OnceLock::new(),
            function: UnsafeCell::new(Some(f)),
            called_in: AtomicU64::new(0),
        }
    }

    /// The value, which is made if it is not there yet, as [`std::sync::LazyLock::force`].
    ///
    /// # Panics
    /// If the function panics or has done so before.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.cell.initialise(|| this.take_function()(), Site::caller())
    }

    /// As [`force`](LazyLock::force): nobody else can have a reference.
    ///
    /// # Panics
    /// If the function panics or has done so before.
    #[track_caller]
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        LazyLock::force(this);
        this.cell.get_mut().expect("raddle invariant broken: a value that was made is gone")
    }

    /// By the one who initialises `cell`.
    fn take_function(&self) -> F {
        let last = self.called_in.load(Ordering::Relaxed);
        let here = port::run_number();
        if port::active() {
            self.called_in.store(here, Ordering::Relaxed);
            if is_plain::<T, F>() && last != here {
                // SAFETY: nobody else initialises `cell`, so that nobody else touches this.
                let function = unsafe { &*self.function.get() };
                let copy = function.as_ref().map(|function| {
                    // SAFETY: it is a `fn() -> T`, which may be copied.
                    unsafe { std::ptr::read(function) }
                });
                return copy.unwrap_or_else(|| poisoned());
            }
            if is_plain::<T, F>() {
                poisoned();
            }
        }
        // SAFETY: nobody else initialises `cell`, so that nobody else touches this.
        let function = unsafe { (*self.function.get()).take() };
        match function {
            Some(function) => function,
            None if last == here => poisoned(),
            None => panic!(
                "raddle: a LazyLock was used in an earlier execution, and its function is gone. \
                 Make it inside the check, or give it a plain `fn` that can be called again."
            ),
        }
    }
}

impl<T, F> LazyLock<T, F> {
    /// The value, if it was made.
    #[track_caller]
    pub fn get(this: &LazyLock<T, F>) -> Option<&T> {
        this.cell.get()
    }

    /// The value, if it was made: nobody else can have a reference.
    pub fn get_mut(this: &mut LazyLock<T, F>) -> Option<&mut T> {
        this.cell.get_mut()
    }
}

#[cold]
fn poisoned() -> ! {
    panic!("LazyLock instance has previously been poisoned")
}

/// Whether `F` is the type `fn() -> T`.
fn is_plain<T, F>() -> bool {
    erased_id::<F>() == erased_id::<fn() -> T>()
}

/// The id of a type whose lifetimes are taken for `'static`.
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
    // SAFETY: the type holds nothing, and only its id is asked for, which does not depend on
    // lifetimes; nothing with the wrong lifetime is made or reached.
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
