//! Functions of libc that access memory for the program: instrumented code calls them, and they are not instrumented.
//!
//! raddle's own code calls some of them, too. So they look first whether the program runs, and are the real ones if not.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::plain::{Access, access};
use crate::dispatch::{self, SELECTOR};
use crate::modules::Origin;
use crate::run::{is_controlled, state};

/// Returns the real function, which is looked up once.
fn resolve(place: &AtomicPtr<c_void>, name: &'static CStr) -> *mut c_void {
    let known = place.load(Ordering::Relaxed);
    if !known.is_null() {
        return known;
    }
    // SAFETY: the name is a C string.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    place.store(found, Ordering::Relaxed);
    found
}

/// Accesses that a function is about to make.
fn see(accesses: &[(usize, usize, Access)], pc: usize) {
    // raddle's own code may have borrowed what is looked at below.
    if dispatch::is_own(pc) || !is_controlled() {
        return;
    }
    let is_instrumented = state().origin(pc) == Origin::Instrumented;
    for &(address, size, kind) in accesses {
        if is_instrumented {
            access(address, size, kind, pc);
        } else if size > 0 {
            // What orders accesses of this code is not known.
            state().check_access(address, size, pc);
        }
    }
}

/// Returns the number of bytes of a string before its end, at most `limit`.
fn length(text: usize, limit: usize) -> usize {
    let byte = |index: usize| ptr::with_exposed_provenance::<u8>(text + index);
    // SAFETY: the program passed a C string, or a buffer of at least `limit` bytes.
    (0..limit).find(|&index| unsafe { byte(index).read() } == 0).unwrap_or(limit)
}

/// Returns the number of bytes that a comparison of two strings reads of each.
fn compared(one: usize, other: usize, limit: usize) -> usize {
    let byte = |text: usize, index: usize| {
        // SAFETY: the program passed two C strings, and the loop stops at the end of one.
        unsafe { ptr::with_exposed_provenance::<u8>(text + index).read() }
    };
    let ends = |&index: &usize| {
        let (one, other) = (byte(one, index), byte(other, index));
        one != other || one == 0
    };
    (0..limit).find(ends).map_or(limit, |index| index + 1)
}

const READ: Access = Access::Read;
const WRITE: Access = Access::Write;
const ANY: usize = usize::MAX;

/// Exports functions: `name(arguments), register of the argument after the last, [accesses];`.
macro_rules! functions {
    ($($name:ident($($argument:ident),*), $register:literal, [$($access:expr),*];)*) => {$(
        const _: () = {
            static REAL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

            unsafe extern "C" fn seen($($argument: usize,)* pc: usize) -> usize {
                see(&[$($access),*], pc);
                const NAME: &CStr =
                    match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => unreachable!(),
                    };
                type Function = unsafe extern "C" fn($(name!($argument)),*) -> usize;
                let real = resolve(&REAL, NAME);
                // SAFETY: the function of this name has these arguments, all of them in registers.
                let real = unsafe { std::mem::transmute::<*mut c_void, Function>(real) };
                // SAFETY: the arguments are the program's.
                unsafe { real($($argument),*) }
            }

            /// Stands in for the function of this name.
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub(crate) unsafe extern "C" fn $name() {
                std::arch::naked_asm!(
                    "cmp byte ptr [rip + {program_runs}], 0",
                    "jne 2f",
                    "mov rax, [rip + {real}]",
                    "test rax, rax",
                    "je 2f",
                    "jmp rax",
                    "2:",
                    concat!("mov ", $register, ", [rsp]"),
                    "jmp {seen}",
                    program_runs = sym SELECTOR,
                    real = sym REAL,
                    seen = sym seen,
                )
            }
        };
    )*};
}

/// The type of every argument.
macro_rules! name {
    ($argument:ident) => {
        usize
    };
}

functions! {
    memcpy(to, from, size), "rcx", [(from, size, READ), (to, size, WRITE)];
    memmove(to, from, size), "rcx", [(from, size, READ), (to, size, WRITE)];
    mempcpy(to, from, size), "rcx", [(from, size, READ), (to, size, WRITE)];
    memset(to, byte, size), "rcx", [(to, size, WRITE)];
    bzero(to, size), "rdx", [(to, size, WRITE)];
    memcmp(one, other, size), "rcx", [(one, size, READ), (other, size, READ)];
    strlen(text), "rsi", [(text, length(text, ANY) + 1, READ)];
    strnlen(text, limit), "rdx", [(text, limit.min(length(text, limit).saturating_add(1)), READ)];
    strcpy(to, from), "rdx", [(from, length(from, ANY) + 1, READ), (to, length(from, ANY) + 1, WRITE)];
    stpcpy(to, from), "rdx", [(from, length(from, ANY) + 1, READ), (to, length(from, ANY) + 1, WRITE)];
    strncpy(to, from, limit), "rcx",
        [(from, limit.min(length(from, limit).saturating_add(1)), READ), (to, limit, WRITE)];
    strcat(to, from), "rdx", [
        (from, length(from, ANY) + 1, READ),
        (to, length(to, ANY) + 1, READ),
        (to + length(to, ANY), length(from, ANY) + 1, WRITE)
    ];
    strncat(to, from, limit), "rcx", [
        (from, limit.min(length(from, limit).saturating_add(1)), READ),
        (to, length(to, ANY) + 1, READ),
        (to + length(to, ANY), length(from, limit) + 1, WRITE)
    ];
    strcmp(one, other), "rdx",
        [(one, compared(one, other, ANY), READ), (other, compared(one, other, ANY), READ)];
    strncmp(one, other, limit), "rcx",
        [(one, compared(one, other, limit), READ), (other, compared(one, other, limit), READ)];
    strchr(text, byte), "rdx", [(text, length(text, ANY) + 1, READ)];
    strrchr(text, byte), "rdx", [(text, length(text, ANY) + 1, READ)];
    __memcpy_chk(to, from, size, room), "r8", [(from, size, READ), (to, size, WRITE)];
    __memmove_chk(to, from, size, room), "r8", [(from, size, READ), (to, size, WRITE)];
    __memset_chk(to, byte, size, room), "r8", [(to, size, WRITE)];
    __strcpy_chk(to, from, room), "rcx",
        [(from, length(from, ANY) + 1, READ), (to, length(from, ANY) + 1, WRITE)];
    __strncpy_chk(to, from, limit, room), "r8",
        [(from, limit.min(length(from, limit).saturating_add(1)), READ), (to, limit, WRITE)];
    __strcat_chk(to, from, room), "rcx", [
        (from, length(from, ANY) + 1, READ),
        (to, length(to, ANY) + 1, READ),
        (to + length(to, ANY), length(from, ANY) + 1, WRITE)
    ];
}
