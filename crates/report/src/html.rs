//! A report as one page of HTML that needs nothing else: the finding, the session in numbers, what was
//! covered, and the failing run with a lane for each thread, to be stepped through with the keyboard.
//!
//! The table of steps is there without scripts; they add arrows, the details of a step and the filter,
//! from the report's JSON, which is in the page.

mod coverage;
mod cycle;
mod trace;

use std::fmt::Write;

use raddle_results::{Failure, Failures, Finding, Phase, PhaseEnd, Report, Verdict};

pub(crate) use self::trace::FOLD;
use crate::backtrace::program_part;
use crate::clean::within;
use crate::failure::{explanation, headline, message, origin, replay_command, warning};
use crate::names::Names;
use crate::number::{about, thousands, time};
use crate::{census, json, stale, text::text};

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// The report as a page of HTML. `source` gives a line of a source file, counted from one, if it can be
/// had.
///
/// ```
/// let report = raddle::Config::new().name("seven").run(|| {
///     assert!(raddle::choose(10) != 7, "seven");
/// });
/// let page = raddle_report::html(&report, &|_file, _line| None);
/// assert!(page.starts_with("<!DOCTYPE html>") && page.contains("seven"));
/// ```
pub fn html(report: &Report, source: &dyn Fn(&str, u32) -> Option<String>) -> String {
    let mut body = header(report);
    match report.failure() {
        Some(failure) => {
            let names = Names::new(&failure.trace);
            body += &finding(report, failure, &names);
            body += &report.failures.as_ref().map_or_else(String::new, |all| causes(report, all));
            body += &numbers(report);
            body += &coverage::section(report);
            // As in the text, a run that is not deterministic is not what is wrong.
            if !matches!(failure.finding, Finding::Nondeterminism { .. }) {
                body += &trace::section(failure, &names, source);
                body += &data("report", &json::embedded(report));
                body += &data("sources", &trace::snippets(failure, source));
            }
        }
        None => {
            // What was covered has a section of its own.
            let words = text(report).replace(&crate::coverage::text(report), "");
            body += &format!(
                "<section class=\"box\"><p class=\"headline\">{}</p></section>\n",
                escape(&words).replace("\n        ", "<br>")
            );
            body += &numbers(report);
            body += &coverage::section(report);
        }
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"raddle\">\n<title>{}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\
         <footer>Written by raddle.</footer>\n</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escape(&format!("{} — raddle", report.name)),
    )
}

fn header(report: &Report) -> String {
    let (look, word) = match report.verdict {
        Verdict::Exhausted => ("good", "ok, exhaustive"),
        Verdict::Bounded(_) => ("good", "ok, bounded"),
        Verdict::Sampled => ("good", "ok, sampled"),
        Verdict::NothingToExplore => ("good", "ok, nothing to explore"),
        Verdict::Failed(_) => ("bad", "FAILED"),
    };
    format!(
        "<header><h1><span class=\"badge {look}\">{word}</span>{}</h1></header>\n",
        escape(&report.name)
    )
}

/// What went wrong, what explains it, and how to have it again.
fn finding(report: &Report, failure: &Failure, names: &Names<'_>) -> String {
    let mut text = String::from("<section class=\"box finding\">\n");
    let summary = escape(&headline(&failure.finding, names));
    let _ = writeln!(text, "<p class=\"headline\"><strong>{summary}</strong></p>");
    let _ = writeln!(text, "<p class=\"origin\">{}</p>", escape(&origin(report, failure)));
    if !warning(failure).is_empty() {
        let _ = writeln!(text, "<p class=\"bad\">{}</p>", escape(&warning(failure).join(" ")));
    }
    if let Finding::Deadlock(waits) = &failure.finding {
        text += &cycle::drawings(waits, &failure.trace, names);
    }
    let (finding, backtrace) = without_backtrace(&failure.finding);
    let words = message(&finding) + &explanation(report, &finding, &failure.trace, names);
    let _ = writeln!(text, "<pre>{}</pre>", escape(&words.replace("\n  ", "\n")).trim());
    let weak = stale::explanation(report, &failure.trace);
    if !weak.is_empty() {
        let _ = writeln!(text, "<pre>{}</pre>", escape(&weak.replace("\n  ", "\n")).trim());
    }
    if let Some(backtrace) = backtrace {
        let frames = escape(&program_part(&backtrace));
        let _ =
            writeln!(text, "<details><summary>backtrace</summary><pre>{frames}</pre></details>");
    }
    if let Some(command) = replay_command(report, failure) {
        let _ = writeln!(
            text,
            "<div class=\"replay\"><code id=\"replay\">{}</code><button id=\"copy\">copy</button></div>",
            escape(&command)
        );
    }
    text + "</section>\n"
}

/// All failures of a check that went on after the first.
fn causes(report: &Report, failures: &Failures) -> String {
    let words = census::text(report, failures).replace("\n  ", "\n");
    format!("<section class=\"box\">\n<pre>{}</pre>\n</section>\n", escape(words.trim()))
}

/// The finding, and apart from it the backtrace that it may have.
fn without_backtrace(finding: &Finding) -> (Finding, Option<String>) {
    let mut finding = finding.clone();
    let backtrace = match &mut finding {
        Finding::Panic(panic) => panic.backtrace.take(),
        Finding::Deadlock(_)
        | Finding::Race { .. }
        | Finding::StepLimit { .. }
        | Finding::Nondeterminism { .. }
        | Finding::Leak(_)
        | Finding::Stuck { .. } => None,
    };
    (finding, backtrace)
}

/// The session in numbers.
fn numbers(report: &Report) -> String {
    let about_classes = if report.classes_exact { "" } else { "≈ " };
    let mut shown = vec![
        ("strategy", report.strategy.to_string()),
        ("memory", report.memory.to_string()),
        ("seed", report.seed.to_string()),
        ("executions", thousands(report.executions)),
        ("steps", thousands(report.steps)),
        ("classes seen", format!("{about_classes}{}", thousands(report.classes))),
        ("threads", thousands(report.threads.into())),
        ("time", time(report.elapsed)),
    ];
    let seconds = report.elapsed.as_secs_f64();
    if seconds > 0.0 && report.executions > 1 {
        let speed = (report.executions as f64 / seconds) as u64;
        shown.push(("executions a second", thousands(speed)));
    }
    if report.discarded > 0 {
        shown.push(("set aside at the step limit", thousands(report.discarded)));
    }
    if let Verdict::Bounded(bounds) = &report.verdict {
        shown.push(("all executions", within(bounds)));
    }
    if let Some(search) = &report.search {
        shown.push(("given up half-way", thousands(search.blocked)));
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
    if !report.phases.is_empty() {
        text += "<table class=\"parts\"><tr><th>part</th><th>executions</th><th>result</th></tr>\n";
        for phase in &report.phases {
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
        PhaseEnd::OutOfBudget => "its runs or its time were used up".into(),
        PhaseEnd::Failed => "found the failure".into(),
    }
}

/// Data for the script. Nothing in it can end the element, since `<` is written otherwise.
fn data(id: &str, json: &str) -> String {
    let json = json.replace('<', "\\u003c");
    format!("<script type=\"application/json\" id=\"{id}\">\n{json}</script>\n")
}

/// `text` as the content of an element or of an attribute in double quotes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // No page may have these.
            '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}
