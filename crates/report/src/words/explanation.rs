//! What raddle found out about a failing execution, in words.

use raddle_results::document::Explanation;
use raddle_results::{CutOff, RunSize, Shrunk};

use crate::number::count;

/// Returns how an execution was shrunk. Empty if there is nothing to say.
pub(crate) fn shrunk(explanation: &Explanation) -> String {
    let Explanation { shrunk, cut_off, executions } = explanation;
    let Shrunk { from, to, minimal, .. } = shrunk;
    let mut text = match change(from, to) {
        Some((from, to)) => format!("shrunk from {from} to {to}"),
        None if *minimal && to.preemptions > 0 => {
            format!("needs {}", count(to.preemptions.into(), "preemption", "preemptions"))
        }
        None => return String::new(),
    };
    if *minimal {
        text += match to.preemptions {
            0 => "",
            1 => ": no execution without a preemption fails this way",
            _ => ": no execution with fewer fails this way",
        };
    }
    match cut_off {
        None => {}
        Some(CutOff::Executions) => {
            text += &format!(" · ended after {}", count(*executions, "execution", "executions"));
        }
        Some(CutOff::Time) => text += " · ended by its time limit",
        Some(CutOff::Leaks) => text += " · ended because too many threads were left behind",
    }
    text
}

/// Returns the size before and after, in the unit that says most. `None` if nothing became smaller.
fn change(from: &RunSize, to: &RunSize) -> Option<(String, String)> {
    if to >= from {
        return None;
    }
    let counted = |before: u64, after: u64, one: &str, many: &str| {
        let after = if after == 0 { "none".to_owned() } else { after.to_string() };
        Some((count(before, one, many), after))
    };
    let switches = |size: &RunSize| u64::from(size.blocks.saturating_sub(1));
    if to.preemptions < from.preemptions {
        let (before, after) = (from.preemptions.into(), to.preemptions.into());
        counted(before, after, "preemption", "preemptions")
    } else if to.blocks < from.blocks {
        counted(switches(from), switches(to), "context switch", "context switches")
    } else if to.unusual_choices < from.unusual_choices {
        let (before, after) = (from.unusual_choices.into(), to.unusual_choices.into());
        counted(before, after, "unusual choice", "unusual choices")
    } else {
        counted(from.steps, to.steps, "step", "steps")
    }
}
