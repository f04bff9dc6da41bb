//! One clock for all threads, in tests of Rust's test harness: a thread that sleeps never wakes before its time.
//!
//! The clock moves a little with each step and each look at it. Otherwise time passes only when no thread can run, or when
//! all of them only yield: then it jumps to the next time that a thread waits for. Tests that sleep "long enough" so pass
//! on every schedule that keeps their assumption. Runs with such waits are sampled, see `engine/alarms.rs`.

use std::cell::Cell;

use raddle_core::{Action, Effect, MemoryModel, ObjectId, Op, SemaphoreOp, Site};
use raddle_engine::Initial;
use raddle_explore::{Settings, Strategy};

use crate::run::{Outcome, State, refuse, state};
use crate::variables::Use;

/// The time that a step takes, and a look at the clock, in nanoseconds.
const STEP: u64 = 50;
const LOOK: u64 = 1_000;
/// The time of alarms that go off only if no others do.
pub(crate) const NEVER: u64 = u64::MAX;
/// What samples runs with alarms.
const SAMPLERS: &str = "portfolio:pct:3+pos+random";

/// The clock of a run.
#[derive(Default)]
pub(crate) struct Clock {
    /// Whether there is one clock for all threads.
    is_on: Cell<bool>,
    /// The time that has passed besides that of steps.
    passed: Cell<u64>,
    /// The number of steps before the run.
    steps_before: Cell<u64>,
    /// The number of threads that wait for a time.
    waiting: Cell<u32>,
    /// Whether runs are sampled because they have alarms.
    pub(crate) samples: Cell<bool>,
}

impl Clock {
    /// Makes one clock for all threads. Called once, when the check begins.
    pub(crate) fn set_up(&self) {
        self.is_on.set(true);
    }

    pub(crate) fn is_on(&self) -> bool {
        self.is_on.get()
    }

    /// Prepares for a run.
    pub(crate) fn begin(&self, steps: u64) {
        self.passed.set(0);
        self.steps_before.set(steps);
        self.waiting.set(0);
    }
}

/// Returns settings with which runs that have alarms can be explored, if there are any.
pub(crate) fn settings(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    if state().clock.samples.get() && !is_sampler(&settings.strategy) {
        settings.strategy = SAMPLERS.parse().unwrap_or(settings.strategy);
    }
    settings
}

fn is_sampler(strategy: &Strategy) -> bool {
    let word = strategy.word();
    let searches = ["auto", "dpor", "bpor", "dfs", "mcr", "pcr", "trust"];
    !searches.iter().any(|name| word.starts_with(name))
}

impl State {
    /// Returns the time since the run began.
    pub(crate) fn clock_time(&self) -> u64 {
        self.clock.passed.get() + (self.steps.get() - self.clock.steps_before.get()) * STEP
    }

    /// Returns the time since the run began, for the program, which looks at the clock.
    pub(crate) fn look_at_clock(&self) -> u64 {
        self.clock.passed.set(self.clock.passed.get() + LOOK);
        self.ring_due();
        self.clock_time()
    }

    fn ring_due(&self) {
        if self.clock.waiting.get() > 0 {
            let now = self.clock_time();
            self.with_engine(|engine| engine.ring_until(now));
        }
    }

    /// A thread is about to yield.
    pub(crate) fn ring_if_idle(&self) {
        if self.clock.waiting.get() > 0 {
            let (me, now) = (self.me(), self.clock_time());
            self.with_engine(|engine| {
                engine.ring_until(now);
                engine.ring_if_idle(me);
            });
        }
    }

    /// Performs `wait`, or `late` on the same object if the wait lasts until `deadline`. Returns the effect of `late` in
    /// that case, and otherwise that of `wait`.
    pub(crate) fn act_until(&self, wait: Op, late: Op, deadline: u64, site: Site) -> Effect {
        let effect = self.wait_for_ring(wait, late, deadline, site);
        if effect == Effect::No {
            self.pass_to(deadline);
        }
        effect
    }

    /// Lets the clock show a time, unless it is later.
    pub(crate) fn pass_to(&self, time: u64) {
        let missing = time.saturating_sub(self.clock_time());
        self.clock.passed.set(self.clock.passed.get() + missing);
    }

    /// Performs `wait`, or `late` on the same object if an alarm goes off, which is set for `deadline`. Returns the effect.
    pub(crate) fn wait_for_ring(&self, wait: Op, late: Op, deadline: u64, site: Site) -> Effect {
        if self.memory.get() == MemoryModel::Rc11 {
            refuse(
                "a thread waits for time to pass, which orders threads in ways that RC11 does not know",
            );
        }
        if !self.clock.samples.get() {
            self.clock.samples.set(true);
            *self.outcome.borrow_mut() = Outcome::NeedsLayout;
            self.end_process(0);
        }
        let me = self.me();
        self.steps.set(self.steps.get() + 1);
        self.clock.waiting.set(self.clock.waiting.get() + 1);
        let turn = self.with_engine(|engine| {
            engine.set_alarm(me, deadline, late);
            engine.submit(me, wait, site)
        });
        self.wait(turn);
        self.clock.waiting.set(self.clock.waiting.get() - 1);
        let effect = self.with_engine(|engine| {
            let op = if engine.stop_alarm(me) { late } else { wait };
            engine.perform(me, op, site)
        });
        effect.unwrap_or_else(|| self.end())
    }

    /// Lets the calling thread sleep.
    pub(crate) fn sleep(&self, nanos: u64, site: Site) {
        let deadline = self.clock_time().saturating_add(nanos);
        // No other thread knows the object, so none wakes this one.
        let key = self.me().index();
        let object: ObjectId = self.object(key, Use::Alarm, || Initial::Semaphore(0), site);
        let wait = |timed: bool| Op::new(object, Action::Semaphore(SemaphoreOp::Wait { timed }));
        self.act_until(wait(false), wait(true), deadline, site);
    }
}
