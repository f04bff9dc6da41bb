//! An allocator that tells raddle who made what.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use raddle_runtime::port;

/// A global allocator that lets checks see more: the system's, with a look at what executions allocate.
///
/// To make an object is to write its memory. With this allocator raddle knows who did, so that to publish a
/// pointer without releasing what it points to is a data race, whatever kind of object that is. It also
/// knows which objects are never freed, see [`Leaks::Fail`](crate::Leaks::Fail).
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
///         // SAFETY: raddle runs one thread at a time, and nobody frees it.
///         if let Some(number) = unsafe { shared.load(Relaxed).as_ref() } {
///             number.load(Relaxed);
///         }
///     });
/// });
/// assert!(matches!(report.failure().unwrap().finding, raddle::Finding::Race { .. }));
/// ```
///
/// Outside checks it costs a look at a thread-local.
#[derive(Debug, Default)]
pub struct Alloc(());

/// Whether it is the allocator of this program.
static IS_USED: AtomicBool = AtomicBool::new(false);

impl Alloc {
    /// The allocator.
    pub const fn new() -> Alloc {
        Alloc(())
    }

    /// Whether it is the allocator of this program.
    pub(crate) fn is_used() -> bool {
        static ANSWER: OnceLock<bool> = OnceLock::new();
        *ANSWER.get_or_init(|| {
            // So that something was allocated.
            drop(std::hint::black_box(Box::new(0u8)));
            IS_USED.load(Ordering::Relaxed)
        })
    }
}

// SAFETY: everything is done by the system's allocator; what is noted is numbers.
unsafe impl GlobalAlloc for Alloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: promised by the caller.
        let memory = unsafe { System.alloc(layout) };
        if !IS_USED.load(Ordering::Relaxed) {
            IS_USED.store(true, Ordering::Relaxed);
        }
        port::allocated(memory.addr(), layout.size());
        memory
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: promised by the caller.
        let memory = unsafe { System.alloc_zeroed(layout) };
        port::allocated(memory.addr(), layout.size());
        memory
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        port::freed(memory.addr());
        // SAFETY: promised by the caller.
        unsafe { System.dealloc(memory, layout) };
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: promised by the caller.
        let new = unsafe { System.realloc(memory, layout, new_size) };
        if !new.is_null() {
            port::freed(memory.addr());
            port::allocated(new.addr(), new_size);
        }
        new
    }
}
