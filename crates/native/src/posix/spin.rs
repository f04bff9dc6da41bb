//! Spin locks, as mutexes.

use std::ffi::{c_int, c_void};

use raddle_core::{Action, Effect, MutexOp};

use super::mutex::object;
use crate::hooks::with_caller;
use crate::real::real;
use crate::run::{is_controlled, site, state};
use crate::variables::Use;

fn act(lock: *mut c_void, op: MutexOp, pc: usize) -> Effect {
    let site = site(pc);
    state().act(object(lock, site), Action::Mutex(op), site)
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
    if act(spin, MutexOp::TryLock, pc) == Effect::Yes { 0 } else { libc::EBUSY }
}

extern "C" fn unlock(spin: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_spin_unlock(spin => *mut c_void) -> c_int);
    }
    act(spin, MutexOp::Unlock, pc);
    0
}

extern "C" fn init(spin: *mut c_void, shared: c_int, _pc: usize) -> c_int {
    if is_controlled() {
        state().variables.borrow_mut().forget(spin.addr(), Use::Mutex);
    }
    real!(pthread_spin_init(spin => *mut c_void, shared => c_int) -> c_int)
}

with_caller! {
    pthread_spin_lock, "rsi", lock;
    pthread_spin_trylock, "rsi", try_lock;
    pthread_spin_unlock, "rsi", unlock;
    pthread_spin_init, "rdx", init;
}
