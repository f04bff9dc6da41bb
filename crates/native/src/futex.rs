//! Futexes: waits for a change of a variable, as operations on the variable itself.
//!
//! A wait compares when the thread has its turn, and joins the waiters in the same step, or looks at the value. A requeue makes its two variables one object, because an operation touches one object.

use std::ptr;

use raddle_core::{Action, Effect, FutexOp, ObjectId, Op, Scalar, Site};

use crate::memory::{Located, read};
use crate::modules::Origin;
use crate::posix::time;
use crate::run::{refuse, site, state};

/// Calls of the kernel's function, without the flags for processes and clocks.
mod call {
    pub(super) const WAIT: i32 = 0;
    pub(super) const WAKE: i32 = 1;
    pub(super) const REQUEUE: i32 = 3;
    pub(super) const CMP_REQUEUE: i32 = 4;
    pub(super) const WAIT_BITSET: i32 = 9;
    pub(super) const WAKE_BITSET: i32 = 10;
    pub(super) const MASK: i32 = !(128 | CLOCK_REALTIME);
    pub(super) const CLOCK_REALTIME: i32 = 256;
}

const BYTES: usize = 4;
const ALL_BITS: u32 = u32::MAX;

/// Makes the system call `futex` with these arguments. Returns its result, a negative error number if it fails.
pub(crate) fn call(arguments: [usize; 6], pc: usize) -> isize {
    let [address, operation, value, fourth, second, third] = arguments;
    let (operation, value, third) = (operation as i32, value as u32, third as u32);
    if address == 0 || address % BYTES != 0 {
        return -(libc::EINVAL as isize);
    }
    note_foreign(pc);
    let is_realtime = operation & call::CLOCK_REALTIME != 0;
    let clock = if is_realtime { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
    let limit = ptr::with_exposed_provenance::<libc::timespec>(fourth);
    match operation & call::MASK {
        call::WAIT => wait(address, value, ALL_BITS, Limit::relative(limit), pc),
        call::WAIT_BITSET => wait(address, value, third, Limit::absolute(clock, limit), pc),
        call::WAKE => wake(address, value, ALL_BITS, pc),
        call::WAKE_BITSET => wake(address, value, third, pc),
        call::REQUEUE => requeue(address, second, [value, fourth as u32], None, pc),
        call::CMP_REQUEUE => requeue(address, second, [value, fourth as u32], Some(third), pc),
        other => refuse(&format!(
            "the program makes the system call `futex` with operation {other} (priority inheritance, `FUTEX_WAKE_OP`, \
             file descriptors), which raddle does not model"
        )),
    }
}

/// Ends the search for races if a library that is not instrumented waits: what else orders its threads is not known.
fn note_foreign(pc: usize) {
    let state = state();
    if state.finds_races.get() && state.origin(pc) == Origin::Other {
        *state.foreign.borrow_mut() = Some(state.file(pc));
        state.finds_races.set(false);
        state.begin_anew();
    }
}

/// When a wait times out.
#[derive(Copy, Clone)]
enum Limit {
    Never,
    /// At this time of a clock.
    At(i32, *const libc::timespec),
    /// After this time.
    After(*const libc::timespec),
}

impl Limit {
    fn relative(time: *const libc::timespec) -> Limit {
        if time.is_null() { Limit::Never } else { Limit::After(time) }
    }

    fn absolute(clock: i32, time: *const libc::timespec) -> Limit {
        if time.is_null() { Limit::Never } else { Limit::At(clock, time) }
    }
}

/// Returns the object of a variable.
fn locate(address: usize, site: Site) -> Located {
    let now = || read(address, BYTES);
    state().atomic(address, BYTES, Scalar::U32, now, site)
}

fn wait(address: usize, expected: u32, mask: u32, limit: Limit, pc: usize) -> isize {
    if mask == 0 {
        return -(libc::EINVAL as isize);
    }
    let site = site(pc);
    let Located { object, part, .. } = locate(address, site);
    let enqueue = Op::new(object, Action::Futex(FutexOp::Enqueue { part, mask }));
    wait_if(enqueue, u64::from(expected), || read(address, BYTES), limit, site)
}

/// Waits for a change of an object that is no memory, if `now` returns the expected value at the thread's turn. Returns
/// zero or a negative error number.
pub(crate) fn wait_object(
    object: ObjectId,
    expected: u64,
    now: impl Fn() -> u64,
    limit: *const libc::timespec,
    site: Site,
) -> isize {
    let enqueue = Op::new(object, Action::Futex(FutexOp::Enqueue { part: 0, mask: ALL_BITS }));
    wait_if(enqueue, expected, now, Limit::relative(limit), site)
}

/// Wakes the thread that waits for a change of an object that is no memory.
pub(crate) fn wake_object(object: ObjectId, site: Site) {
    let wake = FutexOp::Wake { part: 0, count: 1, mask: ALL_BITS };
    state().act(object, Action::Futex(wake), site);
}

fn wait_if(enqueue: Op, expected: u64, now: impl Fn() -> u64, limit: Limit, site: Site) -> isize {
    let (state, object) = (state(), enqueue.object());
    if state.act_if(enqueue, Some(expected), now, site).is_none() {
        return -(libc::EAGAIN as isize);
    }
    let timed = !matches!(limit, Limit::Never);
    if timed && state.clock.is_on() {
        let deadline = match limit {
            Limit::Never => u64::MAX,
            Limit::At(clock, time) => time::deadline_at(clock, time),
            Limit::After(time) => time::deadline_after(time),
        };
        let consume = |timed: bool| Op::new(object, Action::Futex(FutexOp::Consume { timed }));
        let effect = state.act_until(consume(false), consume(true), deadline, site);
        return if effect == Effect::No { -(libc::ETIMEDOUT as isize) } else { 0 };
    }
    let consume = Action::Futex(FutexOp::Consume { timed });
    if state.act(object, consume, site) != Effect::No {
        return 0;
    }
    match limit {
        Limit::Never => {}
        Limit::At(clock, time) => time::pass_until(clock, time),
        Limit::After(time) => time::pass(time),
    }
    -(libc::ETIMEDOUT as isize)
}

fn wake(address: usize, count: u32, mask: u32, pc: usize) -> isize {
    if mask == 0 {
        return -(libc::EINVAL as isize);
    }
    let site = site(pc);
    let Located { object, part, .. } = locate(address, site);
    // The kernel wakes one thread if it is asked for none.
    let wake = FutexOp::Wake { part, count: count.max(1), mask };
    number(state().act(object, Action::Futex(wake), site))
}

fn requeue(
    from: usize,
    to: usize,
    [wakes, moves]: [u32; 2],
    expected: Option<u32>,
    pc: usize,
) -> isize {
    let (state, site) = (state(), site(pc));
    let (source, target) = (locate(from, site), locate(to, site));
    if source.object != target.object {
        let (from, to) = (state.place(from), state.place(to));
        if state.layout.borrow_mut().join(from, to) {
            state.begin_anew();
        }
    }
    let requeue = FutexOp::Requeue { from: source.part, to: target.part, wakes, moves };
    let now = || read(from, BYTES);
    match state.act_if(
        Op::new(source.object, Action::Futex(requeue)),
        expected.map(u64::from),
        now,
        site,
    ) {
        Some(effect) => number(effect),
        None => -(libc::EAGAIN as isize),
    }
}

fn number(effect: Effect) -> isize {
    match effect {
        Effect::Value(number) => number as isize,
        Effect::None
        | Effect::Exchanged(_)
        | Effect::Kept(_)
        | Effect::Yes
        | Effect::No
        | Effect::Ticket(_)
        | Effect::LastTicket(_)
        | Effect::Closed => 0,
    }
}
