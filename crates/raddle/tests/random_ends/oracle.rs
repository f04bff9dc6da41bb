//! All executions of a random program, by brute force over states, without raddle.
//!
//! Which panics these programs have depends on no value. So every thread is a fixed list of operations, once it is known
//! which destructors run during which panics: that follows from the rules of the language alone. A loop that waits or
//! retries is one operation that is performed when the loop would end.

use std::collections::{BTreeSet, HashSet};

use crate::program::{End, LOCKS, NOT_TAKEN, Program, Step, Timeout, VARIABLES};

/// What can happen in a program.
pub(crate) struct Expected {
    /// What the threads record, in executions in which all threads come to the end of their steps.
    pub(crate) outcomes: BTreeSet<Vec<Vec<u32>>>,
    /// Whether an execution deadlocks.
    pub(crate) deadlocks: bool,
    /// Whether an execution ends well although a thread does not come to the end of its steps.
    pub(crate) leaves_behind: bool,
}

#[derive(Clone, Debug)]
enum Op {
    Load {
        variable: usize,
        panicking: bool,
    },
    Add {
        variable: usize,
        panicking: bool,
    },
    Lock {
        lock: usize,
        panicking: bool,
    },
    Unlock {
        lock: usize,
        poisons: bool,
    },
    /// Takes a lock without recording anything.
    LockQuietly(usize),
    /// Waits until the variable is not zero.
    Await {
        variable: usize,
        panicking: bool,
    },
    /// Takes a lock if it is free, and continues after this many of the operations that follow. Otherwise after as many, and
    /// if these are to skip the section, the attempt was the last.
    Try {
        lock: usize,
        panicking: bool,
        taken: usize,
        failed: usize,
        is_last: bool,
    },
    /// Becomes one of the threads that wait, and releases their lock.
    Enqueue,
    /// Is notified, times out, or wakes up for no reason.
    Wake {
        timeout: Timeout,
        panicking: bool,
    },
    Notify {
        all: bool,
    },
    Park(Timeout),
    Unpark,
    /// Waits for the end of a thread, which panicked or not.
    Join {
        thread: usize,
        panicked: bool,
    },
    Wait,
}

/// The lock of the condition variable, after the others.
const CONDITION: usize = LOCKS;

#[derive(Copy, Clone, PartialEq, Eq, Hash)]
enum Waiting {
    No,
    Yes,
    /// It has been notified.
    Notified,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// By thread: the number of operations performed.
    at: Vec<usize>,
    variables: [u32; VARIABLES],
    holders: [Option<usize>; LOCKS + 1],
    poisoned: [bool; LOCKS + 1],
    /// By thread.
    waiting: Vec<Waiting>,
    /// By thread: how often it may yet wake up for no reason.
    spurious: Vec<u32>,
    /// Whether the token of main is available.
    token: bool,
    records: Vec<Vec<u32>>,
}

/// Returns what can happen, or `None` if there are more than `limit` states.
pub(crate) fn expected(program: &Program, limit: usize) -> Option<Expected> {
    let mut threads: Vec<Vec<Op>> = Vec::new();
    let mut panicked = Vec::new();
    for (steps, end) in &program.threads {
        let mut ops = Vec::new();
        panicked.push(compile(steps, 0, &mut ops));
        if let End::Waits { holds } = end {
            ops.extend(holds.then_some(Op::LockQuietly(1)));
            ops.push(Op::Wait);
        }
        threads.push(ops);
    }
    for (number, (_, end)) in program.threads.iter().enumerate().skip(1) {
        if *end == End::Joined {
            threads[0].push(Op::Join { thread: number, panicked: panicked[number] });
        }
    }
    // Main looks at all variables at last.
    let last = (0..VARIABLES).map(|variable| Op::Load { variable, panicking: false });
    let first_last = threads[0].len();
    threads[0].extend(last);

    let first = State {
        at: vec![0; threads.len()],
        variables: [0; VARIABLES],
        holders: [None; LOCKS + 1],
        poisoned: [false; LOCKS + 1],
        waiting: vec![Waiting::No; threads.len()],
        spurious: vec![program.spurious; threads.len()],
        token: false,
        records: vec![Vec::new(); threads.len()],
    };
    let mut all = Expected { outcomes: BTreeSet::new(), deadlocks: false, leaves_behind: false };
    let mut seen = HashSet::from([first.clone()]);
    let mut open = vec![first];
    while let Some(state) = open.pop() {
        // That threads may wake up for no reason does not mean that they do.
        let never = State { spurious: vec![0; threads.len()], ..state.clone() };
        let mut all_threads = 0..threads.len();
        let is_stuck =
            all_threads.all(|thread| never.steps(&threads, thread, first_last).is_empty());
        for thread in 0..threads.len() {
            for next in state.steps(&threads, thread, first_last) {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        if is_stuck {
            state.end(&threads, &mut all);
        }
        if seen.len() > limit {
            return None;
        }
    }
    Some(all)
}

impl State {
    /// Returns the states after the next operation of a thread. There are none if it has to wait or has ended.
    fn steps(&self, threads: &[Vec<Op>], thread: usize, first_last: usize) -> Vec<State> {
        let Some(op) = threads[thread].get(self.at[thread]) else { return Vec::new() };
        match *op {
            Op::Wake { timeout, panicking } => self.wakes(thread, timeout, panicking),
            Op::Park(timeout) => self.parks(thread, timeout),
            Op::Notify { all } => self.notifies(thread, all),
            _ => self.step(threads, thread, first_last).into_iter().collect(),
        }
    }

    /// Returns the state after one more operation of a thread.
    fn after(&self, thread: usize) -> State {
        let mut next = self.clone();
        next.at[thread] += 1;
        next
    }

    /// Returns the state after a spurious wake-up or failure of a thread, if it may have one.
    fn after_nothing(&self, thread: usize) -> Option<State> {
        let mut next = self.after(thread);
        next.spurious[thread] = self.spurious[thread].checked_sub(1)?;
        Some(next)
    }

    fn wakes(&self, thread: usize, timeout: Timeout, panicking: bool) -> Vec<State> {
        let ended = |next: State, timed_out: bool| {
            let mut next = next;
            next.waiting[thread] = Waiting::No;
            next.records[thread].push(u32::from(timed_out) << 1 | u32::from(panicking));
            next
        };
        if self.waiting[thread] == Waiting::Notified {
            return vec![ended(self.after(thread), false)];
        }
        // Time limits are not part of waits that may wake up for no reason.
        match timeout {
            Timeout::Possible => vec![ended(self.after(thread), true)],
            Timeout::Never => {
                self.after_nothing(thread).into_iter().map(|next| ended(next, false)).collect()
            }
        }
    }

    fn parks(&self, thread: usize, timeout: Timeout) -> Vec<State> {
        if self.token || timeout == Timeout::Possible {
            return vec![State { token: false, ..self.after(thread) }];
        }
        self.after_nothing(thread).into_iter().collect()
    }

    fn notifies(&self, thread: usize, all: bool) -> Vec<State> {
        let mut next = self.after(thread);
        let waiting: Vec<usize> =
            (0..self.waiting.len()).filter(|&other| self.waiting[other] == Waiting::Yes).collect();
        if all || waiting.is_empty() {
            waiting.iter().for_each(|&other| next.waiting[other] = Waiting::Notified);
            return vec![next];
        }
        let notified = waiting.into_iter().map(|other| {
            let mut next = next.clone();
            next.waiting[other] = Waiting::Notified;
            next
        });
        notified.collect()
    }

    fn step(&self, threads: &[Vec<Op>], thread: usize, first_last: usize) -> Option<State> {
        let op = &threads[thread][self.at[thread]];
        let mut next = self.after(thread);
        let mut note = |value: u32, panicking: bool| {
            let is_last = thread == 0 && self.at[0] >= first_last;
            let both = value << 1 | u32::from(panicking);
            next.records[thread].push(if is_last { value } else { both });
        };
        match *op {
            Op::Load { variable, panicking } => note(self.variables[variable], panicking),
            Op::Add { variable, panicking } => {
                note(self.variables[variable], panicking);
                next.variables[variable] += 1;
            }
            Op::Await { variable, .. } if self.variables[variable] == 0 => return None,
            Op::Await { variable, panicking } => note(self.variables[variable], panicking),
            Op::Lock { .. } | Op::LockQuietly(_) if self.holder_for(op).is_some() => return None,
            Op::Lock { lock, panicking } => {
                note(u32::from(self.poisoned[lock]), panicking);
                next.holders[lock] = Some(thread);
            }
            Op::LockQuietly(lock) => next.holders[lock] = Some(thread),
            Op::Try { lock, failed, panicking, is_last, .. } if self.holders[lock].is_some() => {
                if is_last {
                    note(NOT_TAKEN, panicking);
                }
                next.at[thread] += failed;
            }
            Op::Try { lock, taken, panicking, .. } => {
                note(u32::from(self.poisoned[lock]), panicking);
                next.holders[lock] = Some(thread);
                next.at[thread] += taken;
            }
            Op::Unlock { lock, poisons } => {
                next.holders[lock] = None;
                next.poisoned[lock] |= poisons;
            }
            Op::Enqueue => {
                next.holders[CONDITION] = None;
                next.waiting[thread] = Waiting::Yes;
            }
            Op::Unpark => next.token = true,
            Op::Join { thread: other, .. } if self.at[other] < threads[other].len() => return None,
            Op::Join { panicked, .. } => next.records[thread].push(u32::from(panicked)),
            Op::Wait | Op::Wake { .. } | Op::Park(_) | Op::Notify { .. } => return None,
        }
        Some(next)
    }

    fn holder_for(&self, op: &Op) -> Option<usize> {
        match *op {
            Op::Lock { lock, .. } | Op::LockQuietly(lock) => self.holders[lock],
            _ => None,
        }
    }

    /// Adds an execution that ends in this state.
    fn end(&self, threads: &[Vec<Op>], all: &mut Expected) {
        let next = |thread: usize| threads[thread].get(self.at[thread]);
        let waits_for = |thread: usize| match next(thread)? {
            Op::Join { thread, .. } => Some(*thread),
            op => self.holder_for(op),
        };
        let is_in_cycle = |thread: usize| {
            let mut at = waits_for(thread);
            for _ in 0..threads.len() {
                if at == Some(thread) {
                    return true;
                }
                at = at.and_then(waits_for);
            }
            false
        };
        if next(0).is_some() || (0..threads.len()).any(is_in_cycle) {
            all.deadlocks = true;
        } else if (0..threads.len()).all(|thread| matches!(next(thread), None | Some(Op::Wait))) {
            all.outcomes.insert(self.records.clone());
        } else {
            all.leaves_behind = true;
        }
    }
}

/// Adds the operations of `steps`, which begin while this many panics are under way. Returns whether a panic leaves them.
fn compile(steps: &[Step], panics: u32, ops: &mut Vec<Op>) -> bool {
    let panicking = panics > 0;
    for step in steps {
        let unwinds = match step {
            Step::Load(variable) => {
                ops.push(Op::Load { variable: *variable, panicking });
                false
            }
            Step::Add(variable) => {
                ops.push(Op::Add { variable: *variable, panicking });
                false
            }
            Step::Retry(variable) => {
                ops.push(Op::Add { variable: *variable, panicking });
                false
            }
            Step::Await(variable) => {
                ops.push(Op::Await { variable: *variable, panicking });
                false
            }
            Step::Pause => false,
            Step::Try(lock, tries, inner) => {
                let mut section = Vec::new();
                let unwinds = compile(inner, panics, &mut section);
                assert!(!unwinds, "no panic leaves the section");
                section.push(Op::Unlock { lock: *lock, poisons: false });
                for taken in (0..*tries).rev() {
                    let is_last = taken == 0;
                    let failed = if is_last { section.len() } else { 0 };
                    ops.push(Op::Try { lock: *lock, panicking, taken, failed, is_last });
                }
                ops.append(&mut section);
                false
            }
            Step::Wait(timeout) => {
                let relock = Op::LockQuietly(CONDITION);
                let wake = Op::Wake { timeout: *timeout, panicking };
                let unlock = Op::Unlock { lock: CONDITION, poisons: false };
                ops.extend([Op::LockQuietly(CONDITION), Op::Enqueue, wake, relock, unlock]);
                false
            }
            Step::Notify { all } => {
                ops.push(Op::Notify { all: *all });
                false
            }
            Step::Park(timeout) => {
                ops.push(Op::Park(*timeout));
                false
            }
            Step::Unpark => {
                ops.push(Op::Unpark);
                false
            }
            Step::Lock(lock, inner) => {
                ops.push(Op::Lock { lock: *lock, panicking });
                let unwinds = compile(inner, panics, ops);
                ops.push(Op::Unlock { lock: *lock, poisons: unwinds && !panicking });
                unwinds
            }
            Step::Guard(last, inner) => {
                let unwinds = compile(inner, panics, ops);
                let leaves = compile(last, panics + u32::from(unwinds), ops);
                assert!(!leaves, "no panic leaves a destructor");
                unwinds
            }
            Step::Catch(inner) => {
                compile(inner, panics, ops);
                false
            }
            Step::Panic | Step::Resume => true,
        };
        if unwinds {
            return true;
        }
    }
    false
}
