//! References as raw pointers.
//!
//! A raw pointer carries no counts. So the counts of values to which a run has raw references are kept by the address of
//! the value.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc as Real;

use raddle_core::Site;

use super::counts::Handle;
use super::{Arc, taken};

thread_local! {
    /// By the address of the value, the handle of its raw references and their number. Entries of earlier runs are
    /// removed by the next one.
    static RAW: RefCell<HashMap<usize, (Handle, usize)>> = RefCell::new(HashMap::new());
}

impl<T: ?Sized> Arc<T> {
    /// Returns the reference as a raw pointer, which stays counted, as [`std::sync::Arc::into_raw`].
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let pointer = Arc::into_raw(Arc::new(7));
    /// // SAFETY: the pointer is from `into_raw`, and is used once.
    /// assert_eq!(*unsafe { Arc::from_raw(pointer) }, 7);
    /// ```
    pub fn into_raw(mut this: Arc<T>) -> *const T {
        let pointer = Real::into_raw(taken(&mut this.value));
        let handle = std::mem::replace(&mut this.handle, Handle::uncounted());
        add(pointer, handle);
        pointer
    }

    /// Returns the reference of a raw pointer, as [`std::sync::Arc::from_raw`].
    ///
    /// # Safety
    /// The pointer is from [`Arc::into_raw`], and no other reference was made of it, unless
    /// [`increment_strong_count`](Arc::increment_strong_count) was called for that.
    #[track_caller]
    pub unsafe fn from_raw(ptr: *const T) -> Arc<T> {
        let handle = remove(ptr, Site::caller());
        // SAFETY: promised by the caller: the pointer is that of a reference of `std`, see `into_raw`.
        let value = unsafe { Real::from_raw(ptr) };
        Arc { value: Some(value), handle }
    }

    /// Counts another reference to the value of a raw pointer, as
    /// [`std::sync::Arc::increment_strong_count`].
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let pointer = Arc::into_raw(Arc::new(7));
    /// // SAFETY: the pointer is from `into_raw`.
    /// unsafe { Arc::increment_strong_count(pointer) };
    /// // SAFETY: there are two references, and this is one of them.
    /// let number = unsafe { Arc::from_raw(pointer) };
    /// assert_eq!(Arc::strong_count(&number), 2);
    /// // SAFETY: this is the other one.
    /// unsafe { Arc::decrement_strong_count(pointer) };
    /// assert_eq!(Arc::strong_count(&number), 1);
    /// ```
    ///
    /// # Safety
    /// The pointer is from [`Arc::into_raw`], and the value still has a strong reference.
    #[track_caller]
    pub unsafe fn increment_strong_count(ptr: *const T) {
        let site = Site::caller();
        let handle = RAW.with_borrow(|raw| {
            raw.get(&address(ptr)).map_or(Handle::uncounted(), |(handle, _)| handle.share(site))
        });
        if let Some(counts) = handle.here() {
            counts.add_strong();
        }
        // SAFETY: promised by the caller.
        unsafe { Real::increment_strong_count(ptr) };
        add(ptr, handle);
    }

    /// Drops a reference to the value of a raw pointer, as [`std::sync::Arc::decrement_strong_count`].
    ///
    /// # Safety
    /// As for [`Arc::from_raw`].
    #[track_caller]
    pub unsafe fn decrement_strong_count(ptr: *const T) {
        // SAFETY: promised by the caller.
        drop(unsafe { Arc::from_raw(ptr) });
    }
}

fn address<T: ?Sized>(pointer: *const T) -> usize {
    pointer.cast::<()>().addr()
}

/// Keeps the handle of a raw reference, if the value is counted here.
fn add<T: ?Sized>(pointer: *const T, handle: Handle) {
    if handle.here().is_none() {
        return;
    }
    RAW.with_borrow_mut(|raw| {
        raw.retain(|_, (handle, _)| handle.here().is_some());
        raw.entry(address(pointer)).or_insert((handle, 0)).1 += 1;
    });
}

/// Returns the handle of a raw reference, from now on of a reference made at `site`.
fn remove<T: ?Sized>(pointer: *const T, site: Site) -> Handle {
    RAW.with_borrow_mut(|raw| {
        let Some((handle, references)) = raw.get_mut(&address(pointer)) else {
            return Handle::uncounted();
        };
        if handle.here().is_none() {
            return Handle::uncounted();
        }
        let found = handle.share(site);
        *references -= 1;
        if *references == 0 {
            raw.remove(&address(pointer));
        }
        found
    })
}
