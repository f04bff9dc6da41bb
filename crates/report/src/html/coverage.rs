//! The memory-access patterns seen, of all variables and of each.

use std::fmt::Write;

use raddle_results::document::{Coverage, Document, VariableCoverage};

use super::markup::{broken, escape};
use crate::number::thousands;
use crate::words::coverage::{at_most, searched, sentence};

/// The maximal number of variables that have a row.
const MAX_VARIABLES: usize = 100;

/// Returns the section, or nothing if coverage was not requested.
pub(super) fn section(document: &Document) -> String {
    if document.coverage.is_none() && document.patterns.is_none() {
        return String::new();
    }
    let mut text = String::from("<section class=\"box coverage\">\n<h2>Coverage</h2>\n");
    if let Some(coverage) = &document.coverage {
        let _ = writeln!(text, "<p>{}</p>", escape(&sentence(coverage)));
        text += &variables(coverage);
    }
    if let Some(patterns) = &document.patterns {
        let _ = writeln!(text, "<p>{}</p>", broken(&searched(patterns)));
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
    for variable in variables.iter().take(MAX_VARIABLES) {
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
    if variables.len() > MAX_VARIABLES {
        let _ = writeln!(
            text,
            "<p>and {} more</p>",
            thousands((variables.len() - MAX_VARIABLES) as u64)
        );
    }
    text
}
