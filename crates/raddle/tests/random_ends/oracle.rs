//! All executions of a random program, by brute force over states, without raddle.
//!
//! No step of these programs depends on a value. So every thread is a fixed list of operations, once it is known which
//! destructors run during which panics: that follows from the rules of the language alone.

use std::collections::{BTreeSet, HashSet};

use crate::program::{End, LOCKS, Program, Step, VARIABLES};

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
    /// Waits for the end of a thread, which panicked or not.
    Join {
        thread: usize,
        panicked: bool,
    },
    Wait,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// By thread: the number of operations performed.
    at: Vec<usize>,
    variables: [u32; VARIABLES],
    holders: [Option<usize>; LOCKS],
    poisoned: [bool; LOCKS],
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
        holders: [None; LOCKS],
        poisoned: [false; LOCKS],
        records: vec![Vec::new(); threads.len()],
    };
    let mut all = Expected { outcomes: BTreeSet::new(), deadlocks: false, leaves_behind: false };
    let mut seen = HashSet::from([first.clone()]);
    let mut open = vec![first];
    while let Some(state) = open.pop() {
        let mut is_stuck = true;
        for thread in 0..threads.len() {
            let Some(next) = state.step(&threads, thread, first_last) else { continue };
            is_stuck = false;
            if seen.insert(next.clone()) {
                open.push(next);
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
    /// Returns the state after the next operation of a thread, or `None` if it has to wait or has ended.
    fn step(&self, threads: &[Vec<Op>], thread: usize, first_last: usize) -> Option<State> {
        let op = threads[thread].get(self.at[thread])?;
        let mut next = self.clone();
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
            Op::Lock { .. } | Op::LockQuietly(_) if self.holder_for(op).is_some() => return None,
            Op::Lock { lock, panicking } => {
                note(u32::from(self.poisoned[lock]), panicking);
                next.holders[lock] = Some(thread);
            }
            Op::LockQuietly(lock) => next.holders[lock] = Some(thread),
            Op::Unlock { lock, poisons } => {
                next.holders[lock] = None;
                next.poisoned[lock] |= poisons;
            }
            Op::Join { thread: other, .. } if self.at[other] < threads[other].len() => return None,
            Op::Join { panicked, .. } => next.records[thread].push(u32::from(panicked)),
            Op::Wait => return None,
        }
        next.at[thread] += 1;
        Some(next)
    }

    fn holder_for(&self, op: &Op) -> Option<usize> {
        match *op {
            Op::Lock { lock, .. } | Op::LockQuietly(lock) => self.holders[lock],
            Op::Load { .. } | Op::Add { .. } | Op::Unlock { .. } | Op::Join { .. } | Op::Wait => {
                None
            }
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
