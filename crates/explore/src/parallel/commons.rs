//! The shared part of a search by several workers: a tree of points, with every continuation that was
//! planned, whether it is done, under way or still to be run.
//!
//! A leaf is everything below a point, searched by one worker. A continuation that is done is kept as long
//! as a sequence may still be found that begins like it: until everything before it is done.

use raddle_core::{EventId, Trace};

use crate::dpor::{Given, Sleeper};
use crate::past::{Past, Planned};
use crate::wakeup::{Branch, Covers};

/// The tree.
#[derive(Debug)]
pub(super) struct Commons {
    nodes: Vec<Node>,
    /// The nodes that are not in use.
    free: Vec<u32>,
    root: Below,
    /// The number of continuations of all nodes.
    ways: u64,
    most_ways: u64,
}

/// A point.
#[derive(Debug, Default)]
struct Node {
    /// The way that leads here. `None` at the root.
    parent: Option<Place>,
    /// The position of the first point from which a sequence may lead through this one. Steps are described
    /// in terms that hold in every run through that point.
    origin: usize,
    /// In the order in which they count as run: earlier ones sleep while later ones are run.
    children: Vec<Child>,
    /// The continuations that were done before the point was shared.
    done: Vec<Sleeper>,
    ways_done: u32,
    /// Whether all values of a number to be chosen here are among the children.
    has_all_values: bool,
    /// The number of leaves below that no worker has begun.
    open: usize,
    /// The number of leaves below that are not done.
    unfinished: usize,
    /// Whether sequences for points below are found only in runs that lead here.
    is_closed: bool,
    /// If so, the number of children that are done together with all before them. Nothing is kept below them.
    settled: usize,
}

/// A continuation of a point.
#[derive(Debug)]
struct Child {
    step: Branch,
    /// Whether a planned sequence ends with this step. Everything below is run, so that it covers every
    /// sequence that begins like it.
    is_end: bool,
    below: Below,
}

/// The state of everything below a step.
#[derive(Copy, Clone, PartialEq, Debug)]
enum Below {
    /// A leaf that no worker has begun.
    Open,
    /// A doubtful leaf, not begun before everything before it is done. Its run may be abandoned, so it
    /// covers nothing else, and sequences that are found later make it longer.
    Held,
    /// A leaf that a worker searches.
    Running,
    /// A leaf that was left, with the share of it that was done.
    Left(f64),
    /// All of it is done.
    Done,
    Point(u32),
}

/// A continuation of a point, by its index.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    node: u32,
    child: u32,
}

/// A leaf to be searched.
#[derive(Debug, Default)]
pub(super) struct Task {
    /// The way to it.
    pub(super) places: Vec<Place>,
    /// The way as events, with the numbers that they choose.
    pub(super) steps: Vec<(EventId, Option<u32>)>,
    /// The sleepers on the way.
    pub(super) sleepers: Vec<Sleeper>,
}

impl Commons {
    /// Makes the tree of a search that has not begun.
    pub(super) fn new() -> Commons {
        Commons { nodes: Vec::new(), free: Vec::new(), root: Below::Open, ways: 0, most_ways: 0 }
    }

    /// Returns whether every leaf is done.
    pub(super) fn is_finished(&self) -> bool {
        match self.root {
            Below::Done => true,
            Below::Point(node) => self.nodes[node as usize].unfinished == 0,
            Below::Open | Below::Held | Below::Running | Below::Left(_) => false,
        }
    }

    /// Returns the number of leaves that no worker has begun.
    pub(super) fn open(&self) -> usize {
        match self.root {
            Below::Open => 1,
            Below::Point(node) => self.nodes[node as usize].open,
            Below::Held | Below::Running | Below::Left(_) | Below::Done => 0,
        }
    }

    /// Returns the most continuations that were kept at once.
    pub(super) fn most_ways(&self) -> u64 {
        self.most_ways
    }

    /// Returns the share of everything that is done. Every continuation of a point counts the same.
    pub(super) fn share_done(&self) -> f64 {
        let mut done = 0.0;
        let mut left = vec![(self.root, 1.0)];
        while let Some((below, share)) = left.pop() {
            match below {
                Below::Open | Below::Held | Below::Running => {}
                Below::Left(part) => done += share * part,
                Below::Done => done += share,
                Below::Point(node) => {
                    let node = &self.nodes[node as usize];
                    let share = share / (f64::from(node.ways_done) + node.children.len() as f64);
                    done += share * f64::from(node.ways_done);
                    left.extend(node.children.iter().map(|child| (child.below, share)));
                }
            }
        }
        done
    }

    /// Begins a leaf: the first one below the last point of `places` that has any, or else the first of all.
    pub(super) fn take(&mut self, places: &[Place]) -> Option<Task> {
        let near = places.iter().rev().map(|place| Below::Point(place.node));
        let leaf = near.chain([self.root]).find_map(|below| self.first_open(below))?;
        *self.below(leaf) = Below::Running;
        self.count(leaf, |node| node.open -= 1);
        Some(self.task(leaf))
    }

    /// Marks a leaf as done.
    pub(super) fn finish(&mut self, places: &[Place]) {
        let leaf = places.last().copied();
        *self.below(leaf) = Below::Done;
        self.count(leaf, |node| node.unfinished -= 1);
    }

    /// Drops what is not needed any more once a leaf is done.
    pub(super) fn tidy(&mut self, places: &[Place]) {
        for place in places.iter().rev() {
            if self.nodes[place.node as usize].is_closed {
                self.settle(place.node);
            }
        }
    }

    /// Marks a leaf as left, with the share of it that was done.
    pub(super) fn leave(&mut self, places: &[Place], share_done: f64) {
        *self.below(places.last().copied()) = Below::Left(share_done);
    }

    /// Adds `steps`, found in a run that continues a point by `place`, unless another sequence covers them.
    pub(super) fn insert(
        &mut self,
        place: Place,
        steps: &mut Vec<Planned>,
        past: &mut Past,
        trace: &Trace,
    ) {
        let Place { node: mut here, child } = place;
        let mut first = child + 1;
        let mut doubtful = false;
        while let Some(child) = self.nodes[here as usize].children.get(first as usize) {
            let step = match child.step.covers(steps, past, trace) {
                Covers::Yes { step } => step,
                other => {
                    doubtful |= matches!(other, Covers::Unknown);
                    first += 1;
                    continue;
                }
            };
            if let Some(step) = step {
                steps.remove(step);
            }
            doubtful |= child.step.doubtful;
            here = match child.below {
                Below::Point(below) if !child.is_end && !steps.is_empty() => below,
                Below::Held if !steps.is_empty() => {
                    let leaf = Place { node: here, child: first };
                    self.count(Some(leaf), |node| node.unfinished -= 1);
                    self.grow(leaf)
                }
                _ => {
                    debug_assert!(steps.is_empty() || !child.step.doubtful, "begun too early");
                    return;
                }
            };
            first = 0;
        }
        let origin = self.nodes[here as usize].origin;
        let mut place = None;
        for step in steps.iter() {
            if let Some(before) = place {
                here = self.grow(before);
            }
            let mut branch = Branch::new(step, past, trace, origin);
            branch.doubtful = doubtful;
            place = Some(self.add(here, branch));
        }
        if let Some(leaf) = place {
            self.open_leaf(leaf);
        }
    }

    /// Adds all `bound` values of a number that an event chose at the point of `place`.
    pub(super) fn choose(&mut self, place: Place, event: EventId, bound: u32) {
        let node = &mut self.nodes[place.node as usize];
        if std::mem::replace(&mut node.has_all_values, true) {
            return;
        }
        for value in 0..bound {
            let children = &self.nodes[place.node as usize].children;
            if children.iter().all(|child| child.step.value != Some(value)) {
                let leaf = self.add(place.node, Branch::choosing(event, value));
                self.open_leaf(leaf);
            }
        }
    }

    /// Takes over the first points below a leaf from the worker that searches it. From now on the leaf is
    /// below the last of them.
    pub(super) fn adopt(&mut self, places: &mut Vec<Place>, points: Vec<Given>) {
        for point in points {
            let leaf = places.last().copied();
            let node = self.grow_at(leaf, places.len());
            let Given { own, done, ways_done, planned } = point;
            let state = &mut self.nodes[node as usize];
            // No sequence from above leads through a leaf.
            state.is_closed = true;
            (state.done, state.ways_done) = (done, ways_done);
            state.has_all_values = true;
            state.unfinished = 1;
            let own = self.add(node, own);
            self.child(own).below = Below::Running;
            places.push(own);
            let mut added: Vec<Place> = Vec::new();
            for (before, branch) in planned {
                let here = before.map_or(node, |before| self.grow(added[before]));
                added.push(self.add(here, branch));
            }
            for leaf in added {
                if !matches!(self.child(leaf).below, Below::Point(_)) {
                    self.open_leaf(leaf);
                }
            }
        }
    }

    fn child(&mut self, place: Place) -> &mut Child {
        &mut self.nodes[place.node as usize].children[place.child as usize]
    }

    /// Returns the state below a place, or below the root.
    fn below(&mut self, place: Option<Place>) -> &mut Below {
        match place {
            None => &mut self.root,
            Some(place) => &mut self.child(place).below,
        }
    }

    /// Corrects the counts of all points on the way to a place.
    fn count(&mut self, mut place: Option<Place>, correct: impl Fn(&mut Node)) {
        while let Some(Place { node, .. }) = place {
            let node = &mut self.nodes[node as usize];
            correct(node);
            place = node.parent;
        }
    }

    /// Returns the first leaf that no worker has begun.
    fn first_open(&self, mut below: Below) -> Option<Option<Place>> {
        let mut place = None;
        loop {
            match below {
                Below::Open => return Some(place),
                Below::Point(here) if self.nodes[here as usize].open > 0 => {
                    let is_open = |child: &Child| match child.below {
                        Below::Open => true,
                        Below::Point(node) => self.nodes[node as usize].open > 0,
                        Below::Held | Below::Running | Below::Left(_) | Below::Done => false,
                    };
                    let children = &self.nodes[here as usize].children;
                    let child = children.iter().position(is_open)?;
                    place = Some(Place { node: here, child: child as u32 });
                    below = children[child].below;
                }
                Below::Point(_) | Below::Held | Below::Running | Below::Left(_) | Below::Done => {
                    return None;
                }
            }
        }
    }

    /// Returns the task of a leaf.
    fn task(&self, leaf: Option<Place>) -> Task {
        let parent = |place: &Place| self.nodes[place.node as usize].parent;
        let mut places: Vec<Place> = std::iter::successors(leaf, parent).collect();
        places.reverse();
        let mut task = Task { places, ..Task::default() };
        for (since, place) in task.places.iter().enumerate() {
            let node = &self.nodes[place.node as usize];
            task.sleepers.extend(node.done.iter().map(|&sleeper| Sleeper { since, ..sleeper }));
            let (earlier, later) = node.children.split_at(place.child as usize);
            // Threads that ask for a number never sleep.
            let earlier = earlier.iter().filter(|child| child.step.value.is_none());
            task.sleepers.extend(earlier.map(|Child { step, .. }| Sleeper {
                since,
                event: step.event(),
                access: step.access,
            }));
            task.steps.push((later[0].step.event(), later[0].step.value));
        }
        task
    }

    /// Adds a continuation of a point, as the end of a sequence.
    fn add(&mut self, node: u32, step: Branch) -> Place {
        let state = &mut self.nodes[node as usize];
        let place = Place { node, child: state.children.len() as u32 };
        state.children.push(Child { step, is_end: true, below: Below::Done });
        self.ways += 1;
        self.most_ways = self.most_ways.max(self.ways);
        place
    }

    /// Makes a leaf of a continuation that was just added.
    fn open_leaf(&mut self, leaf: Place) {
        let child = self.child(leaf);
        let is_held = child.step.doubtful;
        child.below = if is_held { Below::Held } else { Below::Open };
        self.count(Some(leaf), |node| {
            node.open += usize::from(!is_held);
            node.unfinished += 1;
        });
    }

    /// Returns the point below the last step of a sequence, which becomes longer.
    fn grow(&mut self, place: Place) -> u32 {
        self.child(place).is_end = false;
        match self.child(place).below {
            Below::Point(node) => node,
            _ => self.grow_at(Some(place), self.nodes[place.node as usize].origin),
        }
    }

    /// Makes a new point below a place.
    fn grow_at(&mut self, place: Option<Place>, origin: usize) -> u32 {
        let state = Node { parent: place, origin, ..Node::default() };
        let node = match self.free.pop() {
            Some(node) => {
                self.nodes[node as usize] = state;
                node
            }
            None => {
                self.nodes.push(state);
                self.nodes.len() as u32 - 1
            }
        };
        *self.below(place) = Below::Point(node);
        node
    }

    /// Drops what is below the children of a closed point that are done together with all before them, and
    /// closes the first one that is not done.
    fn settle(&mut self, mut here: u32) {
        loop {
            let Node { settled, children, .. } = &self.nodes[here as usize];
            let Some(child) = children.get(*settled) else { return };
            match child.below {
                Below::Held => {
                    let leaf = Place { node: here, child: *settled as u32 };
                    self.child(leaf).below = Below::Open;
                    self.count(Some(leaf), |node| node.open += 1);
                    return;
                }
                Below::Open | Below::Running | Below::Left(_) => return,
                Below::Done => {}
                Below::Point(below) if self.nodes[below as usize].unfinished == 0 => {
                    let place = Place { node: here, child: *settled as u32 };
                    self.child(place).below = Below::Done;
                    self.forget(below);
                }
                Below::Point(below) => {
                    if std::mem::replace(&mut self.nodes[below as usize].is_closed, true) {
                        return;
                    }
                    here = below;
                    continue;
                }
            }
            self.nodes[here as usize].settled += 1;
        }
    }

    fn forget(&mut self, node: u32) {
        let mut left = vec![node];
        while let Some(node) = left.pop() {
            let state = std::mem::take(&mut self.nodes[node as usize]);
            self.ways -= state.children.len() as u64;
            for child in state.children {
                if let Below::Point(below) = child.below {
                    left.push(below);
                }
            }
            self.free.push(node);
        }
    }
}
