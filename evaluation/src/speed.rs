//! The speed table: raddle's time per execution beside Shuttle's and Loom's.
//!
//! All engines run the same workloads, each in its own process, in slices that take turns. Shuttle
//! runs the strategy that raddle runs; Loom has only its exhaustive search. The rows of the dev
//! profile come from a crate outside the workspace, built as a user's would be.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::child::{Child, Service, Started, Subject, this_executable};
use crate::interleave::{
    Effort, interleave, median, middle_half, paired_ratios, release_build, stay_on_one_processor,
};
use crate::progress::progress;
use crate::statistics::geometric_mean;
use crate::table::{Cell, Row, Size, Table, Target};
use crate::text::grouped;
use crate::{dev_profile, engines};

/// Measures the whole table.
pub(crate) fn table(size: Size, command: String) -> Result<Table, String> {
    release_build()?;
    let release = this_executable()?;
    progress("building the dev profile");
    let dev = dev_profile::build(&release)?;
    stay_on_one_processor();
    let bench = Bench { release, dev, size };
    let mut rows =
        COMPARISONS.iter().map(|row| bench.compare(row)).collect::<Result<Vec<_>, _>>()?;
    let is_in_mean = |row: &Comparison| row.profile == Profile::Release && row.target == RANDOM;
    let in_mean = rows.iter().zip(COMPARISONS).filter(|(_, row)| is_in_mean(row));
    rows.extend(mean("random a–f", "ratio", in_mean.map(|(row, _)| row), RANDOM_MEAN));
    rows.push(bench.pair("races h", RACES, 3.0)?);
    rows.push(bench.pair("task switch", TASK_SWITCH, 3.0)?);
    rows.push(bench.pair("outside lock", outside("lock"), 1.2)?);
    rows.push(bench.pair("outside fetch_add", outside("fetch_add"), 1.2)?);
    rows.push(bench.resident_memory()?);
    rows.push(bench.thousand("1000 threads", "thousand"));
    rows.push(bench.thousand("1000 tasks", "thousand-tasks"));
    progress("");
    Ok(Table { name: "speed", size, command, rows, legend: bench.legend(), verdicts: Vec::new() })
}

/// A row that compares engines on one workload.
struct Comparison {
    profile: Profile,
    strategy: &'static str,
    workload: &'static str,
    /// How many times faster than Shuttle raddle has to be.
    target: Option<f64>,
    loom: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Profile {
    Release,
    Dev,
}

/// The floor of each row that is part of the mean.
const RANDOM: Option<f64> = Some(4.0);
/// The floor of the geometric mean over these rows.
const RANDOM_MEAN: f64 = 9.0;

/// Against Shuttle's random scheduler and Loom's search.
const fn random(workload: &'static str, target: Option<f64>) -> Comparison {
    Comparison { profile: Profile::Release, strategy: "random", workload, target, loom: true }
}

/// Tasks, against Shuttle's random scheduler. Loom has none.
const fn tasks(workload: &'static str) -> Comparison {
    let target = Some(5.0);
    Comparison { profile: Profile::Release, strategy: "random", workload, target, loom: false }
}

/// Against Shuttle's PCT scheduler of the same depth.
const fn pct(workload: &'static str, target: Option<f64>) -> Comparison {
    Comparison { profile: Profile::Release, strategy: "pct:3", workload, target, loom: false }
}

/// Against Shuttle's random scheduler, nothing optimised.
const fn dev(workload: &'static str) -> Comparison {
    let target = Some(15.0);
    Comparison { profile: Profile::Dev, strategy: "random", workload, target, loom: false }
}

const COMPARISONS: &[Comparison] = &[
    random("a", RANDOM),
    random("b", RANDOM),
    random("c", RANDOM),
    random("d", RANDOM),
    random("e", RANDOM),
    random("f", RANDOM),
    random("g", Some(40.0)),
    random("h", None),
    tasks("i"),
    tasks("j"),
    pct("a", None),
    pct("b", Some(10.0)),
    pct("c", Some(10.0)),
    pct("d", None),
    pct("e", None),
    pct("f", None),
    dev("a"),
    dev("b"),
    dev("c"),
];

/// Two measurements of raddle, of which the first is to be not much slower than the second: engine,
/// strategy and workload of each.
type Pair = [(&'static str, &'static str, &'static str); 2];

/// Looking for races on a cell under a lock, and not.
const RACES: Pair = [("raddle", "random", "h"), ("raddle-without-races", "random", "h")];

/// Tasks that yield, and threads that yield as often.
const TASK_SWITCH: Pair = [("raddle", "random", "i"), ("raddle", "random", "yields")];

/// The mirror outside of checks, and the standard library.
const fn outside(operation: &'static str) -> Pair {
    [("outside", "raddle", operation), ("outside", "std", operation)]
}

impl Comparison {
    fn name(&self) -> String {
        match (self.profile, self.workload) {
            (Profile::Release, "g") => "empty g".to_owned(),
            (Profile::Release, "i" | "j") => format!("tasks {}", self.workload),
            (Profile::Release, workload) => format!("{} {workload}", self.strategy),
            (Profile::Dev, workload) => format!("dev {} {workload}", self.strategy),
        }
    }
}

/// What the measurements of one table share.
struct Bench {
    release: PathBuf,
    dev: PathBuf,
    size: Size,
}

impl Bench {
    fn effort(&self, profile: Profile) -> Effort {
        let (slice, processes, rounds) = match self.size {
            Size::Full => (Duration::from_millis(40), 5, 5),
            Size::Quick => (Duration::from_millis(15), 1, 7),
        };
        let executions = match profile {
            Profile::Release => 1_000,
            Profile::Dev => 300,
        };
        Effort { slice, executions, processes, rounds }
    }

    /// Executions before the two looks at the memory.
    fn memory_executions(&self) -> [u64; 2] {
        match self.size {
            Size::Full => [100_000, 1_000_000],
            Size::Quick => [10_000, 100_000],
        }
    }

    fn compare(&self, comparison: &Comparison) -> Result<Row, String> {
        let &Comparison { profile, strategy, workload, target, loom } = comparison;
        progress(&comparison.name());
        let mut engines = vec![("raddle", strategy)];
        if cfg!(feature = "rivals") {
            engines.push(("shuttle", strategy));
            if loom {
                engines.push(("loom", "exhaustive"));
            }
        }
        let executable = match profile {
            Profile::Release => &self.release,
            Profile::Dev => &self.dev,
        };
        let mut measured = Vec::new();
        let mut loom_refuses = None;
        let start_all = || {
            let mut children = Vec::new();
            measured.clear();
            for &(engine, strategy) in &engines {
                match start(executable, engine, strategy, workload)? {
                    Started::Ready(child) => {
                        measured.push(engine);
                        children.push(child);
                    }
                    Started::Cannot(reason) if engine == "loom" => loom_refuses = Some(reason),
                    Started::Cannot(reason) => {
                        return Err(format!("{engine} cannot run {workload}: {reason}"));
                    }
                }
            }
            Ok(children)
        };
        let samples = interleave(start_all, self.effort(profile))?;

        let of = |engine| measured.iter().position(|name| *name == engine).map(|at| &samples[at]);
        let raddle = of("raddle").expect("raddle is measured in every row");
        let mut cells = vec![("raddle", per_execution(median(raddle)))];
        if let Some(shuttle) = of("shuttle") {
            cells.push(("shuttle", per_execution(median(shuttle))));
            let ratio = ratio(raddle, shuttle);
            cells
                .push(("ratio", target.into_iter().map(Target::AtLeast).fold(ratio, Cell::target)));
        }
        if let Some(loom) = of("loom") {
            cells.push(("loom", per_execution(median(loom))));
            cells.push(("loom_ratio", ratio(raddle, loom)));
        } else if let Some(reason) = loom_refuses {
            cells.push(("loom", Cell::note(reason)));
            cells.push(("loom_ratio", Cell::default()));
        }
        Ok(Row { name: comparison.name(), cells })
    }

    /// How much longer the first of two measurements takes than the second, and whether that is too much.
    fn pair(&self, name: &str, pair: Pair, most: f64) -> Result<Row, String> {
        progress(name);
        let start_one = |(engine, strategy, workload)| match start(
            &self.release,
            engine,
            strategy,
            workload,
        )? {
            Started::Ready(child) => Ok(child),
            Started::Cannot(reason) => Err(format!("{name}: {reason}")),
        };
        let start_both = || pair.into_iter().map(start_one).collect();
        let samples = interleave(start_both, self.effort(Profile::Release))?;
        let slower = ratio(&samples[1], &samples[0]).target(Target::AtMost(most));
        let cells = vec![
            ("raddle", per_execution(median(&samples[0]))),
            ("without", per_execution(median(&samples[1]))),
            ("times", slower),
        ];
        Ok(Row { name: name.to_owned(), cells })
    }

    /// Whether a long check keeps to the memory of a short one.
    fn resident_memory(&self) -> Result<Row, String> {
        progress("rss b");
        let mut child = match start(&self.release, "raddle", "random", "b")? {
            Started::Ready(child) => child,
            Started::Cannot(reason) => return Err(format!("raddle cannot run b: {reason}")),
        };
        let [few, many] = self.memory_executions();
        child.run(few)?;
        let early = child.resident_kib()? as f64;
        child.run(many - few)?;
        let late = child.resident_kib()? as f64;
        let after = |executions| Some(format!("after {executions} executions"));
        let kib = |value, executions| Cell { note: after(executions), ..Cell::value(value, "KiB") };
        Ok(Row {
            name: "rss b".to_owned(),
            cells: vec![
                ("early", kib(early, few)),
                ("raddle", kib(late, many).target(Target::AtMost(64.0 * 1024.0))),
                ("growth", Cell::value(late - early, "KiB").target(Target::AtMost(1024.0))),
            ],
        })
    }

    /// Whether raddle runs a thousand threads or tasks, and how fast. It does not end the table if not.
    fn thousand(&self, name: &str, workload: &'static str) -> Row {
        progress(name);
        let effort = self.effort(Profile::Release);
        let start_it = || match start(&self.release, "raddle", "random", workload)? {
            Started::Ready(child) => Ok(vec![child]),
            Started::Cannot(reason) => Err(reason),
        };
        let cell = match interleave(start_it, effort).map(|samples| median(&samples[0])) {
            Ok(nanoseconds) => Cell {
                per_second: Some(1e9 / nanoseconds),
                ok: Some(true),
                ..Cell::value(nanoseconds / 1e6, "ms/execution")
            },
            Err(error) => Cell { ok: Some(false), ..Cell::note(error) },
        };
        Row { name: name.to_owned(), cells: vec![("raddle", cell)] }
    }

    fn legend(&self) -> Vec<String> {
        let compared = |name| COMPARISONS.iter().any(|comparison| comparison.workload == name);
        let mut lines: Vec<_> = [engines::raddle::WORKLOADS, engines::raddle::TASKS]
            .into_iter()
            .flatten()
            .filter(|workload| compared(workload.name))
            .map(|workload| format!("{}: {}", workload.name, workload.about))
            .collect();
        let [few, many] = self.memory_executions().map(|count| grouped(count as f64));
        lines.push(format!("rss: resident memory after {few} executions (early) and after {many}"));
        if cfg!(feature = "rivals") {
            lines.push("ratio: Shuttle 0.9's time (same strategy) over raddle's".to_owned());
            lines.push("loom: Loom 0.7's exhaustive search, per execution".to_owned());
        }
        lines.push(
            "races: raddle's time on h over its time without looking for races (without)".into(),
        );
        lines.push(
            "task switch: raddle's time on i over that of 4 threads × 50 yields (without)".into(),
        );
        lines.push("outside: one operation outside of checks, over that of std (without)".into());
        lines.push("CPU time, medians over interleaved slices of several processes; ratios paired by round, and their middle half".to_owned());
        lines
    }
}

/// The geometric mean of the cells of some rows that have this name, with its floor. `None` if no rival was measured.
pub(crate) fn mean<'a>(
    name: &str,
    ratio: &'static str,
    rows: impl Iterator<Item = &'a Row>,
    floor: f64,
) -> Option<Row> {
    let ratio_of = |row: &Row| row.cells.iter().find(|(name, _)| *name == ratio)?.1.value;
    let ratios = rows.map(ratio_of).collect::<Option<Vec<_>>>()?;
    if ratios.is_empty() {
        return None;
    }
    let cell = Cell::value(geometric_mean(ratios.into_iter()), "×").target(Target::AtLeast(floor));
    Some(Row { name: name.to_owned(), cells: vec![(ratio, cell)] })
}

fn start(
    executable: &Path,
    engine: &'static str,
    strategy: &'static str,
    workload: &'static str,
) -> Result<Started, String> {
    let service = Service::Measure;
    Child::start(Subject { executable: executable.to_owned(), service, engine, strategy, workload })
}

fn per_execution(nanoseconds: f64) -> Cell {
    Cell { per_second: Some(1e9 / nanoseconds), ..Cell::value(nanoseconds, "ns/execution") }
}

/// How many times longer `rival` takes.
fn ratio(raddle: &[f64], rival: &[f64]) -> Cell {
    let ratios = paired_ratios(raddle, rival);
    Cell { middle_half: Some(middle_half(&ratios)), ..Cell::value(median(&ratios), "×") }
}
