//! Condition variables. A wait joins the waiters, releases the mutex, waits for a notification, and acquires the mutex.

use std::ffi::{c_int, c_void};

use raddle_core::{Action, CondvarOp, Effect, ObjectId, Site};
use raddle_engine::Initial;

use super::mutex::{acquire, release, times_held};
use crate::hooks::with_caller;
use crate::real::real;
use crate::run::{is_controlled, site, state};
use crate::variables::Use;

fn object(condvar: *mut c_void, site: Site) -> ObjectId {
    state().object(condvar.addr(), Use::Condvar, || Initial::Condvar, site)
}

fn wait_for(condvar: *mut c_void, mutex: *mut c_void, timed: bool, pc: usize) -> c_int {
    let times = times_held(mutex);
    let site = site(pc);
    if times == 0 {
        let place = Some(format!("{pc:#x}"));
        state().fail("a thread waits with a mutex that it does not hold".to_owned(), place);
    }
    let object = object(condvar, site);
    state().act(object, Action::Condvar(CondvarOp::Enqueue), site);
    release(mutex, site);
    let effect = state().act(object, Action::Condvar(CondvarOp::Consume { timed }), site);
    acquire(mutex, times, site);
    if effect == Effect::No { libc::ETIMEDOUT } else { 0 }
}

extern "C" fn wait(condvar: *mut c_void, mutex: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_cond_wait(condvar => *mut c_void, mutex => *mut c_void) -> c_int);
    }
    wait_for(condvar, mutex, false, pc)
}

extern "C" fn timed_wait(
    condvar: *mut c_void,
    mutex: *mut c_void,
    limit: *const c_void,
    pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(pthread_cond_timedwait(
            condvar => *mut c_void,
            mutex => *mut c_void,
            limit => *const c_void,
        ) -> c_int);
    }
    wait_for(condvar, mutex, true, pc)
}

extern "C" fn clock_wait(
    condvar: *mut c_void,
    mutex: *mut c_void,
    clock: c_int,
    limit: *const c_void,
    pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(pthread_cond_clockwait(
            condvar => *mut c_void,
            mutex => *mut c_void,
            clock => c_int,
            limit => *const c_void,
        ) -> c_int);
    }
    wait_for(condvar, mutex, true, pc)
}

extern "C" fn signal(condvar: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_cond_signal(condvar => *mut c_void) -> c_int);
    }
    let site = site(pc);
    state().act(object(condvar, site), Action::Condvar(CondvarOp::NotifyOne), site);
    0
}

extern "C" fn broadcast(condvar: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_cond_broadcast(condvar => *mut c_void) -> c_int);
    }
    let site = site(pc);
    state().act(object(condvar, site), Action::Condvar(CondvarOp::NotifyAll), site);
    0
}

extern "C" fn init(condvar: *mut c_void, attributes: *const c_void, _pc: usize) -> c_int {
    if is_controlled() {
        state().variables.borrow_mut().forget(condvar.addr(), Use::Condvar);
    }
    real!(pthread_cond_init(condvar => *mut c_void, attributes => *const c_void) -> c_int)
}

/// libc's function waits for threads that were notified and have not left; here they need nothing of the memory.
extern "C" fn destroy(condvar: *mut c_void, _pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_cond_destroy(condvar => *mut c_void) -> c_int);
    }
    state().variables.borrow_mut().forget(condvar.addr(), Use::Condvar);
    0
}

with_caller! {
    pthread_cond_wait, "rdx", wait;
    pthread_cond_timedwait, "rcx", timed_wait;
    pthread_cond_clockwait, "r8", clock_wait;
    pthread_cond_signal, "rsi", signal;
    pthread_cond_broadcast, "rsi", broadcast;
    pthread_cond_init, "rdx", init;
    pthread_cond_destroy, "rsi", destroy;
}
