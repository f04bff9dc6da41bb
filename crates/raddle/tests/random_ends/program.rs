//! Random programs with destructors, panics and detached threads, and how raddle runs them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex as StdMutex;

use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::thread;
use raddle_strategy::Rng;

pub(crate) const VARIABLES: usize = 2;
pub(crate) const LOCKS: usize = 2;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Loads a variable and records the value.
    Load(usize),
    /// Adds 1 to a variable and records the old value.
    Add(usize),
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
}

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
            let mut all = steps(rng, 2, 3, end == End::Joined && thread != 0);
            if end != End::Joined || thread == 0 {
                // A panic that leaves main or a thread that is not joined is a failure.
                all = vec![Step::Catch(all)];
            }
            (all, end)
        };
        Program { threads: (0..threads).map(thread).collect() }
    }

    /// Runs the program inside a check. Calls `record` with what the threads recorded, after the last has ended.
    pub(crate) fn run(&self, record: fn(Vec<Vec<u32>>)) {
        let shared = Arc::new(Shared {
            variables: Default::default(),
            locks: Default::default(),
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

/// Returns random steps. `panics` says whether a panic may leave them.
fn steps(rng: &mut Rng, depth: u32, max: usize, panics: bool) -> Vec<Step> {
    (0..1 + rng.below(max)).map(|_| step(rng, depth, panics)).collect()
}

fn step(rng: &mut Rng, depth: u32, panics: bool) -> Step {
    match rng.below(if depth == 0 { 4 } else { 10 }) {
        0 | 1 => Step::Add(rng.below(VARIABLES)),
        2 => Step::Load(rng.below(VARIABLES)),
        3 if panics => [Step::Panic, Step::Resume][rng.below(2)].clone(),
        3 => Step::Add(0),
        4 | 5 => Step::Lock(rng.below(LOCKS), steps(rng, depth - 1, 2, panics)),
        // A panic that leaves a destructor may end the process.
        6 | 7 => Step::Guard(destructor(rng, depth - 1), steps(rng, depth - 1, 2, panics)),
        _ => Step::Catch(steps(rng, depth - 1, 3, true)),
    }
}

/// Returns the steps of a destructor. One in three panics and catches that, with a destructor of its own.
fn destructor(rng: &mut Rng, depth: u32) -> Vec<Step> {
    if rng.below(3) > 0 {
        return steps(rng, depth, 2, false);
    }
    let panic = [Step::Panic, Step::Resume][rng.below(2)].clone();
    let nested = Step::Guard(vec![Step::Add(rng.below(VARIABLES))], vec![panic]);
    vec![Step::Catch(vec![nested]), Step::Add(rng.below(VARIABLES))]
}

struct Shared {
    variables: [AtomicU32; VARIABLES],
    locks: [Mutex<()>; LOCKS],
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
