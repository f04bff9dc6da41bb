//! What coverage costs a run, and what a solver makes of a long one.

use std::process::{Command, Stdio};

use raddle::PatternSearch;
use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicU64, Ordering};
use raddle::{Accesses, Config, Granularity, thread};
use raddle_engine::Sc;
use raddle_explore::Pcr;
use rustix::time::ClockId;

use crate::child::this_executable;
use crate::drive::{self, Driver};
use crate::engines::raddle::WORKLOADS;
use crate::interleave::{median, paired_ratios};
use crate::measure::{memory_kib, nanoseconds};
use crate::progress::progress;
use crate::table::{Cell, Row, Size, Target};
use crate::workloads::find;

pub(super) fn table(size: Size) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for (name, runs) in [("a", 20_000), ("b", 1_000), ("c", 40)] {
        rows.push(coverage(name, runs, size)?);
    }
    let short = solving("trace-200", 50)?;
    rows.push(row("trace-200", &short, [Some(Target::AtLeast(1_000.0)), None, None]));
    let mut first = None;
    for events in [1_250, 2_500, 5_000, 10_000] {
        let name = format!("trace-{events}");
        let solved = solving(&name, events / 4)?;
        let is_longest = events == 10_000;
        let linear = first.map(|first: f64| Target::AtMost(1.25 * first));
        let in_time = is_longest.then_some(Target::AtMost(10.0));
        rows.push(row(&name, &solved, [None, in_time, linear]));
        first.get_or_insert(solved.bytes_each());
    }
    Ok(rows)
}

/// A workload with and without coverage, by turns.
fn coverage(name: &str, runs: u64, size: Size) -> Result<Row, String> {
    progress(&format!("coverage {name}"));
    let body = find(&[WORKLOADS], name)?.body;
    let per_step = |coverage: bool| {
        let mut config = Config::new().strategy("random").runs(runs).unlimited_time();
        if coverage {
            config = config.coverage(Accesses::BySite);
        }
        let start = nanoseconds(ClockId::ThreadCPUTime);
        let report = config.run(body);
        (nanoseconds(ClockId::ThreadCPUTime) - start) as f64 / report.steps as f64
    };
    let rounds = match size {
        Size::Full => 25,
        Size::Quick => 7,
    };
    let pairs: Vec<(f64, f64)> = (0..rounds).map(|_| (per_step(false), per_step(true))).collect();
    let (without, with): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    let ratio = median(&paired_ratios(&without, &with));
    let cells = vec![
        ("without", Cell::value(median(&without), "ns/step")),
        ("with", Cell::value(median(&with), "ns/step")),
        ("ratio", Cell::value(ratio, "×").target(Target::AtMost(1.5))),
    ];
    Ok(Row { name: format!("coverage {name}"), cells })
}

/// Everything that PCR asks about one trace of four threads, in a process of its own: what memory it takes
/// must not depend on what was done before.
fn solving(name: &str, accesses: usize) -> Result<Solved, String> {
    progress(name);
    let output = Command::new(this_executable()?)
        .args(["solve-trace", &accesses.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Solved::from_line(&text).ok_or_else(|| format!("{name}: the child says `{text}`"))
}

fn row(name: &str, solved: &Solved, targets: [Option<Target>; 3]) -> Row {
    let [speed, time, bytes] = targets;
    let with = |cell: Cell, target: Option<Target>| match target {
        Some(target) => cell.target(target),
        None => cell,
    };
    let cells = vec![
        ("events", Cell::count(solved.events, "events")),
        ("questions", Cell::count(solved.questions, "questions")),
        ("speed", with(Cell::value(solved.speed(), "questions/s"), speed)),
        ("seconds", with(Cell::value(solved.seconds(), "s"), time)),
        ("told", Cell::count(solved.told, "items")),
        ("memory", with(Cell::value(solved.bytes_each(), "bytes/item"), bytes)),
    ];
    Row { name: name.to_owned(), cells }
}

/// What was asked about one trace, and what it took.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Solved {
    events: u64,
    questions: u64,
    told: u64,
    nanoseconds: u64,
    /// Memory in use at the most, beyond what the run had left.
    kib: u64,
}

impl Solved {
    fn seconds(&self) -> f64 {
        self.nanoseconds as f64 / 1e9
    }

    fn speed(&self) -> f64 {
        self.questions as f64 / self.seconds()
    }

    fn bytes_each(&self) -> f64 {
        self.kib as f64 * 1024.0 / self.told as f64
    }

    fn line(&self) -> String {
        let Solved { events, questions, told, nanoseconds, kib } = self;
        format!("{events} {questions} {told} {nanoseconds} {kib}")
    }

    fn from_line(line: &str) -> Option<Solved> {
        let numbers: Vec<u64> =
            line.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let [events, questions, told, nanoseconds, kib] = numbers[..] else { return None };
        Some(Solved { events, questions, told, nanoseconds, kib })
    }
}

/// The child's side: four threads with this number of accesses each, and a line for the parent.
pub(crate) fn solve_trace(accesses: usize) -> Result<String, String> {
    let program = move || accesses_by(4, accesses);
    let runtime = || drive::runtime("trace", Granularity::All);
    let mut driver = Driver::new(runtime(), Sc, Pcr::new(1), 1_000_000);
    driver.run(&program);
    let events = driver.trace().events.len() as u64;
    let (before, start) = (memory_kib("VmRSS")?, nanoseconds(ClockId::ThreadCPUTime));
    driver.learn();
    let nanoseconds = nanoseconds(ClockId::ThreadCPUTime) - start;
    let kib = memory_kib("VmHWM")?.saturating_sub(before);
    let PatternSearch { solved, unsat, unknown, told, .. } = driver.finish().counts();
    let solved = Solved { events, questions: solved + unsat + unknown, told, nanoseconds, kib };
    Ok(solved.line())
}

/// Threads that read and write eight variables, each in an order of its own.
fn accesses_by(threads: usize, accesses: usize) {
    let variables: Arc<Vec<AtomicU64>> = Arc::new((0..8).map(AtomicU64::new).collect());
    let work = move |thread: usize, variables: &[AtomicU64]| {
        for turn in 0..accesses {
            let variable = &variables[(turn * (2 * thread + 1) + thread) % variables.len()];
            if (turn + thread) % 3 == 0 {
                variable.store((turn * threads + thread) as u64, Ordering::SeqCst);
            } else {
                variable.load(Ordering::SeqCst);
            }
        }
    };
    let handles: Vec<_> = (0..threads)
        .map(|thread| {
            let variables = variables.clone();
            thread::spawn(move || work(thread, &variables))
        })
        .collect();
    for handle in handles {
        handle.join().expect("no thread fails");
    }
}
