//! Reference counts: of the program, of `std`, and raddle's.

use raddle::cell::UnsafeCell;
use raddle::sync::atomic::{AtomicUsize, Ordering, Ordering::*, fence};
use raddle::sync::{Mutex, counted};
use raddle::thread;

use super::{Does, check, check_without_sharing, is_exhaustive, run};

struct Counted {
    count: AtomicUsize,
    data: UnsafeCell<u32>,
}

/// A counted reference of the program's own.
struct Reference(*const Counted, Ordering);

// SAFETY: the orderings decide whether it is true, which raddle checks.
unsafe impl Send for Reference {}

impl Reference {
    fn get(&self) -> &Counted {
        // SAFETY: the memory is there until the execution ends.
        unsafe { &*self.0 }
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        if self.get().count.fetch_sub(1, self.1) == 1 {
            if self.1 == Release {
                fence(Acquire);
            }
            // SAFETY: this is what raddle checks.
            drop(unsafe { Box::from_raw(self.0.cast_mut()) });
        }
    }
}

fn counted(order: Ordering) {
    let both = Counted { count: AtomicUsize::new(2), data: UnsafeCell::new(7) };
    let both = Box::into_raw(Box::new(both));
    let (mine, theirs) = (Reference(both, order), Reference(both, order));
    let other = thread::spawn(move || {
        // SAFETY: raddle runs one thread at a time.
        theirs.get().data.with(|data| unsafe { *data })
    });
    drop(mine);
    other.join().unwrap();
}

#[test]
fn a_count_has_to_release_and_acquire() {
    check(Does::Wrong, || counted(Relaxed));
    check(Does::Right, || counted(Release));
    check(Does::Right, || counted(AcqRel));
}

/// A value whose destructor reads what another thread has written.
struct Value(UnsafeCell<u32>);

// SAFETY: raddle runs one thread at a time, and checks whether accesses are ordered.
unsafe impl Sync for Value {}

impl Value {
    fn set(&self) {
        // SAFETY: as above.
        self.0.with_mut(|number| unsafe { *number = 1 });
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // SAFETY: as above.
        self.0.with(|number| unsafe { *number });
    }
}

macro_rules! dropped {
    ($arc:path) => {
        || {
            use $arc as Arc;
            let mine = Arc::new(Value(UnsafeCell::new(0)));
            let theirs = mine.clone();
            thread::spawn(move || theirs.set());
            drop(mine);
        }
    };
}

#[test]
fn the_last_drop_of_an_arc_is_ordered() {
    check_without_sharing(Does::Right, dropped!(std::sync::Arc));
    check(Does::Right, dropped!(counted::Arc));
}

/// The last reference moves the value out. Other threads have used it, and dropped their references.
macro_rules! unwrapped {
    ($arc:path) => {
        || {
            use $arc as Arc;
            let mine = Arc::new(Mutex::new(0));
            let theirs = mine.clone();
            let other = thread::spawn(move || {
                *theirs.lock().unwrap() += 1;
                drop(theirs);
                thread::yield_now();
            });
            thread::yield_now();
            if let Ok(lock) = Arc::try_unwrap(mine) {
                assert_eq!(lock.into_inner().unwrap(), 1);
            }
            other.join().unwrap();
        }
    };
}

#[test]
fn a_value_that_leaves_the_last_arc_is_not_used() {
    check_without_sharing(Does::Right, unwrapped!(std::sync::Arc));
    check(Does::Right, unwrapped!(counted::Arc));
}

/// The only reference replaces the value. Other threads have used it, and dropped their references.
#[test]
fn a_value_that_is_replaced_in_its_arc_is_not_used() {
    check_without_sharing(Does::Right, || {
        let mut mine = std::sync::Arc::new(AtomicUsize::new(1));
        let theirs = mine.clone();
        let other = thread::spawn(move || {
            theirs.load(Relaxed);
            drop(theirs);
            thread::yield_now();
        });
        thread::yield_now();
        if let Some(number) = std::sync::Arc::get_mut(&mut mine) {
            *number = AtomicUsize::new(2);
        }
        other.join().unwrap();
    });
}

/// The content of a node is moved out while another thread may use it.
#[test]
fn a_value_that_leaves_its_box_is_used() {
    check(Does::UseAfterFree, || {
        let pointer = Box::into_raw(Box::new(AtomicUsize::new(7)));
        let address = pointer as usize;
        let done = counted::Arc::new(AtomicUsize::new(0));
        let other = thread::spawn({
            let done = done.clone();
            move || {
                done.load(Relaxed);
                // SAFETY: broken.
                let number = *unsafe { Box::from_raw(address as *mut AtomicUsize) };
                drop(std::hint::black_box(number));
            }
        });
        // SAFETY: the memory is there until the execution ends.
        unsafe { &*pointer }.load(SeqCst);
        done.store(1, Relaxed);
        other.join().unwrap();
    });
}

#[test]
fn the_verdict_says_what_is_not_seen() {
    let report = run("dpor", raddle::Memory::Sc, dropped!(std::sync::Arc));
    assert!(is_exhaustive(&report) && report.unseen_drops, "{}", raddle::text(&report));
    assert!(raddle::text(&report).contains("exhaustive but for the drops of `Arc`"));
    let report = run("dpor", raddle::Memory::Sc, dropped!(counted::Arc));
    assert!(is_exhaustive(&report) && !report.unseen_drops, "{}", raddle::text(&report));
}

/// A pointer that outlives the `Arc` it is from.
#[test]
fn a_pointer_out_of_an_arc() {
    check(Does::UseAfterFree, || {
        let mine = counted::Arc::new(AtomicUsize::new(7));
        let address = counted::Arc::as_ptr(&mine) as usize;
        let other = thread::spawn(move || {
            // SAFETY: the memory is there until the execution ends.
            unsafe { &*(address as *const AtomicUsize) }.load(SeqCst)
        });
        drop(mine);
        other.join().unwrap();
    });
}

/// A weak reference that is upgraded keeps the value.
#[test]
fn an_upgraded_value_is_not_freed() {
    check(Does::Right, || {
        let mine = counted::Arc::new(AtomicUsize::new(7));
        let weak = counted::Arc::downgrade(&mine);
        let other = thread::spawn(move || weak.upgrade().map(|number| number.load(Relaxed)));
        drop(mine);
        other.join().unwrap();
    });
}

/// A weak reference of the program's own: it counts itself in, whether or not the value is still there.
#[test]
fn a_weak_reference_is_upgraded_from_zero() {
    fn program(looks: bool) {
        let both = Counted { count: AtomicUsize::new(1), data: UnsafeCell::new(7) };
        let both = Box::into_raw(Box::new(both));
        // The count outlives the value: a block of its own that is freed in the end.
        let count = counted::Arc::new(AtomicUsize::new(1));
        let release = move |count: &AtomicUsize, value: usize| {
            if count.fetch_sub(1, AcqRel) == 1 {
                // SAFETY: this is what raddle checks.
                drop(unsafe { Box::from_raw(value as *mut Counted) });
            }
        };
        let value = both as usize;
        let weak = thread::spawn({
            let count = count.clone();
            move || {
                let is_there = if looks {
                    let more = |count| if count == 0 { None } else { Some(count + 1) };
                    count.fetch_update(AcqRel, Acquire, more).is_ok()
                } else {
                    count.fetch_add(1, AcqRel);
                    true
                };
                if is_there {
                    // SAFETY: the memory is there until the execution ends.
                    unsafe { &*(value as *const Counted) }.count.load(Relaxed);
                    release(&count, value);
                }
            }
        });
        release(&count, value);
        weak.join().unwrap();
    }
    check(Does::Wrong, || program(false));
    check(Does::Right, || program(true));
}

/// References as raw pointers are counted, too.
#[test]
fn raw_references_are_counted() {
    fn program(increments: bool) {
        let pointer = counted::Arc::into_raw(counted::Arc::new(AtomicUsize::new(7)));
        if increments {
            // SAFETY: the pointer is from `into_raw`.
            unsafe { counted::Arc::increment_strong_count(pointer) };
        }
        let address = pointer as usize;
        let other = thread::spawn(move || {
            let pointer = address as *const AtomicUsize;
            // SAFETY: the memory is there until the execution ends.
            unsafe { &*pointer }.load(Relaxed);
            if increments {
                // SAFETY: one of the two references.
                unsafe { counted::Arc::decrement_strong_count(pointer) };
            }
        });
        // SAFETY: the only reference, or one of the two.
        drop(unsafe { counted::Arc::from_raw(pointer) });
        other.join().unwrap();
    }
    check(Does::UseAfterFree, || program(false));
    check(Does::Right, || program(true));
}

/// The memory of a block is freed twice, although the object in it was dropped once.
#[test]
fn a_block_is_freed_twice() {
    use std::alloc::{Layout, alloc, dealloc};
    check(Does::FreesTwice, || {
        let layout = Layout::new::<u64>();
        // SAFETY: the layout has a size.
        let block = unsafe { alloc(layout) } as usize;
        // SAFETY: broken: both threads free the block.
        let free = move || unsafe { dealloc(block as *mut u8, layout) };
        let other = thread::spawn(free);
        free();
        other.join().unwrap();
    });
}
