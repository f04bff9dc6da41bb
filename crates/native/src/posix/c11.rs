//! `<threads.h>` of C11, by the functions of pthreads. glibc's types are those of pthreads.

use std::ffi::{c_int, c_void};

use super::{condvar, mutex, object, once, thread, time};
use crate::hooks::{with_caller, with_registers};
use crate::real::real;
use crate::run::is_controlled;
use crate::variables::Use;

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const TIMED_OUT: c_int = 4;

fn result(error: c_int) -> c_int {
    match error {
        0 => SUCCESS,
        libc::EBUSY => BUSY,
        libc::ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

/// Calls the function of pthreads in a run, and libc's otherwise.
macro_rules! in_run {
    ($call:expr, else $($real:tt)*) => {
        if is_controlled() { result($call) } else { real!($($real)*) }
    };
}

type Start = extern "C" fn(*mut c_void) -> *mut c_void;

unsafe extern "C" fn create(
    handle: *mut libc::pthread_t,
    start: Start,
    argument: *mut c_void,
    pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(thrd_create(
            handle => *mut libc::pthread_t,
            start => Start,
            argument => *mut c_void,
        ) -> c_int);
    }
    // SAFETY: the arguments are the program's. A result of type `int` is in the register of a pointer.
    result(unsafe { thread::create(handle, std::ptr::null(), start, argument, pc) })
}

unsafe extern "C" fn join(handle: libc::pthread_t, code: *mut c_int, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(thrd_join(handle => libc::pthread_t, code => *mut c_int) -> c_int);
    }
    let mut value = std::ptr::null_mut();
    // SAFETY: the place for the result is in this frame.
    let error = unsafe { thread::join(handle, &mut value, pc) };
    if error == 0 && !code.is_null() {
        // SAFETY: the program passed a place for the result.
        unsafe { code.write(value.addr() as c_int) };
    }
    result(error)
}

unsafe extern "C" fn detach(handle: libc::pthread_t, pc: usize) -> c_int {
    // SAFETY: the handle is the program's.
    in_run!(unsafe { thread::detach(handle, pc) }, else thrd_detach(handle => libc::pthread_t) -> c_int)
}

extern "C" fn lock(mutex: *mut c_void, pc: usize) -> c_int {
    in_run!(mutex::lock(mutex, pc), else mtx_lock(mutex => *mut c_void) -> c_int)
}

extern "C" fn try_lock(mutex: *mut c_void, pc: usize) -> c_int {
    in_run!(mutex::try_lock(mutex, pc), else mtx_trylock(mutex => *mut c_void) -> c_int)
}

extern "C" fn timed_lock(mutex: *mut c_void, limit: *const libc::timespec, pc: usize) -> c_int {
    in_run!(
        mutex::timed_lock(mutex, limit, pc),
        else mtx_timedlock(mutex => *mut c_void, limit => *const libc::timespec) -> c_int
    )
}

extern "C" fn unlock(mutex: *mut c_void, pc: usize) -> c_int {
    in_run!(mutex::unlock(mutex, pc), else mtx_unlock(mutex => *mut c_void) -> c_int)
}

extern "C" fn init(mutex: *mut c_void, kind: c_int, pc: usize) -> c_int {
    if is_controlled() {
        mutex::initialise(mutex, pc);
    }
    real!(mtx_init(mutex => *mut c_void, kind => c_int) -> c_int)
}

extern "C" fn destroy(mutex: *mut c_void, pc: usize) {
    if is_controlled() {
        mutex::destroy(mutex, pc);
    } else {
        real!(mtx_destroy(mutex => *mut c_void) -> ());
    }
}

extern "C" fn wait(condvar: *mut c_void, mutex: *mut c_void, pc: usize) -> c_int {
    in_run!(
        condvar::wait(condvar, mutex, pc),
        else cnd_wait(condvar => *mut c_void, mutex => *mut c_void) -> c_int
    )
}

extern "C" fn timed_wait(
    condvar: *mut c_void,
    mutex: *mut c_void,
    limit: *const libc::timespec,
    pc: usize,
) -> c_int {
    in_run!(
        condvar::timed_wait(condvar, mutex, limit, pc),
        else cnd_timedwait(
            condvar => *mut c_void,
            mutex => *mut c_void,
            limit => *const libc::timespec,
        ) -> c_int
    )
}

extern "C" fn signal(condvar: *mut c_void, pc: usize) -> c_int {
    in_run!(condvar::signal(condvar, pc), else cnd_signal(condvar => *mut c_void) -> c_int)
}

extern "C" fn broadcast(condvar: *mut c_void, pc: usize) -> c_int {
    in_run!(condvar::broadcast(condvar, pc), else cnd_broadcast(condvar => *mut c_void) -> c_int)
}

extern "C" fn init_condvar(condvar: *mut c_void, pc: usize) -> c_int {
    if is_controlled() {
        object::initialise(condvar, pc);
        object::forget(condvar, Use::Condvar);
    }
    real!(cnd_init(condvar => *mut c_void) -> c_int)
}

extern "C" fn destroy_condvar(condvar: *mut c_void, pc: usize) {
    if is_controlled() {
        condvar::destroy(condvar, pc);
    } else {
        real!(cnd_destroy(condvar => *mut c_void) -> ());
    }
}

unsafe extern "C" fn call_once_at(control: *mut c_int, function: extern "C" fn(), pc: usize) {
    if is_controlled() {
        // SAFETY: the arguments are the program's.
        unsafe { once::once(control, function, pc) };
    } else {
        real!(call_once(control => *mut c_int, function => extern "C" fn()) -> ());
    }
}

extern "C" fn sleep(time: *const libc::timespec, left: *mut libc::timespec, pc: usize) -> c_int {
    in_run!(
        time::sleep_nanos(time, left, pc),
        else thrd_sleep(time => *const libc::timespec, left => *mut libc::timespec) -> c_int
    )
}

extern "C" fn yield_turn(pc: usize) {
    time::yield_turn(pc);
}

/// Ends the calling thread.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn thrd_exit(code: c_int) -> ! {
    if is_controlled() {
        // SAFETY: ends the calling thread.
        unsafe { thread::pthread_exit(std::ptr::without_provenance_mut(code as usize)) };
    }
    real!(thrd_exit(code => c_int) -> !)
}

with_registers! {
    thrd_sleep, "rdx", sleep;
    thrd_yield, "rdi", yield_turn;
    mtx_trylock, "rsi", try_lock;
}

with_caller! {
    thrd_create, "rcx", create;
    thrd_join, "rdx", join;
    thrd_detach, "rsi", detach;
    mtx_init, "rdx", init;
    mtx_lock, "rsi", lock;
    mtx_timedlock, "rdx", timed_lock;
    mtx_unlock, "rsi", unlock;
    mtx_destroy, "rsi", destroy;
    cnd_init, "rsi", init_condvar;
    cnd_wait, "rdx", wait;
    cnd_timedwait, "rcx", timed_wait;
    cnd_signal, "rsi", signal;
    cnd_broadcast, "rsi", broadcast;
    cnd_destroy, "rsi", destroy_condvar;
    call_once, "rdx", call_once_at;
}
