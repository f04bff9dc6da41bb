//! How fast strategies gain coverage: figure 6.

use raddle_core::Accesses;
use raddle_explore::MapCoverage;

use super::watch::{WORDS, watch};
use crate::plot::{Plot, Series};
use crate::programs::Form;
use crate::programs::pcr::{SUBJECTS, Subject};
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

pub(super) fn figure_6(size: Size, plots: &mut Vec<Plot>) -> Result<Vec<Row>, String> {
    let looks = match size {
        Size::Full => &LOOKS[..],
        Size::Quick => &LOOKS[..7],
    };
    let mut rows = Vec::new();
    for subject in &SUBJECTS {
        let mut cells = Vec::new();
        let mut series = Vec::new();
        let mut all = MapCoverage::new(Accesses::ByEvent);
        for (word, names) in WORDS.into_iter().zip(NAMES) {
            progress(&format!("{} {word}", subject.program.name));
            let points = gained(subject, word, looks, &mut all)?;
            let at =
                |runs: u64| points.iter().find(|point| point.0 == runs as f64).map(|point| point.1);
            cells.push((names[0], Cell::value(at(16).unwrap_or_default(), "patterns")));
            cells.push((
                names[1],
                Cell::value(at(looks[looks.len() - 1]).unwrap_or_default(), "patterns"),
            ));
            series.push(Series { name: names[1], points });
        }
        cells.push(("all", Cell::count(all.covered(), "patterns")));
        plots.push(Plot {
            name: format!("pcr-fig6-{}", subject.program.name),
            title: format!("{}: memory-access patterns covered", subject.program.name),
            across: "executions",
            up: "patterns",
            series,
        });
        rows.push(Row { name: subject.program.name.to_owned(), cells });
    }
    Ok(rows)
}

/// How many patterns were covered after so many executions, on average.
fn gained(
    subject: &'static Subject,
    word: &str,
    looks: &[u64],
    all: &mut MapCoverage,
) -> Result<Vec<(f64, f64)>, String> {
    let program = subject.program.closure(Form::Bugged, subject.program.size.usual);
    let mut points: Vec<(f64, f64)> = looks.iter().map(|&look| (look as f64, 0.0)).collect();
    for seed in 0..SEEDS {
        let mut coverage = MapCoverage::new(Accesses::ByEvent);
        let (mut run, mut next) = (0, 0);
        watch(word, seed, &program, &mut |trace| {
            run += 1;
            coverage.learn(trace);
            all.learn(trace);
            if looks.get(next) == Some(&run) {
                points[next].1 += coverage.covered() as f64 / SEEDS as f64;
                next += 1;
            }
            next < looks.len()
        })?;
        // A search that has ended stays where it is.
        for point in &mut points[next..] {
            point.1 += coverage.covered() as f64 / SEEDS as f64;
        }
    }
    Ok(points)
}
