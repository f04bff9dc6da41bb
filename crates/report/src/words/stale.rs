//! Why loads could read stores that were not the newest.

use raddle_core::MemoryModel;
use raddle_results::document::{Document, MissedSync, StaleRead, Trace, Weak};

/// Returns a sentence on each stale read, and what the memory model leaves out. Empty if the memory model is
/// sequentially consistent.
pub(crate) fn explanation(document: &Document, trace: &Trace) -> String {
    if document.memory == MemoryModel::Sc {
        return String::new();
    }
    let mut text = String::new();
    for read in &trace.stale_reads {
        text += &format!("{}\n", sentence(read, trace));
    }
    if trace.more_stale_reads > 0 {
        text += &format!("… and {} more stale reads\n", trace.more_stale_reads);
    }
    text + "Memory model RC11: load buffering was not explored.\n"
}

fn sentence(read: &StaleRead, trace: &Trace) -> String {
    let StaleRead { step, source, newest, missed_sync } = read;
    let what = match source {
        Some(source) => format!("what step {source} stored"),
        None => "the initial value".to_owned(),
    };
    let begin = format!("Step {step} read {what}, although step {newest} is newer: ");
    let Some(MissedSync { read, store, weak }) = missed_sync else {
        return format!("{begin}nothing makes step {newest} happen before it.");
    };
    let why = match weak {
        Weak::Load => format!("step {read} does not acquire"),
        Weak::Store => format!("step {store} does not release"),
        Weak::Both => format!("step {store} does not release and step {read} does not acquire"),
    };
    let release = || remedy("Release", *store, [*newest, *store], trace);
    let acquire = || remedy("Acquire", *read, [*read, *step], trace);
    let remedy = match weak {
        Weak::Load => acquire(),
        Weak::Store => release(),
        Weak::Both => format!("{}; and {}", release(), acquire()),
    };
    format!(
        "{begin}step {read} read what step {store} stored, but {why}.\n  It would need {remedy}."
    )
}

/// Returns the two ways to add an ordering: to a step, or as a fence between two steps.
fn remedy(order: &str, step: u64, between: [u64; 2], trace: &Trace) -> String {
    let place = |step: u64| match trace.event(step) {
        Some(event) => format!("step {step} ({})", event.site),
        None => format!("step {step}"),
    };
    let [first, second] = between.map(place);
    format!("{order} in step {step}, or fence({order}) between {first} and {second}")
}
