//! The source lines of an execution, below its picture.

use std::collections::{BTreeMap, BTreeSet};

use crate::paint::{Look, Paint};
use crate::source::Source;
use crate::words::rows::{Act, Row, acts};

/// The maximal number of lines shown.
const MAX_LINES: usize = 20;

/// Returns the source lines of `rows`, by file.
pub(super) fn excerpt(rows: &[Row], source: Source<'_>, paint: Paint) -> String {
    let mut files: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for (file, line) in acts(rows).filter_map(Act::line) {
        files.entry(file).or_default().insert(line);
    }
    let total: usize = files.values().map(BTreeSet::len).sum();
    if total > MAX_LINES {
        return String::new();
    }
    let mut text = String::new();
    for (file, numbers) in files {
        let found: Vec<(u32, String)> =
            numbers.into_iter().filter_map(|line| Some((line, source(file, line)?))).collect();
        if found.is_empty() {
            continue;
        }
        text += &format!("  {}\n", paint.paint(Look::Faint, file));
        let indent = found.iter().map(|(_, line)| indentation(line)).min().unwrap_or(0);
        let width = found.iter().map(|(number, _)| number.to_string().len()).max().unwrap_or(0);
        for (number, line) in found {
            let line: String = line.trim_end().chars().skip(indent).collect();
            let number = paint.paint(Look::Faint, &format!("{number:>width$} │"));
            text += &format!("    {number} {line}\n");
        }
    }
    text
}

fn indentation(line: &str) -> usize {
    line.chars().take_while(|letter| letter.is_whitespace()).count()
}
