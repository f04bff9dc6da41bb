//! Algorithms 2 and 4 of the paper, written down plainly, to see which figures are theirs: fair-bounded BPOR without
//! sleep sets and without the optimisations of §5.
//!
//! It shares no code with raddle's search but the relation of dependence.
//!
//! The paper's two statements about releases are both followed: all threads are marked where the thread's next operation
//! is a release (Alg. 4, line 6), and where the event itself is one (Def. 5.4). A release is an operation that may enable
//! a thread. Searches here end at the first failure, so what a panic hides does not matter.

use std::collections::BTreeSet;

use raddle_core::dependence::conflict;
use raddle_core::{
    Action, Choice, Choices, Chooser, Event, IdleRounds, MutexOp, Needs, Op, Pick, Point, Schedule,
    ThreadId, ThreadOp, Trace,
};
use raddle_explore::Explorer;

/// Which of the enabled threads with the fewest yields `Initialize` takes.
pub(super) type Tie = fn(last: Option<ThreadId>, thread: ThreadId) -> u64;

/// The search.
pub(super) struct Plain {
    recorder: Recorder,
    stack: Vec<State>,
    has_begun: bool,
}

/// Follows `Initialize`, and records the states.
struct Recorder {
    /// The bound.
    lead: u32,
    tie: Tie,
    met: Vec<State>,
}

/// A state, and what `Explore` knows of it.
struct State {
    /// The enabled threads, cheapest first, with their yields.
    enabled: Vec<(ThreadId, u32)>,
    /// The next operation of every thread.
    next: Vec<(ThreadId, Op)>,
    backtrack: BTreeSet<ThreadId>,
    visited: BTreeSet<ThreadId>,
    taken: ThreadId,
}

impl Plain {
    pub(super) fn new(lead: u32, tie: Tie) -> Plain {
        let recorder = Recorder { lead, tie, met: Vec::new() };
        Plain { recorder, stack: Vec::new(), has_begun: false }
    }

    /// Algorithm 2, lines 4 to 7, at the state after `length` events.
    fn mark(&mut self, events: &[Event], length: usize, next: &[(ThreadId, Op)]) {
        let threads: BTreeSet<_> = events[..length].iter().map(|event| event.id.thread).collect();
        for &(thread, op) in next {
            for &other in threads.iter().filter(|&&other| other != thread) {
                let latest = events[..length].iter().rposition(|event| {
                    event.id.thread == other
                        && conflict((event.op.object(), event.access()), (op.object(), op.access()))
                });
                if let Some(position) = latest {
                    self.stack[position].backtrack(thread, Some(events[position].op));
                }
            }
        }
    }
}

impl State {
    /// Algorithm 4, `Backtrack`. `event` is the event that follows the state, if it matters.
    fn backtrack(&mut self, thread: ThreadId, event: Option<Op>) {
        let is_enabled = self.enabled.iter().any(|&(enabled, _)| enabled == thread);
        let next = self.next.iter().find(|&&(other, _)| other == thread);
        let releases = next.is_some_and(|&(_, op)| is_release(op)) || event.is_some_and(is_release);
        if is_enabled && !releases {
            self.backtrack.insert(thread);
        } else {
            self.backtrack.extend(self.enabled.iter().map(|&(enabled, _)| enabled));
        }
    }

    /// Algorithm 2, lines 10 to 12: the next thread that is marked and within the bound.
    fn choose(&mut self, lead: u32) -> Option<ThreadId> {
        let fewest = self.enabled.iter().map(|&(_, yields)| yields).min()?;
        let State { enabled, backtrack, visited, .. } = self;
        let left =
            |&(thread, _): &(ThreadId, u32)| backtrack.contains(&thread) && visited.insert(thread);
        let within = |&(_, yields): &(ThreadId, u32)| yields - fewest <= lead;
        enabled.iter().copied().filter(left).find(within).map(|(thread, _)| thread)
    }
}

/// Returns whether an operation may enable a thread, of those that the programs use.
fn is_release(op: Op) -> bool {
    matches!(
        op.action(),
        Action::Thread(ThreadOp::Spawn | ThreadOp::Exit) | Action::Mutex(MutexOp::Unlock)
    )
}

impl Chooser for Recorder {
    fn needs(&self) -> Needs {
        Needs { idle_rounds: IdleRounds::Performed, ..Needs::default() }
    }

    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else { return Pick::Take(0) };
        let yields = |thread| {
            let own = past.iter().filter(|event| event.id.thread == thread);
            own.filter(|event| event.op.has_yielded(event.effect)).count() as u32
        };
        let last = past.last().map(|event| event.id.thread);
        let mut enabled: Vec<_> =
            threads.enabled.iter().map(|&thread| (thread, yields(thread))).collect();
        enabled.sort_by_key(|&(thread, yields)| (yields, (self.tie)(last, thread), thread));
        let next = threads.pending.iter().map(|pending| (pending.thread, pending.op)).collect();
        let taken = enabled[0].0;
        let mut state = State {
            enabled,
            next,
            backtrack: BTreeSet::new(),
            visited: BTreeSet::from([taken]),
            taken,
        };
        state.backtrack(taken, None);
        self.met.push(state);
        let option = threads.enabled.iter().position(|&thread| thread == taken);
        Pick::Take(option.expect("the thread is enabled"))
    }
}

impl Explorer for Plain {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        while self.has_begun {
            let Some(state) = self.stack.last_mut() else { return false };
            if let Some(thread) = state.choose(self.recorder.lead) {
                state.taken = thread;
                break;
            }
            self.stack.pop();
        }
        self.has_begun = true;
        prefix.clear();
        prefix.extend(self.stack.iter().map(|state| Choice::Thread(state.taken)));
        true
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(&mut self.recorder)
    }

    fn learn(&mut self, _run: u64, trace: &Trace) {
        let known = self.stack.len();
        self.stack.append(&mut self.recorder.met);
        assert_eq!(self.stack.len(), trace.events.len(), "a state before each event");
        for length in known.max(1)..self.stack.len() {
            let next = self.stack[length].next.clone();
            self.mark(&trace.events, length, &next);
        }
        let last: Vec<_> =
            trace.pending.iter().map(|pending| (pending.thread, pending.op)).collect();
        self.mark(&trace.events, trace.events.len(), &last);
    }
}
