//! Random programs with destructors, panics, detached threads and waits, and how raddle runs them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex as StdMutex;

use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, Mutex, TryLockError};
use raddle::time::Duration;
use raddle::{hint, thread};
use raddle_strategy::Rng;

pub(crate) const VARIABLES: usize = 2;
pub(crate) const LOCKS: usize = 2;
/// What is recorded if a lock was not taken.
pub(crate) const NOT_TAKEN: u32 = 2;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Loads a variable and records the value.
    Load(usize),
    /// Adds 1 to a variable and records the old value.
    Add(usize),
    /// Adds 1 as [`Step::Add`] does, by exchanges that are tried until one succeeds.
    Retry(usize),
    /// Loads a variable in a loop until it is not zero, with pauses in between, and records the last value.
    Await(usize),
    /// Pauses.
    Pause,
    /// Tries to take a lock up to this many times. Performs these steps while it is held, and records whether it was
    /// poisoned, or that it was not taken.
    Try(usize, usize, Vec<Step>),
    /// Waits for a notification, perhaps with a timeout, and records whether it timed out.
    Wait(Timeout),
    /// Notifies one of the threads that wait, or all.
    Notify {
        all: bool,
    },
    /// Waits for the token of main, perhaps with a timeout. Main performs this.
    Park(Timeout),
    /// Makes the token of main available.
    Unpark,
    /// Performs these steps while a lock is held. Records whether it was poisoned.
    Lock(usize, Vec<Step>),
    /// Performs the second steps, and the first in a destructor.
    Guard(Vec<Step>, Vec<Step>),
    /// Catches the panic of these steps.
    Catch(Vec<Step>),
    Panic,
    /// Unwinds without a call of the hook.
    Resume,
}

impl Step {
    fn may_fail(&self) -> bool {
        match self {
            Step::Try(..) | Step::Wait(_) => true,
            Step::Guard(last, inner) => last.iter().chain(inner).any(Step::may_fail),
            Step::Lock(_, inner) | Step::Catch(inner) => inner.iter().any(Step::may_fail),
            Step::Load(_)
            | Step::Add(_)
            | Step::Retry(_)
            | Step::Await(_)
            | Step::Pause
            | Step::Notify { .. }
            | Step::Park(_)
            | Step::Unpark
            | Step::Panic
            | Step::Resume => false,
        }
    }
}

/// Whether a wait may time out.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Timeout {
    Never,
    Possible,
}

/// How a thread ends.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// Main joins it.
    Joined,
    Detached,
    /// It is detached, and waits forever after its steps. Then a destructor adds 1 to a variable under the lock 0.
    Waits {
        /// Whether it holds the lock 1 meanwhile.
        holds: bool,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The steps of each thread. The first is main.
    pub(crate) threads: Vec<(Vec<Step>, End)>,
    /// How often the waits of a thread may end for no reason.
    pub(crate) spurious: u32,
}

/// The most attempts of a [`Step::Try`].
const MAX_TRIES: usize = 2;

impl Program {
    pub(crate) fn random(rng: &mut Rng) -> Program {
        let threads = 2 + rng.below(2);
        let thread = |thread: usize| {
            let end = match rng.below(6) {
                _ if thread == 0 => End::Joined,
                0 | 1 => End::Detached,
                2 => End::Waits { holds: rng.below(3) == 0 },
                _ => End::Joined,
            };
            let place = if thread == 0 { Place::Main } else { Place::Other };
            let mut all = steps(rng, place, 2, 3, end == End::Joined && thread != 0);
            if end != End::Joined || thread == 0 {
                // A panic that leaves main or a thread that is not joined is a failure.
                all = vec![Step::Catch(all)];
            }
            (all, end)
        };
        Program { threads: (0..threads).map(thread).collect(), spurious: rng.below(2) as u32 }
    }

    /// Returns whether a thread can see that something has not happened yet without synchronising with it: a failed attempt,
    /// a timeout. Executions under RC11 need not be sequentially consistent then.
    pub(crate) fn has_failures(&self) -> bool {
        self.threads.iter().any(|(steps, _)| steps.iter().any(Step::may_fail))
    }

    /// Runs the program inside a check. Calls `record` with what the threads recorded, after the last has ended.
    pub(crate) fn run(&self, record: fn(Vec<Vec<u32>>)) {
        let shared = Arc::new(Shared {
            variables: Default::default(),
            locks: Default::default(),
            condition: Default::default(),
            main: thread::current(),
            records: StdMutex::new(Records { of: vec![Vec::new(); self.threads.len()], ended: 0 }),
            record,
        });
        let spawn = |number: usize| {
            let (steps, end) = self.threads[number].clone();
            let actor = Actor { number, shared: shared.clone() };
            (number, end, thread::spawn(move || actor.live(&steps, end)))
        };
        let threads: Vec<_> = (1..self.threads.len()).map(spawn).collect();
        let main = Actor { number: 0, shared: shared.clone() };
        let _end = AtEnd { actor: &main, end: End::Joined };
        main.take(&self.threads[0].0);
        for (_, end, thread) in threads {
            if end == End::Joined {
                main.note(u32::from(thread.join().is_err()));
            }
        }
        for variable in &shared.variables {
            main.note(variable.load(SeqCst));
        }
    }
}

/// Where random steps stand.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Place {
    Main,
    Other,
}

/// Returns random steps. `panics` says whether a panic may leave them.
fn steps(rng: &mut Rng, place: Place, depth: u32, max: usize, panics: bool) -> Vec<Step> {
    (0..1 + rng.below(max)).map(|_| step(rng, place, depth, panics)).collect()
}

fn step(rng: &mut Rng, place: Place, depth: u32, panics: bool) -> Step {
    match rng.below(if depth == 0 { 7 } else { 14 }) {
        0 | 1 => Step::Add(rng.below(VARIABLES)),
        2 => Step::Load(rng.below(VARIABLES)),
        3 if panics => [Step::Panic, Step::Resume][rng.below(2)].clone(),
        3 => Step::Add(0),
        4..7 => waiting_step(rng, place),
        7 | 8 => Step::Lock(rng.below(LOCKS), steps(rng, place, depth - 1, 2, panics)),
        9 => {
            let tries = 1 + rng.below(MAX_TRIES);
            Step::Try(rng.below(LOCKS), tries, steps(rng, place, depth - 1, 2, false))
        }
        // A panic that leaves a destructor may end the process.
        10 | 11 => {
            let last = destructor(rng, place, depth - 1);
            Step::Guard(last, steps(rng, place, depth - 1, 2, panics))
        }
        _ => Step::Catch(steps(rng, place, depth - 1, 3, true)),
    }
}

/// Returns a step that waits, or that others wait for. Waits that do not time out are rare, because many of them end in a
/// deadlock.
fn waiting_step(rng: &mut Rng, place: Place) -> Step {
    let timeout = if rng.below(4) == 0 { Timeout::Never } else { Timeout::Possible };
    match rng.below(8) {
        0 => Step::Pause,
        1 | 2 => Step::Retry(rng.below(VARIABLES)),
        3 => Step::Await(rng.below(VARIABLES)),
        4 => Step::Wait(timeout),
        5 => Step::Notify { all: rng.below(2) == 0 },
        6 if place == Place::Main => Step::Park(timeout),
        _ => Step::Unpark,
    }
}

/// Returns the steps of a destructor. One in three panics and catches that, with a destructor of its own.
fn destructor(rng: &mut Rng, place: Place, depth: u32) -> Vec<Step> {
    if rng.below(3) > 0 {
        return steps(rng, place, depth, 2, false);
    }
    let panic = [Step::Panic, Step::Resume][rng.below(2)].clone();
    let nested = Step::Guard(vec![Step::Add(rng.below(VARIABLES))], vec![panic]);
    vec![Step::Catch(vec![nested]), Step::Add(rng.below(VARIABLES))]
}

struct Shared {
    variables: [AtomicU32; VARIABLES],
    locks: [Mutex<()>; LOCKS],
    condition: (Mutex<()>, Condvar),
    main: thread::Thread,
    records: StdMutex<Records>,
    record: fn(Vec<Vec<u32>>),
}

struct Records {
    of: Vec<Vec<u32>>,
    ended: usize,
}

struct Actor {
    number: usize,
    shared: Arc<Shared>,
}

impl Actor {
    fn live(&self, steps: &[Step], end: End) {
        let End::Waits { holds } = end else {
            let _end = AtEnd { actor: self, end };
            return self.take(steps);
        };
        self.take(steps);
        let _cleared = OnDrop(|| {
            let _held = self.shared.locks[0].lock();
            self.shared.variables[0].fetch_add(1, SeqCst);
        });
        let _held = holds.then(|| self.shared.locks[1].lock());
        drop(AtEnd { actor: self, end });
        loop {
            thread::park();
        }
    }

    fn note(&self, value: u32) {
        self.shared.records.lock().unwrap().of[self.number].push(value);
    }

    /// Records a value, and whether the thread panics.
    fn note_both(&self, value: u32) {
        self.note(value << 1 | u32::from(thread::panicking()));
    }

    fn take(&self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Load(variable) => {
                    self.note_both(self.shared.variables[*variable].load(SeqCst));
                }
                Step::Add(variable) => {
                    self.note_both(self.shared.variables[*variable].fetch_add(1, SeqCst));
                }
                Step::Retry(variable) => {
                    let variable = &self.shared.variables[*variable];
                    let mut seen = variable.load(SeqCst);
                    while let Err(now) =
                        variable.compare_exchange_weak(seen, seen + 1, SeqCst, SeqCst)
                    {
                        seen = now;
                    }
                    self.note_both(seen);
                }
                Step::Await(variable) => {
                    let mut seen = 0;
                    while seen == 0 {
                        hint::spin_loop();
                        seen = self.shared.variables[*variable].load(SeqCst);
                    }
                    self.note_both(seen);
                }
                Step::Pause => thread::yield_now(),
                Step::Try(lock, tries, inner) => {
                    let lock = &self.shared.locks[*lock];
                    let held = (0..*tries).find_map(|_| match lock.try_lock() {
                        Ok(held) => Some((held, 0)),
                        Err(TryLockError::Poisoned(held)) => Some((held.into_inner(), 1)),
                        Err(TryLockError::WouldBlock) => None,
                    });
                    self.note_both(held.as_ref().map_or(NOT_TAKEN, |(_, poisoned)| *poisoned));
                    if held.is_some() {
                        self.take(inner);
                    }
                }
                Step::Wait(timeout) => {
                    let (lock, condition) = &self.shared.condition;
                    let held = lock.lock().expect("nothing panics while this is held");
                    let timed_out = match timeout {
                        Timeout::Never => {
                            drop(condition.wait(held));
                            false
                        }
                        Timeout::Possible => {
                            let result = condition.wait_timeout(held, Duration::from_millis(1));
                            result.expect("nothing panics while this is held").1.timed_out()
                        }
                    };
                    self.note_both(u32::from(timed_out));
                }
                Step::Notify { all: true } => self.shared.condition.1.notify_all(),
                Step::Notify { all: false } => self.shared.condition.1.notify_one(),
                Step::Park(Timeout::Never) => thread::park(),
                Step::Park(Timeout::Possible) => thread::park_timeout(Duration::from_millis(1)),
                Step::Unpark => self.shared.main.unpark(),
                Step::Lock(lock, inner) => {
                    let held = self.shared.locks[*lock].lock();
                    self.note_both(u32::from(held.is_err()));
                    self.take(inner);
                    drop(held);
                }
                Step::Guard(last, inner) => {
                    let _last = OnDrop(|| self.take(last));
                    self.take(inner);
                }
                Step::Catch(inner) => {
                    let caught = catch_unwind(AssertUnwindSafe(|| self.take(inner)));
                    // After the execution raddle unwinds threads with a payload of its own.
                    if let Err(payload) = caught.map_err(|payload| payload.downcast::<&str>()) {
                        payload.unwrap_or_else(|foreign| resume_unwind(foreign));
                    }
                }
                Step::Panic => panic!("on purpose"),
                Step::Resume => resume_unwind(Box::new("on purpose")),
            }
        }
    }
}

/// Calls a function when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Notes the end of a thread when it is dropped.
struct AtEnd<'a> {
    actor: &'a Actor,
    end: End,
}

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        if self.end != End::Joined && thread::panicking() {
            // No panic leaves such a thread: it is unwound after the execution.
            return;
        }
        let shared = &self.actor.shared;
        let mut records = shared.records.lock().unwrap();
        records.ended += 1;
        if records.ended == records.of.len() {
            (shared.record)(std::mem::take(&mut records.of));
        }
    }
}
