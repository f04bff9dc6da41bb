//! Failing executions in a fixed time: table 5.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use raddle_core::{Ending, ObjectId, ObjectKind, Scalar, ThreadId, Trace};
use raddle_explore::{Pcr, Rules};
use raddle_programs::Form;
use raddle_programs::pcr::{SUBJECTS, Subject};

use super::SEEDS;
use super::watch::{WORDS, follow, watch};
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
    let schedules = match size {
        Size::Full => 10_000,
        Size::Quick => 200,
    };
    for subject in &SUBJECTS {
        progress(&format!("{} by failure", subject.program.name));
        rows.push(by_failure(subject, schedules)?);
    }
    Ok(rows)
}

/// What random schedules go on finding after PCR has nothing left: other orders of accesses, or other failures. Two
/// executions have the same failure if the thread that failed passed the same places and read the same.
fn by_failure(subject: &'static Subject, schedules: u64) -> Result<Row, String> {
    let random = classes(subject, "random", 0, schedules)?;
    let mcr = classes(subject, "mcr", 0, u64::MAX)?;
    let mut all: HashSet<u64> = random.failures.union(&mcr.failures).copied().collect();
    let mut sums = [0.0; 4];
    for seed in 0..SEEDS {
        let pcr = classes(subject, "pcr", seed, u64::MAX)?;
        let program = subject.program.closure(Form::Bugged, subject.program.size.usual);
        let mut without = Found::default();
        follow(Pcr::with_rules(seed, Rules::ALL.without(2)), &program, &mut |trace| {
            without.learn(trace);
            true
        });
        let found = [pcr.schedules, without.schedules]
            .map(|schedules| schedules as usize)
            .into_iter()
            .chain([pcr.failures.len(), without.failures.len()]);
        for (sum, found) in sums.iter_mut().zip(found) {
            *sum += found as f64 / SEEDS as f64;
        }
        all.extend(pcr.failures.iter().chain(&without.failures));
    }
    let [pcr_schedules, without_schedules, pcr, without] = sums;
    let cells = vec![
        ("random_orders", Cell::count(random.failing.len() as u64, "classes")),
        ("random", Cell::count(random.failures.len() as u64, "failures")),
        ("mcr_schedules", Cell::count(mcr.schedules, "until dry")),
        ("mcr", Cell::count(mcr.failures.len() as u64, "failures")),
        ("pcr_schedules", Cell::value(pcr_schedules, "until dry")),
        ("pcr", Cell::value(pcr, "failures")),
        ("without_2_schedules", Cell::value(without_schedules, "until dry")),
        ("without_2", Cell::value(without, "failures")),
        ("all", Cell::count(all.len() as u64, "failures")),
    ];
    Ok(Row { name: format!("{} by failure", subject.program.name), cells })
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
#[derive(Default)]
struct Found {
    schedules: u64,
    /// The failing classes: orders of accesses.
    failing: HashSet<u64>,
    /// The failures: what the thread that failed had seen.
    failures: HashSet<u64>,
}

impl Found {
    fn learn(&mut self, trace: &Trace) {
        self.schedules += 1;
        if let Ending::Panicked(panic) = &trace.ending {
            self.failing.insert(trace.fingerprint);
            self.failures.insert(seen(trace, panic.thread));
        }
    }
}

/// Returns a hash of the places that a thread passed and of what it read there: values of variables if these identify
/// the content, otherwise the writes that left it.
fn seen(trace: &Trace, thread: ThreadId) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut written = HashMap::new();
    for event in &trace.events {
        let object = event.op.object();
        if event.id.thread == thread {
            event.site.to_string().hash(&mut hasher);
            let kind = trace.objects.get(object.index()).map(|info| info.kind);
            match kind {
                Some(ObjectKind::Atomic(Scalar::Pointer) | ObjectKind::Cell) => {
                    written.get(&object).hash(&mut hasher);
                }
                Some(ObjectKind::Atomic(_)) => format!("{:?}", event.effect).hash(&mut hasher),
                Some(_) | None => {}
            }
        }
        if object != ObjectId::NONE && event.access().changes() {
            written.insert(object, event.id);
        }
    }
    hasher.finish()
}

fn classes(subject: &'static Subject, word: &str, seed: u64, most: u64) -> Result<Found, String> {
    let program = subject.program.closure(Form::Bugged, subject.program.size.usual);
    let mut found = Found::default();
    watch(word, seed, &program, &mut |trace| {
        found.learn(trace);
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
