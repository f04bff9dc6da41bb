//! Semaphores. One that was initialised before main begins with the count that its memory holds.

use std::ffi::{c_int, c_uint, c_void};

use raddle_core::{Action, Effect, SemaphoreOp};
use raddle_engine::Initial;

use super::{object, time};
use crate::hooks::{with_caller, with_registers};
use crate::real::real;
use crate::run::{is_controlled, site, state};
use crate::variables::Use;

extern "C" fn init(semaphore: *mut c_void, shared: c_int, count: c_uint, pc: usize) -> c_int {
    if is_controlled() {
        object::initialise(semaphore, pc);
        object::forget(semaphore, Use::Semaphore);
    }
    real!(sem_init(semaphore => *mut c_void, shared => c_int, count => c_uint) -> c_int)
}

extern "C" fn destroy(semaphore: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(sem_destroy(semaphore => *mut c_void) -> c_int);
    }
    object::destroy(semaphore, Use::Semaphore, pc);
    0
}

fn perform(semaphore: *mut c_void, op: SemaphoreOp, pc: usize) -> Effect {
    let initial = || {
        // SAFETY: the program passed a semaphore. glibc keeps the count in its first four bytes; runs do not change it.
        Initial::Semaphore(u64::from(unsafe { semaphore.cast::<u32>().read() }))
    };
    object::act(semaphore, Use::Semaphore, initial, Action::Semaphore(op), site(pc))
}

fn act(semaphore: *mut c_void, op: SemaphoreOp, pc: usize) -> bool {
    perform(semaphore, op, pc) != Effect::No
}

extern "C" fn wait(semaphore: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(sem_wait(semaphore => *mut c_void) -> c_int);
    }
    act(semaphore, SemaphoreOp::Wait { timed: false }, pc);
    0
}

extern "C" fn try_wait(semaphore: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(sem_trywait(semaphore => *mut c_void) -> c_int);
    }
    state().enter();
    let has_taken = act(semaphore, SemaphoreOp::TryWait, pc);
    state().leave();
    if has_taken { 0 } else { time::fail(libc::EAGAIN) }
}

fn timed(semaphore: *mut c_void, clock: c_int, limit: *const libc::timespec, pc: usize) -> c_int {
    if act(semaphore, SemaphoreOp::Wait { timed: true }, pc) {
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
    act(semaphore, SemaphoreOp::Post, pc);
    0
}

unsafe extern "C" fn value(semaphore: *mut c_void, place: *mut c_int, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(sem_getvalue(semaphore => *mut c_void, place => *mut c_int) -> c_int);
    }
    let count = match perform(semaphore, SemaphoreOp::Value, pc) {
        Effect::Value(count) => count,
        other => unreachable!("raddle invariant broken: the effect {other:?} of a count"),
    };
    // SAFETY: the program passed a place for the count.
    unsafe { place.write(count as c_int) };
    0
}

with_registers! {
    sem_trywait, "rsi", try_wait;
}

with_caller! {
    sem_getvalue, "rdx", value;
    sem_init, "rcx", init;
    sem_destroy, "rsi", destroy;
    sem_wait, "rsi", wait;
    sem_timedwait, "rdx", timed_wait;
    sem_clockwait, "rcx", clock_wait;
    sem_post, "rsi", post;
}
