//! Spin locks, as mutexes. They have four bytes.

use std::ffi::{c_int, c_void};

use raddle_core::{Action, Effect, MutexOp};
use raddle_engine::Initial;

use super::mutex::{set_times_held, times_held};
use super::object;
use crate::hooks::{with_caller, with_registers};
use crate::real::real;
use crate::run::{is_controlled, site, state};
use crate::variables::Use;

fn act(lock: *mut c_void, op: MutexOp, pc: usize) -> Effect {
    let effect = object::act(lock, Use::Spin, || Initial::Mutex, Action::Mutex(op), site(pc));
    if op != MutexOp::Unlock && effect != Effect::No {
        set_times_held(lock, 1);
    }
    effect
}

extern "C" fn lock(spin: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_spin_lock(spin => *mut c_void) -> c_int);
    }
    act(spin, MutexOp::Lock, pc);
    0
}

extern "C" fn try_lock(spin: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_spin_trylock(spin => *mut c_void) -> c_int);
    }
    state().enter();
    let result = if act(spin, MutexOp::TryLock, pc) == Effect::Yes { 0 } else { libc::EBUSY };
    state().leave();
    result
}

extern "C" fn unlock(spin: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_spin_unlock(spin => *mut c_void) -> c_int);
    }
    if times_held(spin) == 0 {
        object::fail("a thread unlocks a spin lock that it does not hold", pc);
    }
    set_times_held(spin, 0);
    act(spin, MutexOp::Unlock, pc);
    0
}

extern "C" fn init(spin: *mut c_void, shared: c_int, pc: usize) -> c_int {
    if is_controlled() {
        object::initialise(spin, pc);
        object::forget(spin, Use::Spin);
    }
    real!(pthread_spin_init(spin => *mut c_void, shared => c_int) -> c_int)
}

with_registers! {
    pthread_spin_trylock, "rsi", try_lock;
}

with_caller! {
    pthread_spin_lock, "rsi", lock;
    pthread_spin_unlock, "rsi", unlock;
    pthread_spin_init, "rdx", init;
}
