//! A cell of values that are moved in and out.

use std::cmp::Ordering;

use super::UnsafeCell;

/// An [`std::cell::Cell`] whose accesses are checked for data races.
///
/// ```
/// loom::model(|| {
///     let cell = loom::cell::Cell::new(7);
///     assert_eq!(cell.replace(8), 7);
///     assert_eq!(cell.get(), 8);
/// });
/// ```
#[derive(Debug)]
pub struct Cell<T> {
    cell: UnsafeCell<T>,
}

impl<T> Cell<T> {
    /// Returns a cell that holds `v`.
    #[track_caller]
    pub fn new(v: T) -> Cell<T> {
        Cell { cell: UnsafeCell::new(v) }
    }

    /// Sets the value.
    #[track_caller]
    pub fn set(&self, val: T) {
        drop(self.replace(val));
    }

    /// Swaps the values of two cells.
    #[track_caller]
    pub fn swap(&self, other: &Cell<T>) {
        if std::ptr::eq(self, other) {
            return;
        }
        self.cell.with_mut(|mine| {
            other.cell.with_mut(|theirs| {
                // SAFETY: both point to values of different cells. A cell is not `Sync`, so no other OS thread uses them,
                // and there is no step in between that would let another thread of the execution run.
                unsafe { std::ptr::swap(mine, theirs) }
            });
        });
    }

    /// Replaces the value, and returns the old one.
    #[track_caller]
    pub fn replace(&self, val: T) -> T {
        self.cell.with_mut(|place| {
            // SAFETY: the place holds a value. No other thread runs meanwhile, see `swap`.
            unsafe { std::ptr::replace(place, val) }
        })
    }

    /// Returns the value.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        self.cell.with(|place| {
            // SAFETY: the place holds a value. No other thread runs meanwhile, see `swap`.
            unsafe { place.read() }
        })
    }

    /// Returns the value, and leaves the default one.
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.cell.into_inner()
    }
}

impl<T: Default> Default for Cell<T> {
    #[track_caller]
    fn default() -> Cell<T> {
        Cell::new(T::default())
    }
}

impl<T: Copy> Clone for Cell<T> {
    #[track_caller]
    fn clone(&self) -> Cell<T> {
        Cell::new(self.get())
    }
}

impl<T> From<T> for Cell<T> {
    #[track_caller]
    fn from(src: T) -> Cell<T> {
        Cell::new(src)
    }
}

impl<T: PartialEq + Copy> PartialEq for Cell<T> {
    #[track_caller]
    fn eq(&self, other: &Cell<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq + Copy> Eq for Cell<T> {}

impl<T: PartialOrd + Copy> PartialOrd for Cell<T> {
    #[track_caller]
    fn partial_cmp(&self, other: &Cell<T>) -> Option<Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Ord + Copy> Ord for Cell<T> {
    #[track_caller]
    fn cmp(&self, other: &Cell<T>) -> Ordering {
        self.get().cmp(&other.get())
    }
}
