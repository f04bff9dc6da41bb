//! Threads that wait forever in loops.

use raddle_results::document::{Looked, Trace, Wait, WaitLoop};

use super::deadlock;
use super::names::{object_name, thread_name};

/// Returns what every thread looks at again and again, then what the blocked threads wait for.
pub(crate) fn explanation(loops: &[WaitLoop], waits: &[Wait], trace: &Trace) -> String {
    let mut text = String::new();
    for one in loops {
        text +=
            &format!("{} waits in a loop, and changes nothing:\n", thread_name(trace, one.thread));
        for looked in &one.looks {
            text += &format!("  {} at {}{}\n", looked.text, looked.site, change(looked, trace));
        }
    }
    text += "No thread is left that could change what is looked at.\n";
    for wait in waits {
        text += &deadlock::waiting(wait, trace);
    }
    text
}

/// Returns who changed the object last.
fn change(looked: &Looked, trace: &Trace) -> String {
    match (looked.object, looked.changed, looked.changed_by) {
        (None, ..) => String::new(),
        (Some(_), Some(step), Some(thread)) => {
            format!(" (last changed in step {step}, by {})", thread_name(trace, thread))
        }
        (Some(object), ..) => format!(" ({} was never changed)", object_name(trace, object)),
    }
}
