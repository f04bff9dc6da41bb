//! Condition variables, as [`std::sync::Condvar`].

use std::fmt;
use std::sync::LockResult;
use std::time::{Duration, Instant};

use raddle_core::{Action, CondvarOp, Effect, ObjectId, Op, Site};
use raddle_engine::Initial;
use raddle_runtime::port::{self, Kind, Name};

use crate::naming::Named;

use super::MutexGuard;
use super::poison::map;

const ENQUEUE: Op = operation(CondvarOp::Enqueue);
const CONSUME: Op = operation(CondvarOp::Consume { timed: false });
const CONSUME_TIMED: Op = operation(CondvarOp::Consume { timed: true });
const NOTIFY_ONE: Op = operation(CondvarOp::NotifyOne);
const NOTIFY_ALL: Op = operation(CondvarOp::NotifyAll);

const fn operation(op: CondvarOp) -> Op {
    Op::new(ObjectId::NONE, Action::Condvar(op))
}

/// A condition variable, as [`std::sync::Condvar`].
///
/// Inside a check there are no spurious wakeups, unless [`Config::spurious`](crate::Config::spurious) allows them.
///
/// ```
/// use raddle::sync::{Arc, Condvar, Mutex};
///
/// let pair = Arc::new((Mutex::new(false), Condvar::new()));
/// let setter = {
///     let pair = pair.clone();
///     raddle::thread::spawn(move || {
///         *pair.0.lock().unwrap() = true;
///         pair.1.notify_one();
///     })
/// };
/// let ready = pair.1.wait_while(pair.0.lock().unwrap(), |ready| !*ready).unwrap();
/// assert!(*ready);
/// # drop(ready);
/// # setter.join().unwrap();
/// ```
pub struct Condvar {
    name: Name,
    outside: std::sync::Condvar,
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Condvar {
        Condvar::new()
    }
}

/// Whether a timed wait timed out, as [`std::sync::WaitTimeoutResult`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns whether the wait timed out.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Returns a condition variable on which no thread waits.
    #[track_caller]
    pub const fn new() -> Condvar {
        Condvar { name: Name::new(), outside: std::sync::Condvar::new() }
    }

    /// Waits for a notification, as [`std::sync::Condvar::wait`].
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let site = Site::caller();
        if !port::active() {
            let wait = |held| map(self.outside.wait(held), |held| (held, ()));
            return map(guard.suspend_outside(wait), |(guard, ())| guard);
        }
        let is_spurious = port::spurious(site);
        self.act(ENQUEUE, site);
        guard.suspend_in_run(site, move || {
            // A wait that may end spuriously is like one that may time out.
            self.act(if is_spurious { CONSUME_TIMED } else { CONSUME }, site);
        })
    }

    /// Waits while `condition` holds, as [`std::sync::Condvar::wait_while`].
    #[track_caller]
    pub fn wait_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Waits for a notification or a timeout, as [`std::sync::Condvar::wait_timeout`].
    ///
    /// Inside a check the wait may time out at any moment.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let site = Site::caller();
        if !port::active() {
            return guard.suspend_outside(|held| {
                map(self.outside.wait_timeout(held, time), |(held, result)| {
                    (held, WaitTimeoutResult(result.timed_out()))
                })
            });
        }
        self.act(ENQUEUE, site);
        let mut timed_out = false;
        let outcome = guard.suspend_in_run(site, || {
            let initial = || Some(Initial::Condvar);
            let effect = port::operate(Kind::Any, &self.name, initial, CONSUME_TIMED, site);
            timed_out = effect == Some(Effect::No);
            if timed_out {
                crate::time::pass(time);
            }
        });
        map(outcome, |guard| (guard, WaitTimeoutResult(timed_out)))
    }

    /// Waits while `condition` holds, or for a timeout, as [`std::sync::Condvar::wait_timeout_while`].
    ///
    /// Inside a check the wait may time out at any moment.
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let begin = Instant::now();
        let mut timed_out = false;
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            if timed_out {
                return Ok((guard, WaitTimeoutResult(true)));
            }
            // Inside a check the real clock is meaningless, and the result of the wait decides.
            let left = if port::active() { time } else { time.saturating_sub(begin.elapsed()) };
            let result;
            (guard, result) = self.wait_timeout(guard, left)?;
            timed_out = result.timed_out();
        }
    }

    /// Wakes one waiting thread, as [`std::sync::Condvar::notify_one`].
    #[inline]
    #[track_caller]
    pub fn notify_one(&self) {
        if !self.act(NOTIFY_ONE, Site::caller()) {
            self.outside.notify_one();
        }
    }

    /// Wakes all waiting threads, as [`std::sync::Condvar::notify_all`].
    #[inline]
    #[track_caller]
    pub fn notify_all(&self) {
        if !self.act(NOTIFY_ALL, Site::caller()) {
            self.outside.notify_all();
        }
    }

    /// Performs an operation on the condition variable. Returns false, with no side effect, outside a run.
    #[inline]
    fn act(&self, op: Op, site: Site) -> bool {
        port::operate(Kind::Any, &self.name, || Some(Initial::Condvar), op, site).is_some()
    }
}

impl Named for Condvar {
    fn call(&self, name: &str, site: Site) {
        port::name_object(&self.name, || Some(Initial::Condvar), name, site);
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
