//! Reader-writer locks. Whether the calling thread holds one to write is known here, and how often it reads one.
//!
//! glibc's locks let a thread read again while a writer waits, unless they prefer writers. Then it may block, which the
//! session finds from the two operations; otherwise the second one is none.

use std::ffi::{c_int, c_void};

use raddle_core::{Action, Effect, RwLockOp};
use raddle_engine::Initial;

use super::mutex::{set_times_held, times_held};
use super::{object, time};
use crate::hooks::with_caller;
use crate::real::real;
use crate::run::{is_controlled, site, state};
use crate::variables::Use;

fn act(lock: *mut c_void, op: RwLockOp, pc: usize) -> Effect {
    object::act(lock, Use::RwLock, || Initial::RwLock, Action::RwLock(op), site(pc))
}

fn count_reader(lock: *mut c_void, change: i32) {
    let state = state();
    let mut readers = state.readers.borrow_mut();
    let count = readers.entry((lock.addr(), state.me())).or_default();
    *count = count.saturating_add_signed(change);
}

/// Returns how often the calling thread reads a lock.
fn reads(lock: *mut c_void) -> u32 {
    let state = state();
    state.readers.borrow().get(&(lock.addr(), state.me())).copied().unwrap_or(0)
}

/// Returns whether a lock makes readers wait if a writer does.
fn prefers_writers(lock: *mut c_void) -> bool {
    /// The place of the kind in a `pthread_rwlock_t` of glibc.
    const KIND_OFFSET: usize = 48;
    const PREFERS_WRITERS: c_int = 2;
    // SAFETY: the program passed a lock, and glibc keeps its kind there.
    unsafe { lock.wrapping_byte_add(KIND_OFFSET).cast::<c_int>().read() == PREFERS_WRITERS }
}

/// Reads a lock that the calling thread reads already, if that cannot block. Returns whether it does.
fn read_again(lock: *mut c_void) -> bool {
    let is_free = reads(lock) > 0 && !prefers_writers(lock);
    count_reader(lock, i32::from(is_free));
    is_free
}

extern "C" fn read(lock: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_rwlock_rdlock(lock => *mut c_void) -> c_int);
    }
    if times_held(lock) > 0 {
        return libc::EDEADLK;
    }
    if !read_again(lock) {
        act(lock, RwLockOp::Read, pc);
        count_reader(lock, 1);
    }
    0
}

extern "C" fn write(lock: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_rwlock_wrlock(lock => *mut c_void) -> c_int);
    }
    if times_held(lock) > 0 {
        return libc::EDEADLK;
    }
    act(lock, RwLockOp::Write, pc);
    set_times_held(lock, 1);
    0
}

fn try_read_in_run(lock: *mut c_void, pc: usize) -> bool {
    if read_again(lock) {
        return true;
    }
    let is_held = act(lock, RwLockOp::TryRead, pc) == Effect::Yes;
    count_reader(lock, i32::from(is_held));
    is_held
}

fn try_write_in_run(lock: *mut c_void, pc: usize) -> bool {
    let is_held = act(lock, RwLockOp::TryWrite, pc) == Effect::Yes;
    if is_held {
        set_times_held(lock, 1);
    }
    is_held
}

extern "C" fn try_read(lock: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_rwlock_tryrdlock(lock => *mut c_void) -> c_int);
    }
    if try_read_in_run(lock, pc) { 0 } else { libc::EBUSY }
}

extern "C" fn try_write(lock: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_rwlock_trywrlock(lock => *mut c_void) -> c_int);
    }
    if try_write_in_run(lock, pc) { 0 } else { libc::EBUSY }
}

/// A wait with a time limit that ends at its turn: by then the lock is free, or the time is up.
fn timed(is_held: bool, clock: c_int, limit: *const libc::timespec) -> c_int {
    if is_held {
        return 0;
    }
    time::pass_until(clock, limit);
    libc::ETIMEDOUT
}

extern "C" fn timed_read(lock: *mut c_void, limit: *const libc::timespec, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_rwlock_timedrdlock(
            lock => *mut c_void,
            limit => *const libc::timespec,
        ) -> c_int);
    }
    timed(try_read_in_run(lock, pc), libc::CLOCK_REALTIME, limit)
}

extern "C" fn timed_write(lock: *mut c_void, limit: *const libc::timespec, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_rwlock_timedwrlock(
            lock => *mut c_void,
            limit => *const libc::timespec,
        ) -> c_int);
    }
    timed(try_write_in_run(lock, pc), libc::CLOCK_REALTIME, limit)
}

extern "C" fn clock_read(
    lock: *mut c_void,
    clock: c_int,
    limit: *const libc::timespec,
    pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(pthread_rwlock_clockrdlock(
            lock => *mut c_void,
            clock => c_int,
            limit => *const libc::timespec,
        ) -> c_int);
    }
    timed(try_read_in_run(lock, pc), clock, limit)
}

extern "C" fn clock_write(
    lock: *mut c_void,
    clock: c_int,
    limit: *const libc::timespec,
    pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(pthread_rwlock_clockwrlock(
            lock => *mut c_void,
            clock => c_int,
            limit => *const libc::timespec,
        ) -> c_int);
    }
    timed(try_write_in_run(lock, pc), clock, limit)
}

extern "C" fn unlock(lock: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_rwlock_unlock(lock => *mut c_void) -> c_int);
    }
    if times_held(lock) > 0 {
        set_times_held(lock, 0);
        act(lock, RwLockOp::UnlockWrite, pc);
    } else if reads(lock) > 0 {
        count_reader(lock, -1);
        if reads(lock) == 0 || prefers_writers(lock) {
            act(lock, RwLockOp::UnlockRead, pc);
        }
    } else {
        object::fail("a thread unlocks a reader-writer lock that it does not hold", pc);
    }
    0
}

extern "C" fn init(lock: *mut c_void, attributes: *const c_void, pc: usize) -> c_int {
    if is_controlled() {
        object::initialise(lock, pc);
        object::forget(lock, Use::RwLock);
    }
    real!(pthread_rwlock_init(lock => *mut c_void, attributes => *const c_void) -> c_int)
}

/// Whether another thread holds the lock is an operation: all orders of this and its use count.
extern "C" fn destroy(lock: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_rwlock_destroy(lock => *mut c_void) -> c_int);
    }
    if act(lock, RwLockOp::TryWrite, pc) != Effect::Yes {
        object::fail("a thread destroys a reader-writer lock that is locked", pc);
    }
    act(lock, RwLockOp::UnlockWrite, pc);
    object::destroy(lock, Use::RwLock, pc);
    0
}

with_caller! {
    pthread_rwlock_rdlock, "rsi", read;
    pthread_rwlock_wrlock, "rsi", write;
    pthread_rwlock_tryrdlock, "rsi", try_read;
    pthread_rwlock_trywrlock, "rsi", try_write;
    pthread_rwlock_timedrdlock, "rdx", timed_read;
    pthread_rwlock_timedwrlock, "rdx", timed_write;
    pthread_rwlock_clockrdlock, "rcx", clock_read;
    pthread_rwlock_clockwrlock, "rcx", clock_write;
    pthread_rwlock_unlock, "rsi", unlock;
    pthread_rwlock_init, "rdx", init;
    pthread_rwlock_destroy, "rsi", destroy;
}
