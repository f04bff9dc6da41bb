//! Data races: who accessed what, and what is missing between them.

use raddle_core::{PlainAccess, Site};

use crate::names::Names;

pub(crate) fn headline(first: &PlainAccess, second: &PlainAccess, names: &Names<'_>) -> String {
    format!(
        "data race on {}: {} {} and {} {}",
        names.name(first.object),
        names.thread(first.thread),
        verb(first),
        names.thread(second.thread),
        verb(second)
    )
}

pub(crate) fn explanation(first: &PlainAccess, second: &PlainAccess, names: &Names<'_>) -> String {
    let name = |access: &PlainAccess| names.thread(access.thread);
    let width = name(first).len().max(name(second).len());
    let line = |access: &PlainAccess| {
        let thread = name(access);
        let place = if access.site == Site::UNKNOWN {
            format!("after step {}", access.after)
        } else {
            format!("at {}", access.site)
        };
        format!("    {thread:width$}  {:6}  {place}\n", verb(access))
    };
    format!(
        "  Nothing orders these accesses to {}:\n{}{}  No lock, join or message comes between them, \
         and no acquire that reads what the first thread\n  released.\n",
        names.name(first.object),
        line(first),
        line(second)
    )
}

/// What an access does.
pub(crate) fn verb(access: &PlainAccess) -> &'static str {
    match (access.writes, access.site == Site::UNKNOWN) {
        // Only the making of an object has no line of its own.
        (true, true) => "makes it",
        (true, false) => "writes",
        (false, _) => "reads",
    }
}
