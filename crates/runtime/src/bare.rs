//! What takes one instruction or two in any build.
//!
//! Where nothing is optimised, every pointer that is followed is checked, which is eight instructions, and to
//! look at a `Cell` or an atomic variable is a call or two. Runs do little else. Macros, because a function, also one
//! that is inlined, stores what it is given for the debugger.

#[cfg(not(all(debug_assertions, target_arch = "x86_64", not(miri))))]
use std::sync::atomic::Ordering;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// `follow!(pointer as Type)` is `&*(pointer as *const Type)`, unchecked, and as unsafe as that.
#[doc(hidden)]
#[macro_export]
macro_rules! __follow {
    ($pointer:ident $(.$field:tt)* as $type:ty) => {
        ::std::mem::transmute::<*const $type, &$type>($pointer $(.$field)* as *const $type)
    };
}

/// `follow_mut!(pointer as Type)` is `&mut *(pointer as *mut Type)`, likewise.
#[doc(hidden)]
#[macro_export]
macro_rules! __follow_mut {
    ($pointer:ident $(.$field:tt)* as $type:ty) => {
        ::std::mem::transmute::<*mut $type, &mut $type>($pointer $(.$field)* as *mut $type)
    };
}

/// `get!(cell: Type)` is `cell.get()`.
#[doc(hidden)]
#[macro_export]
macro_rules! __get {
    ($cell:ident $(.$field:tt)* : $type:ty) => {
        // SAFETY: a cell has the layout of what is in it, and nobody changes that while the reference is there:
        // it is of one OS thread, and the reference is used up at once.
        *unsafe {
            ::std::mem::transmute::<&::std::cell::Cell<$type>, &$type>(&$cell $(.$field)*)
        }
    };
}

/// `set!(cell: Type = value)` is `cell.set(value)`, for what is `Copy`.
#[doc(hidden)]
#[macro_export]
macro_rules! __set {
    (*$cell:ident : $type:ty = $value:expr) => {
        $crate::bare::set!(@ (&raw const *$cell) $type, $value)
    };
    ($cell:ident $(.$field:tt)* : $type:ty = $value:expr) => {
        $crate::bare::set!(@ (&raw const $cell $(.$field)*) $type, $value)
    };
    (@ $place:tt $type:ty, $value:expr) => {
        // SAFETY: a cell has the layout of what is in it and lets it be changed, and nobody else looks at it while
        // the reference is there: it is of one OS thread, and the reference is used up at once.
        *unsafe {
            ::std::mem::transmute::<*const ::std::cell::Cell<$type>, &mut $type>($place)
        } = $value
    };
}

pub use {__follow as follow, __follow_mut as follow_mut, __get as get, __set as set};

/// As `flag.load(Ordering::Acquire)`.
#[inline(always)]
pub fn is_set(flag: &AtomicBool) -> bool {
    #[cfg(all(debug_assertions, target_arch = "x86_64", not(miri)))]
    {
        let value: u8;
        // SAFETY: reads the flag; on this processor every load acquires.
        unsafe {
            std::arch::asm!(
                "mov {value}, byte ptr [{flag}]",
                flag = in(reg) flag,
                value = lateout(reg_byte) value,
                options(nostack, preserves_flags),
            );
        }
        value != 0
    }
    #[cfg(not(all(debug_assertions, target_arch = "x86_64", not(miri))))]
    flag.load(Ordering::Acquire)
}

/// As `flag.store(true, Ordering::Release)`.
#[inline(always)]
pub fn set_flag(flag: &AtomicBool) {
    #[cfg(all(debug_assertions, target_arch = "x86_64", not(miri)))]
    // SAFETY: writes the flag; on this processor every store releases.
    unsafe {
        std::arch::asm!(
            "mov byte ptr [{flag}], 1",
            flag = in(reg) flag,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(not(all(debug_assertions, target_arch = "x86_64", not(miri))))]
    flag.store(true, Ordering::Release)
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
    variable.load(Ordering::Relaxed)
}
