//! Long executions shortened to their beginning and their end.

/// How executions are shortened.
#[derive(Copy, Clone)]
pub(crate) struct Fold {
    /// The maximal number of steps that are shown whole.
    ///
    /// Invariant: not less than `first` and `last` together.
    pub(crate) whole: u64,
    /// The number of steps shown of the beginning of longer executions.
    pub(crate) first: u64,
    /// The number of steps shown of their end.
    pub(crate) last: u64,
}

impl Fold {
    /// Returns whether a step, counted from one, of an execution of `steps` steps is shown.
    pub(crate) fn shows(self, step: u64, steps: u64) -> bool {
        debug_assert!(self.whole >= self.first + self.last, "raddle invariant broken: an overlap");
        steps <= self.whole || step <= self.first || step > steps - self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PICTURE: Fold = Fold { whole: 60, first: 8, last: 32 };

    fn shown(steps: u64) -> Vec<u64> {
        (1..=steps).filter(|&step| PICTURE.shows(step, steps)).collect()
    }

    #[test]
    fn short_executions_are_shown_whole() {
        assert_eq!(shown(0), []);
        assert_eq!(shown(60), Vec::from_iter(1..=60));
    }

    #[test]
    fn long_executions_show_their_beginning_and_end() {
        assert_eq!(shown(61), Vec::from_iter((1..=8).chain(30..=61)));
        assert_eq!(shown(100_000), Vec::from_iter((1..=8).chain(99_969..=100_000)));
    }
}
