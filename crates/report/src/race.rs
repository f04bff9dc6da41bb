//! Data races: who accessed what, and what is missing between them.

use raddle_core::PlainAccess;

use crate::names::Names;

pub(crate) fn headline(first: &PlainAccess, second: &PlainAccess, names: &Names<'_>) -> String {
    format!(
        "data race on {}: {} {} and {} {}",
        names.name(first.object),
        first.thread,
        verb(first),
        second.thread,
        verb(second)
    )
}

pub(crate) fn explanation(first: &PlainAccess, second: &PlainAccess, names: &Names<'_>) -> String {
    let width = first.thread.to_string().len().max(second.thread.to_string().len());
    let line = |access: &PlainAccess| {
        let thread = access.thread.to_string();
        format!("    {thread:width$}  {:6}  at {}\n", verb(access), access.site)
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
    if access.writes { "writes" } else { "reads" }
}
