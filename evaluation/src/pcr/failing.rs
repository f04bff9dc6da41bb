//! Failing executions in a fixed time: table 5.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use raddle_core::Ending;
use raddle_programs::Form;
use raddle_programs::pcr::{SUBJECTS, Subject};

use super::SEEDS;
use super::watch::{WORDS, watch};
use crate::progress::progress;
use crate::table::{Cell, Row, Size};

/// The names of the cells, for each of [`WORDS`]: executions that fail, and different ones.
const NAMES: [[&str; 2]; 6] = [
    ["pcr", "pcr_classes"],
    ["mcr", "mcr_classes"],
    ["maptest", "maptest_classes"],
    ["pos-star", "pos-star_classes"],
    ["pct:3", "pct:3_classes"],
    ["surw", "surw_classes"],
];

pub(super) fn table_5(size: Size) -> Result<Vec<Row>, String> {
    let limit = match size {
        Size::Full => Duration::from_secs(1),
        Size::Quick => Duration::from_millis(50),
    };
    let mut rows = Vec::new();
    for subject in &SUBJECTS {
        let mut cells = Vec::new();
        for (word, names) in WORDS.into_iter().zip(NAMES) {
            progress(&format!("{} {word}", subject.program.name));
            let (runs, classes) = failing(subject, word, limit)?;
            let paper = match word {
                "pcr" => Some(subject.published.pcr_failing),
                "random" => Some(subject.published.maptest_failing),
                _ => None,
            };
            cells.push((names[0], Cell { paper, ..Cell::count(runs, "executions") }));
            cells.push((names[1], Cell::count(classes, "classes")));
        }
        rows.push(Row { name: subject.program.name.to_owned(), cells });
    }
    for subject in &SUBJECTS {
        progress(&format!("{} at equal effort", subject.program.name));
        rows.push(equal_effort(subject)?);
    }
    Ok(rows)
}

/// Failing classes of PCR until nothing is left, of as many random schedules, and of as many random schedules as
/// the paper's ten seconds allow.
fn equal_effort(subject: &'static Subject) -> Result<Row, String> {
    let maptest = subject.published.maptest;
    let ten_seconds = (10_000.0 * maptest.schedules / maptest.milliseconds) as u64;
    let mut sums = [0.0; 4];
    for seed in 0..SEEDS {
        let pcr = classes(subject, "pcr", seed, u64::MAX)?;
        let equal = classes(subject, "random", seed, pcr.schedules)?;
        let paper = classes(subject, "random", seed, ten_seconds)?;
        let found =
            [pcr.schedules as usize, pcr.failing.len(), equal.failing.len(), paper.failing.len()];
        for (sum, found) in sums.iter_mut().zip(found) {
            *sum += found as f64 / SEEDS as f64;
        }
    }
    let [schedules, pcr, equal, paper] = sums;
    let published = |cell: Cell, paper: f64| Cell { paper: Some(paper), ..cell };
    let cells = vec![
        ("schedules", Cell::value(schedules, "until dry")),
        ("pcr", published(Cell::value(pcr, "classes"), subject.published.pcr_failing)),
        ("maptest", Cell::value(equal, "classes")),
        ("ten_s", Cell::count(ten_seconds, "schedules")),
        (
            "maptest_ten_s",
            published(Cell::value(paper, "classes"), subject.published.maptest_failing),
        ),
    ];
    Ok(Row { name: format!("{} at equal effort", subject.program.name), cells })
}

/// What a search has found.
struct Found {
    schedules: u64,
    /// The failing classes.
    failing: HashSet<u64>,
}

fn classes(subject: &'static Subject, word: &str, seed: u64, most: u64) -> Result<Found, String> {
    let program = subject.program.closure(Form::Bugged, subject.program.size.usual);
    let mut found = Found { schedules: 0, failing: HashSet::new() };
    watch(word, seed, &program, &mut |trace| {
        found.schedules += 1;
        if matches!(trace.ending, Ending::Panicked(_)) {
            found.failing.insert(trace.fingerprint);
        }
        found.schedules < most
    })?;
    Ok(found)
}

fn failing(subject: &'static Subject, word: &str, limit: Duration) -> Result<(u64, u64), String> {
    let program = subject.program.closure(Form::Bugged, subject.program.size.usual);
    let (start, mut runs, mut classes) = (Instant::now(), 0, HashSet::new());
    watch(word, 0, &program, &mut |trace| {
        if matches!(trace.ending, Ending::Panicked(_)) {
            runs += 1;
            classes.insert(trace.fingerprint);
        }
        start.elapsed() < limit
    })?;
    Ok((runs, classes.len() as u64))
}
