//! Where the parties of a failure were in their functions.

use raddle_results::document::{Stack, Trace};

use super::names::thread_name;

/// Stacks of a longer text are folded: the functions in the middle are only counted.
const MAX_FRAMES: usize = 8;

/// Returns the stacks in lines. One function says no more than the line of the step, so such a stack is left out.
pub(crate) fn stacks(trace: &Trace) -> String {
    let shown = trace.stacks.iter().filter(|stack| stack.frames.len() > 1);
    shown.map(|stack| one(stack, trace)).collect()
}

fn one(stack: &Stack, trace: &Trace) -> String {
    let Stack { thread, after, text, waits, frames } = stack;
    let thread = thread_name(trace, *thread);
    let first = match waits {
        true => format!("{thread} waits in {text}:\n"),
        false => format!("{thread}, step {}, {text}:\n", after + 1),
    };
    let folded = frames.len().saturating_sub(MAX_FRAMES);
    let shown = frames.iter().take(MAX_FRAMES).map(|frame| format!("  {frame}\n"));
    let more = if folded > 0 { format!("  … and {folded} more\n") } else { String::new() };
    first + &shown.collect::<String>() + &more
}
