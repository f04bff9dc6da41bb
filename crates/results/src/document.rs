//! A report as it is written to JSON and read back: the one form that texts and pages are rendered from.
//!
//! A [`Report`](crate::Report) refers to the program that made it; a document stands alone. Threads, objects
//! and steps are numbers, places are texts, and every operation is also given in words. The fields are
//! documented in `docs/report-json.md`.

mod explanation;
mod failure;
mod index;
mod repair;
mod trace;

pub use raddle_core::NoteKind;

pub use explanation::{CauseEvent, Causes, Explanation, OrderedPair};
pub use failure::{
    Access, Cause, Failure, Failures, Finding, Freed, Holder, Hop, LeakKind, LockOrder, Looked,
    Notification, Repeated, Wait, WaitLoop, Warning, WarningKind,
};
pub use index::{Entry, Index};
pub use repair::{Change, MovedLock, Region, Repair, StrongerOrder};
pub use trace::{
    Event, EventId, Link, MissedSync, Note, Object, Operation, Pending, Stack, StaleRead, Thread,
    Trace, Weak,
};

use std::fmt;

use raddle_core::{Guarantee, MemoryModel, Site};

use crate::json::{Data, Json, ReadError, expected, object, variants, words};
use crate::{
    Accesses, BlindSpots, Bounds, HiddenState, Incomplete, PatternSearch, Phase, PhaseEnd, Search,
};

/// The version of the form. New fields do not change it.
pub const VERSION: u64 = 2;

/// A report.
#[derive(Clone, PartialEq, Debug)]
pub struct Document {
    /// The name of the check.
    pub name: String,
    /// The word that names the strategy.
    pub strategy: String,
    /// The memory model.
    pub memory: MemoryModel,
    /// The seed of all randomness.
    pub seed: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// The number of executions.
    pub executions: u64,
    /// The number of steps of all executions.
    pub steps: u64,
    /// The number of equivalence classes seen.
    pub classes: u64,
    /// Whether `classes` was counted; otherwise it is an estimate.
    pub classes_exact: bool,
    /// The number of executions that were discarded at the step limit.
    pub discarded: u64,
    /// Whether objects were freed by the last `std::sync::Arc`, whose drops are no steps.
    pub unseen_drops: bool,
    /// The number of threads that could not be cleared away after their execution.
    pub leaked: u64,
    /// The number of executions that were repeated in another, equivalent order.
    pub equivalents: u64,
    /// The number of executions of other strategies that `auto` made first.
    pub probes: u64,
    /// Whether a search ended, but there was no time to look for state that raddle does not see.
    pub unchecked: bool,
    /// The difference that shows that threads share state that raddle does not see.
    pub hidden_state: Option<HiddenState>,
    /// What raddle did not see or explore.
    pub blind_spots: BlindSpots,
    /// Executions that were not completed, if there are any.
    pub incomplete: Option<Incomplete>,
    /// The duration of the check.
    pub elapsed_seconds: f64,
    /// The maximal number of threads alive in an execution.
    pub threads: u32,
    /// The phases of the check, if the strategy has several.
    pub phases: Vec<Phase>,
    /// The cost of a systematic search.
    pub search: Option<Search>,
    /// The memory-access patterns seen.
    pub coverage: Option<Coverage>,
    /// The work of a search for patterns.
    pub patterns: Option<PatternSearch>,
    /// The estimated share of executions that belong to classes not seen.
    pub unseen: Option<f64>,
    /// What sampling rules out.
    pub guarantees: Vec<Guarantee>,
    /// Suspicious behaviour of executions that do not fail.
    pub warnings: Vec<Warning>,
    /// The conditions that are to hold in some execution and that one came to.
    pub conditions: Vec<Condition>,
    /// Whether the check fails if one of `conditions` never held.
    pub conditions_required: bool,
    /// The command that runs the check again, if it is known.
    pub rerun: Option<String>,
    /// The failing execution, the first if there are several.
    pub failure: Option<Failure>,
    /// All failures, if the check continued after the first.
    pub failures: Option<Failures>,
}

impl Document {
    /// Reads the text that [`Display`](fmt::Display) writes. Ignores unknown fields.
    ///
    /// ```
    /// use raddle_results::{ReadError, document::Document};
    ///
    /// let error = Document::parse(r#"{"version": 99}"#).unwrap_err();
    /// assert_eq!(error, ReadError::Version { found: 99 });
    /// ```
    pub fn parse(text: &str) -> Result<Document, ReadError> {
        let json = Json::parse(text)?;
        match json.field("version")? {
            VERSION => Document::from_json(&json),
            found => Err(ReadError::Version { found }),
        }
    }
}

/// Writes the document as JSON, without a line break at its end.
impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut json = self.to_json();
        if let Json::Object(fields) = &mut json {
            fields.insert(0, ("version".into(), Json::Number(VERSION)));
        }
        json.fmt(f)
    }
}

/// The verdict of a check.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Verdict {
    /// Every execution was tried and none fails.
    Exhausted,
    /// Every execution within these bounds was tried and none fails.
    Bounded(Bounds),
    /// None of the executions tried fails.
    Sampled,
    /// There is only one execution, and it does not fail.
    NothingToExplore,
    /// An execution fails.
    Failed,
}

/// A condition that is to hold in some execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The name that the program gave it.
    pub name: String,
    /// The place in the program.
    pub site: Place,
    /// Whether it held in an execution.
    pub held: bool,
}

/// The memory-access patterns seen.
#[derive(Clone, PartialEq, Debug)]
pub struct Coverage {
    /// What distinguishes two accesses.
    pub by: Accesses,
    /// The number of patterns seen.
    pub covered: u64,
    /// An upper estimate of the number of all patterns.
    pub total: f64,
    /// The shared variables.
    pub variables: Vec<VariableCoverage>,
}

/// The patterns on one variable.
#[derive(Clone, PartialEq, Debug)]
pub struct VariableCoverage {
    /// A place that accesses the variable.
    pub site: Place,
    /// The number of accesses that read it.
    pub reads: u64,
    /// The number of accesses that write it.
    pub writes: u64,
    /// The number of patterns seen.
    pub covered: u64,
    /// An upper estimate of the number of all patterns.
    pub total: f64,
}

/// A place in the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// Not known.
    Unknown,
    /// A place in the source.
    Line {
        /// The file.
        file: String,
        /// The line, counted from one.
        line: u32,
        /// The column, counted from one.
        column: u32,
    },
    /// An address of machine code, in hexadecimal.
    Address(String),
}

impl From<Site> for Place {
    fn from(site: Site) -> Place {
        if let Some(location) = site.location() {
            let (file, line, column) = (location.file(), location.line(), location.column());
            Place::Line { file: file.to_owned(), line, column }
        } else if site.address().is_some() {
            Place::Address(site.to_string())
        } else {
            Place::Unknown
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Unknown => f.write_str("unknown line"),
            Place::Line { file, line, .. } => write!(f, "{file}:{line}"),
            Place::Address(address) => f.write_str(address),
        }
    }
}

impl Data for Place {
    fn to_json(&self) -> Json {
        match self {
            Place::Unknown => Json::Null,
            Place::Line { file, line, column } => Json::object(vec![
                ("file", file.to_json()),
                ("line", line.to_json()),
                ("column", column.to_json()),
            ]),
            Place::Address(address) => Json::object(vec![("address", address.to_json())]),
        }
    }

    fn from_json(json: &Json) -> Result<Place, ReadError> {
        match json {
            Json::Null => Ok(Place::Unknown),
            Json::Object(_) if json.get("address").is_some() => {
                Ok(Place::Address(json.field("address")?))
            }
            Json::Object(_) => {
                let (file, line) = (json.field("file")?, json.field("line")?);
                Ok(Place::Line { file, line, column: json.field("column")? })
            }
            Json::Bool(_) | Json::Number(_) | Json::Fraction(_) | Json::Text(_) | Json::List(_) => {
                Err(expected("a place"))
            }
        }
    }
}

object! {
    Document {
        name, strategy, memory, seed, verdict, executions, steps, classes, classes_exact, discarded,
        unseen_drops, leaked, equivalents, probes, unchecked, hidden_state, blind_spots, incomplete, elapsed_seconds,
        threads, phases, search, coverage, patterns, unseen, guarantees, warnings, conditions, conditions_required, rerun, failure,
        failures,
    }
    Condition { name, site, held }
    Coverage { by, covered, total, variables }
    VariableCoverage { site, reads, writes, covered, total }
    PatternSearch {
        generated, filtered, by_core, solved, unsat, unknown, left_out, asked, told, duplicates,
        exhibited, blocked, missed, is_done,
    }
    Phase { strategy, executions, failing, end }
    Search { blocked, points, planned, estimate }
    BlindSpots { silent_threads, weak_orderings, clock_loops, idle_rounds }
    HiddenState { execution, before, after }
    Bounds { preemptions, delays, unfairness }
    Incomplete { assumed, waits, out_of_time }
    Guarantee { strategy, depth, threads, steps, in_one_phase, history, runs, escape }
}

variants! {
    Verdict {
        "exhausted" = Exhausted,
        "bounded" = Bounded(bounds),
        "sampled" = Sampled,
        "nothing-to-explore" = NothingToExplore,
        "failed" = Failed,
    }
    PhaseEnd {
        "exhausted" = Exhausted,
        "bounded" = Bounded(bounds),
        "too-many" = TooMany(estimate),
        "too-long" = TooLong,
        "hidden-state" = HiddenState,
        "clock" = Clock,
        "out-of-budget" = OutOfBudget,
        "failed" = Failed,
    }
}

words! {
    MemoryModel { "SC" = Sc, "RC11" = Rc11 }
    Accesses { "site" = BySite, "event" = ByEvent }
}
