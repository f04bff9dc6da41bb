//! The evaluation of bounded partial order reduction (Coons, Musuvathi and McKinley, OOPSLA 2013):
//! figures 6 and 7, and table 1.
//!
//! Every search is named by a strategy word; the row of a word that this build does not have says so. All
//! accesses to shared memory are scheduling points, as in the paper.

use std::time::Duration;

use raddle_programs::{Origin, PROGRAMS, find};

use crate::interleave::begin_measuring;
use crate::plot::Plot;
use crate::progress::progress;
use crate::table::{Size, Table};
use crate::text::grouped;

mod bugs;
mod figures;
mod local_states;
mod order;
mod plain;
mod search;

use search::Limit;

/// The programs of the figures, with the sizes for a full table and for a quick one.
const FIGURES: &[(&str, [u32; 2])] =
    &[("mrse", [1, 1]), ("fft", [8, 5]), ("exception", [10, 5]), ("fair", [3, 2])];

/// Measures figures 6 and 7; also what to draw.
pub(crate) fn figures(size: Size, command: String) -> Result<(Table, Vec<Plot>), String> {
    begin_measuring()?;
    let (most_preemptions, most_yields, limit) = match size {
        Size::Full => (4, 4, Duration::from_secs(10)),
        Size::Quick => (3, 3, Duration::from_millis(300)),
    };
    let effort = figures::Effort { most_preemptions, most_yields, limit };
    let mut rows = Vec::new();
    let mut plots = Vec::new();
    for (name, [full, quick]) in FIGURES {
        let size = match size {
            Size::Full => *full,
            Size::Quick => *quick,
        };
        let figure = figures::figure(find(name)?, size, effort)?;
        rows.extend(figure.rows);
        plots.push(figure.plot);
    }
    progress("");
    let legend = legend(size);
    let mut table = Table { name: "bpor", size, command, rows, legend, verdicts: Vec::new() };
    table.verdicts.extend(figures::verdicts(&table));
    Ok((table, plots))
}

/// Measures table 1.
pub(crate) fn bugs(size: Size, command: String) -> Result<Table, String> {
    begin_measuring()?;
    // Runs are limited rather than time, so that the load of the machine decides nothing.
    let (most_preemptions, most_yields, runs, seconds) = match size {
        Size::Full => (4, 4, 500_000, 1_800),
        Size::Quick => (3, 3, 5_000, 10),
    };
    let limit = Limit { runs, time: Duration::from_secs(seconds) };
    let order = match size {
        Size::Full => order::Effort { runs: 50_000, draws: 7 },
        Size::Quick => order::Effort { runs: 1_000, draws: 3 },
    };
    let rows = bugs::rows(bugs::Effort { most_preemptions, most_yields, limit, order })?;
    progress("");
    let mut legend: Vec<_> = [
        "to the first failure, under the least bound that shows it",
        "bounded: both bounds and no reduction; fair: the fair bound; bpor: all bounds",
        "paper: seconds on the machine and the programs of the paper; livelocks of matrix in its order",
        "by bound: runs to the bug under the least fair bound with at most so many preemptions, or any number, by \
         search without reduction (dfs) and by BPOR; deepening: by BPOR with 0 preemptions, then 1, and so on, all runs",
        "by order: runs to the bug under the least fair bound alone, by which of the threads with the fewest yields is \
         taken first, which the paper leaves open: the one that ran last, the newest, or drawn at each state (least, median \
         and most of some seeds)",
        "plain: the paper's Algorithms 2 and 4, written down plainly, without sleep sets and optimisations",
    ]
    .map(str::to_owned)
    .into();
    let (runs, least) = (grouped(runs as f64), grouped(order.runs as f64));
    legend.push(format!("> not found in {runs} runs, by order in {least}"));
    legend.extend(programs());
    let mut table = Table { name: "bpor-1", size, command, rows, legend, verdicts: Vec::new() };
    table.verdicts.push(bugs::verdict(&table));
    Ok(table)
}

/// A line for each program of the paper.
fn programs() -> impl Iterator<Item = String> {
    let programs = PROGRAMS.iter().filter(|program| program.origin == Origin::Bpor);
    programs.map(|program| format!("{}: {}", program.name, program.about))
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
    more("figures 6 and 7, on the programs without their bugs", &mut lines);
    more(
        "states: different causal pasts of events; share: of all that there are, where dpor ends",
        &mut lines,
    );
    more(
        "targets: BPOR visits the states of the search without reduction, in no more runs",
        &mut lines,
    );
    more(
        "> not finished in the time allowed; endless run: a thread spins, and others wait forever",
        &mut lines,
    );
    lines.extend(programs());
    lines
}
