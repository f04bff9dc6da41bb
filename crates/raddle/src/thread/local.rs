//! Thread-local values, as made by [`std::thread_local!`].

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use raddle_runtime::port;

use super::state::{self, Found};

/// Makes thread-local values, as [`std::thread_local!`].
///
/// Inside a check every thread of every execution has its own. They are destroyed when the body of
/// the thread has ended, before anybody who joins it goes on.
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
// The names are long because the initial value is the program's, and must not mean them.
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

/// A thread-local value, as [`std::thread::LocalKey`]; made by [`thread_local!`](crate::thread_local).
pub struct LocalKey<T: 'static> {
    outside: &'static std::thread::LocalKey<T>,
    init: fn() -> T,
}

/// The value was destroyed because its thread is ending, as [`std::thread::AccessError`].
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
    /// For [`thread_local!`](crate::thread_local) alone.
    #[doc(hidden)]
    pub const fn new(outside: &'static std::thread::LocalKey<T>, init: fn() -> T) -> LocalKey<T> {
        LocalKey { outside, init }
    }

    /// Shows the calling thread's value to `f`, as [`std::thread::LocalKey::with`].
    ///
    /// # Panics
    /// If the value was destroyed.
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

    /// Shows the calling thread's value to `f`, as [`std::thread::LocalKey::try_with`].
    ///
    /// # Errors
    /// If the value was destroyed.
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

    /// Inside a run: the value that `value` becomes if there is none yet, or else what there is.
    #[track_caller]
    fn value_or<V>(&'static self, value: V, make: impl FnOnce(V) -> T) -> Result<(), (Rc<T>, V)> {
        match state::find(self.key()) {
            Found::Value(there) => Err((there, value)),
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
        if let Err((there, value)) = self.value_or(value, Cell::new) {
            there.set(value);
        }
    }

    /// The value, as [`std::thread::LocalKey::get`].
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// The value, and a default in its place, as [`std::thread::LocalKey::take`].
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// The value, and another in its place, as [`std::thread::LocalKey::replace`].
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Shows the value to `f`, as [`std::thread::LocalKey::with_borrow`].
    #[track_caller]
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Lets `f` change the value, as [`std::thread::LocalKey::with_borrow_mut`].
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
        if let Err((there, value)) = self.value_or(value, RefCell::new) {
            drop(there.replace(value));
        }
    }

    /// The value, and a default in its place, as [`std::thread::LocalKey::take`].
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// The value, and another in its place, as [`std::thread::LocalKey::replace`].
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
