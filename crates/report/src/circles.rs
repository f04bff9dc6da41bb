//! Who runs in circles in an execution that does not end.

use raddle_core::{Event, Trace};

use crate::json::{Json, site, thread};
use crate::names::Names;
use crate::number::{count, thousands};
use crate::operation;

/// So many of the last steps are looked at to tell who runs in circles.
const RECENT: usize = 1000;
/// So many of the lines that are run most are shown.
const BUSIEST: usize = 5;

/// A line that a thread runs again and again.
struct Circle<'a> {
    times: u64,
    /// The first of them.
    event: &'a Event,
}

/// Which threads did what in the last steps, what was done most first; and how many steps these are.
fn circles(trace: &Trace) -> (usize, Vec<Circle<'_>>) {
    let recent = &trace.events[trace.events.len().saturating_sub(RECENT)..];
    let mut circles: Vec<Circle<'_>> = Vec::new();
    for event in recent {
        let same = |circle: &&mut Circle<'_>| {
            let known = circle.event;
            (known.id.thread, known.site, known.op) == (event.id.thread, event.site, event.op)
        };
        match circles.iter_mut().find(same) {
            Some(circle) => circle.times += 1,
            None => circles.push(Circle { times: 1, event }),
        }
    }
    // Stable: lines as busy as each other stay in the order of the run.
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.times));
    (recent.len(), circles)
}

pub(crate) fn text(trace: &Trace, names: &Names<'_>) -> String {
    let (recent, circles) = circles(trace);
    let mut text = format!("  the last {}:\n", count(recent as u64, "step", "steps"));
    for Circle { times, event } in circles.iter().take(BUSIEST) {
        let what = operation::announced(event.op, names);
        let (times, thread) = (thousands(*times), names.thread(event.id.thread));
        text += &format!("    {times:>5} × {thread}: {what} at {}\n", event.site);
    }
    if circles.len() > BUSIEST {
        let others = thousands((circles.len() - BUSIEST) as u64);
        text += &format!("    and {others} other operations\n");
    }
    text.push('\n');
    text
}

pub(crate) fn json(trace: &Trace, names: &Names<'_>) -> Json {
    let (_, circles) = circles(trace);
    Json::list(circles.iter().take(BUSIEST).map(|Circle { times, event }| {
        Json::Object(vec![
            ("times", Json::Number(*times)),
            ("thread", thread(event.id.thread)),
            ("text", Json::text(operation::announced(event.op, names))),
            ("site", site(event.site)),
        ])
    }))
}
