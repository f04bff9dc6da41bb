//! A report as one page of HTML that needs no other files: the finding, the check in numbers, what was
//! covered, and the failing execution with a lane per thread, which the keyboard steps through.
//!
//! A page is rendered from a document alone. The table of steps works without scripts; they add arrows, the
//! details of a step and the filter, from the document's JSON, which the page contains.

mod coverage;
mod cycle;
mod index;
mod markup;
mod trace;

use std::fmt::Write;

use raddle_core::MemoryModel;
use raddle_results::document::{Document, Failure, Failures, Finding, Verdict};
use raddle_results::{Phase, PhaseEnd};

pub use self::index::index;
use self::markup::{broken, data, escape, preformatted};
use crate::number::{about, thousands};
use crate::source::Source;
use crate::words::clean::{elapsed, within};
use crate::words::explanation::{causes as why, shrunk, unexplained};
use crate::words::failure::{
    backtrace, explanation, message, not_reproduced, origin, replay_command,
};
use crate::words::repair::repairs;
use crate::words::{clean, failures, stacks, stale};

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// Returns a document as a page of HTML, with the source of its steps.
///
/// ```
/// let report = raddle::Config::new().name("seven").run(|| {
///     assert!(raddle::choose(10) != 7, "seven");
/// });
/// let document = raddle_report::document(&report);
/// let page = raddle_report::html(&document, &|_file, _line| None);
/// assert!(page.starts_with("<!DOCTYPE html>") && page.contains("seven"));
/// ```
pub fn html(document: &Document, source: Source<'_>) -> String {
    let mut body = header(document);
    match &document.failure {
        Some(failure) => {
            body += &finding(document, failure);
            body +=
                &document.failures.as_ref().map_or_else(String::new, |all| causes(document, all));
            // As in the text, a run that is not deterministic is not what is wrong.
            if !matches!(failure.finding, Finding::Nondeterminism { .. }) {
                body += &trace::section(failure, source);
                body += &data("report", &trace::shortened(document).to_string());
                body += &data("sources", &trace::snippets(failure, source));
            }
            body += &numbers(document);
            body += &coverage::section(document);
        }
        None => {
            body += &result(document);
            body += &numbers(document);
            body += &coverage::section(document);
        }
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"raddle\">\n<title>{}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\
         <footer>Written by raddle.</footer>\n</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escape(&format!("{} — raddle", document.name)),
    )
}

fn header(document: &Document) -> String {
    let (look, word) = match document.verdict {
        _ if clean::unmet(document).is_some() => ("bad", "FAILED"),
        Verdict::Exhausted => ("good", "ok, exhaustive"),
        Verdict::Bounded(_) => ("good", "ok, bounded"),
        Verdict::Sampled => ("good", "ok, sampled"),
        Verdict::NothingToExplore => ("good", "ok, nothing to explore"),
        Verdict::Failed => ("bad", "FAILED"),
    };
    format!(
        "<header><h1><span class=\"badge {look}\">{word}</span>{}</h1></header>\n",
        escape(&document.name)
    )
}

/// Returns a result without a failure, and the warnings.
fn result(document: &Document) -> String {
    let mut lines: Vec<String> = clean::unmet(document).into_iter().collect();
    lines.extend(clean::lines(document));
    lines.extend(document.warnings.iter().map(|warning| warning.summary.clone()));
    format!("<section class=\"box\"><p class=\"headline\">{}</p></section>\n", broken(&lines))
}

/// Returns what went wrong, what explains it, and how to replay it.
fn finding(document: &Document, failure: &Failure) -> String {
    let mut text = String::from("<section class=\"box finding\">\n");
    let summary = escape(&failure.summary);
    let _ = writeln!(text, "<p class=\"headline\"><strong>{summary}</strong></p>");
    let _ = writeln!(text, "<p class=\"origin\">{}</p>", escape(&origin(document, failure)));
    let shrunk = failure.explanation.as_ref().map(shrunk).unwrap_or_default()
        + failure.unexplained.map(unexplained).unwrap_or_default();
    if !shrunk.is_empty() {
        let _ = writeln!(text, "<p class=\"origin\">{}</p>", escape(&shrunk));
    }
    let warning = not_reproduced(failure).join(" ");
    if !warning.is_empty() {
        let _ = writeln!(text, "<p class=\"bad\">{}</p>", escape(&warning));
    }
    if let Finding::Deadlock { waits, cycles } = &failure.finding {
        text += &cycle::drawings(waits, cycles, &failure.trace);
    }
    let message = message(&failure.finding).map(|message| format!("{message}\n"));
    text += &preformatted(&(message.unwrap_or_default() + &explanation(document, failure)));
    text += &preformatted(&stale::explanation(document, &failure.trace));
    let why = failure.explanation.as_ref().map(|known| why(known, &failure.trace));
    text += &preformatted(&why.unwrap_or_default());
    let repairs = failure.explanation.as_ref().map(|known| repairs(known, &failure.trace));
    text += &preformatted(&repairs.unwrap_or_default());
    let stacks = stacks::stacks(&failure.trace);
    if !stacks.is_empty() {
        let stacks = escape(&stacks);
        let _ = writeln!(text, "<details><summary>stacks</summary><pre>{stacks}</pre></details>");
    }
    if let Some(frames) = backtrace(&failure.finding) {
        let frames = escape(&frames);
        let _ =
            writeln!(text, "<details><summary>backtrace</summary><pre>{frames}</pre></details>");
    }
    if let Some(command) = replay_command(document, failure) {
        let _ = writeln!(
            text,
            "<div class=\"replay\"><code id=\"replay\">{}</code><button id=\"copy\">copy</button></div>",
            escape(&command)
        );
    }
    text + "</section>\n"
}

/// Returns all failures of a check that continued after the first.
fn causes(document: &Document, failures: &Failures) -> String {
    let lines = preformatted(&failures::lines(document, failures).join("\n"));
    format!("<section class=\"box\">\n{lines}</section>\n")
}

/// Returns the check in numbers.
fn numbers(document: &Document) -> String {
    let classes = match document.memory {
        MemoryModel::Sc => "classes seen",
        MemoryModel::Rc11 => "execution graphs seen",
    };
    let about_classes = if document.classes_exact { "" } else { "≈ " };
    let mut shown = vec![
        ("strategy", document.strategy.clone()),
        ("memory", document.memory.to_string()),
        ("seed", document.seed.to_string()),
        ("executions", thousands(document.executions)),
        ("steps", thousands(document.steps)),
        (classes, format!("{about_classes}{}", thousands(document.classes))),
        ("threads", thousands(document.threads.into())),
        ("time", elapsed(document)),
    ];
    if document.elapsed_seconds > 0.0 && document.executions > 1 {
        let speed = (document.executions as f64 / document.elapsed_seconds) as u64;
        shown.push(("executions a second", thousands(speed)));
    }
    if document.discarded > 0 {
        shown.push(("discarded at the step limit", thousands(document.discarded)));
    }
    if let Some(incomplete) = &document.incomplete {
        shown.push(("stopped by an assumption", thousands(incomplete.assumed)));
        shown.push(("ended in a wait", thousands(incomplete.waits)));
        shown.push(("cut off by the time limit", thousands(incomplete.out_of_time)));
    }
    if let Verdict::Bounded(bounds) = &document.verdict {
        shown.push(("all executions", within(bounds)));
    }
    if let Some(search) = &document.search {
        shown.push(("abandoned", thousands(search.blocked)));
        shown.push(("most points kept", thousands(search.points)));
        shown.push(("most steps planned", thousands(search.planned)));
        if let Some(estimate) = search.estimate {
            shown.push(("executions in all", about(estimate)));
        }
    }
    let mut text = String::from("<section class=\"box\">\n<dl class=\"numbers\">\n");
    for (name, value) in shown {
        let _ = writeln!(text, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(&value));
    }
    text += "</dl>\n";
    if !document.phases.is_empty() {
        text += "<table class=\"parts\"><tr><th>part</th><th>executions</th><th>result</th></tr>\n";
        for phase in &document.phases {
            let _ = writeln!(
                text,
                "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
                escape(&phase.strategy),
                thousands(phase.executions),
                escape(&end(phase))
            );
        }
        text += "</table>\n";
    }
    text + "</section>\n"
}

fn end(phase: &Phase) -> String {
    match &phase.end {
        PhaseEnd::Exhausted => "every execution was tried, none fails".into(),
        PhaseEnd::Bounded(bounds) => format!("all executions {}: none fails", within(bounds)),
        PhaseEnd::TooMany(estimate) => format!("{} executions in all, too many", about(*estimate)),
        PhaseEnd::TooLong => "met an execution that does not seem to end".into(),
        PhaseEnd::HiddenState => "equivalent executions differ: it proves nothing".into(),
        PhaseEnd::Clock => "a loop reads the clock: it proves nothing".into(),
        PhaseEnd::OutOfBudget => "its runs or its time were used up".into(),
        PhaseEnd::Failed => "found the failure".into(),
        _ => raddle_results::new_variant(),
    }
}
