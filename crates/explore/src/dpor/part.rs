//! A search as a part of a larger one: of everything below one point.
//!
//! The points above are shared by all workers. A part knows their sleep sets, hands over the
//! continuations it finds for them, and can give away unfinished points of its own.

use raddle_core::{Access, Choice, Event, EventId, Footprint, Schedule, Threads, Trace};

use super::{Dpor, DporChooser, Node, Nodes};
use crate::past::{Past, Planned, chosen};
use crate::wakeup::Branch;

/// The points above a part. Empty for a search on its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Above {
    /// The number of points.
    pub(super) root: usize,
    /// The steps that lead through them, with the numbers that they choose.
    steps: Vec<(EventId, Option<u32>)>,
    /// Their sleepers, in the order of the points.
    sleepers: Vec<Sleeper>,
    /// The continuations that the last run found for them.
    pub(super) found: Vec<(usize, Vec<Planned>)>,
    /// The number of points that the last run shares with the run before.
    shared: usize,
    /// Whether a run has been made.
    pub(super) is_begun: bool,
    /// The share of the part that was done at the last estimate.
    pub(super) share_done: f64,
}

/// An event that would repeat a class that is run elsewhere.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Sleeper {
    /// The position of the point at which it falls asleep.
    pub(crate) since: usize,
    pub(crate) event: EventId,
    pub(crate) access: Access,
}

/// A point that a part gives away.
#[derive(Debug)]
pub(crate) struct Given {
    /// The continuation that the part keeps.
    pub(crate) own: Branch,
    /// The continuations that were run completely.
    pub(crate) done: Vec<Sleeper>,
    /// The number of those.
    pub(crate) ways_done: u32,
    /// The planned steps, each with the index of the step that it follows.
    pub(crate) planned: Vec<(Option<usize>, Branch)>,
}

impl Dpor {
    /// Begins another part: everything below the point that `steps` lead to.
    pub(crate) fn begin(
        &mut self,
        steps: Vec<(EventId, Option<u32>)>,
        sleepers: Vec<Sleeper>,
        prefix: &mut Schedule,
    ) {
        let same = self.above.steps.iter().zip(&steps).take_while(|(old, new)| old == new);
        let shared = same.count().min(self.past.len());
        self.nodes.nodes.retain(|node| node.at < shared);
        self.past.truncate(shared);
        self.beside.clear();
        self.path.clear();
        for &(event, value) in &steps {
            self.path.push(Choice::Thread(event.thread));
            self.path.extend(value.map(Choice::Value));
        }
        (self.led, self.led_choices) = (steps.len(), self.path.len());
        prefix.clone_from(&self.path);
        self.chooser.sleep.clear();
        self.chooser.seen = 0;
        self.chooser.sleepers.clone_from(&sleepers);
        let (root, found) = (steps.len(), Vec::new());
        let (is_begun, share_done) = (false, 0.0);
        self.above = Above { root, steps, sleepers, found, shared, is_begun, share_done };
    }

    /// Returns the events of the last run.
    pub(crate) fn past_mut(&mut self) -> &mut Past {
        &mut self.past
    }

    /// Takes the continuations that the last run found for points above: their positions, and the steps.
    pub(crate) fn take_found(&mut self) -> Vec<(usize, Vec<Planned>)> {
        std::mem::take(&mut self.above.found)
    }

    /// Returns the points above at which the last run, the first of its part, chose a number while the sleep
    /// set was empty, with the event and the number of values. All values are to be tried there.
    pub(crate) fn choices_above(&mut self, trace: &Trace) -> Vec<(usize, EventId, u32)> {
        let positions = self.above.shared..self.above.root.min(trace.events.len());
        let choice = |position: usize| {
            let event = &trace.events[position];
            let (bound, _) = chosen(event)?;
            let is_free = self.nodes.asleep(position, &self.past).is_empty();
            is_free.then_some((position, event.id, bound))
        };
        positions.filter_map(choice).collect()
    }

    /// Returns whether the points of this part have more than one planned continuation.
    pub(crate) fn can_give(&self) -> bool {
        let root = self.above.root;
        let points = self.nodes.nodes.iter().rev().take_while(|node| node.at >= root);
        let mut ways = 0;
        points.map(|node| self.forest.ways(node.tree)).any(|more| {
            ways += more;
            ways > 1
        })
    }

    /// Gives away the first point with a planned continuation, and all points before it. Returns nothing if
    /// nothing is planned.
    pub(crate) fn give(&mut self, trace: &Trace) -> Vec<Given> {
        let root = self.above.root;
        let is_open = |node: &&Node| node.at >= root && !node.tree.is_empty();
        let Some(last) = self.nodes.nodes.iter().find(is_open).map(|node| node.at) else {
            return Vec::new();
        };
        let given: Vec<Given> =
            (root..=last).map(|position| self.give_point(position, trace)).collect();
        for (point, position) in given.iter().zip(root..) {
            self.above.steps.push((point.own.event(), point.own.value));
            let done = point.done.iter().map(|&sleeper| Sleeper { since: position, ..sleeper });
            self.above.sleepers.extend(done);
        }
        self.above.root = self.above.steps.len();
        given
    }

    fn give_point(&mut self, position: usize, trace: &Trace) -> Given {
        let own = *self.past.planned(position);
        let own = Branch::new(&own, &mut self.past, trace, position);
        let inherited = self.nodes.still_asleep(position, &self.past).len();
        let is_here = |node: &&mut Node| node.at == position;
        let Some(node) = self.nodes.nodes.iter_mut().find(is_here) else {
            return Given { own, done: Vec::new(), ways_done: 0, planned: Vec::new() };
        };
        let done = node.sleep[inherited..].iter().map(|footprint| Sleeper {
            since: position,
            event: self.past.next_event(footprint.thread, position),
            access: footprint.access,
        });
        let done = done.collect();
        let planned = self.forest.take_all(&mut node.tree);
        Given { own, done, ways_done: node.done, planned }
    }

    /// Returns the share of this part that was done at the last estimate.
    pub(crate) fn part_done(&self) -> f64 {
        self.above.share_done
    }
}

impl Above {
    /// Adds the sleepers of the points above, in terms of the first run of a part.
    pub(super) fn put_to_sleep(&self, nodes: &mut Nodes, past: &Past, trace: &Trace) {
        if self.is_begun {
            return;
        }
        let first = self.sleepers.partition_point(|sleeper| sleeper.since < self.shared);
        for &Sleeper { since, event, access } in &self.sleepers[first..] {
            // The operation was announced, and is pending at the end if it was not performed.
            if let Some(op) = past.operation(event, trace).filter(|_| since < past.len()) {
                let asleep = Footprint { thread: event.thread, object: op.object(), access };
                nodes.node(since, past).sleep.push(asleep);
            }
        }
    }
}

impl DporChooser {
    /// Computes the sleep set of the first point of a part from the sleepers on the way to it. Returns
    /// `false` if the way turns out to repeat a class.
    #[cold]
    pub(super) fn settle_sleepers(&mut self, threads: &Threads<'_>, past: &[Event]) -> bool {
        self.seen = past.len();
        for Sleeper { since, event, access } in self.sleepers.drain(..) {
            let thread = event.thread;
            let mut since = past[since..].iter();
            let own = since.clone().find(|other| other.id == event).map(|event| event.op);
            let op = own.unwrap_or(threads.pending[thread.index()].op);
            let asleep = Footprint { thread, object: op.object(), access };
            match since.find(|event| event.footprint().depends(&asleep)) {
                None => self.sleep.push(asleep),
                Some(event) if event.id.thread == thread => return false,
                Some(_) => {}
            }
        }
        true
    }
}
