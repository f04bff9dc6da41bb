//! The reports of a folder in short, for the page that leads to them.

use std::fmt;

use super::{Document, Verdict};
use crate::json::{Data, Json, ReadError, object};

/// The reports of a folder.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Index {
    /// The reports: failures first, and then by name.
    pub entries: Vec<Entry>,
}

/// A report in short.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The name of the check.
    pub name: String,
    /// The name of the page, without its folder.
    pub page: String,
    /// Whether the check failed.
    pub failed: bool,
    /// The result in one line.
    pub summary: String,
    /// The number of executions.
    pub executions: u64,
    /// The duration of the check.
    pub elapsed_seconds: f64,
}

impl Entry {
    /// Makes the entry of a report, whose page has this name.
    pub fn new(document: &Document, page: String) -> Entry {
        let unmet = document.conditions.iter().find(|condition| !condition.held);
        let unmet = unmet.filter(|_| document.conditions_required);
        let summary = match (&document.failure, unmet, &document.verdict) {
            (Some(failure), ..) => failure.summary.clone(),
            (None, Some(condition), _) => format!("never held: `{}`", condition.name),
            (None, None, Verdict::Exhausted) => "exhaustive".to_owned(),
            (None, None, Verdict::Bounded(_)) => "exhaustive within bounds".to_owned(),
            (None, None, Verdict::NothingToExplore) => "the only execution".to_owned(),
            (None, None, Verdict::Sampled | Verdict::Failed) => "sampled".to_owned(),
        };
        Entry {
            name: document.name.clone(),
            page,
            failed: document.failure.is_some() || unmet.is_some(),
            summary,
            executions: document.executions,
            elapsed_seconds: document.elapsed_seconds,
        }
    }
}

impl Index {
    /// Adds an entry in place of the one with the same page.
    pub fn add(&mut self, entry: Entry) {
        self.entries.retain(|known| known.page != entry.page);
        self.entries.push(entry);
        self.entries.sort_by(|one, other| {
            (!one.failed, &one.name, &one.page).cmp(&(!other.failed, &other.name, &other.page))
        });
    }

    /// Reads the text that [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Result<Index, ReadError> {
        Index::from_json(&Json::parse(text)?)
    }
}

/// Writes the index as JSON.
impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_json().fmt(f)
    }
}

object! {
    Index { entries }
    Entry { name, page, failed, summary, executions, elapsed_seconds }
}
