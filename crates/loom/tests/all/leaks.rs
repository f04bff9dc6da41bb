//! Memory that an execution does not free.

use loom::alloc::{Layout, Track, alloc, alloc_zeroed, dealloc};
use loom::sync::Arc;
use loom::thread;

use crate::support::assert_fails;

#[test]
fn references_are_counted_and_leaks_found() {
    loom::model(|| {
        let one = Arc::new(7);
        let two = one.clone();
        let other = thread::spawn(move || drop(two));
        other.join().unwrap();
        assert_eq!(Arc::try_unwrap(one), Ok(7));
        let raw = Arc::into_raw(Arc::new(8));
        // SAFETY: the pointer is that of a reference.
        drop(unsafe { Arc::from_raw(raw) });
    });
    assert_fails("never freed", || std::mem::forget(Arc::new(7)));
    assert_fails("never freed", || {
        let one = Arc::new(7);
        let two = one.clone();
        let other = thread::spawn(move || std::mem::forget(two));
        other.join().unwrap();
    });
}

#[test]
fn tracked_values_are_dropped_or_leaks() {
    loom::model(|| {
        let mut number = Track::new(7);
        *number.get_mut() += 1;
        assert_eq!(*number.get_ref(), 8);
        drop(number);
        assert_eq!(Track::new(9).into_inner(), 9);
    });
    assert_fails("never freed", || std::mem::forget(Track::new(7)));
}

#[test]
fn allocated_memory_is_freed_or_a_leak() {
    let layout = Layout::new::<u64>();
    loom::model(move || {
        // SAFETY: the layout is not empty.
        let one = unsafe { alloc(layout) };
        // SAFETY: the layout is not empty.
        let two = unsafe { alloc_zeroed(layout) };
        // SAFETY: just allocated, with this layout.
        unsafe { dealloc(one, layout) };
        // SAFETY: just allocated, with this layout.
        unsafe { dealloc(two, layout) };
    });
    assert_fails("never freed", move || {
        // SAFETY: the layout is not empty.
        std::hint::black_box(unsafe { alloc(layout) });
    });
}
