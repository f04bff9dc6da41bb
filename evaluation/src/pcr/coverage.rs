//! How fast strategies gain coverage: figure 6.

use raddle::Accesses;
use raddle_explore::MapCoverage;
use raddle_programs::Form;
use raddle_programs::pcr::{SUBJECTS, Subject};
use rustix::time::ClockId;

use super::watch::{WORDS, watch};
use crate::measure::nanoseconds;
use crate::plot::{Plot, Series, Spacing};
use crate::progress::progress;
use crate::table::{Cell, Row, Size};

/// After how many executions to look.
const LOOKS: [u64; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

const SEEDS: u64 = 3;

/// The names of the cells, for each of [`WORDS`]: after 16 executions, and after the last.
const NAMES: [[&str; 2]; 6] = [
    ["pcr@16", "pcr"],
    ["mcr@16", "mcr"],
    ["maptest@16", "maptest"],
    ["pos-star@16", "pos-star"],
    ["pct:3@16", "pct:3"],
    ["surw@16", "surw"],
];

/// What a strategy has covered at one of the [`LOOKS`], on average.
#[derive(Clone, Copy, Debug, Default)]
struct Gain {
    executions: f64,
    /// CPU time of the strategy and of its executions.
    milliseconds: f64,
    patterns: f64,
}

pub(super) fn figure_6(size: Size, plots: &mut Vec<Plot>) -> Result<Vec<Row>, String> {
    let looks = match size {
        Size::Full => &LOOKS[..],
        Size::Quick => &LOOKS[..7],
    };
    let mut rows = Vec::new();
    for subject in &SUBJECTS {
        let mut cells = Vec::new();
        let (mut by_executions, mut by_time) = (Vec::new(), Vec::new());
        let mut all = MapCoverage::new(Accesses::ByEvent);
        for (word, names) in WORDS.into_iter().zip(NAMES) {
            progress(&format!("{} {word}", subject.program.name));
            let gains = gained(subject, word, looks, &mut all)?;
            let at =
                |runs: u64| looks.iter().position(|look| *look == runs).map(|look| gains[look]);
            let end = looks[looks.len() - 1];
            for (name, runs) in names.into_iter().zip([16, end]) {
                let gain = at(runs).unwrap_or_default();
                cells.push((name, Cell::value(gain.patterns, "patterns")));
            }
            let series = |across: fn(&Gain) -> f64| Series {
                name: names[1],
                points: gains.iter().map(|gain| (across(gain), gain.patterns)).collect(),
            };
            by_executions.push(series(|gain| gain.executions));
            by_time.push(series(|gain| gain.milliseconds));
        }
        cells.push(("all", Cell::count(all.covered(), "patterns")));
        let name = subject.program.name;
        let plot = |ending: &str, across, spacing, series| Plot {
            name: format!("pcr-fig6-{name}{ending}"),
            title: format!("{name}: memory-access patterns covered"),
            across,
            spacing,
            up: "patterns",
            series,
        };
        plots.push(plot("", "executions", Spacing::Even, by_executions));
        plots.push(plot("-time", "milliseconds", Spacing::Powers, by_time));
        rows.push(Row { name: name.to_owned(), cells });
    }
    Ok(rows)
}

/// How many patterns were covered by a number of executions, and how long that took.
fn gained(
    subject: &'static Subject,
    word: &str,
    looks: &[u64],
    all: &mut MapCoverage,
) -> Result<Vec<Gain>, String> {
    let program = subject.program.closure(Form::Bugged, subject.program.size.usual);
    let gain = |&look: &u64| Gain { executions: look as f64, ..Gain::default() };
    let mut gains: Vec<Gain> = looks.iter().map(gain).collect();
    for seed in 0..SEEDS {
        let mut coverage = MapCoverage::new(Accesses::ByEvent);
        let (mut run, mut next) = (0, 0);
        // The time of looking is not the strategy's.
        let (mut since, mut spent) = (nanoseconds(ClockId::ThreadCPUTime), 0);
        watch(word, seed, &program, &mut |trace| {
            spent += nanoseconds(ClockId::ThreadCPUTime) - since;
            run += 1;
            coverage.learn(trace);
            all.learn(trace);
            if looks.get(next) == Some(&run) {
                gains[next].add(&coverage, spent);
                next += 1;
            }
            since = nanoseconds(ClockId::ThreadCPUTime);
            next < looks.len()
        })?;
        // A search that has ended stays where it is.
        for gain in &mut gains[next..] {
            gain.add(&coverage, spent);
        }
    }
    Ok(gains)
}

impl Gain {
    /// Adds the share of one seed.
    fn add(&mut self, coverage: &MapCoverage, nanoseconds: u64) {
        self.milliseconds += nanoseconds as f64 / 1e6 / SEEDS as f64;
        self.patterns += coverage.covered() as f64 / SEEDS as f64;
    }
}
