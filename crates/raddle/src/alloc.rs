//! A global allocator that reports allocations to raddle.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use raddle_runtime::port;

/// A global allocator: the system's allocator, which also reports what executions allocate to raddle.
///
/// Creating an object writes its memory. With this allocator raddle knows which thread allocated the memory, so
/// publishing a pointer without a release is a data race, for every type of object. raddle also knows which
/// objects are never freed, see [`Leaks::Fail`](crate::Leaks::Fail).
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: raddle::Alloc = raddle::Alloc::new();
///
/// use raddle::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};
///
/// let report = raddle::Config::new().run(|| {
///     let shared: AtomicPtr<AtomicU32> = AtomicPtr::default();
///     raddle::thread::scope(|scope| {
///         scope.spawn(|| {
///             let new = Box::into_raw(Box::new(AtomicU32::new(1)));
///             shared.store(new, Relaxed); // should be `Release`
///         });
///         // SAFETY: raddle runs one thread at a time, and the object is never freed.
///         if let Some(number) = unsafe { shared.load(Relaxed).as_ref() } {
///             number.load(Relaxed);
///         }
///     });
/// });
/// assert!(matches!(report.failure().unwrap().finding, raddle::Finding::Race { .. }));
/// ```
///
/// Outside checks each call also reads a thread-local.
#[derive(Debug, Default)]
pub struct Alloc(());

/// Whether [`Alloc`] is the allocator of this program.
static IS_USED: AtomicBool = AtomicBool::new(false);

impl Alloc {
    /// Returns the allocator.
    pub const fn new() -> Alloc {
        Alloc(())
    }

    /// Returns whether this is the allocator of the program.
    pub(crate) fn is_used() -> bool {
        static ANSWER: OnceLock<bool> = OnceLock::new();
        *ANSWER.get_or_init(|| {
            // An allocation sets `IS_USED` if the program uses this allocator.
            drop(std::hint::black_box(Box::new(0u8)));
            IS_USED.load(Ordering::Relaxed)
        })
    }
}

// SAFETY: the system's allocator does all the work; raddle only records addresses and sizes.
unsafe impl GlobalAlloc for Alloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this function, which is the same.
        let memory = unsafe { System.alloc(layout) };
        if !IS_USED.load(Ordering::Relaxed) {
            IS_USED.store(true, Ordering::Relaxed);
        }
        port::allocated(memory.addr(), layout.size());
        memory
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this function, which is the same.
        let memory = unsafe { System.alloc_zeroed(layout) };
        port::allocated(memory.addr(), layout.size());
        memory
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        port::freed(memory.addr());
        // SAFETY: the caller keeps the contract of this function, which is the same.
        unsafe { System.dealloc(memory, layout) };
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this function, which is the same.
        let new = unsafe { System.realloc(memory, layout, new_size) };
        if !new.is_null() {
            port::freed(memory.addr());
            port::allocated(new.addr(), new_size);
        }
        new
    }
}
