//! The source lines of a run, below its picture.

use std::collections::{BTreeMap, BTreeSet};

use crate::lanes::{Act, Line};
use crate::paint::{Look, Paint};

/// Gives a line of a source file, counted from one, if it can be had.
pub(crate) type Source<'a> = &'a dyn Fn(&str, u32) -> Option<String>;

/// The most lines shown.
const MOST: usize = 20;

/// The lines that the steps in `lines` are at, by file.
pub(crate) fn excerpt(lines: &[Line], source: Source<'_>, paint: Paint) -> String {
    let mut files: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for (file, line) in acts(lines).filter_map(place) {
        files.entry(file).or_default().insert(line);
    }
    let total: usize = files.values().map(BTreeSet::len).sum();
    if total > MOST {
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

/// The file and the line of an act.
pub(crate) fn place(act: &Act) -> Option<(&str, u32)> {
    let (file, line) = act.source.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}

pub(crate) fn acts(lines: &[Line]) -> impl Iterator<Item = &Act> {
    lines.iter().filter_map(|line| match line {
        Line::Act(act) => Some(act),
        Line::Omitted(_) => None,
    })
}

fn indentation(line: &str) -> usize {
    line.chars().take_while(|letter| letter.is_whitespace()).count()
}
