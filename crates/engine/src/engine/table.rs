//! Tables by id.
//!
//! A step indexes several of them. In debug builds that is two calls for a vector, and none for a boxed slice.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// A table by the number of a thread or an object. Its length is its capacity.
pub(super) type Table<T> = Box<[T]>;

/// Makes a table longer. `new` makes the entries that are added.
#[cold]
pub(super) fn grow<T>(table: &mut Table<T>, length: usize, new: impl FnMut() -> T) {
    let mut entries = Vec::from(core::mem::take(table));
    entries.resize_with(length, new);
    *table = entries.into_boxed_slice();
}
