//! Functions that raddle does not model. A run that calls one is refused by its name, outside of runs they are libc's.

use std::ffi::{c_char, c_int, c_void};

use crate::real::real;
use crate::run::{is_controlled, refuse};

macro_rules! refused {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        /// Refused in runs.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            if is_controlled() {
                refuse(concat!("the program calls `", stringify!($name), "`, which raddle does not model"));
            }
            real!($name($($argument => $type),*) -> $result)
        }
    )*};
}

refused! {
    fork() -> c_int;
    vfork() -> c_int;
    system(command: *const c_char) -> c_int;
    popen(command: *const c_char, mode: *const c_char) -> *mut c_void;
    pthread_cancel(thread: libc::pthread_t) -> c_int;
    pthread_kill(thread: libc::pthread_t, signal: c_int) -> c_int;
    sigwait(set: *const c_void, signal: *mut c_int) -> c_int;
}
