//! The steps of an execution as a table with a lane per thread.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use raddle_results::Json;
use raddle_results::document::{Document, Failure, Trace};

use super::markup::escape;
use crate::fold::Fold;
use crate::number::thousands;
use crate::phrase::file_name;
use crate::source::Source;
use crate::words::names::{object_name, thread_name};
use crate::words::rows::{Act, Row, Step, acts, rows};

/// What a browser shows without effort.
const STEPS: Fold = Fold { whole: 2_000, first: 200, last: 1_800 };

/// The number of lines shown before and after the line of a step.
const AROUND: u32 = 6;

/// Returns the table, its controls, and the place for the details of a step.
pub(super) fn section(failure: &Failure, source: Source<'_>) -> String {
    let trace = &failure.trace;
    let rows = rows(failure, |step| STEPS.shows(step, trace.steps));
    let threads: BTreeSet<u32> = acts(&rows).map(|act| act.thread).collect();
    let objects: BTreeSet<u32> = acts(&rows).filter_map(|act| act.object).collect();
    let mut text = String::from("<div class=\"run\">\n<section class=\"box\">\n");
    text += &tools(&objects, trace);
    text += "<div class=\"frame\">\n<table class=\"steps\">\n<thead><tr><th></th>";
    for thread in &threads {
        let _ = write!(text, "<th>{}</th>", escape(&thread_name(trace, *thread)));
    }
    text += "<th class=\"source\">source</th></tr></thead>\n<tbody>\n";
    for row in &rows {
        match row {
            Row::Act(act) => text += &act_row(act, &threads, source),
            Row::Omitted(row) => {
                let _ = writeln!(
                    text,
                    "<tr class=\"omitted\"><td></td><td colspan=\"{}\">… {} …</td></tr>",
                    threads.len() + 1,
                    escape(&row.text(trace))
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

/// Returns a document with only the steps that the page shows.
pub(super) fn shortened(document: &Document) -> Document {
    let mut document = document.clone();
    if let Some(Failure { trace, .. }) = &mut document.failure {
        trace.events.retain(|event| STEPS.shows(event.step, trace.steps));
        trace.omitted = trace.steps - trace.events.len() as u64;
    }
    document
}

/// Returns the lines of source around every step, by file and number, as JSON.
pub(super) fn snippets(failure: &Failure, source: Source<'_>) -> String {
    let rows = rows(failure, |step| STEPS.shows(step, failure.trace.steps));
    let mut wanted: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for (file, line) in acts(&rows).filter_map(Act::line) {
        let around = line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND);
        wanted.entry(file.to_owned()).or_default().extend(around);
    }
    let mut files = Vec::new();
    for (file, numbers) in wanted {
        let found = numbers.into_iter().filter_map(|number| {
            source(&file, number).map(|line| (number.to_string().into(), Json::Text(line)))
        });
        let found: Vec<_> = found.collect();
        if !found.is_empty() {
            files.push((file.into(), Json::Object(found)));
        }
    }
    Json::Object(files).to_string()
}

fn tools(objects: &BTreeSet<u32>, trace: &Trace) -> String {
    let mut text = String::from(
        "<div class=\"tools\"><label>only steps on <select id=\"filter\"><option value=\"\">any object</option>",
    );
    for object in objects {
        let name = escape(object_name(trace, *object));
        let _ = write!(text, "<option value=\"{object}\">{name}</option>");
    }
    text + "</select></label>\
            <span><kbd>↓</kbd> <kbd>j</kbd> next · <kbd>↑</kbd> <kbd>k</kbd> before · \
            <kbd>o</kbd> its object only · <kbd>Esc</kbd> all</span>\
            <span class=\"key\"><i class=\"reads\"></i>reads from</span>\
            <span class=\"key\"><i class=\"overwrites\"></i>overwrites</span>\
            <span class=\"key\"><i class=\"after\"></i>enables</span></div>\n"
}

fn act_row(act: &Act, threads: &BTreeSet<u32>, source: Source<'_>) -> String {
    let number = match act.step {
        Step::Number(step) => thousands(step),
        Step::Mark(mark) => mark.to_owned(),
    };
    let mut text = String::from("<tr");
    match act.step {
        Step::Number(step) => {
            let _ = write!(text, " id=\"step-{step}\" data-step=\"{step}\"");
        }
        Step::Mark(_) => text += " class=\"stop\"",
    }
    let _ = write!(text, " data-thread=\"{}\"", act.thread);
    if let Some(object) = act.object {
        let _ = write!(text, " data-object=\"{object}\"");
    }
    if let Some((file, line)) = act.line() {
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
    let code = act
        .line()
        .and_then(|(file, line)| source(file, line))
        .map(|line| format!("<code>{}</code>", escape(line.trim())))
        .unwrap_or_default();
    let _ = write!(text, "<td class=\"source\" title=\"{}\">", escape(&act.source));
    let _ = writeln!(text, "{}{code}</td></tr>", escape(file_name(&act.source)));
    text
}
