//! The table of litmus tests against Loom: what both take to search them, and what both say of them.
//!
//! Processes and slices as in `exhaustive`. A search is a whole one, its start and the collecting of
//! outcomes included.

use raddle_testkit::litmus::Code;
use raddle_testkit::litmus::table::{MORE, TESTS, Test, Verdict};

use super::script::Script;
use crate::child::{Child, Service, Started, Subject, this_executable};
use crate::exhaustive::search::{End, Prepared, Searched};
use crate::exhaustive::{Effort, Lane, compare_lanes, ratio};
use crate::interleave::begin_measuring;
use crate::progress::progress;
use crate::speed::mean;
use crate::table::{Cell, Row, Size, Table, Target};

/// The strategy by which a child knows that a litmus test is meant.
pub(crate) const STRATEGY: &str = "litmus";

/// How many times longer than raddle Loom has to take for each test that it searches to the end.
const RATIO: f64 = 10.0;
/// The geometric mean of these ratios has to be so much.
const RATIO_MEAN: f64 = 200.0;

fn tests() -> impl Iterator<Item = &'static Test> {
    TESTS.iter().chain(MORE)
}

/// Prepares a search of the named test by an engine.
pub(crate) fn prepare(engine: &str, name: &str) -> Result<Prepared, String> {
    let test = tests().find(|test| test.name == name);
    let test = test.ok_or_else(|| format!("no litmus test `{name}`"))?;
    let code: Code = test.code.parse().map_err(|error| format!("{name}: {error}"))?;
    let script = Script::new(code, test.outcome)?;
    match engine {
        "raddle" => Ok(Prepared::Ready(Box::new(move |_| {
            let found = super::search(script)?;
            let (runs, classes) = (found.executions, Some(found.graphs));
            Ok(Searched { runs, end: End::Complete, classes, seen: Some(found.seen) })
        }))),
        #[cfg(feature = "rivals")]
        "loom" => {
            if script.code.threads.len() + 1 > ::loom::MAX_THREADS {
                return Ok(Prepared::Cannot(format!("max {} threads", ::loom::MAX_THREADS)));
            }
            // The answer reports a failure.
            std::panic::set_hook(Box::new(|_| {}));
            Ok(Prepared::Ready(Box::new(move |limit| Ok(super::loom::search(script, limit)))))
        }
        _ => Err(format!("this build has no engine `{engine}`")),
    }
}

/// Measures the whole table.
pub(crate) fn table(size: Size, command: String) -> Result<Table, String> {
    let executable = this_executable()?;
    begin_measuring()?;
    let effort = Effort::of(size);
    let engines = ["raddle", "loom"];
    let engines = if cfg!(feature = "rivals") { &engines[..] } else { &engines[..1] };
    let mut rows = Vec::new();
    for test in tests() {
        progress(test.name);
        let start = |&engine| {
            Child::start(Subject {
                executable: executable.clone(),
                service: Service::Search,
                engine,
                strategy: STRATEGY,
                workload: test.name,
            })
        };
        let mut children: Vec<Started> = engines.iter().map(start).collect::<Result<_, _>>()?;
        rows.push(row(test, &compare_lanes(&mut children, effort)?));
    }
    progress("");
    let has_target = |row: &&Row| row.cells.iter().any(|(_, cell)| cell.target.is_some());
    rows.extend(mean("all with a target", "ratio", rows.iter().filter(has_target), RATIO_MEAN));
    let mut legend = vec![
        "verdict: whether the outcome asked for is allowed, by the axioms; what each says of it"
            .into(),
        "CPU time of whole searches, their start included, medians over slices that take turns"
            .into(),
        "raddle does not look for hidden state: the tests have none".into(),
        format!("> not finished in the time allowed, {} s", effort.limit.as_secs_f64()),
    ];
    if cfg!(feature = "rivals") {
        legend.push("loom: Loom 0.7; WRONG: it sees an outcome that RC11 forbids, or not one that it allows".into());
    }
    Ok(Table { name: "litmus-speed", size, command, rows, legend, verdicts: Vec::new() })
}

fn row(test: &Test, lanes: &[Lane]) -> Row {
    let mut cells = vec![("verdict", Cell::note(word(test.verdict)))];
    const NAMES: [[&str; 3]; 2] =
        [["raddle says", "raddle_runs", "raddle"], ["loom says", "loom_runs", "loom"]];
    for ([says, runs, time], lane) in NAMES.into_iter().zip(lanes) {
        let (runs_cell, time_cell) = lane.cells();
        cells.extend([(says, opinion(test, lane)), (runs, runs_cell), (time, time_cell)]);
    }
    if let [raddle, loom] = lanes {
        let cell = ratio(raddle, loom);
        let finished = matches!(loom, Lane::Ran(answer, _) if answer.searched.end == End::Complete);
        let asked = finished && cell.value.is_some();
        cells.push(("ratio", if asked { cell.target(Target::AtLeast(RATIO)) } else { cell }));
    }
    Row { name: test.name.to_owned(), cells }
}

/// What an engine says of the outcome asked for.
fn opinion(test: &Test, lane: &Lane) -> Cell {
    let Lane::Ran(answer, _) = lane else { return Cell::default() };
    let (end, seen) = (answer.searched.end, answer.searched.seen);
    match (end, seen) {
        (End::Failed, _) => Cell::note("fails"),
        (End::Cut, Some(false)) | (_, None) => Cell::note("unknown"),
        (End::Cut | End::Complete, Some(seen)) => {
            let verdict = if seen { Verdict::Allowed } else { Verdict::Forbidden };
            match verdict == test.verdict {
                true => Cell::note(word(verdict)),
                false => Cell::note(format!("{} WRONG", word(verdict))),
            }
        }
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allowed => "allowed",
        Verdict::Forbidden => "forbidden",
    }
}
