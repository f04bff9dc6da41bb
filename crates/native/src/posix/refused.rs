//! Functions that raddle does not model. A run that calls one is refused by its name, outside of runs they are libc's.

use std::ffi::{c_char, c_int, c_long, c_void};

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
    sem_open(name: *const c_char, flags: c_int, mode: libc::mode_t, count: u32) -> *mut c_void;
    sem_getvalue(semaphore: *mut c_void, count: *mut c_int) -> c_int;
    pthread_timedjoin_np(thread: libc::pthread_t, result: *mut *mut c_void, limit: *const c_void) -> c_int;
    pthread_clockjoin_np(
        thread: libc::pthread_t,
        result: *mut *mut c_void,
        clock: c_int,
        limit: *const c_void
    ) -> c_int;
    sigwait(set: *const c_void, signal: *mut c_int) -> c_int;
}

/// Stands in for the function that makes a system call. Threads that wait by futexes of their own are not modelled.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    if number == libc::SYS_futex && is_controlled() {
        refuse(
            "the program waits by the system call `futex`, as `std::atomic::wait`, `std::counting_semaphore` and \
             OpenMP do, which raddle does not model",
        );
    }
    real!(syscall(
        number => c_long,
        a => c_long,
        b => c_long,
        c => c_long,
        d => c_long,
        e => c_long,
        f => c_long,
    ) -> c_long)
}
