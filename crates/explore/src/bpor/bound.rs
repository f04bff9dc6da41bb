//! The bounds of an execution, and the cost of each option at a point.
//!
//! *Preemption bound* (BPOR, Def. 2.5): limits the switches away from an enabled thread. *Fair bound*
//! (Def. 2.6): limits the yields by which a thread that runs is ahead of any enabled one.
//!
//! Deviations: a switch away from a thread that just yielded is no preemption; nor, with both bounds, is
//! a switch away from a thread that the fair bound stops. So there is always an option within the bounds
//! (the paper's §5.3 has to handle states that have none).

use std::fmt;

use raddle_core::{Action, Effect, Event, ThreadId, ThreadOp, Threads};
use raddle_results::Bounds;
use raddle_strategy::mix;

/// The bounds of an execution.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Bound {
    /// The most preemptions. `None`: any number.
    pub preemptions: Option<u32>,
    /// The most yields by which a thread that runs may be ahead of an enabled one. `None`: any number.
    pub lead: Option<u32>,
}

impl Bound {
    /// No bound.
    pub const NONE: Bound = Bound { preemptions: None, lead: None };

    /// Returns a bound on preemptions.
    pub fn preemptions(preemptions: u32) -> Bound {
        Bound { preemptions: Some(preemptions), lead: None }
    }

    /// Returns a fair bound.
    pub fn fair(lead: u32) -> Bound {
        Bound { preemptions: None, lead: Some(lead) }
    }

    /// Returns both bounds.
    pub fn both(preemptions: u32, lead: u32) -> Bound {
        Bound { preemptions: Some(preemptions), lead: Some(lead) }
    }
}

/// Writes the bounds as in the words of strategies: `2`, `fair:1`, `2:fair:1`.
impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.preemptions, self.lead) {
            (Some(preemptions), Some(lead)) => write!(f, "{preemptions}:fair:{lead}"),
            (Some(preemptions), None) => write!(f, "{preemptions}"),
            (None, Some(lead)) => write!(f, "fair:{lead}"),
            (None, None) => Ok(()),
        }
    }
}

impl From<Bound> for Bounds {
    fn from(bound: Bound) -> Bounds {
        Bounds { preemptions: bound.preemptions, delays: None, unfairness: bound.lead }
    }
}

/// Which of the threads that cost the same is tried first. The paper leaves that open; the promise does not depend
/// on it, the runs before a bug do.
#[doc(hidden)]
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Ties {
    /// The thread that ran last, then by id.
    #[default]
    Last,
    /// The thread that was started last.
    Newest,
    /// Any, drawn at each state from this seed.
    Drawn(u64),
}

impl Ties {
    /// Returns the rank of a thread at the state after `events` events.
    fn rank(self, events: usize, in_force: Option<ThreadId>, thread: ThreadId) -> (u64, ThreadId) {
        let rank = match self {
            Ties::Last => u64::from(Some(thread) != in_force),
            Ties::Newest => u64::from(u32::MAX - thread.0),
            Ties::Drawn(seed) => mix(mix(seed, events as u64), u64::from(thread.0)),
        };
        (rank, thread)
    }
}

/// An enabled thread at a point.
#[derive(Copy, Clone, Debug)]
pub(super) struct Offer {
    pub(super) thread: ThreadId,
    /// The preemptions of the run once it is chosen.
    pub(super) preemptions: u32,
    /// Whether it is too far ahead of others.
    pub(super) stopped: bool,
    /// Whether choosing it exceeds a bound.
    pub(super) over: bool,
}

/// The cost of a run so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    bound: Bound,
    pub(super) ties: Ties,
    /// The preemptions up to the last point.
    pub(super) preemptions: u32,
    /// The number of events already handled.
    seen: usize,
    /// By [`ThreadId`].
    threads: Vec<Member>,
}

#[derive(Copy, Clone, Debug, Default)]
struct Member {
    alive: bool,
    yields: u32,
}

impl Account {
    /// Begins a run with this many preemptions in its prefix.
    pub(super) fn begin(&mut self, bound: Bound, preemptions: u32) {
        self.bound = bound;
        self.preemptions = preemptions;
        self.seen = 0;
        self.threads.clear();
        self.member(ThreadId::MAIN).alive = true;
    }

    /// Handles the events since the last call.
    pub(super) fn catch_up(&mut self, past: &[Event]) {
        for event in &past[self.seen..] {
            if let (Action::Thread(ThreadOp::Spawn), Effect::Value(child)) =
                (event.op.action(), event.effect)
            {
                self.member(ThreadId(child as u32)).alive = true;
            }
            let exits = event.op.action() == Action::Thread(ThreadOp::Exit);
            let member = self.member(event.id.thread);
            member.alive &= !exits;
            member.yields += u32::from(event.op.has_yielded(event.effect));
        }
        self.seen = past.len();
    }

    /// Returns whether a thread has begun and not ended.
    pub(super) fn is_alive(&self, thread: ThreadId) -> bool {
        self.threads.get(thread.index()).is_some_and(|member| member.alive)
    }

    /// Returns the enabled threads in the order in which they are tried, and the thread in force: every switch
    /// away from it is a preemption.
    pub(super) fn offers(
        &self,
        threads: &Threads<'_>,
        past: &[Event],
    ) -> (Vec<Offer>, Option<ThreadId>) {
        let yields = |thread: ThreadId| self.threads[thread.index()].yields;
        let fewest = threads.enabled.iter().map(|&thread| yields(thread)).min().unwrap_or(0);
        let stopped = |thread| self.bound.lead.is_some_and(|lead| yields(thread) - fewest > lead);
        let last = past.last().filter(|last| {
            let thread = last.id.thread;
            let able = threads.enabled.contains(&thread) && !stopped(thread);
            able && !last.op.has_yielded(last.effect)
        });
        let in_force = last.map(|last| last.id.thread);
        let most = self.bound.preemptions.unwrap_or(u32::MAX);
        let mut offers: Vec<Offer> = threads
            .enabled
            .iter()
            .map(|&thread| {
                let preempts = in_force.is_some_and(|in_force| in_force != thread);
                let preemptions = self.preemptions + u32::from(preempts);
                let stopped = stopped(thread);
                Offer { thread, preemptions, stopped, over: stopped || preemptions > most }
            })
            .collect();
        // With the fair bound alone, the thread with the fewest yields is first (Alg. 4); otherwise the one
        // that costs nothing (Alg. 3).
        let behind_first = self.bound.lead.is_some() && self.bound.preemptions.is_none();
        offers.sort_unstable_by_key(|offer| {
            let thread = offer.thread;
            let cost =
                if behind_first { yields(thread) } else { u32::from(Some(thread) != in_force) };
            (cost, self.ties.rank(past.len(), in_force, thread))
        });
        (offers, in_force)
    }

    fn member(&mut self, thread: ThreadId) -> &mut Member {
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, Member::default());
        }
        &mut self.threads[thread.index()]
    }
}
