//! Mutexes. The engine knows whether a mutex is held. By which thread and how often is known here, and only a thread
//! itself is asked what it holds.

use std::ffi::{c_int, c_void};

use raddle_core::{Action, Effect, MutexOp, ObjectId, Site};
use raddle_engine::Initial;

use super::time;
use crate::hooks::with_caller;
use crate::real::real;
use crate::run::{Held, is_controlled, refuse, site, state};
use crate::variables::Use;

/// The kinds of mutexes, by what happens if a thread locks one that it holds.
#[derive(Copy, Clone, PartialEq, Eq)]
enum MutexKind {
    Normal,
    Recursive,
    ErrorChecking,
}

/// The place of the kind in a `pthread_mutex_t` of glibc.
const KIND_OFFSET: usize = 16;
const KIND_MASK: c_int = 3;
const ROBUST: c_int = 16;

fn kind(mutex: *mut c_void) -> MutexKind {
    // SAFETY: the program passed a mutex, and glibc keeps its kind there.
    let place = unsafe { mutex.byte_add(KIND_OFFSET) };
    // SAFETY: as above.
    let word = unsafe { place.cast::<c_int>().read() };
    if word & ROBUST != 0 {
        refuse("the program uses a robust mutex, which raddle does not model");
    }
    match word & KIND_MASK {
        1 => MutexKind::Recursive,
        2 => MutexKind::ErrorChecking,
        _ => MutexKind::Normal,
    }
}

/// Returns the engine's object of a mutex.
pub(super) fn object(mutex: *mut c_void, site: Site) -> ObjectId {
    state().object(mutex.addr(), Use::Mutex, || Initial::Mutex, site)
}

/// Returns how often the calling thread holds a mutex.
pub(super) fn times_held(mutex: *mut c_void) -> u32 {
    let state = state();
    let locks = state.locks.borrow();
    locks.get(&mutex.addr()).filter(|held| held.by == state.me()).map_or(0, |held| held.times)
}

/// Notes how often the calling thread holds a mutex.
pub(super) fn set_times_held(mutex: *mut c_void, times: u32) {
    let state = state();
    let mut locks = state.locks.borrow_mut();
    if times == 0 {
        locks.remove(&mutex.addr());
    } else {
        locks.insert(mutex.addr(), Held { by: state.me(), times });
    }
}

/// Waits for the mutex, and acquires it.
pub(super) fn acquire(mutex: *mut c_void, times: u32, site: Site) {
    state().act(object(mutex, site), Action::Mutex(MutexOp::Lock), site);
    set_times_held(mutex, times);
}

/// Releases a mutex that the calling thread holds, however often.
pub(super) fn release(mutex: *mut c_void, site: Site) {
    // Another thread may hold it as soon as the operation is performed.
    set_times_held(mutex, 0);
    state().act(object(mutex, site), Action::Mutex(MutexOp::Unlock), site);
}

/// Returns the result of locking a mutex that the thread holds already. Returns `None` if it has to wait.
fn lock_again(mutex: *mut c_void) -> Option<c_int> {
    let times = times_held(mutex);
    match kind(mutex) {
        MutexKind::Recursive if times > 0 => {
            set_times_held(mutex, times + 1);
            Some(0)
        }
        MutexKind::ErrorChecking if times > 0 => Some(libc::EDEADLK),
        MutexKind::Normal | MutexKind::Recursive | MutexKind::ErrorChecking => None,
    }
}

pub(super) extern "C" fn lock(mutex: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_mutex_lock(mutex => *mut c_void) -> c_int);
    }
    lock_again(mutex).unwrap_or_else(|| {
        acquire(mutex, 1, site(pc));
        0
    })
}

/// Acquires the mutex if it is free.
fn try_acquire(mutex: *mut c_void, site: Site) -> bool {
    let effect = state().act(object(mutex, site), Action::Mutex(MutexOp::TryLock), site);
    if effect == Effect::Yes {
        set_times_held(mutex, 1);
    }
    effect == Effect::Yes
}

pub(super) extern "C" fn try_lock(mutex: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_mutex_trylock(mutex => *mut c_void) -> c_int);
    }
    match lock_again(mutex) {
        Some(0) => 0,
        Some(_) => libc::EBUSY,
        None if try_acquire(mutex, site(pc)) => 0,
        None => libc::EBUSY,
    }
}

/// A wait with a time limit that ends at its turn: by then the mutex is free, or the time is up.
fn timed(mutex: *mut c_void, clock: c_int, limit: *const libc::timespec, pc: usize) -> c_int {
    match lock_again(mutex) {
        Some(result) => result,
        None if try_acquire(mutex, site(pc)) => 0,
        None => {
            time::pass_until(clock, limit);
            libc::ETIMEDOUT
        }
    }
}

pub(super) extern "C" fn timed_lock(
    mutex: *mut c_void,
    limit: *const libc::timespec,
    pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(pthread_mutex_timedlock(
            mutex => *mut c_void,
            limit => *const libc::timespec,
        ) -> c_int);
    }
    timed(mutex, libc::CLOCK_REALTIME, limit, pc)
}

extern "C" fn clock_lock(
    mutex: *mut c_void,
    clock: c_int,
    limit: *const libc::timespec,
    pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(pthread_mutex_clocklock(
            mutex => *mut c_void,
            clock => c_int,
            limit => *const libc::timespec,
        ) -> c_int);
    }
    timed(mutex, clock, limit, pc)
}

pub(super) extern "C" fn unlock(mutex: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_mutex_unlock(mutex => *mut c_void) -> c_int);
    }
    match (times_held(mutex), kind(mutex)) {
        (0, MutexKind::Normal) => {
            let place = Some(format!("{pc:#x}"));
            state().fail("a thread unlocks a mutex that it does not hold".to_owned(), place)
        }
        (0, MutexKind::Recursive | MutexKind::ErrorChecking) => return libc::EPERM,
        (1, _) => release(mutex, site(pc)),
        (times, _) => set_times_held(mutex, times - 1),
    }
    0
}

extern "C" fn init(mutex: *mut c_void, attributes: *const c_void, _pc: usize) -> c_int {
    if is_controlled() {
        forget(mutex);
    }
    real!(pthread_mutex_init(mutex => *mut c_void, attributes => *const c_void) -> c_int)
}

/// A mutex begins anew at this address.
pub(super) fn forget(mutex: *mut c_void) {
    state().variables.borrow_mut().forget(mutex.addr(), Use::Mutex);
    set_times_held(mutex, 0);
}

/// Whether another thread holds the mutex is an operation: all orders of this and its use count.
pub(super) extern "C" fn destroy(mutex: *mut c_void, pc: usize) -> c_int {
    if is_controlled() {
        let place = Some(format!("{pc:#x}"));
        if times_held(mutex) > 0 || !try_acquire(mutex, site(pc)) {
            state().fail("a thread destroys a mutex that is locked".to_owned(), place);
        }
        release(mutex, site(pc));
        state().variables.borrow_mut().forget(mutex.addr(), Use::Mutex);
    }
    real!(pthread_mutex_destroy(mutex => *mut c_void) -> c_int)
}

with_caller! {
    pthread_mutex_lock, "rsi", lock;
    pthread_mutex_trylock, "rsi", try_lock;
    pthread_mutex_timedlock, "rdx", timed_lock;
    pthread_mutex_clocklock, "rcx", clock_lock;
    pthread_mutex_unlock, "rsi", unlock;
    pthread_mutex_init, "rdx", init;
    pthread_mutex_destroy, "rsi", destroy;
}
