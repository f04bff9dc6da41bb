//! Long runs shortened to their beginning and their end.

/// A part of a run as it is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// The steps at these positions, each in full.
    Steps(std::ops::Range<usize>),
    /// So many steps, left out.
    Omitted(usize),
}

/// How runs are shortened.
#[derive(Copy, Clone)]
pub(crate) struct Fold {
    /// Runs up to this long are shown whole.
    ///
    /// Invariant: not less than `first` and `last` together.
    pub(crate) whole: usize,
    /// How much is shown of the beginning of longer ones.
    pub(crate) first: usize,
    /// And of their end.
    pub(crate) last: usize,
}

/// For a picture in a terminal.
pub(crate) const PICTURE: Fold = Fold { whole: 60, first: 8, last: 32 };

/// Which of `steps` steps are shown.
pub(crate) fn fold(steps: usize, how: Fold) -> Vec<Part> {
    debug_assert!(how.whole >= how.first + how.last, "raddle invariant broken: a fold overlaps");
    if steps <= how.whole {
        return vec![Part::Steps(0..steps)];
    }
    let last = steps - how.last;
    vec![Part::Steps(0..how.first), Part::Omitted(last - how.first), Part::Steps(last..steps)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_are_whole() {
        assert_eq!(fold(0, PICTURE), [Part::Steps(0..0)]);
        assert_eq!(fold(60, PICTURE), [Part::Steps(0..60)]);
    }

    #[test]
    fn long_runs_keep_beginning_and_end() {
        assert_eq!(fold(61, PICTURE), [Part::Steps(0..8), Part::Omitted(21), Part::Steps(29..61)]);
        assert_eq!(
            fold(1_000_000, PICTURE),
            [Part::Steps(0..8), Part::Omitted(999_960), Part::Steps(999_968..1_000_000)]
        );
    }

    #[test]
    fn no_step_is_lost_or_shown_twice() {
        for steps in 0..200 {
            let mut next = 0;
            for part in fold(steps, PICTURE) {
                match part {
                    Part::Steps(range) => {
                        assert_eq!(range.start, next);
                        next = range.end;
                    }
                    Part::Omitted(number) => next += number,
                }
            }
            assert_eq!(next, steps);
        }
    }
}
