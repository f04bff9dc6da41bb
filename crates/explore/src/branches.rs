//! Where a depth-first search stands: the points of the last run, each with the options that are left.

/// A point of a run.
#[derive(Clone, Debug)]
pub(crate) struct Branch<T> {
    taken: T,
    /// The options to be taken later, the next one last.
    left: Vec<T>,
}

impl<T> Branch<T> {
    /// A point with only one option.
    pub(crate) fn only(taken: T) -> Branch<T> {
        Branch { taken, left: Vec::new() }
    }

    /// A point at which the first of these options is taken.
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
    /// Goes on to the next way through them: another option at the last point that has one left. False
    /// if there is none.
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

    /// What is taken, point by point.
    pub(crate) fn taken(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.stack.iter().map(|branch| &branch.taken)
    }

    /// Adds the points that a run has met after all these.
    pub(crate) fn append(&mut self, met: &mut Vec<Branch<T>>) {
        if self.stack.is_empty() {
            std::mem::swap(&mut self.stack, met);
        } else {
            self.stack.append(met);
        }
    }

    /// Forgets them, and leaves their memory for those that another search meets.
    pub(crate) fn leave(&mut self, met: &mut Vec<Branch<T>>) {
        self.stack.clear();
        std::mem::swap(&mut self.stack, met);
    }

    /// How many points there are.
    pub(crate) fn depth(&self) -> usize {
        self.stack.len()
    }
}
