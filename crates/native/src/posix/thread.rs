//! Threads: creation, joining, ends.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;

use raddle_core::{Action, ThreadId, ThreadOp};

use super::time;
use crate::first_thread;
use crate::hooks::with_caller;
use crate::one_thread::OneThread;
use crate::real::real;
use crate::run::{is_controlled, site, state};
use crate::threads::Thread;

/// How often libc calls the destructors of thread-specific data, as long as they set data again.
const DESTRUCTOR_ROUNDS: usize = 4;

/// The thread-specific data whose destructor ends a thread.
static END: OneThread<Cell<libc::pthread_key_t>> = OneThread::new(Cell::new(0));

/// Makes the key whose destructor ends a thread. Called once, when the check begins.
pub(crate) fn set_up() {
    let mut key = 0;
    real!(pthread_key_create(
        &raw mut key => *mut libc::pthread_key_t,
        end => unsafe extern "C" fn(*mut c_void),
    ) -> c_int);
    END.set(key);
}

/// Makes the calling thread end after its destructors.
pub(crate) fn arm_end() {
    arm(1);
}

fn arm(round: usize) {
    real!(pthread_setspecific(
        END.get() => libc::pthread_key_t,
        ptr::without_provenance(round) => *const c_void,
    ) -> c_int);
}

/// Ends the thread in the last round, when all other destructors have run.
unsafe extern "C" fn end(round: *mut c_void) {
    if round.addr() < DESTRUCTOR_ROUNDS {
        arm(round.addr() + 1);
    } else {
        state().leave_robust_mutexes();
        state().finish_thread();
    }
}

type Start = extern "C" fn(*mut c_void) -> *mut c_void;

pub(super) unsafe extern "C" fn create(
    handle: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    start: Start,
    argument: *mut c_void,
    pc: usize,
) -> c_int {
    let write = |new: usize| {
        // SAFETY: the program passed a place for the handle. The new thread may read it at once.
        unsafe { handle.write(new as libc::pthread_t) };
    };
    if !is_controlled() {
        if first_thread::create(start as usize, argument.expose_provenance(), write) {
            return 0;
        }
        return real!(pthread_create(
            handle => *mut libc::pthread_t,
            attributes => *const libc::pthread_attr_t,
            start => Start,
            argument => *mut c_void,
        ) -> c_int);
    }
    let body = (start as usize, argument.expose_provenance());
    state().spawn(body, is_detached(attributes), site(pc), write);
    0
}

unsafe extern "C" {
    fn pthread_attr_getdetachstate(
        attributes: *const libc::pthread_attr_t,
        kind: *mut c_int,
    ) -> c_int;
}

/// Returns whether attributes ask for a thread that cannot be joined.
fn is_detached(attributes: *const libc::pthread_attr_t) -> bool {
    let mut kind = libc::PTHREAD_CREATE_JOINABLE;
    if !attributes.is_null() {
        // SAFETY: the program passed initialised attributes.
        unsafe { pthread_attr_getdetachstate(attributes, &mut kind) };
    }
    kind == libc::PTHREAD_CREATE_DETACHED
}

/// Returns the thread with this handle, unless it was joined or detached.
pub(super) fn by_handle(handle: libc::pthread_t) -> Option<ThreadId> {
    let threads = state().threads.borrow();
    let is_it = |thread: &Thread| thread.handle == handle as usize && !thread.is_gone;
    threads.iter().rposition(is_it).map(|index| ThreadId(index as u32))
}

pub(super) unsafe extern "C" fn join(
    handle: libc::pthread_t,
    result: *mut *mut c_void,
    pc: usize,
) -> c_int {
    if !is_controlled() {
        if let Some(first) = first_thread::result(handle) {
            if !result.is_null() {
                // SAFETY: the program passed a place for the result.
                unsafe { result.write(first) };
            }
            return 0;
        }
        return real!(pthread_join(
            handle => libc::pthread_t,
            result => *mut *mut c_void,
        ) -> c_int);
    }
    let state = state();
    let Some(thread) = by_handle(handle) else { return libc::ESRCH };
    if thread == state.me() {
        return libc::EDEADLK;
    }
    let life = state.with_engine(|engine| engine.life(thread));
    state.act(life, Action::Thread(ThreadOp::Join), site(pc));
    if !result.is_null() {
        let value = state.threads.borrow()[thread.index()].result;
        // SAFETY: the program passed a place for the result.
        unsafe { result.write(ptr::with_exposed_provenance_mut(value)) };
    }
    state.forget_handle(thread);
    0
}

unsafe extern "C" fn try_join(
    handle: libc::pthread_t,
    result: *mut *mut c_void,
    pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(pthread_tryjoin_np(
            handle => libc::pthread_t,
            result => *mut *mut c_void,
        ) -> c_int);
    }
    let state = state();
    let Some(thread) = by_handle(handle) else { return libc::ESRCH };
    let life = state.with_engine(|engine| engine.life(thread));
    let has_ended = state.act(life, Action::Thread(ThreadOp::IsFinished), site(pc));
    if has_ended != raddle_core::Effect::Yes {
        return libc::EBUSY;
    }
    // SAFETY: the program passed these arguments.
    unsafe { join(handle, result, pc) }
}

/// A join with a time limit that ends at its turn: by then the thread has ended, or the time is up.
unsafe extern "C" fn clock_join(
    handle: libc::pthread_t,
    result: *mut *mut c_void,
    clock: c_int,
    limit: *const libc::timespec,
    pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(pthread_clockjoin_np(
            handle => libc::pthread_t,
            result => *mut *mut c_void,
            clock => c_int,
            limit => *const libc::timespec,
        ) -> c_int);
    }
    // SAFETY: the program passed these arguments.
    let error = unsafe { try_join(handle, result, pc) };
    if error != libc::EBUSY {
        return error;
    }
    time::pass_until(clock, limit);
    libc::ETIMEDOUT
}

unsafe extern "C" fn timed_join(
    handle: libc::pthread_t,
    result: *mut *mut c_void,
    limit: *const libc::timespec,
    pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(pthread_timedjoin_np(
            handle => libc::pthread_t,
            result => *mut *mut c_void,
            limit => *const libc::timespec,
        ) -> c_int);
    }
    // SAFETY: the program passed these arguments.
    unsafe { clock_join(handle, result, libc::CLOCK_REALTIME, limit, pc) }
}

pub(super) unsafe extern "C" fn detach(handle: libc::pthread_t, _pc: usize) -> c_int {
    if !is_controlled() {
        if first_thread::result(handle).is_some() {
            return 0;
        }
        return real!(pthread_detach(handle => libc::pthread_t) -> c_int);
    }
    let Some(thread) = by_handle(handle) else { return libc::ESRCH };
    state().forget_handle(thread);
    0
}

/// Ends the calling thread.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_exit(result: *mut c_void) -> ! {
    if is_controlled() {
        let state = state();
        let me = state.me();
        if me == ThreadId::MAIN && state.harness.get().local == 0 {
            state.finish_main();
            super::exit::leave(0);
        }
        state.threads.borrow_mut()[me.index()].result = result.expose_provenance();
    }
    // Unwinds the stack, and then runs the destructors, of which ours is the last.
    real!(pthread_exit(result => *mut c_void) -> !)
}

with_caller! {
    pthread_create, "r8", create;
    pthread_join, "rdx", join;
    pthread_tryjoin_np, "rdx", try_join;
    pthread_timedjoin_np, "rcx", timed_join;
    pthread_clockjoin_np, "r8", clock_join;
    pthread_detach, "rsi", detach;
}
