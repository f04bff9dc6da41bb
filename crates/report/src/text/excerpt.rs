//! The source lines of an execution, below its picture.

use std::collections::{BTreeMap, BTreeSet};

use crate::paint::{Look, Paint};
use crate::source::Source;
use crate::words::rows::{Act, Row, acts};

/// The maximal number of lines with steps.
const MAX_LINES: usize = 20;
/// The maximal number of lines shown, with those around.
const MAX_WITH_CONTEXT: usize = 40;
/// Lines between two lines with steps are shown if they are not more than this.
const MAX_GAP: u32 = 3;
/// The maximal number of lines between a line and the condition or the function that it belongs to.
const MAX_ABOVE: u32 = 30;

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
    let wider: BTreeMap<&str, BTreeSet<u32>> =
        files.iter().map(|(file, numbers)| (*file, with_context(file, numbers, source))).collect();
    if wider.values().map(BTreeSet::len).sum::<usize>() <= MAX_WITH_CONTEXT {
        files = wider;
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

/// Returns lines with those that say when they are reached: the conditions, loops and functions around them, and what
/// is between lines that are close to each other.
fn with_context(file: &str, numbers: &BTreeSet<u32>, source: Source<'_>) -> BTreeSet<u32> {
    let mut all = numbers.clone();
    for &number in numbers {
        let Some(line) = source(file, number) else { continue };
        let mut indent = indentation(&line);
        for above in (number.saturating_sub(MAX_ABOVE).max(1)..number).rev() {
            let Some(line) = source(file, above).filter(|line| !line.trim().is_empty()) else {
                continue;
            };
            if indentation(&line) >= indent {
                continue;
            }
            indent = indentation(&line);
            let code = line.trim_start();
            let is_function = code.starts_with("fn ") || code.contains(" fn ");
            if is_function || CONDITIONS.iter().any(|word| code.starts_with(word)) {
                all.insert(above);
            }
            if is_function {
                break;
            }
        }
    }
    let close: Vec<u32> = all
        .iter()
        .zip(all.iter().skip(1))
        .filter(|(before, after)| **after - **before <= MAX_GAP + 1)
        .flat_map(|(before, after)| before + 1..*after)
        .collect();
    all.extend(close);
    all
}

/// Lines that begin with these words decide whether what is in them is done.
const CONDITIONS: [&str; 9] =
    ["if ", "} else", "else", "while ", "for ", "loop ", "match ", "switch ", "do "];

fn indentation(line: &str) -> usize {
    line.chars().take_while(|letter| letter.is_whitespace()).count()
}
