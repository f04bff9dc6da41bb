//! Memory that an execution has to free. What is not freed at the end of an execution is a failure.

use std::cell::RefCell;
use std::collections::HashMap;

use raddle::drop_in::Tracked;

pub use std::alloc::Layout;

thread_local! {
    /// By address, what was allocated on this OS thread and not freed.
    static BLOCKS: RefCell<HashMap<usize, Tracked>> = RefCell::new(HashMap::new());
}

/// Allocates memory, as [`std::alloc::alloc`].
///
/// # Safety
/// As [`std::alloc::alloc`].
#[track_caller]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: promised by the caller.
    track(unsafe { std::alloc::alloc(layout) }, layout)
}

/// Allocates memory that is zero, as [`std::alloc::alloc_zeroed`].
///
/// # Safety
/// As [`std::alloc::alloc_zeroed`].
#[track_caller]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: promised by the caller.
    track(unsafe { std::alloc::alloc_zeroed(layout) }, layout)
}

/// Frees memory, as [`std::alloc::dealloc`].
///
/// # Safety
/// As [`std::alloc::dealloc`].
///
/// # Panics
/// Panics in an execution that has not allocated the memory, or has freed it.
#[track_caller]
pub unsafe fn dealloc(ptr: *mut u8, layout: Layout) {
    let block = BLOCKS.with_borrow_mut(|blocks| blocks.remove(&ptr.addr()));
    assert!(
        block.is_some() || !raddle::drop_in::is_in_execution(),
        "memory is freed that this execution has not allocated with `loom::alloc`, or has freed before"
    );
    // SAFETY: promised by the caller.
    unsafe { std::alloc::dealloc(ptr, layout) };
}

#[track_caller]
fn track(pointer: *mut u8, layout: Layout) -> *mut u8 {
    let tracked = Tracked::new("memory", layout.size());
    // What was at this address before belongs to an execution that failed.
    drop(BLOCKS.with_borrow_mut(|blocks| blocks.insert(pointer.addr(), tracked)));
    pointer
}

/// A value that is a leak if the execution does not drop it.
///
/// ```
/// use loom::alloc::Track;
///
/// loom::model(|| assert_eq!(Track::new(7).into_inner(), 7));
/// ```
#[derive(Debug)]
pub struct Track<T> {
    value: T,
    _tracked: Tracked,
}

impl<T> Track<T> {
    /// Begins to track a value.
    #[track_caller]
    pub fn new(value: T) -> Track<T> {
        Track { value, _tracked: Tracked::new("tracked value", size_of::<T>()) }
    }

    /// Returns the value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// Returns the value.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// Returns the value, which is no longer tracked.
    pub fn into_inner(self) -> T {
        self.value
    }
}
