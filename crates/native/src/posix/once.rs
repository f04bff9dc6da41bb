//! One-time initialisations, those of the static variables of C++ functions among them.
//!
//! Every call is an operation: what memory says depends on other threads.

use std::ffi::{c_int, c_void};

use raddle_core::{Action, Effect, ObjectId, OnceOp, Site};
use raddle_engine::Initial;

use crate::hooks::{atomic, with_caller};
use crate::real::real;
use crate::run::{is_controlled, site, state};
use crate::variables::Use;

/// What glibc writes when an initialisation is complete.
const DONE: c_int = 2;

fn object(control: *mut c_void, site: Site) -> ObjectId {
    state().object(control.addr(), Use::Once, || Initial::Once, site)
}

fn act(object: ObjectId, op: OnceOp, site: Site) -> Effect {
    state().act(object, Action::Once(op), site)
}

pub(super) unsafe extern "C" fn once(
    control: *mut c_int,
    function: extern "C" fn(),
    pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(pthread_once(control => *mut c_int, function => extern "C" fn()) -> c_int);
    }
    let site = site(pc);
    let is_known = state().variables.borrow().get(control.addr(), Use::Once).is_some();
    // SAFETY: the program passed the control.
    let was_done_before_main = !is_known && unsafe { control.read() } == DONE;
    let object = object(control.cast(), site);
    if act(object, OnceOp::Begin, site) == Effect::Yes {
        if !was_done_before_main {
            function();
            // SAFETY: as above.
            unsafe { control.write(DONE) };
        }
        act(object, OnceOp::Complete, site);
    }
    0
}

/// Returns 1 if the calling thread is to initialise the variable.
unsafe extern "C" fn acquire_guard(guard: *mut u8, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(__cxa_guard_acquire(guard => *mut u8) -> c_int);
    }
    let site = site(pc);
    let is_known = state().variables.borrow().get(guard.addr(), Use::Once).is_some();
    // SAFETY: the compiler passed the guard, whose first byte says whether the variable is initialised.
    let was_done_before_main = !is_known && unsafe { guard.read() } != 0;
    let object = object(guard.cast(), site);
    let begins = act(object, OnceOp::Begin, site) == Effect::Yes;
    if begins && was_done_before_main {
        act(object, OnceOp::Complete, site);
    }
    c_int::from(begins && !was_done_before_main)
}

unsafe extern "C" fn release_guard(guard: *mut u8, pc: usize) {
    if !is_controlled() {
        return real!(__cxa_guard_release(guard => *mut u8) -> ());
    }
    let site = site(pc);
    // Compilers read the guard by an atomic load before they call `__cxa_guard_acquire`.
    atomic::store_byte(guard, 1, pc);
    act(object(guard.cast(), site), OnceOp::Complete, site);
}

extern "C" fn abort_guard(guard: *mut c_void, pc: usize) {
    if !is_controlled() {
        return real!(__cxa_guard_abort(guard => *mut c_void) -> ());
    }
    let site = site(pc);
    act(object(guard, site), OnceOp::Reset, site);
}

with_caller! {
    pthread_once, "rdx", once;
    __cxa_guard_acquire, "rsi", acquire_guard;
    __cxa_guard_release, "rsi", release_guard;
    __cxa_guard_abort, "rsi", abort_guard;
}
