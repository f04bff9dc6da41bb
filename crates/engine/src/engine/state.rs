//! Where a run is between its beginning and the next one.

/// The state of a run.
///
/// The substrate and the engine share it: an operation takes the fast path in [`Running`](RunState::Running) only.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RunState {
    /// No run has begun.
    Idle,
    /// Every live thread but the running one has announced its next operation.
    Running,
    /// A new thread runs up to its first announcement. Then its creator has the turn.
    Starting,
    /// The run is over. Its trace is complete.
    Ended,
    /// The run is over, and its unfinished threads are unwound.
    TearingDown,
    /// The run is over, and the substrate drops values of the program outside of any thread.
    Discarding,
}

use RunState::{Discarding, Ended, Idle, Running, Starting, TearingDown};

impl RunState {
    /// All states.
    pub const ALL: [RunState; 6] = [Idle, Running, Starting, Ended, TearingDown, Discarding];

    /// Returns whether nothing is recorded any more.
    #[inline(always)]
    pub const fn is_over(self) -> bool {
        match self {
            Idle | Running | Starting => false,
            Ended | TearingDown | Discarding => true,
        }
    }

    /// Returns whether a run may go from this state to `next`.
    pub const fn may_become(self, next: RunState) -> bool {
        match (self, next) {
            // A run begins, after the last one has been cleared away.
            (Idle | Ended | TearingDown, Running) => true,
            // A spawn is performed, and the new thread announces its first operation.
            (Running, Starting) | (Starting, Running) => true,
            (Running | Starting, Ended) => true,
            (Ended | TearingDown, TearingDown) => true,
            // Values are dropped, and then the run is where it was.
            (Ended | TearingDown, Discarding) | (Discarding, Ended | TearingDown) => true,
            (Idle | Running | Starting | Ended | TearingDown | Discarding, _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of legal transitions, written out.
    #[test]
    fn transitions_are_those_of_the_table() {
        let table: [(RunState, &[RunState]); 6] = [
            (Idle, &[Running]),
            (Running, &[Starting, Ended]),
            (Starting, &[Running, Ended]),
            (Ended, &[Running, TearingDown, Discarding]),
            (TearingDown, &[Running, TearingDown, Discarding]),
            (Discarding, &[Ended, TearingDown]),
        ];
        for (state, successors) in table {
            for next in RunState::ALL {
                assert_eq!(
                    state.may_become(next),
                    successors.contains(&next),
                    "{state:?} → {next:?}"
                );
            }
        }
    }

    #[test]
    fn nothing_but_a_new_run_leads_out_of_the_end() {
        for state in RunState::ALL.into_iter().filter(|state| state.is_over()) {
            for next in RunState::ALL.into_iter().filter(|&next| state.may_become(next)) {
                assert!(next.is_over() || next == Running, "{state:?} → {next:?}");
            }
        }
    }
}
