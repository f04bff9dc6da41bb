//! Mutexes. The engine knows whether a mutex is held. By which thread and how often is known here, and only a thread
//! itself is asked what it holds.
//!
//! A robust mutex is unlocked when the thread that holds it ends. What the next thread learns is in the mutex, where
//! glibc keeps it; it changes with the operation that unlocks or locks the mutex.

use std::ffi::{c_int, c_void};
use std::ptr;

use raddle_core::{Action, Effect, MutexOp, Site};
use raddle_engine::Initial;

use super::{object, time};
use crate::hooks::{with_caller, with_registers};
use crate::real::real;
use crate::run::{Held, State, is_controlled, site, state};
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
/// The place of the owner, and what glibc writes there if the last owner of a robust mutex has ended.
const OWNER_OFFSET: usize = 8;
const CONSISTENT: c_int = 0;
const INCONSISTENT: c_int = c_int::MAX;
const NOT_RECOVERABLE: c_int = c_int::MAX - 1;

/// Returns a field of a mutex.
fn field(mutex: *mut c_void, offset: usize) -> *mut c_int {
    mutex.wrapping_byte_add(offset).cast()
}

fn kind_word(mutex: *mut c_void) -> c_int {
    // SAFETY: the program passed a mutex, and glibc keeps its kind there.
    unsafe { field(mutex, KIND_OFFSET).read() }
}

fn kind(mutex: *mut c_void) -> MutexKind {
    match kind_word(mutex) & KIND_MASK {
        1 => MutexKind::Recursive,
        2 => MutexKind::ErrorChecking,
        _ => MutexKind::Normal,
    }
}

/// Returns whether a mutex is robust and what its last owner left behind. Returns `CONSISTENT` for other mutexes.
fn left_behind(mutex: *mut c_void) -> c_int {
    if kind_word(mutex) & ROBUST == 0 {
        return CONSISTENT;
    }
    // SAFETY: the program passed a mutex, and glibc keeps this there. Runs write nothing else to it.
    match unsafe { field(mutex, OWNER_OFFSET).read() } {
        word @ (INCONSISTENT | NOT_RECOVERABLE) => word,
        _ => CONSISTENT,
    }
}

fn leave_behind(mutex: *mut c_void, word: c_int) {
    // SAFETY: the program passed a mutex, and glibc keeps this there.
    unsafe { field(mutex, OWNER_OFFSET).write(word) };
}

fn act(mutex: *mut c_void, op: MutexOp, site: Site) -> Effect {
    object::act(mutex, Use::Mutex, || Initial::Mutex, Action::Mutex(op), site)
}

/// Returns how often the calling thread holds a mutex.
pub(super) fn times_held(mutex: *mut c_void) -> u32 {
    let state = state();
    let locks = state.locks.borrow();
    // Few locks are held at once, and the last one most likely is the one.
    let held = locks.iter().rfind(|held| held.address == mutex.addr());
    held.filter(|held| held.by == state.me()).map_or(0, |held| held.times)
}

/// Notes how often the calling thread holds a mutex.
pub(super) fn set_times_held(mutex: *mut c_void, times: u32) {
    let state = state();
    let mut locks = state.locks.borrow_mut();
    let (address, by) = (mutex.addr(), state.me());
    match locks.iter().rposition(|held| held.address == address) {
        Some(known) if times == 0 => {
            locks.remove(known);
        }
        Some(known) => locks[known] = Held { address, by, times },
        None if times == 0 => {}
        None => locks.push(Held { address, by, times }),
    }
}

/// Waits for the mutex, and acquires it. Returns zero or the error of a robust mutex.
pub(super) fn acquire(mutex: *mut c_void, times: u32, site: Site) -> c_int {
    act(mutex, MutexOp::Lock, site);
    acquired(mutex, times, site)
}

/// The calling thread has acquired a mutex. Returns zero or the error of a robust mutex.
fn acquired(mutex: *mut c_void, times: u32, site: Site) -> c_int {
    set_times_held(mutex, times);
    match left_behind(mutex) {
        INCONSISTENT => libc::EOWNERDEAD,
        NOT_RECOVERABLE => {
            release(mutex, site);
            libc::ENOTRECOVERABLE
        }
        _ => 0,
    }
}

/// Releases a mutex that the calling thread holds, however often.
pub(super) fn release(mutex: *mut c_void, site: Site) {
    release_as(
        mutex,
        if left_behind(mutex) == CONSISTENT { CONSISTENT } else { NOT_RECOVERABLE },
        site,
    );
}

fn release_as(mutex: *mut c_void, left: c_int, site: Site) {
    // Another thread may hold it as soon as the operation is performed.
    set_times_held(mutex, 0);
    act(mutex, MutexOp::Unlock, site);
    if left != CONSISTENT {
        leave_behind(mutex, left);
    }
}

impl State {
    /// Releases the robust mutexes of the calling thread, which ends.
    pub(crate) fn leave_robust_mutexes(&self) {
        loop {
            let me = self.me();
            let is_left = |held: &&Held| {
                let mutex = ptr::with_exposed_provenance_mut(held.address);
                held.by == me && kind_word(mutex) & ROBUST != 0
            };
            let Some(held) = self.locks.borrow().iter().find(is_left).copied() else { return };
            let mutex = ptr::with_exposed_provenance_mut(held.address);
            release_as(mutex, INCONSISTENT, site(0));
        }
    }
}

/// The calling thread has repaired what a robust mutex protects.
extern "C" fn consistent(mutex: *mut c_void, _pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_mutex_consistent(mutex => *mut c_void) -> c_int);
    }
    if times_held(mutex) == 0 || left_behind(mutex) != INCONSISTENT {
        return libc::EINVAL;
    }
    leave_behind(mutex, CONSISTENT);
    0
}

/// Returns the result of locking a mutex that the thread holds already. Returns `None` if it has to wait.
fn lock_again(mutex: *mut c_void, pc: usize) -> Option<c_int> {
    object::check_alive(mutex, Use::Mutex, site(pc));
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
    lock_again(mutex, pc).unwrap_or_else(|| acquire(mutex, 1, site(pc)))
}

/// Acquires the mutex if it is free. Returns zero or the error of a robust mutex. Returns `None` if it is not free.
fn try_acquire(mutex: *mut c_void, site: Site) -> Option<c_int> {
    let is_free = act(mutex, MutexOp::TryLock, site) == Effect::Yes;
    is_free.then(|| acquired(mutex, 1, site))
}

pub(super) extern "C" fn try_lock(mutex: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_mutex_trylock(mutex => *mut c_void) -> c_int);
    }
    match lock_again(mutex, pc) {
        Some(0) => 0,
        Some(_) => libc::EBUSY,
        None => {
            state().enter();
            let result = try_acquire(mutex, site(pc)).unwrap_or(libc::EBUSY);
            state().leave();
            result
        }
    }
}

/// A wait with a time limit that ends at its turn: by then the mutex is free, or the time is up.
fn timed(mutex: *mut c_void, clock: c_int, limit: *const libc::timespec, pc: usize) -> c_int {
    lock_again(mutex, pc).or_else(|| try_acquire(mutex, site(pc))).unwrap_or_else(|| {
        time::pass_until(clock, limit);
        libc::ETIMEDOUT
    })
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
    object::check_alive(mutex, Use::Mutex, site(pc));
    match (times_held(mutex), kind(mutex)) {
        (0, MutexKind::Normal) if kind_word(mutex) & ROBUST == 0 => {
            object::fail("a thread unlocks a mutex that it does not hold", pc)
        }
        (0, MutexKind::Normal) => return libc::EPERM,
        (0, MutexKind::Recursive | MutexKind::ErrorChecking) => return libc::EPERM,
        (1, _) => release(mutex, site(pc)),
        (times, _) => set_times_held(mutex, times - 1),
    }
    0
}

extern "C" fn init(mutex: *mut c_void, attributes: *const c_void, pc: usize) -> c_int {
    if is_controlled() {
        initialise(mutex, pc);
    }
    real!(pthread_mutex_init(mutex => *mut c_void, attributes => *const c_void) -> c_int)
}

/// A mutex begins at this address. Whether another thread holds an earlier one there is an operation.
pub(super) fn initialise(mutex: *mut c_void, pc: usize) {
    object::initialise(mutex, pc);
    if state().variables.borrow().get(mutex.addr(), Use::Mutex).is_none() {
        return;
    }
    if times_held(mutex) > 0 || act(mutex, MutexOp::TryLock, site(pc)) != Effect::Yes {
        object::fail("a thread initialises a mutex that is locked", pc);
    }
    // A mutex that no thread holds is as good as a new one, for threads that wait for it too.
    act(mutex, MutexOp::Unlock, site(pc));
}

/// Whether another thread holds the mutex is an operation: all orders of this and its use count.
pub(super) extern "C" fn destroy(mutex: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_mutex_destroy(mutex => *mut c_void) -> c_int);
    }
    if times_held(mutex) > 0 || act(mutex, MutexOp::TryLock, site(pc)) != Effect::Yes {
        object::fail("a thread destroys a mutex that is locked", pc);
    }
    // Threads that wait for it have to see that it is destroyed.
    act(mutex, MutexOp::Unlock, site(pc));
    object::destroy(mutex, Use::Mutex, pc);
    0
}

with_registers! {
    pthread_mutex_trylock, "rsi", try_lock;
}

with_caller! {
    pthread_mutex_lock, "rsi", lock;
    pthread_mutex_timedlock, "rdx", timed_lock;
    pthread_mutex_clocklock, "rcx", clock_lock;
    pthread_mutex_unlock, "rsi", unlock;
    pthread_mutex_init, "rdx", init;
    pthread_mutex_consistent, "rsi", consistent;
    pthread_mutex_destroy, "rsi", destroy;
}
