//! Waits for file descriptors, in tests of Rust's test harness: a thread that would block waits under the scheduler.
//!
//! A descriptor becomes ready by a system call of the program, after which those that wait are looked at, or from
//! outside of the process, which is looked at when no thread can run. Such runs have alarms, as those that wait for time
//! ([`alarms`](crate::alarms)), and are sampled.

use raddle_core::{Action, Op, SemaphoreOp, Site, ThreadId};
use raddle_engine::Initial;

use crate::outside::ANSWER_MILLIS;
use crate::run::{State, refuse, state};
use crate::variables::Use;
use crate::{alarms, system};

/// How long to wait for the outside when no thread can run, in milliseconds.
const OUTSIDE_MILLIS: usize = 200;
/// Distinguishes the objects that threads wait on here from those of sleepers.
const KEY: usize = 1 << 32;

/// What a thread waits for.
#[derive(Clone, Debug)]
pub(crate) struct Waiter {
    thread: ThreadId,
    polled: Vec<libc::pollfd>,
    is_ready: bool,
}

/// Returns whether one of the descriptors is ready, after a time of real waiting.
fn is_ready(polled: &mut [libc::pollfd], millis: usize) -> bool {
    let arguments = [polled.as_mut_ptr().addr(), polled.len(), millis, 0, 0, 0];
    // SAFETY: the kernel writes what is ready into the entries.
    unsafe { system::call(libc::SYS_poll as usize, arguments) > 0 }
}

fn entry(file: usize, events: i16) -> libc::pollfd {
    libc::pollfd { fd: file as i32, events, revents: 0 }
}

/// What a system call waits for.
struct Wait {
    polled: Vec<libc::pollfd>,
    /// Nanoseconds, or `None` if it waits for as long as it takes.
    limit: Option<u64>,
    /// The arguments with which the call does not wait.
    at_once: [usize; 6],
    /// The number of the call that does not wait.
    number: i64,
}

/// Returns what a system call may wait for. Returns `None` for calls that do not wait for descriptors.
fn wait_of(number: i64, arguments: [usize; 6]) -> Option<Wait> {
    let [first, second, third, fourth, ..] = arguments;
    let millis = |word: usize| u64::try_from(word as i32).ok().map(|millis| millis * 1_000_000);
    let time = |address: usize| {
        let place = std::ptr::with_exposed_provenance::<[u64; 2]>(address);
        // SAFETY: the program passed a time, or none.
        unsafe { place.as_ref() }.map(|[seconds, nanos]| seconds * 1_000_000_000 + nanos)
    };
    let polled = || {
        let place = std::ptr::with_exposed_provenance::<libc::pollfd>(first);
        // SAFETY: the program passed as many entries.
        unsafe { std::slice::from_raw_parts(place, second) }.to_vec()
    };
    let one = |events: i16, is_blocking: bool| {
        let limit = if is_blocking && blocks(first) { None } else { Some(0) };
        Wait { polled: vec![entry(first, events)], limit, at_once: arguments, number }
    };
    Some(match number {
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait => {
            let at_once = [first, second, third, 0, arguments[4], arguments[5]];
            let polled = vec![entry(first, libc::POLLIN)];
            Wait { polled, limit: millis(fourth), at_once, number }
        }
        libc::SYS_epoll_pwait2 => {
            let at_once = [first, second, third, 0, arguments[4], arguments[5]];
            let polled = vec![entry(first, libc::POLLIN)];
            Wait { polled, limit: time(fourth), at_once, number: libc::SYS_epoll_pwait }
        }
        libc::SYS_poll => {
            let at_once = [first, second, 0, 0, 0, 0];
            Wait { polled: polled(), limit: millis(third), at_once, number }
        }
        libc::SYS_ppoll => {
            let at_once = [first, second, 0, 0, 0, 0];
            Wait { polled: polled(), limit: time(third), at_once, number: libc::SYS_poll }
        }
        libc::SYS_read
        | libc::SYS_readv
        | libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_accept
        | libc::SYS_accept4 => one(libc::POLLIN, true),
        libc::SYS_write | libc::SYS_writev if first > 2 => one(libc::POLLOUT, true),
        libc::SYS_sendto | libc::SYS_sendmsg => one(libc::POLLOUT, true),
        _ => return None,
    })
}

/// Returns whether operations on a descriptor wait.
fn blocks(file: usize) -> bool {
    let arguments = [file, libc::F_GETFL as usize, 0, 0, 0, 0];
    // SAFETY: only asks.
    let flags = unsafe { system::call(system::FCNTL, arguments) };
    flags >= 0 && flags as i32 & libc::O_NONBLOCK == 0
}

/// Makes a system call that may wait for descriptors: waits under the scheduler, and then makes it without waiting.
/// Returns `None` for other calls, and if tests do not have one clock.
pub(crate) fn make(number: i64, arguments: [usize; 6], site: Site) -> Option<isize> {
    let state = state();
    if !state.clock.is_on() {
        return None;
    }
    state.outside.note(number);
    let Wait { mut polled, limit, at_once, number } = wait_of(number, arguments)?;
    let millis = if state.outside.answers() { ANSWER_MILLIS } else { 0 };
    if limit != Some(0) && !is_ready(&mut polled, millis) {
        let deadline = limit.map(|limit| state.clock_time().saturating_add(limit));
        state.wait_for(polled, deadline, site);
    }
    // SAFETY: the program makes this call, without a limit or with another one.
    let result = unsafe { system::call(number as usize, at_once) };
    state.look_at_waiters();
    Some(result)
}

impl State {
    /// Waits until a descriptor is ready, or until a time.
    fn wait_for(&self, polled: Vec<libc::pollfd>, deadline: Option<u64>, site: Site) {
        let me = self.me();
        let key = KEY + me.index();
        let object = self.object(key, Use::Alarm, || Initial::Semaphore(0), site);
        let wait = |timed: bool| Op::new(object, Action::Semaphore(SemaphoreOp::Wait { timed }));
        loop {
            let waiter = Waiter { thread: me, polled: polled.clone(), is_ready: false };
            self.waiters.borrow_mut().push(waiter);
            self.wait_for_ring(wait(false), wait(true), deadline.unwrap_or(alarms::NEVER), site);
            let mut waiters = self.waiters.borrow_mut();
            let index = waiters.iter().position(|waiter| waiter.thread == me);
            let waiter = index.map(|index| waiters.swap_remove(index));
            if waiter.is_some_and(|waiter| waiter.is_ready) || is_ready(&mut polled.clone(), 0) {
                return;
            }
            if let Some(deadline) = deadline {
                return self.pass_to(deadline);
            }
            drop(waiters);
            // No thread can run, and no time is waited for.
            let mut all = polled.clone();
            all.extend(self.waiters.borrow().iter().flat_map(|waiter| waiter.polled.clone()));
            if !is_ready(&mut all, OUTSIDE_MILLIS) {
                refuse(
                    "blocked outside raddle: all threads wait, one of them for a file descriptor",
                );
            }
            if is_ready(&mut polled.clone(), 0) {
                return;
            }
            self.look_at_waiters();
        }
    }

    /// Lets the threads go on whose descriptors are ready.
    pub(crate) fn look_at_waiters(&self) {
        for waiter in &mut *self.waiters.borrow_mut() {
            if !waiter.is_ready && is_ready(&mut waiter.polled, 0) {
                waiter.is_ready = true;
                self.with_engine(|engine| engine.ring(waiter.thread));
            }
        }
    }
}
