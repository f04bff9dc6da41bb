//! Which threads wait for what, which hold it, and the cycles among them.

use raddle_results::document::{Holder, Hop, Trace, Wait};

use super::names::{object_name, thread_name};

/// Returns the cycles, then every waiting thread.
pub(crate) fn explanation(waits: &[Wait], cycles: &[Vec<Hop>], trace: &Trace) -> String {
    let mut text = String::new();
    for cycle in cycles {
        text += &drawn(cycle, waits, trace);
        text.push('\n');
    }
    for wait in waits {
        text += &waiting(wait, trace);
    }
    text
}

/// Returns the wait and the holder of a step of a cycle.
pub(crate) fn find<'a>(waits: &'a [Wait], hop: &Hop) -> Option<(&'a Wait, &'a Holder)> {
    let wait = waits.iter().find(|wait| wait.thread == hop.thread)?;
    Some((wait, wait.holders.iter().find(|holder| holder.thread == hop.holder)?))
}

/// Returns whether a thread waits for the end of another.
pub(crate) fn waits_to_join(wait: &Wait, trace: &Trace) -> bool {
    trace.pending(wait.thread).is_some_and(|pending| pending.operation.kind == "thread.join")
}

/// Returns `thread 1 → mutex 2 (held by thread 2, taken at …) → thread 2 → … → thread 1`, a line for each.
fn drawn(cycle: &[Hop], waits: &[Wait], trace: &Trace) -> String {
    let mut text = String::new();
    for (position, hop) in cycle.iter().enumerate() {
        let Some((wait, holder)) = find(waits, hop) else { continue };
        let start = if position == 0 { "cycle: " } else { "     → " };
        let object = object_name(trace, wait.object);
        let what = match waits_to_join(wait, trace) {
            true => format!("the end of {object}"),
            false => format!("{object} ({})", holding(holder, trace)),
        };
        text += &format!("{start}{} → {what}\n", thread_name(trace, wait.thread));
    }
    if let Some(first) = cycle.first() {
        text += &format!("     → {}\n", thread_name(trace, first.thread));
    }
    text
}

/// Returns what a blocked thread waits for, and who holds it.
pub(super) fn waiting(wait: &Wait, trace: &Trace) -> String {
    let thread = thread_name(trace, wait.thread);
    let mut text = format!("{thread} {} at {}\n", wait.text, wait.site);
    if !waits_to_join(wait, trace) {
        for holder in &wait.holders {
            text += &format!("  {}\n", holding(holder, trace));
        }
    }
    if let Some(missed) = &wait.missed_notification {
        let (step, site) = (missed.step, &missed.site);
        text += &match missed.taken_by {
            None => format!("  notified in step {step}, at {site}, when no thread waited\n"),
            Some(other) => format!(
                "  the notification of step {step}, at {site}, woke {} instead\n",
                thread_name(trace, other)
            ),
        };
    }
    text
}

fn holding(holder: &Holder, trace: &Trace) -> String {
    let has_ended = trace.thread(holder.thread).is_some_and(|thread| thread.ended.is_some());
    let gone = if has_ended { " and never released: that thread has ended" } else { "" };
    format!("held by {}, acquired at {}{gone}", thread_name(trace, holder.thread), holder.taken)
}
