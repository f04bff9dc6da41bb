//! Thread-local values, as made by [`std::thread_local!`].

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use raddle_runtime::port;

use super::state::{self, Found};

/// Defines thread-local values, as [`std::thread_local!`].
///
/// Inside a check every thread of every execution has its own values. They are destroyed when the body of the thread has
/// ended, before `join` returns.
///
/// ```
/// use std::cell::{Cell, RefCell};
///
/// raddle::thread_local! {
///     static COUNT: Cell<u32> = const { Cell::new(1) };
///     pub static WORDS: RefCell<Vec<String>> = RefCell::new(vec!["a".to_owned()]);
/// }
///
/// COUNT.set(2);
/// WORDS.with_borrow_mut(|words| words.push("b".to_owned()));
/// raddle::thread::spawn(|| assert_eq!(COUNT.get(), 1)).join().unwrap();
/// assert_eq!((COUNT.get(), WORDS.take().len()), (2, 2));
/// ```
#[macro_export]
// The names have a prefix because the initial value is an expression of the program.
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = const $init:block; $($rest:tt)*) => {
        $crate::thread_local!($(#[$attribute])* $vis static $name: $type = const $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = const $init:block) => {
        $(#[$attribute])*
        $vis static $name: $crate::thread::LocalKey<$type> = {
            #[allow(clippy::declare_interior_mutable_const)]
            const __RADDLE_INIT: $type = $init;
            fn __raddle_init() -> $type {
                __RADDLE_INIT
            }
            ::std::thread_local! {
                static __RADDLE_OUTSIDE: $type = const { __RADDLE_INIT };
            }
            $crate::thread::LocalKey::new(&__RADDLE_OUTSIDE, __raddle_init)
        };
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::thread_local!($(#[$attribute])* $vis static $name: $type = $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = $init:expr) => {
        $(#[$attribute])*
        $vis static $name: $crate::thread::LocalKey<$type> = {
            fn __raddle_init() -> $type {
                $init
            }
            ::std::thread_local! {
                static __RADDLE_OUTSIDE: $type = __raddle_init();
            }
            $crate::thread::LocalKey::new(&__RADDLE_OUTSIDE, __raddle_init)
        };
    };
}

/// A thread-local value, as [`std::thread::LocalKey`]. Defined by [`thread_local!`](crate::thread_local).
pub struct LocalKey<T: 'static> {
    outside: &'static std::thread::LocalKey<T>,
    init: fn() -> T,
}

/// The error of an access to a value after its destruction, as [`std::thread::AccessError`].
#[derive(Copy, Clone, PartialEq, Eq)]
pub struct AccessError(());

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl std::error::Error for AccessError {}

impl<T: 'static> LocalKey<T> {
    /// Only for [`thread_local!`](crate::thread_local).
    #[doc(hidden)]
    pub const fn new(outside: &'static std::thread::LocalKey<T>, init: fn() -> T) -> LocalKey<T> {
        LocalKey { outside, init }
    }

    /// Calls `f` with the calling thread's value, as [`std::thread::LocalKey::with`].
    ///
    /// # Panics
    /// Panics if the value was destroyed.
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => destroyed(error),
        }
    }

    /// Calls `f` with the calling thread's value, as [`std::thread::LocalKey::try_with`].
    ///
    /// # Errors
    /// Returns an error if the value was destroyed.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        if !port::active() {
            return self.outside.try_with(f).map_err(|_| AccessError(()));
        }
        let value = match state::find(self.key()) {
            Found::Value(value) => value,
            Found::Nothing => state::insert(self.key(), (self.init)()),
            Found::Destroyed => return Err(AccessError(())),
        };
        Ok(f(&value))
    }

    /// In a run: initialises the value with `make(value)`. Returns the existing value and `value` if there is one.
    #[track_caller]
    fn try_insert<V>(&'static self, value: V, make: impl FnOnce(V) -> T) -> Result<(), (Rc<T>, V)> {
        match state::find(self.key()) {
            Found::Value(existing) => Err((existing, value)),
            Found::Nothing => {
                state::insert(self.key(), make(value));
                Ok(())
            }
            Found::Destroyed => destroyed(AccessError(())),
        }
    }

    fn key(&'static self) -> *const () {
        std::ptr::from_ref(self).cast()
    }
}

#[cold]
#[track_caller]
fn destroyed(error: AccessError) -> ! {
    panic!("cannot access a Thread Local Storage value during or after destruction: {error:?}")
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Sets the value, as [`std::thread::LocalKey::set`].
    #[track_caller]
    pub fn set(&'static self, value: T) {
        if !port::active() {
            return self.outside.set(value);
        }
        if let Err((existing, value)) = self.try_insert(value, Cell::new) {
            existing.set(value);
        }
    }

    /// Returns the value, as [`std::thread::LocalKey::get`].
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Returns the value, leaving the default in its place, as [`std::thread::LocalKey::take`].
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// Replaces the value and returns the old one, as [`std::thread::LocalKey::replace`].
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Calls `f` with the value, as [`std::thread::LocalKey::with_borrow`].
    #[track_caller]
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Calls `f` with a mutable reference to the value, as [`std::thread::LocalKey::with_borrow_mut`].
    #[track_caller]
    pub fn with_borrow_mut<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Sets the value, as [`std::thread::LocalKey::set`].
    #[track_caller]
    pub fn set(&'static self, value: T) {
        if !port::active() {
            return self.outside.set(value);
        }
        if let Err((existing, value)) = self.try_insert(value, RefCell::new) {
            drop(existing.replace(value));
        }
    }

    /// Returns the value, leaving the default in its place, as [`std::thread::LocalKey::take`].
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Replaces the value and returns the old one, as [`std::thread::LocalKey::replace`].
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}
