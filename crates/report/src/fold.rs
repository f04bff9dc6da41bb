//! Long runs shortened to their beginning and their end.

/// A part of a run as it is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// The steps at these positions, each in full.
    Steps(std::ops::Range<usize>),
    /// So many steps, left out.
    Omitted(usize),
}

/// Runs up to this long are shown whole.
const WHOLE: usize = 60;
const FIRST: usize = 8;
const LAST: usize = 32;

/// Which of `steps` steps are shown.
pub(crate) fn fold(steps: usize) -> Vec<Part> {
    if steps <= WHOLE {
        return vec![Part::Steps(0..steps)];
    }
    let last = steps - LAST;
    vec![Part::Steps(0..FIRST), Part::Omitted(last - FIRST), Part::Steps(last..steps)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_are_whole() {
        assert_eq!(fold(0), [Part::Steps(0..0)]);
        assert_eq!(fold(60), [Part::Steps(0..60)]);
    }

    #[test]
    fn long_runs_keep_beginning_and_end() {
        assert_eq!(fold(61), [Part::Steps(0..8), Part::Omitted(21), Part::Steps(29..61)]);
        assert_eq!(
            fold(1_000_000),
            [Part::Steps(0..8), Part::Omitted(999_960), Part::Steps(999_968..1_000_000)]
        );
    }

    #[test]
    fn no_step_is_lost_or_shown_twice() {
        for steps in 0..200 {
            let mut next = 0;
            for part in fold(steps) {
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
