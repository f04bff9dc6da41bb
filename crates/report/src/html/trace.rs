//! The steps of a run as a table with a lane for each thread.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use raddle_core::{ObjectId, ThreadId};
use raddle_results::Failure;

use super::escape;
use crate::excerpt::{Source, acts, place};
use crate::fold::Fold;
use crate::json::Json;
use crate::lanes::{Act, Line, Step};
use crate::names::Names;
use crate::number::{count, thousands};
use crate::steps;

/// What a browser shows without effort.
pub(crate) const FOLD: Fold = Fold { whole: 2_000, first: 200, last: 1_800 };

/// So many lines before and after the line of a step are shown with it.
const AROUND: u32 = 6;

/// The table, what is done with it, and the place for the details of a step.
pub(super) fn section(failure: &Failure, names: &Names<'_>, source: Source<'_>) -> String {
    let (lines, used) = steps::lines(&failure.trace, &failure.finding, names, FOLD);
    let threads: BTreeSet<ThreadId> = acts(&lines).map(|act| act.thread).collect();
    let mut text = String::from("<div class=\"run\">\n<section class=\"box\">\n");
    text += &tools(&used, names);
    text += "<div class=\"frame\">\n<table class=\"steps\">\n<thead><tr><th></th>";
    for thread in &threads {
        let _ = write!(text, "<th>{}</th>", escape(&names.thread(*thread)));
    }
    text += "<th class=\"source\">source</th></tr></thead>\n<tbody>\n";
    for line in &lines {
        match line {
            Line::Act(act) => text += &row(act, &threads, failure, source),
            Line::Omitted(number) => {
                let _ = writeln!(
                    text,
                    "<tr class=\"omitted\"><td></td><td colspan=\"{}\">… {} …</td></tr>",
                    threads.len() + 1,
                    count(*number as u64, "step", "steps")
                );
            }
        }
    }
    text += "</tbody>\n</table>\n<svg class=\"arrows\"><defs>";
    for kind in ["reads", "overwrites", "after"] {
        let _ = write!(
            text,
            "<marker id=\"head-{kind}\" class=\"{kind}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
             markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
             <path d=\"M0,0 L8,4 L0,8 z\" style=\"fill: currentColor\"/></marker>"
        );
    }
    text + "</defs></svg>\n</div>\n</section>\n\
            <aside class=\"box panel\" id=\"panel\"><p>Choose a step to see it with its source.</p></aside>\n\
            </div>\n"
}

/// The lines of source around every step, by file and number, as JSON.
pub(super) fn snippets(failure: &Failure, source: Source<'_>) -> String {
    let names = Names::new(&failure.trace);
    let (lines, _) = steps::lines(&failure.trace, &failure.finding, &names, FOLD);
    let mut wanted: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for (file, line) in acts(&lines).filter_map(place) {
        let around = line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND);
        wanted.entry(file.to_owned()).or_default().extend(around);
    }
    let mut files = Vec::new();
    for (file, numbers) in wanted {
        let found = numbers.into_iter().filter_map(|number| {
            source(&file, number).map(|line| (number.to_string(), Json::Text(line)))
        });
        let found: Vec<_> = found.collect();
        if !found.is_empty() {
            files.push((file, Json::Map(found)));
        }
    }
    Json::Map(files).to_string()
}

fn tools(used: &[ObjectId], names: &Names<'_>) -> String {
    let objects: BTreeSet<ObjectId> =
        used.iter().copied().filter(|object| *object != ObjectId::NONE).collect();
    let mut text = String::from(
        "<div class=\"tools\"><label>only steps on <select id=\"filter\"><option value=\"\">any object</option>",
    );
    for object in objects {
        let _ =
            write!(text, "<option value=\"{}\">{}</option>", object.0, escape(names.name(object)));
    }
    text + "</select></label>\
            <span><kbd>↓</kbd> <kbd>j</kbd> next · <kbd>↑</kbd> <kbd>k</kbd> before · \
            <kbd>o</kbd> its object only · <kbd>Esc</kbd> all</span>\
            <span class=\"key\"><i class=\"reads\"></i>reads from</span>\
            <span class=\"key\"><i class=\"overwrites\"></i>overwrites</span>\
            <span class=\"key\"><i class=\"after\"></i>lets go on</span></div>\n"
}

fn row(act: &Act, threads: &BTreeSet<ThreadId>, failure: &Failure, source: Source<'_>) -> String {
    let (number, object) = match act.step {
        Step::Number(step) => {
            (thousands(step as u64), Some(failure.trace.events[step - 1].op.object()))
        }
        Step::Mark(mark) => {
            let waiting = failure.trace.pending.iter().find(|p| p.thread == act.thread);
            (mark.to_owned(), waiting.map(|waiting| waiting.op.object()))
        }
    };
    let mut text = String::from("<tr");
    match act.step {
        Step::Number(step) => {
            let _ = write!(text, " id=\"step-{step}\" data-step=\"{step}\"");
        }
        Step::Mark(_) => text += " class=\"stop\"",
    }
    let _ = write!(text, " data-thread=\"{}\"", act.thread.0);
    if let Some(object) = object.filter(|object| *object != ObjectId::NONE) {
        let _ = write!(text, " data-object=\"{}\"", object.0);
    }
    if let Some((file, line)) = place(act) {
        let _ = write!(text, " data-file=\"{}\" data-line=\"{line}\"", escape(file));
    }
    let _ = write!(text, "><td class=\"number\">{number}</td>");
    for (position, thread) in threads.iter().enumerate() {
        let alive = if act.alive.contains(thread) { " alive" } else { "" };
        let _ = write!(text, "<td class=\"lane{alive}\">");
        if *thread == act.thread {
            // Colours far apart for neighbours.
            let hue = (position * 137 + 210) % 360;
            let _ = write!(
                text,
                "<span class=\"operation\" style=\"--lane: hsl({hue} 55% 52%)\" title=\"{}\">{}</span>",
                escape(&act.note),
                escape(&act.text)
            );
        }
        text += "</td>";
    }
    let code = place(act)
        .and_then(|(file, line)| source(file, line))
        .map(|line| format!("<code>{}</code>", escape(line.trim())))
        .unwrap_or_default();
    let _ = write!(text, "<td class=\"source\" title=\"{}\">", escape(&act.source));
    let _ = writeln!(text, "{}{code}</td></tr>", escape(short(&act.source)));
    text
}

/// The last part of a path.
fn short(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
