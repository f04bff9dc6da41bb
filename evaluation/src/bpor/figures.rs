//! Figures 6 and 7: the local states that a search covers, against its runs and its time, for growing
//! bounds.
//!
//! Searches stop at the first failure, so the programs are in their fixed forms. Once a search does
//! not end in the time allowed, larger bounds are not tried. Where a search without reduction ends,
//! BPOR under the same bound has to visit the same local states, in no more runs.

use std::time::Duration;

use raddle::Strategy;
use raddle_programs::{Form, Program, Space};

use super::local_states::Coverage;
use super::search::{End, Limit, Outcome, Subject, least_fair_bound};
use crate::index;
use crate::plot::{Plot, Series, Spacing};
use crate::progress::progress;
use crate::table::{Cell, Row, Table, Target};
use crate::text::grouped;
use crate::verdict::{Judged, Verdict};

/// A program's part of the figures: its rows, and what to draw.
pub(super) struct Figure {
    pub(super) rows: Vec<Row>,
    pub(super) plot: Plot,
}

/// Which bounds to try, and for how long each.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    pub(super) most_preemptions: u32,
    pub(super) most_yields: u32,
    pub(super) limit: Duration,
}

/// A line of a figure: searches by one algorithm.
struct Line {
    /// What the paper calls it.
    about: &'static str,
    algorithm: Algorithm,
    /// The word of the search under a bound.
    word: fn(u32) -> String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    /// No bound: one search.
    Unbounded,
    /// A bound, and no reduction.
    Bounded,
    /// Both.
    Reduced,
}

/// The lines for programs whose executions all end.
const ACYCLIC: &[Line] = &[
    Line { about: "DPOR, optimal", algorithm: Algorithm::Unbounded, word: |_| "dpor".into() },
    Line { about: "DPOR", algorithm: Algorithm::Unbounded, word: |_| "dpor-classic".into() },
    Line { about: "Pb", algorithm: Algorithm::Bounded, word: |bound| format!("dfs:{bound}") },
    Line {
        about: "Pb BPOR",
        algorithm: Algorithm::Reduced,
        word: |bound| format!("bpor-plain:{bound}"),
    },
    Line {
        about: "Pb BPOR, optimised",
        algorithm: Algorithm::Reduced,
        word: |bound| format!("bpor:{bound}"),
    },
];

/// The lines for programs that go round in circles.
const CYCLIC: &[Line] = &[
    Line { about: "DPOR", algorithm: Algorithm::Unbounded, word: |_| "dpor".into() },
    Line { about: "Fb", algorithm: Algorithm::Bounded, word: |bound| format!("dfs:fair:{bound}") },
    Line {
        about: "Fb BPOR",
        algorithm: Algorithm::Reduced,
        word: |bound| format!("bpor-plain:fair:{bound}"),
    },
    Line {
        about: "Fb BPOR, optimised",
        algorithm: Algorithm::Reduced,
        word: |bound| format!("bpor:fair:{bound}"),
    },
];

/// A search that was made.
struct Point {
    line: usize,
    bound: u32,
    word: String,
    outcome: Outcome,
    coverage: Coverage,
}

/// What the figures say of the paper's: figure 6, DPOR beside bounded search, and figure 7, BPOR beside both.
pub(super) fn verdicts(table: &Table) -> [Judged; 2] {
    let mut sooner = Vec::new();
    for name in ["mrse", "fft", "exception"] {
        // The bounded search without reduction that covers most, and DPOR, which covers all.
        let row = |word: &str| format!("{name} {word}");
        let figure = |word: &str, cell: &str| table.figure(&row(word), cell);
        let dpor = figure("dpor", "runs").unwrap_or(f64::NAN);
        let mut bounded = (0..=4).filter_map(|bound| {
            let word = format!("dfs:{bound}");
            Some((figure(&word, "share")?, figure(&word, "runs")?))
        });
        if let Some((share, runs)) = bounded.next_back() {
            if runs > dpor {
                sooner.push(format!(
                    "{name} {} runs for all, bounded {} for {share:.0} %",
                    grouped(dpor),
                    grouped(runs)
                ));
            }
        }
    }
    let reason = format!("DPOR: {}", sooner.join("; "));
    let six = Judged::new(index::BPOR_FIG_6, Verdict::Reproduced, sooner.len() == 3, reason);
    let asked = table.asked();
    let met = asked - table.missed().len();
    let ratio = |reduced: &str, bounded: &str| {
        let runs = |row: &str| table.figure(row, "runs").unwrap_or(f64::NAN);
        format!("{} of {} runs", grouped(runs(reduced)), grouped(runs(bounded)))
    };
    let reason = format!(
        "the same states in no more runs: {met} of {asked} comparisons; {} for mrse under 4 preemptions, {} for exception, \
         {} for fft under 0",
        ratio("mrse bpor:4", "mrse dfs:4"),
        ratio("exception bpor:4", "exception dfs:4"),
        ratio("fft bpor:0", "fft dfs:0"),
    );
    let holds = table.missed().is_empty() && asked > 0;
    [six, Judged::new(index::BPOR_FIG_7, Verdict::Reproduced, holds, reason)]
}

/// Searches a program in all the ways of its figure.
pub(super) fn figure(
    program: &'static Program,
    size: u32,
    effort: Effort,
) -> Result<Figure, String> {
    let subject = Subject { program, form: Form::Fixed, size: program.admits(size)? };
    let (lines, bounds) = match program.space {
        Space::Acyclic => (ACYCLIC, 0..=effort.most_preemptions),
        Space::Cyclic => (CYCLIC, least_fair_bound()..=effort.most_yields),
    };
    let mut points = Vec::new();
    let mut missing = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let bounds = match line.algorithm {
            Algorithm::Unbounded => 0..=0,
            Algorithm::Bounded | Algorithm::Reduced => bounds.clone(),
        };
        for bound in bounds {
            let word = (line.word)(bound);
            let Ok(strategy) = word.parse::<Strategy>() else {
                missing.push(word);
                break;
            };
            progress(&format!("{} {word}", program.name));
            let outcome = subject.search(strategy, Limit::time(effort.limit))?;
            let coverage = subject.coverage(strategy, outcome.runs);
            let ended = outcome.end == End::Complete;
            points.push(Point { line: index, bound, word, outcome, coverage });
            if !ended {
                break;
            }
        }
    }
    let all = points
        .iter()
        .filter(|point| lines[point.line].algorithm == Algorithm::Unbounded)
        .find(|point| point.outcome.end == End::Complete)
        .map(|point| point.coverage.count);
    let mut rows: Vec<_> =
        points.iter().map(|point| row(program, lines, &points, point, all)).collect();
    rows.extend(missing.iter().map(|word| absent(program, word)));
    Ok(Figure { rows, plot: plot(program, size, lines, &points) })
}

fn row(
    program: &Program,
    lines: &[Line],
    points: &[Point],
    point: &Point,
    all: Option<u64>,
) -> Row {
    let Point { outcome, coverage, .. } = point;
    let mut states = Cell::count(coverage.count, "local states");
    let mut runs = Cell::count(outcome.runs, "runs");
    let mut seconds = Cell::value(outcome.seconds, "s");
    let note = match &outcome.end {
        End::Complete => None,
        End::Cut => {
            (states, runs, seconds) =
                (states.unfinished(), runs.unfinished(), seconds.unfinished());
            None
        }
        End::Found => Some("fails".to_owned()),
        End::Endless => Some("endless run".to_owned()),
        End::Other(what) => Some(what.clone()),
    };
    let baseline = points.iter().find(|other| {
        lines[other.line].algorithm == Algorithm::Bounded && other.bound == point.bound
    });
    if let (Algorithm::Reduced, End::Complete, Some(baseline)) =
        (lines[point.line].algorithm, &outcome.end, baseline)
    {
        if baseline.outcome.end == End::Complete {
            states = states.target(Target::Exactly(baseline.coverage.count as f64));
            states.ok = Some(*coverage == baseline.coverage);
            runs = runs.target(Target::AtMost(baseline.outcome.runs as f64));
        }
    }
    let share = match all {
        Some(all) => Cell::value(100.0 * coverage.count as f64 / all as f64, "%"),
        None => Cell::default(),
    };
    let end = note.map_or_else(Cell::default, Cell::note);
    let cells =
        vec![("states", states), ("share", share), ("runs", runs), ("time", seconds), ("end", end)];
    Row { name: format!("{} {}", program.name, point.word), cells }
}

/// The row of a search that this build does not have.
fn absent(program: &Program, word: &str) -> Row {
    let names = ["states", "share", "runs", "time"];
    let mut cells: Vec<_> = names.map(|name| (name, Cell::default())).into();
    let note = Cell::note("not in this build");
    cells.push(("end", Cell { ok: Some(false), ..note }));
    Row { name: format!("{} {word}", program.name), cells }
}

fn plot(program: &Program, size: u32, lines: &[Line], points: &[Point]) -> Plot {
    let series = lines.iter().enumerate().map(|(index, line)| Series {
        name: line.about,
        points: points
            .iter()
            .filter(|point| point.line == index && point.outcome.end == End::Complete)
            .map(|point| (point.coverage.count as f64, point.outcome.seconds))
            .collect(),
    });
    Plot {
        name: format!("bpor-{}", program.name),
        title: format!("{}, {}: {size}", program.name, program.size.counts),
        across: "local states covered",
        spacing: Spacing::Even,
        up: "seconds",
        series: series.collect(),
    }
}
