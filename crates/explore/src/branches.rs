//! The state of a depth-first search: the points of the last run, each with the options that are left.

/// A point of a run.
#[derive(Clone, Debug)]
pub(crate) struct Branch<T> {
    taken: T,
    /// The options to be taken later, the next one last.
    left: Vec<T>,
}

impl<T> Branch<T> {
    /// Makes a point with one option.
    pub(crate) fn only(taken: T) -> Branch<T> {
        Branch { taken, left: Vec::new() }
    }

    /// Makes a point at which the first of `options` is taken.
    pub(crate) fn new(mut options: impl DoubleEndedIterator<Item = T>) -> Branch<T> {
        let taken = options.next().expect("raddle invariant broken: a point without options");
        Branch { taken, left: options.rev().collect() }
    }
}

/// The points of the last run, in their order.
#[derive(Clone, Debug)]
pub(crate) struct Branches<T> {
    stack: Vec<Branch<T>>,
    started: bool,
}

impl<T> Default for Branches<T> {
    fn default() -> Branches<T> {
        Branches { stack: Vec::new(), started: false }
    }
}

impl<T> Branches<T> {
    /// Takes the next option of the last point that has one left, and drops the points after it. Returns
    /// `false` if no point has one left. The first call only marks the beginning.
    pub(crate) fn advance(&mut self) -> bool {
        if self.started {
            loop {
                let Some(branch) = self.stack.last_mut() else { return false };
                if let Some(next) = branch.left.pop() {
                    branch.taken = next;
                    break;
                }
                self.stack.pop();
            }
        }
        self.started = true;
        true
    }

    /// Returns the options that are taken, in the order of the points.
    pub(crate) fn taken(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.stack.iter().map(|branch| &branch.taken)
    }

    /// Adds a point after all others.
    pub(crate) fn push(&mut self, branch: Branch<T>) {
        self.stack.push(branch);
    }

    /// Drops all points. The search begins anew.
    pub(crate) fn restart(&mut self) {
        self.stack.clear();
        self.started = false;
    }

    /// Returns the number of points.
    pub(crate) fn depth(&self) -> usize {
        self.stack.len()
    }
}
