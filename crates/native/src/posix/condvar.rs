//! Condition variables. A wait joins the waiters, releases the mutex, waits for a notification, and acquires the mutex.

use std::ffi::{c_int, c_void};

use raddle_core::{Action, CondvarOp, Effect, Site};
use raddle_engine::Initial;

use super::mutex::{acquire, release, times_held};
use super::{object, time};
use crate::hooks::with_caller;
use crate::real::real;
use crate::run::{is_controlled, site, state};
use crate::variables::Use;

fn act(condvar: *mut c_void, op: CondvarOp, site: Site) -> Effect {
    object::act(condvar, Use::Condvar, || Initial::Condvar, Action::Condvar(op), site)
}

/// A time limit: a clock and a time.
type Limit = (c_int, *const libc::timespec);

fn wait_for(condvar: *mut c_void, mutex: *mut c_void, limit: Option<Limit>, pc: usize) -> c_int {
    let times = times_held(mutex);
    let site = site(pc);
    if times == 0 {
        object::fail("a thread waits with a mutex that it does not hold", pc);
    }
    let object = object::object(condvar, Use::Condvar, || Initial::Condvar, site);
    state().act(object, Action::Condvar(CondvarOp::Enqueue), site);
    release(mutex, site);
    // A thread that was notified needs nothing of the memory: the condition variable may be destroyed.
    let consume = CondvarOp::Consume { timed: limit.is_some() };
    let effect = state().act(object, Action::Condvar(consume), site);
    let timed_out = limit.filter(|_| effect == Effect::No);
    if let Some((clock, limit)) = timed_out {
        time::pass_until(clock, limit);
    }
    match acquire(mutex, times, site) {
        0 if timed_out.is_some() => libc::ETIMEDOUT,
        result => result,
    }
}

pub(super) extern "C" fn wait(condvar: *mut c_void, mutex: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_cond_wait(condvar => *mut c_void, mutex => *mut c_void) -> c_int);
    }
    wait_for(condvar, mutex, None, pc)
}

pub(super) extern "C" fn timed_wait(
    condvar: *mut c_void,
    mutex: *mut c_void,
    limit: *const libc::timespec,
    pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(pthread_cond_timedwait(
            condvar => *mut c_void,
            mutex => *mut c_void,
            limit => *const libc::timespec,
        ) -> c_int);
    }
    wait_for(condvar, mutex, Some((time::clock_of(condvar), limit)), pc)
}

extern "C" fn clock_wait(
    condvar: *mut c_void,
    mutex: *mut c_void,
    clock: c_int,
    limit: *const libc::timespec,
    pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(pthread_cond_clockwait(
            condvar => *mut c_void,
            mutex => *mut c_void,
            clock => c_int,
            limit => *const libc::timespec,
        ) -> c_int);
    }
    wait_for(condvar, mutex, Some((clock, limit)), pc)
}

pub(super) extern "C" fn signal(condvar: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_cond_signal(condvar => *mut c_void) -> c_int);
    }
    act(condvar, CondvarOp::NotifyOne, site(pc));
    0
}

pub(super) extern "C" fn broadcast(condvar: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_cond_broadcast(condvar => *mut c_void) -> c_int);
    }
    act(condvar, CondvarOp::NotifyAll, site(pc));
    0
}

extern "C" fn init(condvar: *mut c_void, attributes: *const c_void, pc: usize) -> c_int {
    if is_controlled() {
        object::initialise(condvar, pc);
        object::forget(condvar, Use::Condvar);
    }
    real!(pthread_cond_init(condvar => *mut c_void, attributes => *const c_void) -> c_int)
}

/// libc's function waits for threads that were notified and have not left; here they need nothing of the memory. Threads
/// that were not notified wait forever.
pub(super) extern "C" fn destroy(condvar: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_cond_destroy(condvar => *mut c_void) -> c_int);
    }
    object::destroy(condvar, Use::Condvar, pc);
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
