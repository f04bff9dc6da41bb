//! Barriers. A wait arrives, and leaves when all have arrived. The number of threads is where glibc keeps it.

use std::ffi::{c_int, c_uint, c_void};

use raddle_core::{Action, BarrierOp, Effect};
use raddle_engine::Initial;

use super::object;
use crate::hooks::with_caller;
use crate::real::real;
use crate::run::{is_controlled, site, state};
use crate::variables::Use;

/// The result of the wait of one of the threads.
const SERIAL_THREAD: c_int = -1;
/// The place of the number of threads in a `pthread_barrier_t` of glibc.
const COUNT_OFFSET: usize = 8;

extern "C" fn init(
    barrier: *mut c_void,
    attributes: *const c_void,
    count: c_uint,
    pc: usize,
) -> c_int {
    if is_controlled() {
        object::initialise(barrier, pc);
        object::forget(barrier, Use::Barrier);
    }
    real!(pthread_barrier_init(
        barrier => *mut c_void,
        attributes => *const c_void,
        count => c_uint,
    ) -> c_int)
}

extern "C" fn destroy(barrier: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_barrier_destroy(barrier => *mut c_void) -> c_int);
    }
    object::destroy(barrier, Use::Barrier, pc);
    0
}

extern "C" fn wait(barrier: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_barrier_wait(barrier => *mut c_void) -> c_int);
    }
    let state = state();
    let site = site(pc);
    let initial = || {
        let count = barrier.wrapping_byte_add(COUNT_OFFSET).cast::<c_uint>();
        // SAFETY: the program passed a barrier, and runs do not change its memory.
        Initial::Barrier(u64::from(unsafe { count.read() }))
    };
    let object = object::object(barrier, Use::Barrier, initial, site);
    let (generation, is_last) = match state.act(object, Action::Barrier(BarrierOp::Arrive), site) {
        Effect::LastTicket(generation) => (generation, true),
        Effect::Ticket(generation) => (generation, false),
        other => unreachable!("raddle invariant broken: the effect {other:?} of an arrival"),
    };
    state.act(object, Action::Barrier(BarrierOp::Leave { generation }), site);
    if is_last { SERIAL_THREAD } else { 0 }
}

with_caller! {
    pthread_barrier_init, "rcx", init;
    pthread_barrier_destroy, "rsi", destroy;
    pthread_barrier_wait, "rsi", wait;
}
