//! The steps of a failing execution that matter, which a text shows.
//!
//! A short execution is shown whole. Of a long one, these are shown, in this order, as long as there is room: the steps of
//! causes and of what explains the failure, the last steps, those on the objects of the causes, or of the failing steps, and
//! the first and last step of every block.

use std::collections::BTreeSet;

use raddle_results::document::{Causes, Event, Failure, Finding, Link, Trace, Wait};

/// The maximal number of steps that are shown whole.
const MAX_WHOLE: u64 = 60;
/// The maximal number of rows of a longer execution: steps, and gaps between them.
const MAX_ROWS: usize = 38;
/// The number of last steps that are always shown.
const LAST: usize = 4;
/// The number of last steps of a failing thread whose objects count.
const LAST_OBJECTS: usize = 2;

/// Returns the steps of an execution that are shown.
pub(crate) fn relevant(failure: &Failure) -> BTreeSet<u64> {
    let Failure { finding, trace, explanation, .. } = failure;
    let events = &trace.events;
    if trace.steps <= MAX_WHOLE {
        return events.iter().map(|event| event.step).collect();
    }
    let causes = explanation.as_ref().and_then(|known| known.causes.as_ref());
    let mut shown = Shown { steps: BTreeSet::new(), gaps: 1, last: trace.steps };
    shown.add(of_causes(causes, trace));
    shown.add(of_finding(finding, trace));
    shown.add(stale(trace));
    shown.add(events.iter().rev().take(LAST).map(|event| event.step));
    let objects: Vec<u32> = match causes {
        Some(causes) => objects(causes).collect(),
        None => objects_of_finding(finding, trace),
    };
    let is_related = |event: &&Event| event.object.is_some_and(|object| objects.contains(&object));
    shown.add(events.iter().rev().filter(is_related).map(|event| event.step));
    // Threads that wait in loops repeat their blocks.
    if !matches!(finding, Finding::WaitsForever { .. }) {
        shown.add(of_blocks(events));
    }
    shown.steps
}

struct Shown {
    steps: BTreeSet<u64>,
    /// The number of gaps between the steps, and before and after them.
    gaps: usize,
    /// The last step of the execution.
    last: u64,
}

impl Shown {
    /// Adds steps as long as there is room, the first ones first.
    fn add(&mut self, steps: impl IntoIterator<Item = u64>) {
        for step in steps {
            if self.steps.contains(&step) || step == 0 {
                continue;
            }
            let before = step == 1 || self.steps.contains(&(step - 1));
            let after = step == self.last || self.steps.contains(&(step + 1));
            let gaps = self.gaps + 1 - usize::from(before) - usize::from(after);
            if self.steps.len() + 1 + gaps > MAX_ROWS {
                return;
            }
            self.gaps = gaps;
            self.steps.insert(step);
        }
    }
}

/// Returns both ends of every cause, and where a lock is acquired that is released in one.
fn of_causes(causes: Option<&Causes>, trace: &Trace) -> Vec<u64> {
    let pairs = causes.iter().flat_map(|causes| &causes.orderings);
    let ends: Vec<u64> =
        pairs.flat_map(|pair| [pair.before.step, pair.after.step]).flatten().collect();
    let taken = ends.iter().filter_map(|&step| match trace.event(step)?.link {
        Some(Link::TakenIn { step }) => Some(step),
        _ => None,
    });
    let taken: Vec<u64> = taken.collect();
    ends.into_iter().chain(taken).collect()
}

fn objects(causes: &Causes) -> impl Iterator<Item = u32> + '_ {
    let pairs = causes.orderings.iter();
    pairs.flat_map(|pair| [pair.before.object, pair.after.object]).flatten()
}

/// Returns the objects that a failure is about, if its causes are not known: those of the last steps of the threads that it
/// names.
fn objects_of_finding(finding: &Finding, trace: &Trace) -> Vec<u32> {
    let last_of = |thread: u32| {
        let own = trace.events.iter().rev().filter(move |event| event.thread == thread);
        own.filter_map(|event| event.object).take(LAST_OBJECTS)
    };
    match finding {
        Finding::Panic { thread, .. } | Finding::Leak { thread, .. } => last_of(*thread).collect(),
        Finding::Deadlock { waits, .. } | Finding::WaitsForever { waits, .. } => {
            waits.iter().map(|wait| wait.object).collect()
        }
        Finding::Race { first, .. } => vec![first.object],
        Finding::UseAfterFree { freed, .. } => vec![freed.object],
        Finding::FreedTwice { first, .. } => vec![first.object],
        Finding::ReadTwice { object, .. } => vec![*object],
        Finding::StepLimit { .. } | Finding::Nondeterminism { .. } => Vec::new(),
    }
}

/// Returns the steps that a finding names, and those that lead to it.
fn of_finding(finding: &Finding, trace: &Trace) -> Vec<u64> {
    let last_of = |thread: u32| trace.events.iter().rfind(|event| event.thread == thread);
    let last_of = |thread: u32| last_of(thread).map(|event| event.step);
    match finding {
        Finding::Panic { thread, .. } => last_of(*thread).into_iter().collect(),
        Finding::Deadlock { waits, .. } => {
            waits.iter().flat_map(|wait| of_wait(wait, trace)).collect()
        }
        Finding::WaitsForever { loops, waits } => {
            let looks = loops.iter().flat_map(|one| &one.looks);
            let looks = looks.flat_map(|looked| [Some(looked.step), looked.changed]).flatten();
            looks.chain(waits.iter().flat_map(|wait| of_wait(wait, trace))).collect()
        }
        Finding::Race { first, second } => [first, second]
            .iter()
            .flat_map(|access| [access.step, Some(access.after)])
            .flatten()
            .collect(),
        Finding::UseAfterFree { freed, access, .. } => {
            [access.step, Some(access.after), Some(freed.after)].into_iter().flatten().collect()
        }
        Finding::FreedTwice { first, second } => vec![first.after, second.after],
        Finding::ReadTwice { thread, writer, .. } => {
            [*thread, *writer].into_iter().filter_map(last_of).collect()
        }
        Finding::Leak { thread, .. } => last_of(*thread).into_iter().collect(),
        Finding::StepLimit { .. } | Finding::Nondeterminism { .. } => Vec::new(),
    }
}

/// Returns the steps in which the holders acquired what a thread waits for, and the notification that it missed.
fn of_wait(wait: &Wait, trace: &Trace) -> Vec<u64> {
    let is_acquired =
        |event: &&Event, holder: u32| event.thread == holder && event.object == Some(wait.object);
    let acquired = wait
        .holders
        .iter()
        .filter_map(|holder| trace.events.iter().rfind(|event| is_acquired(event, holder.thread)));
    let missed = wait.missed_notification.as_ref().map(|missed| missed.step);
    acquired.map(|event| event.step).chain(missed).collect()
}

fn stale(trace: &Trace) -> Vec<u64> {
    let reads = trace.stale_reads.iter();
    reads.flat_map(|read| [Some(read.step), read.source, Some(read.newest)]).flatten().collect()
}

/// Returns the first and last step of every block, the last blocks first.
fn of_blocks(events: &[Event]) -> Vec<u64> {
    let blocks = events.chunk_by(|one, next| one.thread == next.thread).rev();
    blocks.flat_map(|block| [block[0].step, block[block.len() - 1].step]).collect()
}
