//! What decides between runs.

use raddle_core::{Choices, Guarantee, Schedule, Trace};
use raddle_engine::ThreadIds;
use raddle_results::{Bounds, PatternSearch, Search};

use crate::Refusal;

/// An algorithm that decides which run comes next.
///
/// A session calls [`next`](Explorer::next), makes the run with [`choices`](Explorer::choices), and passes
/// its trace to [`learn`](Explorer::learn), again and again.
pub trait Explorer {
    /// Writes the choices that the next run follows first into `prefix`, over those of the last run.
    /// Returns `false` if no run is left.
    fn next(&mut self, prefix: &mut Schedule) -> bool;

    /// Returns what answers the points after the prefix, in the run planned last.
    fn choices(&mut self) -> Choices<'_>;

    /// Receives the trace of the run planned last. `run` counts the runs of this explorer from zero.
    fn learn(&mut self, run: u64, trace: &Trace);

    /// Returns the ids that threads have in all runs.
    fn thread_ids(&self) -> ThreadIds {
        ThreadIds::default()
    }

    /// Returns whether planning a run takes much longer than making it. The session then reads the clock
    /// after every run.
    fn plans_long(&self) -> bool {
        false
    }

    /// Returns what the runs so far have covered. `is_done` says that no run is left.
    ///
    /// A run that reached the step limit counts as covered if no other run depends on its end.
    fn covered(&self, is_done: bool) -> Covered {
        if is_done { Covered::Everything } else { Covered::Nothing }
    }

    /// Returns whether runs are left out because they are equivalent to others. What such a search claims
    /// depends on raddle seeing all that threads share.
    fn skips_equivalent(&self) -> bool {
        true
    }

    /// Returns whether every run that is not given up is of a class of its own.
    fn repeats_no_class(&self) -> bool {
        false
    }

    /// Forgets all runs, to begin again: it turned out that threads had been cut off in a loop that counts its rounds.
    /// Returns `false` if the explorer cannot begin again.
    fn restart(&mut self) -> bool {
        false
    }

    /// Returns why no further run can be planned, if the last run showed that.
    fn refusal(&self) -> Option<Refusal> {
        None
    }

    /// Returns whether the run planned last, which was given up, exceeds the bound of the search by its end, to which
    /// it was led with this many more preemptions.
    fn is_beyond_bound(&self, preemptions: u32) -> bool {
        let _ = preemptions;
        false
    }

    /// Returns the cost of the search so far. `None` if this is no search.
    fn search(&self) -> Option<Search> {
        None
    }

    /// Returns the counts of a search for memory-access patterns. `None` if this is none.
    fn patterns(&self) -> Option<PatternSearch> {
        None
    }

    /// Returns bounds on the bugs that escaped all runs so far.
    fn guarantees(&self) -> Vec<Guarantee> {
        Vec::new()
    }

    /// Returns whether runs are drawn independently from one distribution, so that the runs seen allow
    /// estimates about those not seen.
    fn independent_runs(&self) -> bool {
        false
    }
}

/// How much a search has covered.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Covered {
    /// Nothing that has a name.
    Nothing,
    /// All executions within these bounds.
    Within(Bounds),
    /// All executions.
    Everything,
}

/// A borrowed explorer explores as well, and can be asked for its results afterwards.
impl<E: Explorer + ?Sized> Explorer for &mut E {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        (**self).next(prefix)
    }

    fn choices(&mut self) -> Choices<'_> {
        (**self).choices()
    }

    fn learn(&mut self, run: u64, trace: &Trace) {
        (**self).learn(run, trace);
    }

    fn thread_ids(&self) -> ThreadIds {
        (**self).thread_ids()
    }

    fn plans_long(&self) -> bool {
        (**self).plans_long()
    }

    fn covered(&self, is_done: bool) -> Covered {
        (**self).covered(is_done)
    }

    fn skips_equivalent(&self) -> bool {
        (**self).skips_equivalent()
    }

    fn repeats_no_class(&self) -> bool {
        (**self).repeats_no_class()
    }

    fn restart(&mut self) -> bool {
        (**self).restart()
    }

    fn refusal(&self) -> Option<Refusal> {
        (**self).refusal()
    }

    fn is_beyond_bound(&self, preemptions: u32) -> bool {
        (**self).is_beyond_bound(preemptions)
    }

    fn search(&self) -> Option<Search> {
        (**self).search()
    }

    fn patterns(&self) -> Option<PatternSearch> {
        (**self).patterns()
    }

    fn guarantees(&self) -> Vec<Guarantee> {
        (**self).guarantees()
    }

    fn independent_runs(&self) -> bool {
        (**self).independent_runs()
    }
}
