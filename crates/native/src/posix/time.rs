//! Virtual time: each thread has its own, which passes when it sleeps or a wait of it times out.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use raddle_core::{Action, ObjectId, PauseOp};

use crate::hooks::{with_caller, with_registers};
use crate::real::real;
use crate::run::{is_controlled, site, state};

const SECOND: u64 = 1_000_000_000;
/// The clocks at the beginning of a run, in nanoseconds.
const REALTIME_START: u64 = 1_700_000_000 * SECOND;
const MONOTONIC_START: u64 = 1_000 * SECOND;

/// Sets `errno` and returns the result of a function that failed.
pub(crate) fn fail(error: c_int) -> c_int {
    // SAFETY: returns the place of the calling thread's error number.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    unsafe { place.write(error) };
    -1
}

/// Returns what a clock shows at the beginning of a run. Returns `None` for clocks of CPU time.
fn start(clock: c_int) -> Option<u64> {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => {
            Some(REALTIME_START)
        }
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_BOOTTIME => Some(MONOTONIC_START),
        _ => None,
    }
}

/// Returns what a clock shows to the calling thread.
fn now(clock: c_int) -> u64 {
    let state = state();
    if state.clock.is_on() {
        return start(clock).unwrap_or(0) + state.look_at_clock();
    }
    let me = state.me();
    // CPU time does not pass in a run.
    start(clock).map_or(0, |start| start + state.with_engine(|engine| engine.time(me)))
}

/// Returns what a clock shows to the program.
fn shown(clock: c_int) -> u64 {
    let state = state();
    match start(clock) {
        Some(start) if !state.clock.is_on() => {
            let me = state.me();
            start + state.with_engine(|engine| engine.read_clock(me))
        }
        Some(_) | None => now(clock),
    }
}

/// Returns a time in nanoseconds, or `None` if it is none.
fn nanos(time: *const libc::timespec) -> Option<u64> {
    // SAFETY: the program passed a time.
    let time = unsafe { time.as_ref() }?;
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let rest = u64::try_from(time.tv_nsec).ok().filter(|&rest| rest < SECOND)?;
    Some(seconds.saturating_mul(SECOND).saturating_add(rest))
}

/// Returns the time since the run began at which a clock shows a time.
pub(crate) fn deadline_at(clock: c_int, limit: *const libc::timespec) -> u64 {
    nanos(limit).unwrap_or(0).saturating_sub(start(clock).unwrap_or(0))
}

/// Returns the time since the run began at which another time has passed.
pub(crate) fn deadline_after(time: *const libc::timespec) -> u64 {
    state().clock_time().saturating_add(nanos(time).unwrap_or(0))
}

/// A wait of the calling thread has timed out at this time of a clock.
pub(crate) fn pass_until(clock: c_int, limit: *const libc::timespec) {
    let left = nanos(limit).unwrap_or(0).saturating_sub(now(clock));
    let state = state();
    let me = state.me();
    state.with_engine(|engine| engine.advance(me, left));
}

/// A wait of the calling thread has timed out after this time.
pub(crate) fn pass(time: *const libc::timespec) {
    let state = state();
    let me = state.me();
    state.with_engine(|engine| engine.advance(me, nanos(time).unwrap_or(0)));
}

fn pause(pause: PauseOp, pc: usize) {
    let state = state();
    if state.clock.is_on() {
        match pause {
            PauseOp::Sleep { nanos } => return state.sleep(nanos, site(pc)),
            PauseOp::Yield | PauseOp::Spin => state.ring_if_idle(),
        }
    }
    state.enter();
    state.act(ObjectId::NONE, Action::Pause(pause), site(pc));
    state.leave();
}

pub(crate) unsafe extern "C" fn get_clock(
    clock: c_int,
    time: *mut libc::timespec,
    _pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(clock_gettime(clock => c_int, time => *mut libc::timespec) -> c_int);
    }
    let now = shown(clock);
    let value = libc::timespec { tv_sec: (now / SECOND) as i64, tv_nsec: (now % SECOND) as i64 };
    // SAFETY: the program passed a place for the time.
    unsafe { time.write(value) };
    0
}

pub(crate) unsafe extern "C" fn get_day(
    time: *mut libc::timeval,
    zone: *mut c_void,
    _pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(gettimeofday(time => *mut libc::timeval, zone => *mut c_void) -> c_int);
    }
    let now = shown(libc::CLOCK_REALTIME);
    let value =
        libc::timeval { tv_sec: (now / SECOND) as i64, tv_usec: (now % SECOND / 1000) as i64 };
    // SAFETY: the program passed a place for the time.
    unsafe { time.write(value) };
    0
}

pub(crate) unsafe extern "C" fn get_time(place: *mut i64, _pc: usize) -> i64 {
    if !is_controlled() {
        return real!(time(place => *mut i64) -> i64);
    }
    let now = (shown(libc::CLOCK_REALTIME) / SECOND) as i64;
    if !place.is_null() {
        // SAFETY: the program passed a place for the time.
        unsafe { place.write(now) };
    }
    now
}

extern "C" fn sleep_seconds(seconds: c_uint, pc: usize) -> c_uint {
    if !is_controlled() {
        return real!(sleep(seconds => c_uint) -> c_uint);
    }
    pause(PauseOp::Sleep { nanos: u64::from(seconds) * SECOND }, pc);
    0
}

extern "C" fn sleep_micros(micros: c_uint, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(usleep(micros => c_uint) -> c_int);
    }
    pause(PauseOp::Sleep { nanos: u64::from(micros) * 1000 }, pc);
    0
}

pub(super) extern "C" fn sleep_nanos(
    time: *const libc::timespec,
    left: *mut libc::timespec,
    pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(nanosleep(
            time => *const libc::timespec,
            left => *mut libc::timespec,
        ) -> c_int);
    }
    let Some(nanos) = nanos(time) else { return fail(libc::EINVAL) };
    pause(PauseOp::Sleep { nanos }, pc);
    0
}

pub(crate) extern "C" fn sleep_clock(
    clock: c_int,
    flags: c_int,
    time: *const libc::timespec,
    left: *mut libc::timespec,
    pc: usize,
) -> c_int {
    if !is_controlled() {
        return real!(clock_nanosleep(
            clock => c_int,
            flags => c_int,
            time => *const libc::timespec,
            left => *mut libc::timespec,
        ) -> c_int);
    }
    let Some(nanos) = nanos(time) else { return libc::EINVAL };
    let is_absolute = flags & libc::TIMER_ABSTIME != 0;
    let nanos = if is_absolute { nanos.saturating_sub(now(clock)) } else { nanos };
    pause(PauseOp::Sleep { nanos }, pc);
    0
}

pub(crate) extern "C" fn yield_turn(pc: usize) -> c_int {
    if !is_controlled() {
        return real!(sched_yield() -> c_int);
    }
    pause(PauseOp::Yield, pc);
    0
}

/// Returns the clock of a condition variable's time limits.
pub(super) fn clock_of(condvar: *mut c_void) -> c_int {
    /// Where glibc keeps the attributes of a condition variable, and the bit for the monotonic clock.
    const FLAGS: usize = 36;
    const MONOTONIC: c_uint = 2;
    // SAFETY: the program passed a condition variable.
    let place = unsafe { condvar.byte_add(FLAGS) };
    // SAFETY: as above.
    let flags = unsafe { ptr::read_unaligned(place.cast::<c_uint>()) };
    if flags & MONOTONIC != 0 { libc::CLOCK_MONOTONIC } else { libc::CLOCK_REALTIME }
}

with_caller! {
    clock_gettime, "rdx", get_clock;
    gettimeofday, "rdx", get_day;
    time, "rsi", get_time;
}

with_registers! {
    sleep, "rsi", sleep_seconds;
    usleep, "rsi", sleep_micros;
    nanosleep, "rdx", sleep_nanos;
    clock_nanosleep, "r8", sleep_clock;
    sched_yield, "rdi", yield_turn;
}
