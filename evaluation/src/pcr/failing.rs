//! Failing executions in a fixed time: table 5.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use raddle_core::Ending;
use raddle_programs::Form;
use raddle_programs::pcr::{SUBJECTS, Subject};

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
    Ok(rows)
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
