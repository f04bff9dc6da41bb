//! The evaluation of bounded partial order reduction (Coons, Musuvathi and McKinley, OOPSLA 2013):
//! figures 6 and 7, and table 1.
//!
//! Every search is by a strategy word; one that this build does not have is told in its row. All
//! accesses to shared memory are scheduling points, as in the paper.

use std::time::Duration;

use raddle_programs::{Origin, PROGRAMS, find};

use crate::interleave::begin_measuring;
use crate::plot::Plot;
use crate::progress::progress;
use crate::table::{Size, Table};

mod bugs;
mod figures;
mod local_states;
mod search;

/// The programs of the figures, with the sizes for a full table and for a quick one.
const FIGURES: &[(&str, [u32; 2])] =
    &[("mrse", [1, 1]), ("fft", [8, 5]), ("exception", [10, 5]), ("fair", [3, 2])];

/// Measures the whole table; also what to draw.
pub(crate) fn table(size: Size, command: String) -> Result<(Table, Vec<Plot>), String> {
    begin_measuring()?;
    let (figure_effort, bug_effort) = efforts(size);
    let mut rows = Vec::new();
    let mut plots = Vec::new();
    for (name, [full, quick]) in FIGURES {
        let size = match size {
            Size::Full => *full,
            Size::Quick => *quick,
        };
        let figure = figures::figure(find(name)?, size, figure_effort)?;
        rows.extend(figure.rows);
        plots.push(figure.plot);
    }
    rows.extend(bugs::rows(bug_effort)?);
    progress("");
    Ok((
        Table { name: "bpor", size, command, rows, legend: legend(size), verdicts: Vec::new() },
        plots,
    ))
}

fn efforts(size: Size) -> (figures::Effort, bugs::Effort) {
    let (most_preemptions, most_yields, limit) = match size {
        Size::Full => (4, 4, Duration::from_secs(10)),
        Size::Quick => (3, 3, Duration::from_millis(300)),
    };
    let figures = figures::Effort { most_preemptions, most_yields, limit };
    let (most_preemptions, limit) = match size {
        Size::Full => (4, Duration::from_secs(30)),
        Size::Quick => (3, Duration::from_millis(300)),
    };
    (figures, bugs::Effort { most_preemptions, most_yields, limit })
}

fn legend(size: Size) -> Vec<String> {
    let mut lines: Vec<_> = FIGURES
        .iter()
        .filter_map(|(name, [full, quick])| {
            let count = match size {
                Size::Full => full,
                Size::Quick => quick,
            };
            Some(format!("{name}: {}: {count}", find(name).ok()?.size.counts))
        })
        .collect();
    let more = |line: &str, lines: &mut Vec<String>| lines.push(line.to_owned());
    more(
        "rows with a strategy in their name: figures 6 and 7, on the programs without their bugs",
        &mut lines,
    );
    more(
        "states: different causal pasts of events; share: of all that there are, where dpor ends",
        &mut lines,
    );
    more(
        "targets: BPOR visits the states of the search without reduction, in no more runs",
        &mut lines,
    );
    more(
        "other rows: table 1, to the first failure, under the least bound that shows it",
        &mut lines,
    );
    more(
        "bounded: both bounds and no reduction; fair: the fair bound; bpor: all bounds",
        &mut lines,
    );
    more(
        "paper: seconds on the machine and the programs of the paper; livelocks of matrix in its order",
        &mut lines,
    );
    more(
        "> not finished in the time allowed; endless run: a thread spins, and others wait for ever",
        &mut lines,
    );
    for program in PROGRAMS.iter().filter(|program| program.origin == Origin::Bpor) {
        lines.push(format!("{}: {}", program.name, program.about));
    }
    lines
}
