//! Table 3 of the PCT paper (Burckhardt et al., ASPLOS 2010), and its examples of bug depth, Figs 1 to 5:
//! how often PCT hits the bugs, beside the bound 1/(n·k^(d−1)).
//!
//! The programs are written from descriptions, with about as many steps as the paper's; what has to hold is
//! the bound. n and k are those of the runs made, as raddle's PCT learns them.

use raddle_programs::{Form, find};

use crate::methods::Method;
use crate::parallel::each;
use crate::sample::{Subject, Until};
use crate::table::{Cell, Row, Size, Table};

/// A bug, and what the paper says of it.
struct Published {
    name: &'static str,
    program: &'static str,
    /// The size that has about as many steps as the paper's.
    size: Option<u32>,
    depth: u32,
    /// How often the paper's PCT, and its stress test, hit it.
    pct: Option<f64>,
    stress: Option<f64>,
}

const fn example(name: &'static str, program: &'static str, depth: u32) -> Published {
    Published { name, program, size: None, depth, pct: None, stress: None }
}

const fn bug(
    name: &'static str,
    (program, size): (&'static str, u32),
    depth: u32,
    [pct, stress]: [f64; 2],
) -> Published {
    Published { name, program, size: Some(size), depth, pct: Some(pct), stress: Some(stress) }
}

const PUBLISHED: [Published; 13] = [
    example("Fig. 1a", "pct-fig1a", 1),
    example("Fig. 1b", "pct-fig1b", 2),
    example("Fig. 1c", "pct-fig1c", 2),
    example("Fig. 2", "pct-fig2", 2),
    example("Fig. 3", "pct-fig3", 1),
    example("Fig. 4", "pct-fig4", 2),
    example("Fig. 5", "pct-fig5", 1),
    bug("Splash-FFT", ("pct-splash", 195), 1, [0.50, 0.06]),
    bug("Splash-LU", ("pct-splash", 377), 1, [0.50, 0.07]),
    bug("Splash-Barnes", ("pct-splash", 1977), 1, [0.4916, 0.0074]),
    bug("Pbzip2", ("pbzip2", 200), 2, [0.701, 0.0]),
    bug("Work Steal Queue", ("pct-wsq", 2), 2, [0.002, 0.0]),
    bug("Dryad", ("dryad", 1200), 2, [0.164, 0.0]),
];

/// So many standard errors below the bound are unlikely: one-sided, 99.9 %.
const ONE_SIDED: f64 = 3.09;

/// Measures the whole table.
pub(crate) fn table(size: Size, command: String) -> Result<Table, String> {
    let steps = match size {
        Size::Full => 60_000_000,
        Size::Quick => 2_000_000,
    };
    let rows =
        each(&PUBLISHED, |published| published.name.to_owned(), |published| row(published, steps))?;
    let legend = vec![
        "pct: raddle's, of the depth of the bug; random: a random walk; n, k: of the runs made".to_owned(),
        "bound: 1/(n·k^(d−1)); met: no more than 3.09 standard errors below it".to_owned(),
        "paper: of its own programs, with other code around the bug; Figs 1 to 5 are examples there".to_owned(),
    ];
    Ok(Table { name: "pct-3", size, command, rows, legend, verdicts: Vec::new() })
}

fn row(published: &Published, steps: u64) -> Result<Row, String> {
    let program = find(published.program)?;
    let size = program.admits(published.size.unwrap_or(program.size.usual))?;
    let subject = Subject { program, form: Form::Bugged, size };
    let threads = f64::from((program.threads)(size));
    let first = Method::Pct(published.depth).sample(subject, [0, 0], 20, 2, Until::AllRuns);
    let runs = (steps / first.longest as u64).clamp(200, 200_000);
    let pct = Method::Pct(published.depth).sample(subject, [0, 0], runs, 1, Until::AllRuns);
    let random = Method::Random.sample(subject, [0, 0], runs, 1, Until::AllRuns);
    let longest = pct.longest as f64;
    let bound = 1.0 / (threads * longest.powi(published.depth as i32 - 1));
    let error = (bound * (1.0 - bound) / runs as f64).sqrt();
    let mut hits = Cell::tiny(pct.ratio());
    hits.paper = published.pct;
    hits.ok = Some(pct.ratio() >= bound - ONE_SIDED * error);
    let stress = published.stress.map_or_else(Cell::default, Cell::ratio);
    let cells = vec![
        ("pct", hits),
        ("bound", Cell::tiny(bound)),
        ("random", Cell::tiny(random.ratio())),
        ("stress_in_paper", stress),
        ("depth", Cell::count(u64::from(published.depth), "")),
        ("n", Cell::count(threads as u64, "threads")),
        ("k", Cell::count(pct.longest as u64, "steps")),
        ("runs", Cell::count(runs, "")),
    ];
    Ok(Row { name: published.name.to_owned(), cells })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures, whose programs are small.
    #[test]
    fn examples_are_hit_as_often_as_promised() {
        for published in &PUBLISHED[..7] {
            let steps = raddle_testkit::scaled(15_000);
            let row = row(published, steps).unwrap();
            let (_, hits) = &row.cells[0];
            assert_eq!(hits.ok, Some(true), "{}: {:?}", published.name, hits.value);
        }
    }
}
