//! A report as text.

mod excerpt;
mod lanes;

use std::collections::BTreeSet;

use raddle_results::Report;
use raddle_results::document::{Coverage, Document, Failure, Finding, Object, Place};

use crate::document::document;
use crate::number::thousands;
use crate::paint::{Look, Paint};
use crate::source::Source;
use crate::words::coverage::{at_most, searched, sentence};
use crate::words::explanation::{causes, shrunk, unexplained};
use crate::words::failure::{
    backtrace, explanation, message, not_reproduced, origin, replay_command,
};
use crate::words::names::legend;
use crate::words::relevant::relevant;
use crate::words::repair::repairs;
use crate::words::rows::{acts, rows};
use crate::words::{clean, failures, stacks, stale};
use excerpt::excerpt;

/// The indentation of everything below the first line of a result without a failure.
const BELOW: &str = "        ";
/// The maximal number of variables listed one by one.
const MAX_VARIABLES: usize = 5;
/// The maximal number of objects explained below a picture.
const MAX_LEGEND: usize = 20;

/// Returns a report as text, without a line break at its end.
pub fn text(report: &Report) -> String {
    text_with(&document(report), Paint::Plain, &|_, _| None)
}

/// Returns a document as text, without a line break at its end, perhaps with colours, and with the source of
/// the steps below their picture.
pub fn text_with(document: &Document, paint: Paint, source: Source<'_>) -> String {
    let (verdict, text) = match &document.failure {
        Some(failure) => (
            paint.paint(Look::Bad, "FAILED"),
            failed(document, failure, paint, source) + &below(&coverage(document)),
        ),
        None => {
            let mut lines = clean::lines(document);
            lines.extend(coverage(document));
            lines.extend(document.warnings.iter().map(|warning| warning.summary.clone()));
            let unmet = clean::unmet(document);
            let word = match unmet {
                Some(_) => paint.paint(Look::Bad, "FAILED"),
                None => paint.paint(Look::Good, "ok"),
            };
            lines.splice(0..0, unmet);
            let first = if lines.is_empty() { String::new() } else { lines.remove(0) };
            (word, first + &below(&lines))
        }
    };
    visible(&format!("raddle: test `{}` {verdict} — {text}", document.name), paint)
}

/// Returns a text in which control characters of the program are visible, so that a name or a message cannot change
/// the terminal. Line breaks remain, and colours if the text has any.
fn visible(text: &str, paint: Paint) -> String {
    let is_harmless = |letter: char| letter == '\n' || letter == '\t' || !letter.is_control();
    if text.chars().all(is_harmless) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        if is_harmless(letter) || paint == Paint::Colours && is_colour(&text[at..]) {
            shown.push(letter);
        } else {
            shown.extend(letter.escape_default());
        }
    }
    shown
}

/// Returns whether a text begins with a sequence that changes the colour.
fn is_colour(text: &str) -> bool {
    let inner = text.strip_prefix("\x1b[").and_then(|rest| rest.split_once('m'));
    inner.is_some_and(|(inner, _)| {
        inner.chars().all(|letter| letter.is_ascii_digit() || letter == ';')
    })
}

/// Returns lines below the first one of a result, each with a line break before it.
fn below(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n{BELOW}{line}")).collect()
}

fn coverage(document: &Document) -> Vec<String> {
    let covered = document.coverage.iter().flat_map(variables);
    covered.chain(document.patterns.iter().flat_map(searched)).collect()
}

fn variables(coverage: &Coverage) -> Vec<String> {
    let mut lines = vec![sentence(coverage)];
    for variable in coverage.variables.iter().take(MAX_VARIABLES) {
        let (covered, total) = (thousands(variable.covered), at_most(variable.total));
        lines.push(format!("  {}: {covered} of {total}", variable.site));
    }
    if coverage.variables.len() > MAX_VARIABLES {
        let more = thousands((coverage.variables.len() - MAX_VARIABLES) as u64);
        lines.push(format!("  and {more} more"));
    }
    lines
}

/// Returns a failure: summary, how it was found, the execution, what explains it, how to replay it.
fn failed(document: &Document, failure: &Failure, paint: Paint, source: Source<'_>) -> String {
    let mut text = format!("{}\n", paint.paint(Look::Strong, &failure.summary));
    text += &indented(&origin(document, failure));
    text += &indented(&failure.explanation.as_ref().map(shrunk).unwrap_or_default());
    text += &indented(failure.unexplained.map(unexplained).unwrap_or_default());
    text += &indented(&not_reproduced(failure).join("\n"));
    let weak_memory = stale::explanation(document, &failure.trace);
    let backtrace = backtrace(&failure.finding);
    let explained = explanation(document, failure)
        + &backtrace.map_or_else(String::new, |frames| format!("backtrace:\n{frames}\n"));
    let causes = failure.explanation.as_ref().map(|known| causes(known, &failure.trace));
    let causes = causes.unwrap_or_default();
    let repairs = failure.explanation.as_ref().map(|known| repairs(known, &failure.trace));
    let repairs = repairs.unwrap_or_default();
    let all = document.failures.as_ref();
    let sections = [
        indented(message(&failure.finding).unwrap_or_default()),
        match failure.finding {
            // The execution itself is not what is wrong.
            Finding::Nondeterminism { .. } => String::new(),
            Finding::Panic { .. }
            | Finding::Deadlock { .. }
            | Finding::WaitsForever { .. }
            | Finding::Race { .. }
            | Finding::UseAfterFree { .. }
            | Finding::FreedTwice { .. }
            | Finding::ReadTwice { .. }
            | Finding::StepLimit { .. }
            | Finding::Leak { .. } => picture(failure, paint, source),
        },
        indented(&weak_memory),
        indented(&explained),
        indented(&stacks::stacks(&failure.trace)),
        indented(&causes),
        indented(&repairs),
        indented(
            &document.hidden_state.iter().flat_map(clean::hidden).collect::<Vec<_>>().join("\n"),
        ),
        replay_command(document, failure).map_or_else(String::new, |command| {
            format!("  replay: {}\n", paint.paint(Look::Strong, &command))
        }),
        all.map_or_else(String::new, |all| indented(&failures::lines(document, all).join("\n"))),
    ];
    for section in sections.iter().filter(|section| !section.is_empty()) {
        text.push('\n');
        text += section;
    }
    text.truncate(text.trim_end().len());
    text
}

/// Returns the object that is freed twice, or used after it was freed.
fn freed_object(failure: &Failure) -> Option<&Object> {
    match &failure.finding {
        Finding::UseAfterFree { freed, .. } | Finding::FreedTwice { first: freed, .. } => {
            failure.trace.object(freed.object)
        }
        Finding::Panic { .. }
        | Finding::Deadlock { .. }
        | Finding::WaitsForever { .. }
        | Finding::Race { .. }
        | Finding::ReadTwice { .. }
        | Finding::Leak { .. }
        | Finding::StepLimit { .. }
        | Finding::Nondeterminism { .. } => None,
    }
}

/// Returns the steps of an execution in lanes, the objects they are about, and their source.
fn picture(failure: &Failure, paint: Paint, source: Source<'_>) -> String {
    let shown = relevant(failure);
    let rows = rows(failure, |step| shown.contains(&step));
    let mut text = lanes::draw(&rows, &failure.trace, paint);
    let mut used: BTreeSet<u32> = acts(&rows).filter_map(|act| act.object).collect();
    // A freed object may have no steps.
    let freed = freed_object(failure);
    used.extend(freed.filter(|object| object.made != Place::Unknown).map(|object| object.id));
    let legend = legend(&failure.trace, &used);
    if !legend.is_empty() {
        text.push('\n');
    }
    for line in legend.iter().take(MAX_LEGEND) {
        text += &format!("  {}\n", paint.paint(Look::Faint, line));
    }
    if legend.len() > MAX_LEGEND {
        text += &format!("  … and {} more\n", legend.len() - MAX_LEGEND);
    }
    let excerpt = excerpt(&rows, source, paint);
    if !excerpt.is_empty() {
        text.push('\n');
    }
    text + &excerpt
}

/// Returns lines with a margin, each with a line break at its end.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect()
}
