//! Functions that change what the kernel knows of the process. A run in the host's own process must not call them: the
//! check begins anew with forks.

use std::ffi::{c_char, c_int, c_void};

use crate::real::real;
use crate::run::{Outcome, is_controlled, state};

macro_rules! needs_fork {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        /// Stands in for the function of this name.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            if is_controlled() {
                need_fork();
            }
            real!($name($($argument => $type),*) -> $result)
        }
    )*};
}

needs_fork! {
    mmap(at: *mut c_void, size: usize, protection: c_int, flags: c_int, file: c_int, offset: i64) -> *mut c_void;
    mmap64(at: *mut c_void, size: usize, protection: c_int, flags: c_int, file: c_int, offset: i64) -> *mut c_void;
    munmap(at: *mut c_void, size: usize) -> c_int;
    mprotect(at: *mut c_void, size: usize, protection: c_int) -> c_int;
    dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    sigaction(signal: c_int, new: *const c_void, old: *mut c_void) -> c_int;
    signal(signal: c_int, handler: *mut c_void) -> *mut c_void;
    chdir(path: *const c_char) -> c_int;
}

/// Ends the run if it is not in a process of its own.
fn need_fork() {
    let state = state();
    if !state.ends_with_process.get() {
        *state.outcome.borrow_mut() = Outcome::NeedsFork;
        state.end_process(0);
    }
}
