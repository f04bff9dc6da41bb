//! Explanations of failures in documents.

use super::{Place, Repair};
use crate::json::{object, variants, words};
use crate::{Certificate, CutOff, RunSize, Shrunk, Sufficiency, Unknown};

/// What raddle found out about a failing execution.
#[derive(Clone, PartialEq, Debug)]
pub struct Explanation {
    /// How the execution was shrunk.
    pub shrunk: Shrunk,
    /// The orderings that cause the failure, if they were found.
    pub causes: Option<Causes>,
    /// Why there are no causes.
    pub no_causes: Option<Unknown>,
    /// Changes of the program with which nothing fails.
    pub repairs: Vec<Repair>,
    /// Why there are no repairs.
    pub no_repairs: Option<Unknown>,
    /// The number of executions made to find this out.
    pub executions: u64,
    /// What ended the work early.
    pub cut_off: Option<CutOff>,
}

/// The orderings that cause a failure: every execution that has them fails in the same way.
#[derive(Clone, PartialEq, Debug)]
pub struct Causes {
    /// The orderings. Empty if every execution fails in the same way.
    pub orderings: Vec<OrderedPair>,
    /// What is known about them.
    pub certificate: Certificate,
}

/// A step that comes before another one.
#[derive(Clone, PartialEq, Debug)]
pub struct OrderedPair {
    /// The first step.
    pub before: CauseEvent,
    /// The second step.
    pub after: CauseEvent,
}

/// A step that other executions have too.
#[derive(Clone, PartialEq, Debug)]
pub struct CauseEvent {
    /// The thread.
    pub thread: u32,
    /// The object.
    pub object: Option<u32>,
    /// The operation, in words.
    pub text: String,
    /// The place in the program.
    pub site: Place,
    /// How often the thread did the same at this place before.
    pub nth: u32,
    /// The step in the failing execution, if it came to it.
    pub step: Option<u64>,
}

object! {
    Explanation { shrunk, causes, no_causes, repairs, no_repairs, executions, cut_off }
    Shrunk { from, to, minimal, found_token }
    RunSize { preemptions, blocks, unusual_choices, steps }
    Causes { orderings, certificate }
    OrderedPair { before, after }
    CauseEvent { thread, object, text, site, nth, step }
    Certificate { sufficient, refuted, counterexamples }
}

variants! {
    Sufficiency {
        "proved" = Proved { executions },
        "sampled" = Sampled { executions },
    }
}

words! {
    CutOff { "executions" = Executions, "time" = Time, "leaks" = Leaks }
}
