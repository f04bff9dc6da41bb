//! What it takes to the first failure: tables 4 and 6.

use raddle::{Config, Granularity, Strategy};
use raddle_programs::pcr::{Published, SUBJECTS, Subject};
use raddle_programs::{Form, Program};
use rustix::time::ClockId;

use super::{SEEDS, maptest};
use crate::measure::nanoseconds;
use crate::progress::progress;
use crate::statistics::signed_rank;
use crate::table::{Cell, Extent, Row, Size, Target};

/// More schedules are not tried.
const MOST: u64 = 10_000;

/// The means over all seeds.
#[derive(Clone, Debug, Default)]
struct Effort {
    schedules: f64,
    /// The schedules of each seed.
    by_seed: Vec<f64>,
    constraints: f64,
    milliseconds: f64,
    /// Of how many seeds no schedule failed.
    unfinished: u64,
}

/// PCR beside MAPTest and raddle's samplers.
pub(super) fn table_4(size: Size) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    let (mut sum, mut fewer) = (0.0, 0);
    for subject in &SUBJECTS {
        let Published { pcr: paper, maptest: paper_maptest, .. } = subject.published;
        let pcr = effort(subject, "pcr")?;
        let maptest = effort(subject, "random")?;
        sum += pcr.schedules;
        fewer += u64::from(pcr.schedules < maptest.schedules);
        let mut cells = vec![
            ("pcr", schedules(&pcr, paper.schedules).target(Target::AtMost(12.0))),
            ("pcr_ms", Cell::value(pcr.milliseconds, "ms").target(Target::AtMost(50.0))),
            ("paper_ms", Cell::value(paper.milliseconds, "ms")),
            ("maptest", schedules(&maptest, paper_maptest.schedules)),
            ("maptest_ms", Cell::value(maptest.milliseconds, "ms")),
        ];
        cells.extend(compared(&pcr, &maptest, subject.published));
        for word in ["pos-star", "pct:3", "surw"] {
            cells.push((word, beside(&effort(subject, word)?)));
        }
        let seeds = match size {
            Size::Full => SEEDS,
            Size::Quick => 2,
        };
        cells.push(("generated", generated(subject, seeds)?));
        rows.push(Row { name: subject.program.name.to_owned(), cells });
    }
    let mean = Cell { paper: Some(4.07), ..Cell::value(sum / SUBJECTS.len() as f64, "schedules") };
    rows.push(Row { name: "mean".into(), cells: vec![("pcr", mean.target(Target::AtMost(4.1)))] });
    let fewer = Cell { paper: Some(18.0), ..Cell::count(fewer, "programs") };
    let fewer = ("pcr", fewer.target(Target::AtLeast(18.0)));
    rows.push(Row { name: "fewer than maptest".into(), cells: vec![fewer] });
    Ok(rows)
}

/// PCR over MAPTest: what the paper calls schedule reduction and speed-up, with its test of significance.
fn compared(pcr: &Effort, maptest: &Effort, published: &Published) -> Vec<(&'static str, Cell)> {
    let reduction = |pcr: f64, maptest: f64| 100.0 * (maptest - pcr) / maptest.max(pcr);
    let speedup =
        |pcr: f64, maptest: f64| if maptest > pcr { maptest / pcr } else { -pcr / maptest };
    let paper = |cell: Cell, paper: f64| Cell { paper: Some(paper), ..cell };
    let (of_pcr, of_maptest) = (published.pcr, published.maptest);
    let of_schedule = of_maptest.milliseconds / of_maptest.schedules;
    let slow = |effort: &Effort| effort.milliseconds + effort.schedules * of_schedule;
    let pairs: Vec<_> = pcr.by_seed.iter().copied().zip(maptest.by_seed.iter().copied()).collect();
    let here = Cell::value(reduction(pcr.schedules, maptest.schedules), "%");
    let time = Cell::value(speedup(pcr.milliseconds, maptest.milliseconds), "×");
    vec![
        ("reduction", paper(here, reduction(of_pcr.schedules, of_maptest.schedules))),
        ("p", Cell::ratio(signed_rank(&pairs))),
        ("speedup", paper(time, speedup(of_pcr.milliseconds, of_maptest.milliseconds))),
        ("slow", Cell::value(speedup(slow(pcr), slow(maptest)), "×")),
    ]
}

/// PCR beside MCR.
pub(super) fn table_6(_size: Size) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for subject in &SUBJECTS {
        let Published { pcr_solving: paper, mcr_solving: paper_mcr, .. } = subject.published;
        let mut cells = Vec::new();
        let names = [["pcr", "pcr_solved", "pcr_ms"], ["mcr", "mcr_solved", "mcr_ms"]];
        for (word, (paper, names)) in
            ["pcr", "mcr"].into_iter().zip([paper, paper_mcr].into_iter().zip(names))
        {
            let effort = effort(subject, word)?;
            let constraints = Cell {
                paper: Some(paper.constraints),
                ..Cell::value(effort.constraints, "constraints")
            };
            let time =
                Cell { paper: Some(paper.milliseconds), ..Cell::value(effort.milliseconds, "ms") };
            cells.extend([
                (names[0], schedules(&effort, paper.schedules)),
                (names[1], constraints),
                (names[2], time),
            ]);
        }
        rows.push(Row { name: subject.program.name.to_owned(), cells });
    }
    Ok(rows)
}

fn schedules(effort: &Effort, paper: f64) -> Cell {
    Cell { paper: Some(paper), ..beside(effort) }
}

fn beside(effort: &Effort) -> Cell {
    let extent = if effort.unfinished > 0 { Extent::Unfinished } else { Extent::Whole };
    Cell { extent, ..Cell::value(effort.schedules, "schedules") }
}

/// The failing test under a strategy, with every seed.
fn effort(subject: &'static Subject, word: &str) -> Result<Effort, String> {
    let strategy: Strategy = word.parse().map_err(|error| format!("{error}"))?;
    let program = &subject.program;
    progress(&format!("{} {word}", program.name));
    let mut sum = Effort::default();
    for seed in 0..SEEDS {
        let config = Config::new()
            .explain(raddle::Explain::Off)
            .name(program.name)
            .strategy(strategy)
            .runs(MOST)
            .unlimited_time()
            .seed(seed)
            .max_steps(Program::MAX_STEPS)
            .granularity(Granularity::All)
            .races(false);
        let start = nanoseconds(ClockId::ThreadCPUTime);
        let run = config.try_run(program.closure(Form::Bugged, program.size.usual));
        let report = run.map_err(|error| format!("{}: {error}", program.name))?;
        sum.milliseconds += (nanoseconds(ClockId::ThreadCPUTime) - start) as f64 / 1e6;
        match report.failure() {
            Some(failure) if !program.failure.is(&failure.finding) => {
                return Err(format!("{} under {word}: {:?}", program.name, failure.finding));
            }
            Some(failure) => sum.by_seed.push(failure.execution as f64),
            None => {
                sum.by_seed.push(report.executions as f64);
                sum.unfinished += 1;
            }
        }
        let patterns = report.patterns.clone().unwrap_or_default();
        sum.constraints += (patterns.solved + patterns.unsat + patterns.unknown) as f64;
    }
    let mean = |sum: f64| sum / SEEDS as f64;
    Ok(Effort {
        schedules: mean(sum.by_seed.iter().sum()),
        by_seed: sum.by_seed,
        constraints: mean(sum.constraints),
        milliseconds: mean(sum.milliseconds),
        unfinished: sum.unfinished,
    })
}

/// Tests that MAPTest makes, each under one random schedule.
fn generated(subject: &'static Subject, seeds: u64) -> Result<Cell, String> {
    progress(&format!("{} generated", subject.program.name));
    let mut effort = Effort::default();
    for seed in 0..seeds {
        match maptest::first_failure(subject, seed, MOST)? {
            Some(schedules) => effort.schedules += schedules as f64 / seeds as f64,
            None => {
                effort.schedules += MOST as f64 / seeds as f64;
                effort.unfinished += 1;
            }
        }
    }
    Ok(beside(&effort))
}
