//! Where a depth-first search stands: the points of the last run, each with the options that are left.

/// A point of a run.
#[derive(Clone, Debug)]
pub(crate) struct Branch<T> {
    options: Vec<T>,
    taken: usize,
}

impl<T> Branch<T> {
    /// A point at which the first option is taken.
    pub(crate) fn new(options: Vec<T>) -> Branch<T> {
        Branch { options, taken: 0 }
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
                branch.taken += 1;
                if branch.taken < branch.options.len() {
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
        self.stack.iter().map(|branch| &branch.options[branch.taken])
    }

    /// Adds the points that a run has met after all these.
    pub(crate) fn append(&mut self, met: &mut Vec<Branch<T>>) {
        self.stack.append(met);
    }

    /// How many points there are.
    pub(crate) fn depth(&self) -> usize {
        self.stack.len()
    }
}
