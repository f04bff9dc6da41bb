//! Wakeup trees: the sequences planned from a point, with shared prefixes.
//!
//! A sequence is kept whole, not only its first step, because its last steps are what makes it differ
//! from everything that was run before.

use raddle_core::dependence::conflict;
use raddle_core::{Access, EventId, Footprint, ObjectId, ObjectKind, ThreadId, Trace};

use crate::past::{Past, Planned};

/// No branch.
const NONE: u32 = u32::MAX;

/// The wakeup trees of all points.
#[derive(Clone, Debug)]
pub(crate) struct Forest {
    branches: Vec<Branch>,
    /// The first unused branch; the others are its siblings.
    free: u32,
    in_use: u64,
}

/// The planned continuations of a point, in the order in which they are run. None makes a later one
/// redundant, except for doubtful ones.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Tree(u32);

/// A planned event, in terms that hold in every run through the same point.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Branch {
    event: EventId,
    pub(crate) access: Access,
    object: Object,
    pub(crate) value: Option<u32>,
    /// Whether an earlier sequence may lead to the same class, which could not be decided. The run of such a
    /// sequence may be abandoned at its end, and it covers no other sequence.
    pub(crate) doubtful: bool,
    /// The first branch that follows it.
    pub(crate) children: Tree,
    /// The next branch at the same point.
    siblings: Tree,
}

/// Whether a sequence that begins with one event covers what some steps lead to.
pub(crate) enum Covers {
    Yes {
        /// The step that is this event, if one is.
        step: Option<usize>,
    },
    No,
    /// It depends on whether two objects of different runs are the same.
    Unknown,
}

/// An object of another run.
#[derive(Copy, Clone, Debug)]
enum Object {
    /// No object, or one that existed before the point, and has this id in every run through it.
    Known(ObjectId),
    /// The life or the park token of a thread.
    OfThread(ObjectKind),
    /// An object with this identity.
    Identified(u64),
    /// An object that was made after the point, which is at this position. In every run in which the hash of
    /// what happened before the event is `history`, it is the object of the event.
    Later { history: u64, at: usize },
}

impl Branch {
    pub(crate) fn thread(&self) -> ThreadId {
        self.event.thread
    }

    pub(crate) fn event(&self) -> EventId {
        self.event
    }

    /// Makes the choice of `value` by an event without an object.
    pub(crate) fn choosing(event: EventId, value: u32) -> Branch {
        let (access, object) = (Access::Read, Object::Known(ObjectId::NONE));
        let (children, siblings) = (Tree::EMPTY, Tree::EMPTY);
        let value = Some(value);
        Branch { event, access, object, value, doubtful: false, children, siblings }
    }

    /// Makes a branch without children that is not doubtful. `at` is the position of the point.
    pub(crate) fn new(planned: &Planned, past: &mut Past, trace: &Trace, at: usize) -> Branch {
        let id = planned.footprint.object;
        let object = match trace.objects.get(id.index()) {
            Some(info) if !past.announced_before(info.name, at) => match info.kind {
                ObjectKind::Thread(_) | ObjectKind::Parker(_) => Object::OfThread(info.kind),
                _ if info.identity != 0 => Object::Identified(info.identity),
                _ => Object::Later { history: past.history_before(planned.event).unwrap_or(0), at },
            },
            Some(_) | None => Object::Known(id),
        };
        let Planned { event, footprint, value } = *planned;
        let access = footprint.access;
        let (children, siblings) = (Tree::EMPTY, Tree::EMPTY);
        Branch { event, access, object, value, doubtful: false, children, siblings }
    }

    /// Returns whether the object of this event is `object`, in a run with the same events before it. `None` if
    /// that cannot be decided.
    fn touches(&self, object: ObjectId, past: &mut Past, trace: &Trace) -> Option<bool> {
        let info = &trace.objects[object.index()];
        match self.object {
            Object::Known(known) => Some(object == known),
            Object::OfThread(kind) => Some(info.kind == kind),
            Object::Identified(identity) => Some(info.identity == identity),
            Object::Later { at, .. } if past.announced_before(info.name, at) => Some(false),
            Object::Later { history, .. } => {
                if past.history_before(self.event) != Some(history) {
                    return None;
                }
                past.operation(self.event, trace).map(|op| op.object() == object)
            }
        }
    }

    /// Returns whether a sequence that begins with this event covers what `steps` lead to.
    pub(crate) fn covers(&self, steps: &[Planned], past: &mut Past, trace: &Trace) -> Covers {
        if let Some(mine) = steps.iter().position(|step| step.event.thread == self.thread()) {
            let own = steps[mine];
            let is_first = own.value == self.value
                && steps[..mine].iter().all(|step| !step.footprint.depends(&own.footprint));
            return if is_first { Covers::Yes { step: Some(mine) } } else { Covers::No };
        }
        let mut covers = Covers::Yes { step: None };
        for step in steps {
            let Footprint { object, access, .. } = step.footprint;
            if conflict((object, self.access), (object, access)) {
                match self.touches(object, past, trace) {
                    Some(true) => return Covers::No,
                    Some(false) => {}
                    None => covers = Covers::Unknown,
                }
            }
        }
        covers
    }
}

impl Tree {
    pub(crate) const EMPTY: Tree = Tree(NONE);

    pub(crate) fn is_empty(self) -> bool {
        self.0 == NONE
    }
}

impl Default for Forest {
    fn default() -> Forest {
        Forest { branches: Vec::new(), free: NONE, in_use: 0 }
    }
}

impl Forest {
    /// Returns the number of steps of all trees.
    pub(crate) fn planned(&self) -> u64 {
        self.in_use
    }

    /// Returns the number of first steps of a tree.
    pub(crate) fn ways(&self, tree: Tree) -> usize {
        let branch = |tree: Tree| self.branches.get(tree.0 as usize);
        std::iter::successors(branch(tree), |way| branch(way.siblings)).count()
    }

    /// Removes the first step of a tree, and returns it.
    pub(crate) fn take_first(&mut self, tree: &mut Tree) -> Option<Branch> {
        let first = self.branches.get_mut(tree.0 as usize)?;
        let taken = *first;
        first.siblings = Tree(self.free);
        self.free = tree.0;
        self.in_use -= 1;
        *tree = taken.siblings;
        Some(taken)
    }

    /// Removes all steps of a tree, and returns each with the index of the step that it follows.
    pub(crate) fn take_all(&mut self, tree: &mut Tree) -> Vec<(Option<usize>, Branch)> {
        let mut taken = Vec::new();
        let mut left = vec![(None, std::mem::replace(tree, Tree::EMPTY))];
        while let Some((before, mut tree)) = left.pop() {
            while let Some(branch) = self.take_first(&mut tree) {
                left.push((Some(taken.len()), branch.children));
                taken.push((before, branch));
            }
        }
        taken
    }

    /// Adds the choice of `value` by an event without an object, unless the tree has it.
    pub(crate) fn choose(&mut self, tree: &mut Tree, event: EventId, value: u32) {
        let (mut after, mut here) = (NONE, tree.0);
        while let Some(branch) = self.branches.get(here as usize) {
            if branch.value == Some(value) {
                return;
            }
            (after, here) = (here, branch.siblings.0);
        }
        self.add(Branch::choosing(event, value), tree, NONE, after);
    }

    /// Adds `steps`, found in the run `past` for the point at position `at`, unless another sequence covers
    /// them.
    pub(crate) fn insert(
        &mut self,
        tree: &mut Tree,
        steps: &mut Vec<Planned>,
        past: &mut Past,
        trace: &Trace,
        at: usize,
    ) {
        let (mut parent, mut after, mut here) = (NONE, NONE, tree.0);
        let mut doubtful = false;
        while let Some(branch) = self.branches.get(here as usize) {
            let step = match branch.covers(steps, past, trace) {
                Covers::Yes { step } => step,
                other => {
                    doubtful |= matches!(other, Covers::Unknown);
                    (after, here) = (here, branch.siblings.0);
                    continue;
                }
            };
            if let Some(step) = step {
                steps.remove(step);
            }
            doubtful |= branch.doubtful;
            let stands_for_more = branch.children.is_empty() && !branch.doubtful;
            if stands_for_more || steps.is_empty() {
                return;
            }
            (parent, after, here) = (here, NONE, branch.children.0);
        }
        for step in steps.iter() {
            let branch = Branch { doubtful, ..Branch::new(step, past, trace, at) };
            parent = self.add(branch, tree, parent, after);
            after = NONE;
        }
    }

    /// Adds a branch after a sibling, or else as the first child of its parent, or else as the first of the
    /// tree.
    fn add(&mut self, branch: Branch, tree: &mut Tree, parent: u32, after: u32) -> u32 {
        let mut new = self.free;
        match self.branches.get_mut(new as usize) {
            Some(unused) => {
                self.free = unused.siblings.0;
                *unused = branch;
            }
            None => {
                new = self.branches.len() as u32;
                self.branches.push(branch);
            }
        }
        self.in_use += 1;
        match (parent, after) {
            (NONE, NONE) => *tree = Tree(new),
            (parent, NONE) => self.branches[parent as usize].children = Tree(new),
            (_, after) => self.branches[after as usize].siblings = Tree(new),
        }
        new
    }
}
