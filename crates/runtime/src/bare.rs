//! What takes one instruction or two in any build.
//!
//! Where nothing is optimised, every pointer that is followed is checked, which is eight instructions, and to
//! look at a `Cell` or an atomic variable is a call or two. Runs do little else.

use std::cell::Cell;
use std::sync::atomic::AtomicU64;

/// As `&*pointer`, unchecked.
///
/// # Safety
/// As for that.
#[inline(always)]
#[expect(clippy::transmute_ptr_to_ref, reason = "this is not checked")]
pub unsafe fn follow<'a, T>(pointer: *const T) -> &'a T {
    // SAFETY: promised by the caller.
    unsafe { std::mem::transmute::<*const T, &'a T>(pointer) }
}

/// As `&mut *pointer`, unchecked.
///
/// # Safety
/// As for that.
#[inline(always)]
#[expect(clippy::transmute_ptr_to_ref, reason = "this is not checked")]
pub unsafe fn follow_mut<'a, T>(pointer: *mut T) -> &'a mut T {
    // SAFETY: promised by the caller.
    unsafe { std::mem::transmute::<*mut T, &'a mut T>(pointer) }
}

/// As `cell.get()`.
#[inline(always)]
pub fn get<T: Copy>(cell: &Cell<T>) -> T {
    // SAFETY: a cell has the layout of what is in it, and nobody changes that while the reference is there:
    // it is of one OS thread, and the reference is used up at once.
    *unsafe { std::mem::transmute::<&Cell<T>, &T>(cell) }
}

/// As `cell.set(value)`.
#[inline(always)]
pub fn set<T: Copy>(cell: &Cell<T>, value: T) {
    let place: *const Cell<T> = cell;
    // SAFETY: a cell has the layout of what is in it and lets it be changed, and nobody else looks at it while
    // the reference is there: it is of one OS thread, and the reference is used up at once.
    *unsafe { follow_mut(place.cast_mut().cast::<T>()) } = value;
}

/// As `variable.load(Ordering::Relaxed)`.
#[inline(always)]
pub fn load(variable: &AtomicU64) -> u64 {
    #[cfg(all(debug_assertions, target_arch = "x86_64", not(miri)))]
    {
        let value;
        // SAFETY: reads the variable, as a relaxed load does.
        unsafe {
            std::arch::asm!(
                "mov {value}, qword ptr [{variable}]",
                variable = in(reg) variable,
                value = lateout(reg) value,
                options(nostack, preserves_flags, readonly),
            );
        }
        value
    }
    #[cfg(not(all(debug_assertions, target_arch = "x86_64", not(miri))))]
    variable.load(std::sync::atomic::Ordering::Relaxed)
}
