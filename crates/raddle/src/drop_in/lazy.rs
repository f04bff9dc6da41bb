//! Statics that are initialised on first use in each execution, and dropped at its end.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;

use raddle_runtime::port;

use crate::sync::Once;

/// A static of `lazy_static!`.
pub struct Lazy<T: 'static> {
    init: fn() -> T,
    once: Once,
}

/// The value of a static.
struct Value {
    run: u64,
    /// The address of the static.
    key: usize,
    value: Box<dyn Any>,
}

thread_local! {
    /// The values of the current run, in the order in which they were initialised.
    static VALUES: RefCell<Vec<Value>> = const { RefCell::new(Vec::new()) };
}

impl<T: 'static> Lazy<T> {
    /// Returns a static that `init` initialises.
    #[track_caller]
    pub const fn new(init: fn() -> T) -> Lazy<T> {
        Lazy { init, once: Once::new() }
    }

    /// Returns the value in the current execution, and initialises it at the first call.
    ///
    /// # Panics
    /// Panics outside of executions, and after main has ended.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        assert!(port::active(), "a lazy static was used outside of a check");
        self.once.call_once(|| insert(self.key(), (self.init)()));
        let value = VALUES.with_borrow(|values| {
            let value = values
                .iter()
                .find(|value| value.key == self.key() && value.run == port::run_number())?;
            let value = value.value.downcast_ref::<T>()?;
            Some(std::ptr::from_ref(value))
        });
        let value =
            value.expect("a lazy static was used after main has ended, when its value was dropped");
        // SAFETY: the value is in a box of its own, which is dropped when main has ended. References that are used after
        // that outlive the execution, and `lazy_static!` promises values that live as long as the program.
        unsafe { &*value }
    }

    fn key(&'static self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

fn insert<T: 'static>(key: usize, value: T) {
    let run = port::run_number();
    let new = Value { run, key, value: Box::new(value) };
    let old = VALUES.with_borrow_mut(|values| {
        let is_old = values.first().is_some_and(|first| first.run != run);
        let old = if is_old { std::mem::take(values) } else { Vec::new() };
        values.push(new);
        old
    });
    // Their execution failed before main ended. Threads that were not unwound may refer to them.
    std::mem::forget(old);
}

/// Drops the statics of the current execution, the newest first. To be called when main ends.
pub fn drop_statics() {
    let last = || {
        VALUES.with_borrow_mut(|values| {
            let is_here = values.last().is_some_and(|value| value.run == port::run_number());
            if is_here { values.pop() } else { None }
        })
    };
    // A destructor may use other statics, also for the first time.
    while let Some(value) = last() {
        drop(value);
    }
}

impl<T: 'static> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").finish_non_exhaustive()
    }
}
