//! Semaphores, as channels with as many messages as the semaphore counts.
//!
//! The messages of the initial count are sent by the thread that initialises the semaphore.

use std::ffi::{c_int, c_uint, c_void};

use raddle_core::{Action, ChannelOp, Effect, ObjectId};
use raddle_engine::Initial;

use super::time;
use crate::hooks::with_caller;
use crate::real::real;
use crate::run::{is_controlled, refuse, site, state};
use crate::variables::Use;

/// The largest initial count.
const MAX_INITIAL: c_uint = 1000;

extern "C" fn init(semaphore: *mut c_void, shared: c_int, count: c_uint, pc: usize) -> c_int {
    let result = real!(sem_init(
        semaphore => *mut c_void,
        shared => c_int,
        count => c_uint,
    ) -> c_int);
    if result == 0 && is_controlled() {
        if count > MAX_INITIAL {
            refuse(
                "a semaphore has an initial count of more than 1,000, which raddle does not model",
            );
        }
        let (state, site) = (state(), site(pc));
        let initial = Initial::Channel { capacity: None };
        let object = state.declare(semaphore.addr(), Use::Semaphore, initial, site);
        for _ in 0..count {
            state.act(object, Action::Channel(ChannelOp::Send), site);
        }
    }
    result
}

extern "C" fn destroy(semaphore: *mut c_void, _pc: usize) -> c_int {
    if is_controlled() {
        state().variables.borrow_mut().forget(semaphore.addr(), Use::Semaphore);
    }
    real!(sem_destroy(semaphore => *mut c_void) -> c_int)
}

fn object(semaphore: *mut c_void) -> ObjectId {
    let known = state().variables.borrow().get(semaphore.addr(), Use::Semaphore);
    match known {
        Some((object, _)) => object,
        None => refuse("a semaphore is used that was not initialised after the beginning of main"),
    }
}

fn act(semaphore: *mut c_void, op: ChannelOp, pc: usize) -> bool {
    state().act(object(semaphore), Action::Channel(op), site(pc)) != Effect::No
}

extern "C" fn wait(semaphore: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(sem_wait(semaphore => *mut c_void) -> c_int);
    }
    act(semaphore, ChannelOp::Receive { timed: false }, pc);
    0
}

extern "C" fn try_wait(semaphore: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(sem_trywait(semaphore => *mut c_void) -> c_int);
    }
    if act(semaphore, ChannelOp::TryReceive, pc) { 0 } else { time::fail(libc::EAGAIN) }
}

fn timed(semaphore: *mut c_void, clock: c_int, limit: *const libc::timespec, pc: usize) -> c_int {
    if act(semaphore, ChannelOp::Receive { timed: true }, pc) {
        return 0;
    }
    time::pass_until(clock, limit);
    time::fail(libc::ETIMEDOUT)
}

extern "C" fn timed_wait(semaphore: *mut c_void, limit: *const libc::timespec, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(sem_timedwait(
            semaphore => *mut c_void,
            limit => *const libc::timespec,
        ) -> c_int);
    }
    timed(semaphore, libc::CLOCK_REALTIME, limit, pc)
}

extern "C" fn clock_wait(
    semaphore: *mut c_void,
    clock: c_int,
    limit: *const libc::timespec,
    pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(sem_clockwait(
            semaphore => *mut c_void,
            clock => c_int,
            limit => *const libc::timespec,
        ) -> c_int);
    }
    timed(semaphore, clock, limit, pc)
}

extern "C" fn post(semaphore: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(sem_post(semaphore => *mut c_void) -> c_int);
    }
    act(semaphore, ChannelOp::Send, pc);
    0
}

with_caller! {
    sem_init, "rcx", init;
    sem_destroy, "rsi", destroy;
    sem_wait, "rsi", wait;
    sem_trywait, "rsi", try_wait;
    sem_timedwait, "rdx", timed_wait;
    sem_clockwait, "rcx", clock_wait;
    sem_post, "rsi", post;
}
