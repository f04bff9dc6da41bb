//! The search tree of a reduced search: the current path through it, with the branches left at each
//! state.
//!
//! Each node is a state. Threads are *marked* at it: ordinarily by a race, conservatively to make up
//! for the bound. A marked thread is tried unless it sleeps or exceeds the bound.
//!
//! A subtree is *complete* if the bound excluded nothing from it; its executions then are those that a
//! search without a bound would have made, and conservative marks in it are not needed (the optimisation
//! in §5.4 of the paper: "when all states are reachable within the bound"). So conservative marks are
//! tried after the ordinary ones, and only if the subtree is not complete.

use raddle_core::{Choice, Choices, Ending, Schedule, ThreadId, Trace};

use super::bound::{Bound, Offer, Ties};
use super::chooser::{GaveUp, ReducedChooser};
use super::clock::Clocks;
use super::races::{Race, most_recent, races, spawned};
use super::sleep::{Asleep, Reason};
use super::{Counts, Mistake, Reduction};
use crate::refusal::loops;
use crate::{Covered, Refusal};

/// A reduced search within a bound.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    bound: Bound,
    reduction: Reduction,
    mistake: Option<Mistake>,
    chooser: ReducedChooser,
    stack: Vec<Node>,
    started: bool,
    counts: Counts,
    refusal: Option<Refusal>,
    /// Whether a run reached the step limit.
    is_cut_off: bool,
}

/// A state of the current run.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The enabled threads, in the order in which they are tried.
    branches: Vec<Branch>,
    /// The index of the branch taken last.
    taken: usize,
    /// The thread in force: choosing another one is a preemption.
    in_force: Option<ThreadId>,
    /// Whether other threads are enabled but no options: the thread unwinds.
    forced: bool,
    /// The sleep set.
    sleep: Vec<Asleep>,
    /// The options of the number that the taken thread asked for.
    answers: Vec<Choice>,
    answered: usize,
    /// Whether the bound may have excluded something that begins here.
    incomplete: bool,
    below: Below,
}

/// An enabled thread.
#[derive(Clone, Debug)]
struct Branch {
    offer: Offer,
    mark: Mark,
    tried: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Mark {
    None,
    Conservative,
    Ordinary,
}

/// What is known of the branch taken last.
#[derive(Copy, Clone, Debug, Default)]
struct Below {
    incomplete: bool,
    /// Whether its event does more than its access shows: a panic ended a run after it, or its thread
    /// continued without a choice.
    more: bool,
    /// Whether its thread was enabled after its event.
    goes_on: bool,
    /// Whether its event enabled another thread.
    released: bool,
    /// Its event, as a sleeper.
    event: Option<Asleep>,
}

impl Tree {
    pub(crate) fn new(bound: Bound, reduction: Reduction) -> Tree {
        let counts = Counts::default();
        Tree {
            bound,
            reduction,
            mistake: None,
            chooser: ReducedChooser::new(bound),
            stack: Vec::new(),
            started: false,
            counts,
            refusal: None,
            is_cut_off: false,
        }
    }

    pub(crate) fn with_mistake(mut self, mistake: Mistake) -> Tree {
        self.mistake = Some(mistake);
        self.chooser.mistake = Some(mistake);
        self
    }

    pub(crate) fn with_ties(mut self, ties: Ties) -> Tree {
        self.chooser.set_ties(ties);
        self
    }

    pub(crate) fn ties(&self) -> Ties {
        self.chooser.ties()
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    pub(crate) fn bound(&self) -> Bound {
        self.bound
    }

    pub(crate) fn reduction(&self) -> Reduction {
        self.reduction
    }

    pub(crate) fn refusal(&self) -> Option<Refusal> {
        self.refusal.clone()
    }

    pub(crate) fn is_beyond_bound(&self, preemptions: u32) -> bool {
        self.chooser.is_beyond_bound(preemptions)
    }

    /// Returns what was covered. That is nothing if a run was cut off: races beyond are not seen.
    pub(crate) fn covered(&self, is_done: bool) -> Covered {
        if !is_done || self.is_cut_off {
            Covered::Nothing
        } else if self.counts.pruned {
            Covered::Within(self.bound.into())
        } else {
            Covered::Everything
        }
    }

    pub(crate) fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(&mut self.chooser)
    }

    pub(crate) fn next(&mut self, prefix: &mut Schedule) -> bool {
        if self.started && !self.backtrack() {
            return false;
        }
        self.started = true;
        prefix.clear();
        for node in &self.stack {
            prefix.push(Choice::Thread(node.branches[node.taken].offer.thread));
            prefix.extend(node.answers.get(node.answered));
        }
        match self.stack.last() {
            None => self.chooser.begin(0, &[]),
            Some(node) => {
                let preemptions = node.branches[node.taken].offer.preemptions;
                self.chooser.begin(preemptions, &node.sleep);
            }
        }
        true
    }

    /// Goes to the deepest state with a branch left to try. Returns `false` if there is none.
    fn backtrack(&mut self) -> bool {
        loop {
            let Some(node) = self.stack.last_mut() else { return false };
            if node.answered + 1 < node.answers.len() {
                node.answered += 1;
                return true;
            }
            if self.reduction == Reduction::None {
                node.branches[node.taken].tried = true;
                node.answers.clear();
                node.answered = 0;
            } else {
                node.leave_branch(self.bound, self.mistake);
            }
            if let Some(next) = node.choose_branch(self.reduction, &mut self.counts) {
                node.taken = next;
                return true;
            }
            let incomplete = node.incomplete;
            self.stack.pop();
            if let Some(parent) = self.stack.last_mut() {
                parent.below.incomplete |= incomplete;
            }
        }
    }

    pub(crate) fn learn(&mut self, trace: &Trace) {
        let chooser = &mut self.chooser;
        self.counts.runs += 1;
        self.is_cut_off |= trace.ending == Ending::StepLimit;
        self.refusal = chooser.refusal.take();
        if self.refusal.is_none() && self.bound.lead.is_none() {
            self.refusal = loops(trace);
        }
        if self.refusal.is_some() || matches!(trace.ending, Ending::Diverged(_)) {
            return;
        }
        if trace.events.len() < self.stack.len() {
            // The run ended before what was planned: the program is not deterministic. The session says so.
            return;
        }
        let fresh = self.stack.len().saturating_sub(1);
        if let (false, Some(last)) = (chooser.answers.is_empty(), self.stack.last_mut()) {
            last.answers = std::mem::take(&mut chooser.answers);
        }
        self.stack.append(&mut chooser.met);
        let mut end = None;
        if let Some(gave_up) = chooser.gave_up {
            end = self.stack.pop();
            self.counts.blocked += 1;
            let exceeded = gave_up == GaveUp::BoundExceeded;
            self.counts.pruned |= exceeded;
            if let (Some(end), Some(last)) = (&end, self.stack.last_mut()) {
                last.below.incomplete |= exceeded || end.incomplete;
            }
        }
        let (met, made) = (self.stack.len(), trace.events.len());
        assert_eq!(met, made, "raddle invariant broken: a run of {made} steps had {met} states");
        self.counts.max_stack = self.counts.max_stack.max(self.stack.len());
        self.note_events(trace, fresh, end.as_ref());
        let clocks = match self.reduction {
            Reduction::None => return,
            Reduction::Plain => None,
            Reduction::Optimised => Some(Clocks::new(trace)),
        };
        for race in races(trace, fresh, clocks.as_ref()) {
            if self.mistake.is_none_or(|mistake| !mistake.overlooks(race, trace)) {
                self.reverse(race);
            }
        }
        debug_assert!(
            self.mistake.is_some()
                || self.reduction == Reduction::Optimised
                || self.postcondition(trace, fresh)
        );
    }

    /// Records the effects of the events from `fresh` on, and marks what the fair bound requires.
    fn note_events(&mut self, trace: &Trace, fresh: usize, end: Option<&Node>) {
        for position in fresh..trace.events.len() {
            let event = &trace.events[position];
            let thread = event.id.thread;
            let (before, after) = self.stack.split_at_mut(position + 1);
            let node = &mut before[position];
            let after = after.first().or(end);
            let touched = (event.op.object(), event.access());
            node.below.event = Some(Asleep { thread, touched, reason: Reason::Complete });
            // A new thread may be enabled later by another thread; it has not yielded yet.
            let changed = match after {
                Some(_) if spawned(event).is_some() => Changed::Released,
                Some(after) => node.changed(after, thread),
                None => Changed::Nothing,
            };
            node.below.goes_on |= after.is_some_and(|after| after.in_force.is_some());
            node.below.more |= after.is_some_and(|after| after.forced);
            node.below.released |= changed == Changed::Released;
            let unseen = self.mistake == Some(Mistake::NoEnabledness);
            if self.bound.lead.is_none() || changed == Changed::Nothing || unseen {
                continue;
            }
            if self.bound.preemptions.is_some() {
                self.mark_all(position, Mark::Conservative);
                self.mark_all(self.block_start(position), Mark::Conservative);
            } else if changed == Changed::Released {
                self.mark_all(position, Mark::Conservative);
            }
        }
        if let (Ending::Panicked(_), Some(last)) = (&trace.ending, self.stack.last_mut()) {
            last.below.more = true;
        }
    }

    /// Marks a thread where it has to run earlier to reverse a race (Alg. 3, `Backtrack`).
    fn reverse(&mut self, race: Race) {
        self.mark(race.event, race.thread, Mark::Ordinary);
        if self.bound.preemptions.is_some() && self.mistake != Some(Mistake::NoBlockStart) {
            let start = self.block_start(race.event);
            if start < race.event {
                self.mark(start, race.thread, Mark::Conservative);
            }
        }
    }

    /// Marks `thread` at the state before an event, or all threads if it is disabled there.
    fn mark(&mut self, mut position: usize, thread: ThreadId, mark: Mark) {
        while self.stack[position].forced && position > 0 {
            position -= 1;
        }
        let both = self.bound.preemptions.is_some() && self.bound.lead.is_some();
        let trusts_sleep = self.mistake == Some(Mistake::SleepIsMark);
        let node = &self.stack[position];
        match node.branches.iter().position(|branch| branch.offer.thread == thread) {
            Some(branch)
                if !(both && node.branches[branch].offer.stopped)
                    && (trusts_sleep || !node.slept_before(branch)) =>
            {
                self.raise(position, branch, mark);
            }
            None if self.mistake == Some(Mistake::NoReleases) => {}
            Some(_) | None => self.mark_all(position, mark),
        }
    }

    fn mark_all(&mut self, position: usize, mark: Mark) {
        for branch in 0..self.stack[position].branches.len() {
            self.raise(position, branch, mark);
        }
    }

    fn raise(&mut self, position: usize, branch: usize, mark: Mark) {
        let branch = &mut self.stack[position].branches[branch];
        if branch.mark < mark {
            branch.mark = mark;
            match mark {
                Mark::None => {}
                Mark::Conservative => self.counts.conservative += 1,
                Mark::Ordinary => self.counts.ordinary += 1,
            }
        }
    }

    /// Returns whether the paper's postconditions (Def. 5.2 and 5.4) hold for every state after the event at
    /// `fresh`, by checking all pairs.
    fn postcondition(&self, trace: &Trace, fresh: usize) -> bool {
        (fresh + 1..=trace.events.len()).all(|state| {
            most_recent(trace, state).into_iter().all(|(event, thread)| {
                let start = self.block_start(event);
                self.is_marked(event, thread)
                    && (self.bound.preemptions.is_none() || self.is_marked(start, thread))
                    && (self.bound.lead.is_none() || self.is_marked_if_release(event))
            })
        })
    }

    /// Returns whether `thread`, or every thread, is marked at a state.
    fn is_marked(&self, position: usize, thread: ThreadId) -> bool {
        let node = &self.stack[position];
        let all = node.branches.iter().all(|branch| branch.mark > Mark::None);
        let is_it = |branch: &Branch| branch.offer.thread == thread && branch.mark > Mark::None;
        all || node.forced || node.branches.iter().any(is_it)
    }

    /// Returns whether every thread is marked at a state, if the event after it enabled a thread.
    fn is_marked_if_release(&self, position: usize) -> bool {
        let node = &self.stack[position];
        let all = node.branches.iter().all(|branch| branch.mark > Mark::None);
        all || self.stack.get(position + 1).is_none_or(|after| {
            let thread = node.branches[node.taken].offer.thread;
            node.changed(after, thread) != Changed::Released
        })
    }

    /// Returns the position at which the thread of an event began to run without a switch, a block or a pause
    /// in between.
    fn block_start(&self, position: usize) -> usize {
        let continues = |node: &Node| node.in_force == Some(node.branches[node.taken].offer.thread);
        let mut start = position;
        while start > 0 && continues(&self.stack[start]) {
            start -= 1;
        }
        start
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Changed {
    Nothing,
    /// A thread was disabled, or stopped or resumed by the fair bound.
    Restricted,
    /// A thread was enabled.
    Released,
}

impl Node {
    /// Makes a state with these offers, the one at `taken` taken. `None`: the run is abandoned here.
    pub(super) fn new(
        offers: Vec<Offer>,
        taken: Option<usize>,
        in_force: Option<ThreadId>,
        forced: bool,
        sleep: Vec<Asleep>,
    ) -> Node {
        let branch = |(place, offer)| Branch {
            offer,
            mark: if Some(place) == taken { Mark::Ordinary } else { Mark::None },
            tried: false,
        };
        Node {
            branches: offers.into_iter().enumerate().map(branch).collect(),
            taken: taken.unwrap_or(0),
            in_force,
            forced,
            incomplete: sleep.iter().any(|asleep| asleep.reason == Reason::Cheap),
            sleep,
            answers: Vec::new(),
            answered: 0,
            below: Below::default(),
        }
    }

    /// Sets the options of the point at which the taken thread asked for a number.
    pub(super) fn set_answers(&mut self, answers: Vec<Choice>) {
        self.answers = answers;
    }

    /// Returns how the step of `thread` from here to `after` changed which other threads are enabled.
    fn changed(&self, after: &Node, thread: ThreadId) -> Changed {
        let find = |node: &Node, thread: ThreadId| {
            node.branches
                .iter()
                .find(|branch| branch.offer.thread == thread)
                .map(|branch| branch.offer.stopped)
        };
        let others = |node: &Node| {
            let threads = node.branches.iter().map(|branch| branch.offer.thread);
            threads.filter(|&other| other != thread).collect::<Vec<_>>()
        };
        if others(after).iter().any(|&other| find(self, other).is_none()) {
            Changed::Released
        } else if others(self).iter().any(|&other| find(self, other) != find(after, other)) {
            Changed::Restricted
        } else {
            Changed::Nothing
        }
    }

    /// Returns whether a branch slept when the state was reached. Then it is not tried here, and races after
    /// it mark no thread here.
    fn slept_before(&self, branch: usize) -> bool {
        let Branch { offer, tried, .. } = &self.branches[branch];
        !tried && self.sleep.iter().any(|asleep| asleep.thread == offer.thread)
    }

    /// Ends the branch taken last, and adds its event to the sleep set if it may sleep.
    fn leave_branch(&mut self, bound: Bound, mistake: Option<Mistake>) {
        let below = std::mem::take(&mut self.below);
        self.answers.clear();
        self.answered = 0;
        let branch = &mut self.branches[self.taken];
        branch.tried = true;
        self.incomplete |= below.incomplete;
        let Some(event) = below.event else { return };
        let in_force = self.in_force == Some(event.thread);
        let cheap = match (bound.preemptions, bound.lead) {
            (Some(_), None) => in_force || !below.goes_on,
            (None, Some(_)) => !below.released,
            (Some(_), Some(_)) | (None, None) => false,
        };
        let complete = match mistake {
            Some(Mistake::PaperSleep) => branch.mark == Mark::Ordinary,
            Some(Mistake::ConservativeSleep) => {
                branch.mark == Mark::Conservative || !below.incomplete
            }
            Some(_) | None => !below.incomplete,
        };
        if below.more {
            return;
        }
        if complete {
            self.sleep.push(Asleep { reason: Reason::Complete, ..event });
        } else if cheap {
            self.sleep.push(Asleep { reason: Reason::Cheap, ..event });
            self.incomplete = true;
        }
    }

    /// Returns the next branch to try. `None` if there is none.
    fn choose_branch(&mut self, reduction: Reduction, counts: &mut Counts) -> Option<usize> {
        let sleep = &self.sleep;
        let left = |branch: &Branch, least: Mark| {
            branch.mark >= least
                && !branch.tried
                && !sleep.iter().any(|asleep| asleep.thread == branch.offer.thread)
        };
        let mut least = match reduction {
            Reduction::None => Mark::None,
            Reduction::Plain => Mark::Conservative,
            Reduction::Optimised => Mark::Ordinary,
        };
        loop {
            for (place, branch) in self.branches.iter_mut().enumerate() {
                if !left(branch, least) {
                    continue;
                }
                if !branch.offer.over {
                    return Some(place);
                }
                branch.tried = true;
                self.incomplete = true;
                counts.pruned = true;
            }
            if least <= Mark::Conservative || !self.incomplete {
                return None;
            }
            least = Mark::Conservative;
        }
    }
}
