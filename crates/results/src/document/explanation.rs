//! Explanations of failures in documents.

use crate::json::{object, words};
use crate::{CutOff, RunSize, Shrunk};

/// What raddle found out about a failing execution.
#[derive(Clone, PartialEq, Debug)]
pub struct Explanation {
    /// How the execution was shrunk.
    pub shrunk: Shrunk,
    /// The number of executions made to find this out.
    pub executions: u64,
    /// What ended the work early.
    pub cut_off: Option<CutOff>,
}

object! {
    Explanation { shrunk, executions, cut_off }
    Shrunk { from, to, minimal, found_token }
    RunSize { preemptions, blocks, unusual_choices, steps }
}

words! {
    CutOff { "executions" = Executions, "time" = Time, "leaks" = Leaks }
}
