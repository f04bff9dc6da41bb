//! The stacks that a report shows: of the parties of a failure, and where locks are released.
//!
//! They are taken in one replay, that of the run that is reported, so that other runs pay nothing.

use std::collections::HashMap;

use raddle_core::locks::{Change, change};
use raddle_core::{Event, EventId, ObjectId, PlainAccess, Special, ThreadId, Trace};
use raddle_results::{Finding, Wait};

/// The number of releases of locks, the last ones, that get their place. A release has no place of its own: a destructor does not know who
/// called it.
const MAX_RELEASES: usize = 64;

/// Returns what a replay of `run` records for a report of `finding`, and the plain variable whose accesses it records.
pub(super) fn recorded(run: &Trace, finding: &Finding) -> (Special, ObjectId) {
    let mut stacks = of_finding(run, finding);
    let releases = run.events.iter().rev().filter(|event| change(event) == Some(Change::Released));
    stacks.extend(releases.take(MAX_RELEASES).map(|event| event.id));
    let plain = match finding {
        Finding::Race { first, .. } => first.object,
        _ => ObjectId::NONE,
    };
    (Special { records: true, stacks, ..Special::default() }, plain)
}

/// Returns the operations of the parties.
fn of_finding(run: &Trace, finding: &Finding) -> Vec<EventId> {
    match finding {
        Finding::Deadlock(waits) => of_waits(run, waits),
        Finding::WaitsForever { loops, waits } => {
            let looks = loops.iter().filter_map(|one| one.looks.last());
            let looks = looks.map(|looked| run.events[looked.at].id);
            looks.chain(of_waits(run, waits)).collect()
        }
        Finding::UseAfterFree { access, .. } => {
            use_of(run, access).map(|event| event.id).into_iter().collect()
        }
        Finding::Leak(_)
        | Finding::Panic(_)
        | Finding::Race { .. }
        | Finding::FreedTwice { .. }
        | Finding::ReadTwice { .. }
        | Finding::StepLimit { .. }
        | Finding::Nondeterminism { .. } => Vec::new(),
        _ => raddle_results::new_variant(),
    }
}

/// Returns the step that an access is, or `None` if it is none: it is an access to a plain variable, or ended the run.
pub(super) fn use_of<'a>(run: &'a Trace, access: &PlainAccess) -> Option<&'a Event> {
    let event = run.events.get(access.after);
    event.filter(|event| event.id.thread == access.thread && event.op.object() == access.object)
}

/// Returns what blocked threads wait to do, and where the holders of what they wait for acquired it.
fn of_waits(run: &Trace, waits: &[Wait]) -> Vec<EventId> {
    let mut counts: HashMap<ThreadId, u32> = HashMap::new();
    run.events.iter().for_each(|event| *counts.entry(event.id.thread).or_default() += 1);
    let waiting = waits.iter().map(|wait| {
        let index = counts.get(&wait.thread).copied().unwrap_or(0);
        EventId { thread: wait.thread, index }
    });
    let holders = waits.iter().flat_map(|wait| {
        wait.holders.iter().map(move |&(holder, site)| (holder, wait.object, site))
    });
    let acquired = holders.filter_map(|(holder, object, site)| {
        let is_it = |event: &&Event| {
            event.id.thread == holder && event.op.object() == object && event.site == site
        };
        run.events.iter().rfind(is_it).map(|event| event.id)
    });
    waiting.chain(acquired).collect()
}
