//! Small pieces of sentences.

use raddle_results::document::Place;

/// The maximal length of a summary; longer messages are shortened.
const MAX_SUMMARY: usize = 160;

/// Joins a message to one line: `assertion failed: left: 1, right: 2`.
pub(crate) fn one_line(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("a panic without a message");
    let rest: Vec<&str> = lines.collect();
    if rest.is_empty() { first.into() } else { format!("{first}: {}", rest.join(", ")) }
}

/// Shortens a line that is too long for a summary.
pub(crate) fn shortened(line: &str) -> String {
    if fits_summary(line) {
        return line.into();
    }
    let kept: String = line.chars().take(MAX_SUMMARY - 1).collect();
    format!("{}…", kept.trim_end())
}

/// Returns whether a line is short enough for a summary.
pub(crate) fn fits_summary(line: &str) -> bool {
    width(line) <= MAX_SUMMARY
}

/// Returns the number of characters of a text.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

/// Returns what an access does.
pub(crate) fn access_verb(writes: bool, site: &Place) -> &'static str {
    match (writes, *site == Place::Unknown) {
        // Only the creation of an object has no line of its own.
        (true, true) => "creates it",
        (true, false) => "writes",
        (false, _) => "reads",
    }
}

/// Returns a word as it is written in a shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.@/:".contains(letter);
    if word.chars().all(is_plain) { word.into() } else { format!("'{word}'") }
}

/// Returns the last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
