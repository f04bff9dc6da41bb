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
use crate::words::relevant::relevant;
use crate::words::rows::{Act, Row, Step, acts, rows};

/// What a browser shows without effort.
const STEPS: Fold = Fold { whole: 10_000, first: 1_000, last: 9_000 };
/// With more threads than this, lanes are narrow, and what a thread does stands beside them.
const MAX_WIDE: usize = 8;
/// The width of a narrow lane, in pixels.
const NARROW: usize = 14;

/// The number of lines shown before and after the line of a step.
const AROUND: u32 = 6;

/// Returns the table, its controls, and the place for the details of a step.
pub(super) fn section(failure: &Failure, source: Source<'_>) -> String {
    let trace = &failure.trace;
    let rows = rows(failure, |step| STEPS.shows(step, trace.steps));
    let threads: BTreeSet<u32> = acts(&rows).map(|act| act.thread).collect();
    let objects: BTreeSet<u32> = acts(&rows).filter_map(|act| act.object).collect();
    let marks = Marks::of(failure);
    let lanes = Lanes { threads: threads.iter().copied().collect() };
    let mut text = String::from("<div class=\"run\">\n<section class=\"box\">\n");
    text += &tools(&objects, &threads, trace);
    text += "<div class=\"frame\">\n<table class=\"steps\">\n<thead><tr><th></th>";
    text += &lanes.head(trace);
    text += "<th class=\"source\">source</th></tr></thead>\n<tbody>\n";
    for row in &rows {
        match row {
            Row::Act(act) => text += &act_row(act, &lanes, &marks, trace, source),
            Row::Omitted(row) => {
                let _ = writeln!(
                    text,
                    "<tr class=\"omitted\"><td></td><td colspan=\"{}\">… {} …</td></tr>",
                    lanes.columns() + 1,
                    escape(&row.text(trace))
                );
            }
        }
    }
    text += "</tbody>\n</table>\n<svg class=\"arrows\"><defs>";
    for kind in ["reads", "overwrites", "after", "cause"] {
        let _ = write!(
            text,
            "<marker id=\"head-{kind}\" class=\"{kind}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
             markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
             <path d=\"M0,0 L8,4 L0,8 z\" style=\"fill: currentColor\"/></marker>"
        );
    }
    text + "</defs></svg>\n</div>\n</section>\n\
            <canvas id=\"map\" width=\"16\" height=\"600\" title=\"the whole execution\"></canvas>\n\
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

/// What is special about steps.
struct Marks {
    relevant: BTreeSet<u64>,
    /// The numbers of the causes that a step is part of.
    causes: BTreeMap<u64, BTreeSet<usize>>,
}

impl Marks {
    fn of(failure: &Failure) -> Marks {
        let known = failure.explanation.as_ref().and_then(|known| known.causes.as_ref());
        let mut causes: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
        for (number, pair) in (1..).zip(known.iter().flat_map(|known| &known.orderings)) {
            for step in [pair.before.step, pair.after.step].into_iter().flatten() {
                causes.entry(step).or_default().insert(number);
            }
        }
        Marks { relevant: relevant(failure), causes }
    }
}

/// The columns of the threads.
struct Lanes {
    threads: Vec<u32>,
}

impl Lanes {
    fn are_narrow(&self) -> bool {
        self.threads.len() > MAX_WIDE
    }

    fn columns(&self) -> usize {
        if self.are_narrow() { 2 } else { self.threads.len() }
    }

    /// Returns the headings.
    fn head(&self, trace: &Trace) -> String {
        if self.are_narrow() {
            let width = self.threads.len() * NARROW;
            let lanes =
                format!("<div style=\"width: {width}px\">{} threads</div>", self.threads.len());
            return format!("<th class=\"narrow\">{lanes}</th><th>step</th>");
        }
        let head = |thread: &u32| {
            let name = escape(&thread_name(trace, *thread));
            format!("<th data-lane=\"{thread}\">{name}</th>")
        };
        self.threads.iter().map(head).collect()
    }

    /// Returns the cells of a row.
    fn cells(&self, act: &Act, trace: &Trace) -> String {
        let (note, text) = (escape(&act.note), escape(&act.text));
        let operation = |position: usize, style: &str| {
            // Colours far apart for neighbours.
            let hue = (position * 137 + 210) % 360;
            let style = format!("{style}--lane: hsl({hue} 55% 52%)");
            format!("<span class=\"operation\" style=\"{style}\" title=\"{note}\">{text}</span>")
        };
        let own = self.threads.iter().position(|thread| *thread == act.thread).unwrap_or(0);
        if self.are_narrow() {
            let name = escape(&thread_name(trace, act.thread));
            let dot = operation(own, &format!("left: {}px; ", own * NARROW));
            return format!(
                "<td class=\"narrow\">{dot}</td><td class=\"what\"><b>{name}</b> {text}</td>"
            );
        }
        let mut cells = String::new();
        for (position, thread) in self.threads.iter().enumerate() {
            let alive = if act.alive.contains(thread) { " alive" } else { "" };
            let content = if position == own { operation(position, "") } else { String::new() };
            let _ =
                write!(cells, "<td class=\"lane{alive}\" data-lane=\"{thread}\">{content}</td>");
        }
        cells
    }
}

fn tools(objects: &BTreeSet<u32>, threads: &BTreeSet<u32>, trace: &Trace) -> String {
    let option = |kind: &str, number: u32, name: &str| {
        format!("<option value=\"{kind}{number}\">{}</option>", escape(name))
    };
    let objects = objects.iter().map(|&object| option("", object, object_name(trace, object)));
    let threads = threads.iter().map(|&thread| option("", thread, &thread_name(trace, thread)));
    format!(
        "<div class=\"tools\"><button id=\"fold\" hidden></button>\
         <label>object <select id=\"filter\"><option value=\"\">any</option>{}</select></label>\
         <label>thread <select id=\"thread\"><option value=\"\">all</option>{}</select></label>\
         <input id=\"search\" type=\"search\" placeholder=\"search (press /)\">\
         <span><kbd>↓</kbd> <kbd>j</kbd> next · <kbd>↑</kbd> <kbd>k</kbd> before · \
         <kbd>o</kbd> its object · <kbd>t</kbd> its thread · <kbd>f</kbd> fold · <kbd>Esc</kbd> all</span>\
         <span class=\"key\"><i class=\"reads\"></i>reads from</span>\
         <span class=\"key\"><i class=\"overwrites\"></i>overwrites</span>\
         <span class=\"key\"><i class=\"after\"></i>enables</span>\
         <span class=\"key\"><i class=\"cause\"></i>causes it</span></div>\n",
        objects.collect::<String>(),
        threads.collect::<String>()
    )
}

fn act_row(act: &Act, lanes: &Lanes, marks: &Marks, trace: &Trace, source: Source<'_>) -> String {
    let (number, mut looks) = match act.step {
        Step::Number(step) => (thousands(step), Vec::new()),
        Step::Mark(mark) => (mark.to_owned(), vec![if act.is_stop() { "stop" } else { "note" }]),
    };
    let mut text = String::from("<tr");
    if let Step::Number(step) = act.step {
        let _ = write!(text, " id=\"step-{step}\" data-step=\"{step}\"");
        if !marks.relevant.contains(&step) {
            looks.push("minor");
        }
        if trace.event(step).is_some_and(|event| event.missed.is_some()) {
            looks.push("stale");
        }
        if let Some(causes) = marks.causes.get(&step) {
            looks.push("cause");
            let causes: Vec<String> = causes.iter().map(usize::to_string).collect();
            let _ = write!(text, " data-causes=\"{}\"", causes.join(" "));
        }
    }
    if !looks.is_empty() {
        let _ = write!(text, " class=\"{}\"", looks.join(" "));
    }
    let _ = write!(text, " data-thread=\"{}\"", act.thread);
    if let Some(object) = act.object {
        let _ = write!(text, " data-object=\"{object}\"");
    }
    if let Some((file, line)) = act.line() {
        let _ = write!(text, " data-file=\"{}\" data-line=\"{line}\"", escape(file));
    }
    let _ = write!(text, "><td class=\"number\">{number}</td>{}", lanes.cells(act, trace));
    let code = act
        .line()
        .and_then(|(file, line)| source(file, line))
        .map(|line| format!("<code>{}</code>", escape(line.trim())))
        .unwrap_or_default();
    let _ = write!(text, "<td class=\"source\" title=\"{}\">", escape(&act.source));
    let _ = writeln!(text, "{}{code}</td></tr>", escape(file_name(&act.source)));
    text
}
