//! The table of exhaustive search: what it takes raddle, Loom and Shuttle to explore small programs to
//! the end.
//!
//! Every engine has a process of its own, as for the speed table. Each search is made once, for at
//! most the time allowed; those that end soon are then repeated in slices that take turns, and the
//! medians are reported. How many classes there are is known from a formula, counted by hand, or
//! counted by plain depth-first search: never by the explorer that is measured.

use std::path::Path;
use std::time::Duration;

use crate::child::{Child, Service, Started, Subject, this_executable};
use crate::interleave::{begin_measuring, median, middle_half, paired_ratios};
use crate::litmus;
use crate::progress::progress;
use crate::speed::mean;
use crate::table::{Cell, Row, Size, Table, Target};

use self::programs::{Classes, PROGRAMS, Program, Role};
use self::search::{Answer, End, Prepared};

#[cfg(feature = "rivals")]
mod loom;
mod programs;
mod raddle;
pub(crate) mod search;
#[cfg(feature = "rivals")]
mod shuttle;

/// How many times longer than raddle Loom has to take for each program that it searches to the end.
const LOOM_RATIO: f64 = 10.0;
/// The geometric mean of these ratios has to be so much.
const LOOM_RATIO_MEAN: f64 = 200.0;
/// How many seconds a million classes may take.
const MILLION_SECONDS: f64 = 10.0;

/// Prepares a search by the named engine.
pub(crate) fn prepare(engine: &str, strategy: &str, program: &str) -> Result<Prepared, String> {
    if strategy == litmus::speed::STRATEGY {
        return litmus::speed::prepare(engine, program);
    }
    match engine {
        "raddle" => raddle::prepare(strategy, program),
        #[cfg(feature = "rivals")]
        "loom" => loom::prepare(strategy, program),
        #[cfg(feature = "rivals")]
        "shuttle" => shuttle::prepare(strategy, program),
        _ => Err(format!("this build has no engine `{engine}`")),
    }
}

/// Measures the whole table.
pub(crate) fn table(size: Size, command: String) -> Result<Table, String> {
    let executable = this_executable()?;
    begin_measuring()?;
    let effort = Effort::of(size);
    let mut rows = Vec::new();
    for program in PROGRAMS {
        progress(program.name);
        rows.push(match program.role {
            Role::Compared | Role::Instant => compare(program, &executable, effort)?,
            Role::Million => million(program, &executable, effort)?,
        });
    }
    progress("");
    let is_asked = |row: &&Row| {
        let cell = row.cells.iter().find(|(name, _)| *name == "loom_ratio");
        cell.is_some_and(|(_, cell)| cell.target.is_some())
    };
    let asked = rows.iter().filter(is_asked);
    rows.extend(mean("all with a target", "loom_ratio", asked, LOOM_RATIO_MEAN));
    Ok(Table {
        name: "exhaustive",
        size,
        command,
        rows,
        legend: legend(effort),
        verdicts: Vec::new(),
    })
}

/// How long to search.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// Time for one search.
    pub(crate) limit: Duration,
    /// Time for the search of a million classes.
    million: Duration,
    /// CPU time of one slice, about.
    slice: Duration,
    /// Slices of each engine.
    rounds: usize,
}

impl Effort {
    pub(crate) fn of(size: Size) -> Effort {
        let milliseconds = Duration::from_millis;
        match size {
            Size::Full => Effort {
                limit: milliseconds(10_000),
                million: milliseconds(120_000),
                slice: milliseconds(40),
                rounds: 11,
            },
            Size::Quick => Effort {
                limit: milliseconds(500),
                million: milliseconds(2_000),
                slice: milliseconds(10),
                rounds: 5,
            },
        }
    }
}

/// The searches of a row: the engine, its strategy, and the names of its cells.
const SEARCHES: &[(&str, &str, [&str; 2])] = &[
    ("raddle", "dpor", ["dpor_runs", "dpor"]),
    ("raddle", "dfs", ["dfs_runs", "dfs"]),
    ("loom", "exhaustive", ["loom_runs", "loom"]),
    ("shuttle", "dfs", ["shuttle_runs", "shuttle"]),
];

/// A search in a row, and how it went.
pub(crate) enum Lane {
    /// It took microseconds, one figure for each slice; a single one if it was cut.
    Ran(Answer, Vec<f64>),
    /// The engine cannot, for this reason.
    Cannot(String),
}

fn compare(program: &Program, executable: &Path, effort: Effort) -> Result<Row, String> {
    let searches: Vec<_> = SEARCHES
        .iter()
        .filter(|(engine, ..)| cfg!(feature = "rivals") || *engine == "raddle")
        .collect();
    let mut children = Vec::new();
    for (engine, strategy, _) in &searches {
        children.push(start(executable, engine, strategy, program)?);
    }
    let lanes = compare_lanes(&mut children, effort)?;

    let classes = program.classes.known().or_else(|| searched_classes(&lanes[1]));
    let mut cells = vec![("classes", classes_cell(program, classes))];
    for ((engine, strategy, [runs_name, time_name]), lane) in searches.iter().zip(&lanes) {
        let (runs, time) = lane.cells();
        let runs = match (*engine, *strategy, lane, classes) {
            // Optimal means: as many runs as classes. At a failure it stops before.
            ("raddle", "dpor", Lane::Ran(answer, _), Some(classes))
                if answer.searched.end == End::Complete =>
            {
                runs.target(Target::Exactly(classes as f64))
            }
            // What is not there meets no target.
            ("raddle", _, Lane::Cannot(_), _) => Cell { ok: Some(false), ..runs },
            _ => runs,
        };
        cells.push((runs_name, runs));
        cells.push((time_name, time));
    }
    for (name, rival) in [("loom_ratio", 2), ("shuttle_ratio", 3)] {
        if let Some(rival) = lanes.get(rival) {
            let ratio = ratio(&lanes[0], rival);
            // A rival that was cut, or that stopped at a failure, did not finish.
            let finished =
                matches!(rival, Lane::Ran(answer, _) if answer.searched.end == End::Complete);
            let asked = name == "loom_ratio" && program.role == Role::Compared && finished;
            let ratio = if asked && ratio.value.is_some() {
                ratio.target(Target::AtLeast(LOOM_RATIO))
            } else {
                ratio
            };
            cells.push((name, ratio));
        }
    }
    Ok(Row { name: program.name.to_owned(), cells })
}

/// Searches once by each child, then in slices by those that are quick.
pub(crate) fn compare_lanes(children: &mut [Started], effort: Effort) -> Result<Vec<Lane>, String> {
    let mut lanes = Vec::new();
    for child in children.iter_mut() {
        lanes.push(match child {
            Started::Ready(child) => {
                let answer = child.search(1, effort.limit)?;
                Lane::Ran(answer, vec![answer.nanoseconds as f64 / 1e3])
            }
            Started::Cannot(reason) => Lane::Cannot(reason.clone()),
        });
    }
    // What fills many slices at once was measured well enough.
    let long = effort.slice.as_nanos() as u64 * 8;
    let mut counts = vec![None; lanes.len()];
    for ((lane, child), count) in lanes.iter_mut().zip(children.iter_mut()).zip(&mut counts) {
        let (Lane::Ran(first, times), Started::Ready(child)) = (lane, child) else { continue };
        if first.searched.end != End::Cut && first.nanoseconds < long {
            // The first search in a process pays for much that later ones do not.
            let second = child.search(1, effort.limit)?.nanoseconds.max(1);
            *count = Some((effort.slice.as_nanos() as u64 / second).max(1));
            times.clear();
        }
    }
    for _ in 0..effort.rounds {
        for ((lane, child), count) in lanes.iter_mut().zip(children.iter_mut()).zip(&counts) {
            let (Lane::Ran(first, times), Started::Ready(child), Some(count)) =
                (lane, child, count)
            else {
                continue;
            };
            let answer = child.search(*count, effort.limit)?;
            if answer.searched != first.searched {
                let (first, again) = (first.searched, answer.searched);
                return Err(format!("{child}: two searches differ: {first:?}, {again:?}"));
            }
            times.push(answer.nanoseconds as f64 / 1e3 / *count as f64);
        }
    }
    Ok(lanes)
}

impl Lane {
    /// The runs, and the time.
    pub(crate) fn cells(&self) -> (Cell, Cell) {
        match self {
            Lane::Cannot(reason) => (Cell::note(reason.clone()), Cell::default()),
            Lane::Ran(answer, times) => {
                let runs = Cell::count(answer.searched.runs, "runs");
                let time = Cell::value(median(times), "µs");
                match answer.searched.end {
                    End::Complete => (runs, time),
                    End::Cut => (runs.unfinished(), time.unfinished()),
                    End::Failed => (Cell { note: Some("to the failure".to_owned()), ..runs }, time),
                }
            }
        }
    }
}

/// How many times longer the rival takes; a lower bound if it did not finish.
pub(crate) fn ratio(raddle: &Lane, rival: &Lane) -> Cell {
    let (Lane::Ran(own, own_times), Lane::Ran(other, other_times)) = (raddle, rival) else {
        return Cell::default();
    };
    if own.searched.end == End::Cut {
        return Cell::default();
    }
    if own_times.len() != other_times.len() {
        let cell = Cell::value(median(other_times) / median(own_times), "×");
        return if other.searched.end == End::Cut { cell.unfinished() } else { cell };
    }
    let ratios = paired_ratios(own_times, other_times);
    let cell = Cell::value(median(&ratios), "×");
    match other.searched.end {
        End::Cut => cell.unfinished(),
        End::Complete | End::Failed => Cell { middle_half: Some(middle_half(&ratios)), ..cell },
    }
}

/// How many classes depth-first search met, if it was done.
fn searched_classes(dfs: &Lane) -> Option<u64> {
    match dfs {
        Lane::Ran(answer, _) if answer.searched.end == End::Complete => answer.searched.classes,
        Lane::Ran(..) | Lane::Cannot(_) => None,
    }
}

fn classes_cell(program: &Program, classes: Option<u64>) -> Cell {
    let Some(classes) = classes else {
        return Cell::note("unknown");
    };
    let how = match program.classes {
        Classes::Orders(_) => "by formula",
        Classes::Few(_) => "by hand",
        Classes::Searched => "by dfs",
    };
    Cell { note: Some(how.to_owned()), ..Cell::count(classes, "classes") }
}

/// How long a million classes take on one core.
fn million(program: &Program, executable: &Path, effort: Effort) -> Result<Row, String> {
    let classes = program.classes.known();
    let mut cells = vec![("classes", classes_cell(program, classes))];
    match start(executable, "raddle", "dpor", program)? {
        Started::Cannot(reason) => {
            cells.push(("dpor_runs", Cell { ok: Some(false), ..Cell::note(reason) }));
        }
        Started::Ready(mut child) => {
            let answer = child.search(1, effort.million)?;
            let (runs, seconds) = (answer.searched.runs, answer.nanoseconds as f64 / 1e9);
            let (runs_cell, time) = (Cell::count(runs, "runs"), Cell::value(seconds, "s"));
            let (runs_cell, time) = match (answer.searched.end, classes) {
                (End::Cut, _) | (_, None) => (runs_cell.unfinished(), time.unfinished()),
                (End::Complete | End::Failed, Some(classes)) => {
                    (runs_cell.target(Target::Exactly(classes as f64)), time)
                }
            };
            let per_million = Cell::value(seconds * 1e6 / runs as f64, "s per million");
            cells.push(("dpor_runs", runs_cell));
            cells.push(("dpor", time));
            cells.push(("million", per_million.target(Target::AtMost(MILLION_SECONDS))));
        }
    }
    Ok(Row { name: program.name.to_owned(), cells })
}

fn start(
    executable: &Path,
    engine: &'static str,
    strategy: &'static str,
    program: &Program,
) -> Result<Started, String> {
    Child::start(Subject {
        executable: executable.to_owned(),
        service: Service::Search,
        engine,
        strategy,
        workload: program.name,
    })
}

fn legend(effort: Effort) -> Vec<String> {
    let mut lines: Vec<_> =
        PROGRAMS.iter().map(|program| format!("{}: {}", program.name, program.about)).collect();
    lines.push(format!("> not finished in the time allowed, {} s", effort.limit.as_secs_f64()));
    lines.push("classes: by formula, by hand or by dfs, never by dpor".to_owned());
    if cfg!(feature = "rivals") {
        lines.push("loom: Loom 0.7's search; it takes SeqCst accesses for weaker ones".to_owned());
        lines.push("shuttle: Shuttle 0.9's DfsScheduler".to_owned());
        lines.push("ratios: the rival's time over that of raddle's dpor".to_owned());
    }
    lines.push("raddle does not look for hidden state: the programs have none".to_owned());
    lines.push(
        "CPU time of whole searches, their start included, medians over slices that take turns"
            .to_owned(),
    );
    lines
}
