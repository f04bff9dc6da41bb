//! The page that leads to the reports of a folder.

use std::fmt::Write;
use std::time::Duration;

use raddle_results::document::Index;

use super::STYLE;
use super::markup::escape;
use crate::number::{count, thousands, time};

/// Returns the page of an index: how many checks failed, and a table of all.
pub fn index(index: &Index) -> String {
    let failed = index.entries.iter().filter(|entry| entry.failed).count() as u64;
    let (look, word) = match failed {
        0 => ("good", "ok".to_owned()),
        failed => ("bad", format!("{} FAILED", thousands(failed))),
    };
    let checks = count(index.entries.len() as u64, "check", "checks");
    let mut rows = String::new();
    for entry in &index.entries {
        let (look, word) = if entry.failed { ("bad", "FAILED") } else { ("good", "ok") };
        let elapsed = Duration::try_from_secs_f64(entry.elapsed_seconds).unwrap_or_default();
        let _ = writeln!(
            rows,
            "<tr><td><span class=\"badge {look}\">{word}</span></td>\
             <td><a href=\"{}\">{}</a></td><td>{}</td><td class=\"count\">{}</td>\
             <td class=\"count\">{}</td></tr>",
            escape(&entry.page),
            escape(&entry.name),
            escape(&entry.summary),
            thousands(entry.executions),
            time(elapsed),
        );
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"raddle\">\n<title>{checks} — raddle</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header><h1><span class=\"badge {look}\">{word}</span>{checks}</h1></header>\n\
         <section class=\"box\">\n<table class=\"parts index\"><tr><th></th><th>check</th><th>result</th>\
         <th>executions</th><th>time</th></tr>\n{rows}</table>\n</section>\n\
         <footer>Written by raddle.</footer>\n</main>\n</body>\n</html>\n"
    )
}
