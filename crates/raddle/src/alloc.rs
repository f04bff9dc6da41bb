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
/// Memory that an execution frees is kept until the execution ends. So the use of an object after it was freed, and
/// freeing memory twice, are found before they do harm.
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

// SAFETY: the system's allocator does all the work. raddle records addresses and sizes, and frees some blocks later.
unsafe impl GlobalAlloc for Alloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this function, which is the same.
        let memory = unsafe { System.alloc(layout) };
        if !IS_USED.load(Ordering::Relaxed) {
            IS_USED.store(true, Ordering::Relaxed);
        }
        port::allocated(memory.expose_provenance(), layout.size());
        memory
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this function, which is the same.
        let memory = unsafe { System.alloc_zeroed(layout) };
        port::allocated(memory.expose_provenance(), layout.size());
        memory
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if !port::freed(memory.expose_provenance(), layout) {
            // SAFETY: the caller keeps the contract of this function, which is the same.
            unsafe { System.dealloc(memory, layout) };
        }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if !port::active() {
            // SAFETY: the caller keeps the contract of this function, which is the same.
            return unsafe { System.realloc(memory, layout, new_size) };
        }
        // In a run the old block is freed as every other.
        // SAFETY: the caller promises that the new size, rounded up to the alignment, is valid, and not zero.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        // SAFETY: as above.
        let new = unsafe { self.alloc(new_layout) };
        if !new.is_null() {
            let kept = layout.size().min(new_size);
            // SAFETY: both blocks have at least this size, and the new one is another.
            unsafe { new.copy_from_nonoverlapping(memory, kept) };
            // SAFETY: the caller passes a block of this allocator with its layout, and does not use it any more.
            unsafe { self.dealloc(memory, layout) };
        }
        new
    }
}
