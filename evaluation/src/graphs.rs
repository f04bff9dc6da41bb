//! The table of searches under RC11: the number of execution graphs of programs for which it is known, and the CPU time of
//! `dpor`, which runs each graph once, beside that of `dfs`.

use std::time::Duration;

use raddle::{Config, Memory, Report, Verdict};
use raddle_programs::weak::graphs::{FAMILIES, Family};

use crate::interleave::begin_measuring;
use crate::measure::timed;
use crate::progress::progress;
use crate::table::{Cell, Row, Size, Table, Target};

/// The time after which a depth-first search is given up.
const LIMIT: Duration = Duration::from_secs(60);

/// How many times longer than `dfs` a search may take.
const MOST: f64 = 1.5;

/// How many times longer than `dfs` searches may take on geometric average.
const MOST_ON_AVERAGE: f64 = 0.2;

/// Measures the whole table.
pub(crate) fn table(size: Size, command: String) -> Result<Table, String> {
    begin_measuring()?;
    let (mut rows, mut ratios) = (Vec::new(), Vec::new());
    for family in FAMILIES {
        let (count, graphs) = match size {
            Size::Full => family.large,
            Size::Quick => *family.small.last().unwrap_or(&family.large),
        };
        progress(family.name);
        // The first search of a process takes longer.
        if let Some(&(least, graphs)) = family.small.first() {
            row(family, least, graphs)?;
        }
        let (row, ratio) = row(family, count, graphs)?;
        rows.push(row);
        ratios.push(ratio);
    }
    progress("");
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let mean = Cell::value(mean, "×").target(Target::AtMost(MOST_ON_AVERAGE));
    rows.push(Row { name: "geometric mean".to_owned(), cells: vec![("ratio", mean)] });
    let about = FAMILIES.iter().map(|family| format!("{}: {}", family.name, family.about));
    let mut legend: Vec<String> = about.collect();
    legend.push(
        "lost: runs whose graph is inconsistent; ratio: CPU time of dpor by that of dfs".to_owned(),
    );
    legend.push(format!("> not finished in {} s, so that the ratio is smaller", LIMIT.as_secs()));
    Ok(Table { name: "graphs", size, command, rows, legend, verdicts: Vec::new() })
}

fn row(family: &Family, size: u32, graphs: u64) -> Result<(Row, f64), String> {
    let (dpor, dpor_time) = search(family, size, "dpor", None)?;
    let (dfs, dfs_time) = search(family, size, "dfs", Some(LIMIT))?;
    let is_finished = matches!(dfs.verdict, Verdict::Exhausted | Verdict::NothingToExplore);
    let ratio = dpor_time as f64 / dfs_time as f64;
    // If `dfs` did not finish, the ratio is an upper bound, which may meet the target but cannot miss it.
    let is_known = is_finished || ratio <= MOST;
    let ratio_cell = Cell::value(ratio, "×");
    let ratio_cell = if is_known { ratio_cell.target(Target::AtMost(MOST)) } else { ratio_cell };
    let until_limit = |cell: Cell| if is_finished { cell } else { cell.unfinished() };
    let cells = vec![
        ("graphs", Cell::count(dpor.classes, "").target(Target::Exactly(graphs as f64))),
        ("runs", Cell::count(dpor.executions, "").target(Target::Exactly(graphs as f64))),
        ("lost", Cell::count(dpor.search.map_or(0, |search| search.blocked), "")),
        ("dpor", Cell::value(dpor_time as f64 / 1e6, "ms")),
        ("dfs runs", until_limit(Cell::count(dfs.executions, ""))),
        ("dfs", until_limit(Cell::value(dfs_time as f64 / 1e6, "ms"))),
        ("ratio", ratio_cell),
    ];
    Ok((Row { name: format!("{} {size}", family.name), cells }, ratio))
}

fn search(
    family: &Family,
    size: u32,
    strategy: &'static str,
    limit: Option<Duration>,
) -> Result<(Report, u64), String> {
    let config = Config::new().name("graphs").memory(Memory::Rc11).strategy(strategy);
    let config = match limit {
        None => config.unlimited_time(),
        Some(limit) => config.time(limit),
    };
    let body = family.body;
    timed(|| Ok(config.runs(u64::MAX).run(move || body(size))))
}
