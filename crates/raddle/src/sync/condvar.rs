//! Condition variables, as [`std::sync::Condvar`].

use std::fmt;
use std::sync::LockResult;
use std::time::{Duration, Instant};

use raddle_core::{Action, CondvarOp, Effect, ObjectId, Op, Site};
use raddle_engine::Initial;
use raddle_runtime::port::{self, Kind, Name};

use crate::naming::Named;

use super::MutexGuard;

// Made once, by the compiler; only the object is to be filled in.
const ENQUEUE: Op = op(CondvarOp::Enqueue);
const CONSUME: Op = op(CondvarOp::Consume { timed: false });
const CONSUME_TIMED: Op = op(CondvarOp::Consume { timed: true });
const NOTIFY_ONE: Op = op(CondvarOp::NotifyOne);
const NOTIFY_ALL: Op = op(CondvarOp::NotifyAll);

const fn op(op: CondvarOp) -> Op {
    Op::new(ObjectId::NONE, Action::Condvar(op))
}

/// A condition variable, as [`std::sync::Condvar`]. Inside a check no wait ends without a
/// reason, unless [`Config::spurious`](crate::Config::spurious) asks for it.
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
#[derive(Default)]
pub struct Condvar {
    name: Name,
    outside: std::sync::Condvar,
}

/// Whether a timed wait ended by its time, as [`std::sync::WaitTimeoutResult`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the time was up.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// A condition variable nobody waits on.
    pub const fn new() -> Condvar {
        Condvar { name: Name::new(), outside: std::sync::Condvar::new() }
    }

    /// Waits for a notification, as [`std::sync::Condvar::wait`].
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let site = Site::caller();
        if !port::active() {
            return self.wait_outside(guard);
        }
        let is_spurious = port::spurious(site);
        self.act(ENQUEUE, site);
        guard.suspend_in_run(site, move || {
            // A wait that may end without a reason is one whose time may be up.
            self.act(if is_spurious { CONSUME_TIMED } else { CONSUME }, site);
        })
    }

    fn wait_outside<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let outcome = guard.suspend_outside(|held| match self.outside.wait(held) {
            Ok(held) => Ok((held, ())),
            Err(held) => Err(std::sync::PoisonError::new((held.into_inner(), ()))),
        });
        match outcome {
            Ok((guard, ())) => Ok(guard),
            Err(back) => Err(std::sync::PoisonError::new(back.into_inner().0)),
        }
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

    /// Waits for a notification or until the time is up, as [`std::sync::Condvar::wait_timeout`].
    ///
    /// Inside a check the time may be up at any moment.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let site = Site::caller();
        if !port::active() {
            return guard.suspend_outside(|held| match self.outside.wait_timeout(held, time) {
                Ok((held, result)) => Ok((held, WaitTimeoutResult(result.timed_out()))),
                Err(back) => {
                    let (held, result) = back.into_inner();
                    let result = WaitTimeoutResult(result.timed_out());
                    Err(std::sync::PoisonError::new((held, result)))
                }
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
        match outcome {
            Ok(guard) => Ok((guard, WaitTimeoutResult(timed_out))),
            Err(back) => {
                Err(std::sync::PoisonError::new((back.into_inner(), WaitTimeoutResult(timed_out))))
            }
        }
    }

    /// Waits while `condition` holds or until the time is up, as
    /// [`std::sync::Condvar::wait_timeout_while`].
    ///
    /// Inside a check the time may be up at any moment.
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
        let mut time_is_up = false;
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            if time_is_up {
                return Ok((guard, WaitTimeoutResult(true)));
            }
            // The real clock does not run inside a check; there the wait says when it is over.
            let left = if port::active() { time } else { time.saturating_sub(begin.elapsed()) };
            let result;
            (guard, result) = self.wait_timeout(guard, left)?;
            time_is_up = result.timed_out();
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

    /// False outside a run.
    #[inline(always)]
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
