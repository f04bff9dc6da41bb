//! Memory that was freed too early or twice, in words.

use raddle_results::document::{Access, Freed, Place, Trace};

use super::names::{object_name, thread_name};

/// Explains the use of an object that is freed.
pub(super) fn used(
    freed: &Freed,
    access: &Access,
    is_late: bool,
    stack: Option<&str>,
    trace: &Trace,
) -> String {
    let user = thread_name(trace, access.thread);
    let place = match &access.site {
        Place::Unknown => format!("after step {}", access.after),
        site => format!("at {site}"),
    };
    let order = if is_late {
        "The use came after the free.\n"
    } else {
        "Nothing makes the use happen before the free: no lock, join or message separates them, and no\n\
         acquire of the thread that frees reads what the other released after the use. If the counts of a\n\
         `std::sync::Arc` do (`Arc::get_mut`), use `sync::counted::Arc`.\n"
    };
    format!(
        "{user} uses {} {place}\n{}{order}{}{}",
        object_name(trace, access.object),
        line(freed, "frees it", trace),
        frames("use", stack),
        frames("free", freed.stack.as_deref())
    )
}

/// Explains that an object is freed twice.
pub(super) fn twice(first: &Freed, second: &Freed, trace: &Trace) -> String {
    let name = object_name(trace, first.object);
    format!(
        "{}{}{}{}",
        line(first, &format!("frees {name}"), trace),
        line(second, "frees it again", trace),
        frames("first free", first.stack.as_deref()),
        frames("second free", second.stack.as_deref())
    )
}

fn line(freed: &Freed, what: &str, trace: &Trace) -> String {
    let place = freed.place.as_ref().map_or_else(String::new, |place| format!(", {place}"));
    format!("{} {what} after step {}{place}\n", thread_name(trace, freed.thread), freed.after)
}

fn frames(of: &str, stack: Option<&str>) -> String {
    let Some(stack) = stack.filter(|stack| !stack.is_empty()) else { return String::new() };
    let frames = stack.lines().map(|frame| format!("  {frame}\n"));
    format!("stack of the {of}:\n{}", frames.collect::<String>())
}
