//! What repairs a failure, in words.

use raddle_results::Unknown;
use raddle_results::document::{
    CauseEvent, Change, Explanation, MovedLock, Place, Repair, StrongerOrder, Trace,
};

use super::names::{object_name, thread_name};
use crate::number::count;

/// Returns the repairs of a failure in lines, or why there are none. Empty if there is nothing to say.
pub(crate) fn repairs(explanation: &Explanation, trace: &Trace) -> String {
    let Explanation { repairs, no_repairs, .. } = explanation;
    let shown: Vec<String> = repairs.iter().map(|repair| one(repair, trace)).collect();
    let absent = || no_repairs.and_then(absent).map(|why| format!("repair: {why}\n"));
    if shown.is_empty() { absent().unwrap_or_default() } else { shown.concat() }
}

fn one(repair: &Repair, trace: &Trace) -> String {
    let Repair { change, executions } = repair;
    let proved = match executions {
        1 => "proved: the one execution then possible passes".to_owned(),
        _ => {
            let all = count(*executions, "execution", "executions");
            format!("proved: all {all} then possible pass")
        }
    };
    match change {
        Change::Orders { orders } => {
            let lines: Vec<String> =
                orders.iter().map(|one| format!("  {}\n", order(one))).collect();
            format!("repair: by memory orderings ({proved})\n{}", lines.concat())
        }
        Change::Turned { first, second } => format!(
            "repair: let these always come in this order ({proved})\n  {}\n  {}\n",
            operation(first, trace),
            operation(second, trace)
        ),
        Change::LockOrder { locks, moved } => {
            let locks: Vec<&str> = locks.iter().map(|lock| object_name(trace, *lock)).collect();
            let locks = locks.join(", then ");
            let mut text = format!("repair: always acquire {locks} ({proved})\n");
            for MovedLock { first, second } in moved {
                let name = |event: &CauseEvent| {
                    event.object.map(|object| object_name(trace, object)).unwrap_or_default()
                };
                text += &format!(
                    "  {}: {}, now acquired{}, comes before {}, now acquired{}\n",
                    thread_name(trace, first.thread),
                    name(first),
                    place(&first.site),
                    name(second),
                    place(&second.site)
                );
            }
            text
        }
        Change::Excluded { regions } => {
            let mut text = format!("repair: hold one lock around each of these ({proved})\n");
            for region in regions {
                let (first, last) = (place(&region.first.site), place(&region.last.site));
                let (first, last) =
                    (method(&region.first, trace) + &first, method(&region.last, trace) + &last);
                text += &match first == last {
                    true => format!("  {first}\n"),
                    false => format!("  from {first}\n    to {last}\n"),
                };
            }
            text
        }
    }
}

fn order(change: &StrongerOrder) -> String {
    let StrongerOrder { site, operation, from, to, is_fence } = change;
    let place = place(site);
    if *is_fence {
        format!("add fence({to}) before the {operation}{place}")
    } else {
        format!("{operation}{place}: {from} → {to}")
    }
}

/// Returns an operation with its thread and place, without its step.
fn operation(event: &CauseEvent, trace: &Trace) -> String {
    let CauseEvent { text, site, .. } = event;
    format!("{}: {text}{}", thread_name(trace, event.thread), place(site))
}

/// Returns an operation without its object: other threads have others there.
fn method(event: &CauseEvent, trace: &Trace) -> String {
    let name = event.object.and_then(|object| trace.object(object)).map(|object| &object.name[..]);
    let method = name.and_then(|name| event.text.strip_prefix(name)?.strip_prefix('.'));
    method.unwrap_or(&event.text).to_owned()
}

fn place(site: &Place) -> String {
    match site {
        Place::Unknown => String::new(),
        site => format!(" at {site}"),
    }
}

/// Returns why there is no repair, if a reader wants to know.
fn absent(unknown: Unknown) -> Option<&'static str> {
    match unknown {
        Unknown::SeqCstToo => Some(
            "no memory ordering is enough: it fails with SeqCst everywhere, too. The order of steps causes it",
        ),
        Unknown::Executions => Some("not found within the executions allowed (`explain`)"),
        Unknown::Time => Some("not found in the time allowed (`explain`)"),
        Unknown::NoChange => Some(
            "none found; tried: one order of locks, one lock around the steps of the causes, one cause turned round, other memory orderings",
        ),
        Unknown::HiddenState
        | Unknown::Steps
        | Unknown::Leaks
        | Unknown::Kind
        | Unknown::NotRepeatable
        | Unknown::WeakMemory
        | Unknown::NoOrder
        | Unknown::FrontEnd => None,
        _ => raddle_results::new_variant(),
    }
}
