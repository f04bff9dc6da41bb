//! Barriers. A wait arrives, and leaves when all have arrived.

use std::ffi::{c_int, c_uint, c_void};

use raddle_core::{Action, BarrierOp, Effect};
use raddle_engine::Initial;

use crate::hooks::with_caller;
use crate::real::real;
use crate::run::{is_controlled, refuse, site, state};
use crate::variables::Use;

/// The result of the wait of one of the threads.
const SERIAL_THREAD: c_int = -1;

extern "C" fn init(
    barrier: *mut c_void,
    attributes: *const c_void,
    count: c_uint,
    pc: usize,
) -> c_int {
    let result = real!(pthread_barrier_init(
        barrier => *mut c_void,
        attributes => *const c_void,
        count => c_uint,
    ) -> c_int);
    if result == 0 && is_controlled() {
        let initial = Initial::Barrier(count.into());
        state().declare(barrier.addr(), Use::Barrier, initial, site(pc));
    }
    result
}

extern "C" fn destroy(barrier: *mut c_void, _pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_barrier_destroy(barrier => *mut c_void) -> c_int);
    }
    state().variables.borrow_mut().forget(barrier.addr(), Use::Barrier);
    0
}

extern "C" fn wait(barrier: *mut c_void, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_barrier_wait(barrier => *mut c_void) -> c_int);
    }
    let state = state();
    let known = state.variables.borrow().get(barrier.addr(), Use::Barrier);
    let Some((object, _)) = known else {
        refuse("a barrier is used that was not initialised after the beginning of main")
    };
    let site = site(pc);
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
