//! Which memory-access patterns were seen, for all variables and for each.

use std::fmt::Write;

use raddle_results::{Coverage, Report, VariableCoverage};

use super::escape;
use crate::coverage::{at_most, searched, sentence};
use crate::number::thousands;

/// So many variables have a row.
const SHOWN: usize = 100;

/// The section, or nothing if nobody asked.
pub(super) fn section(report: &Report) -> String {
    if report.coverage.is_none() && report.patterns.is_none() {
        return String::new();
    }
    let mut text = String::from("<section class=\"box coverage\">\n<h2>Coverage</h2>\n");
    if let Some(coverage) = &report.coverage {
        let _ = writeln!(text, "<p>{}</p>", escape(&sentence(coverage)));
        text += &variables(coverage);
    }
    if let Some(patterns) = &report.patterns {
        let words = escape(searched(patterns).trim());
        let _ = writeln!(text, "<p>{}</p>", words.replace("\n        ", "<br>"));
    }
    text + "</section>\n"
}

fn variables(coverage: &Coverage) -> String {
    let variables = &coverage.variables;
    if variables.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "<table class=\"parts\"><tr><th>variable, by a line that accesses it</th><th>reads</th>\
         <th>writes</th><th>covered</th><th>of at most</th><th></th></tr>\n",
    );
    for variable in variables.iter().take(SHOWN) {
        let VariableCoverage { site, reads, writes, covered, total } = variable;
        let share = if *total > 0.0 { *covered as f64 / total } else { 0.0 };
        let _ = writeln!(
            text,
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
             <td><meter value=\"{share:.3}\"></meter></td></tr>",
            escape(&site.to_string()),
            thousands(*reads),
            thousands(*writes),
            thousands(*covered),
            at_most(*total),
        );
    }
    text += "</table>\n";
    if variables.len() > SHOWN {
        let _ = writeln!(text, "<p>and {} more</p>", thousands((variables.len() - SHOWN) as u64));
    }
    text
}
