//! Table 1: the time and the runs to each bug, by DPOR, by bounded search without reduction and by
//! BPOR, beside the paper's seconds.
//!
//! As in the paper, a bounded search is measured at the least bound that shows the bug; the searches
//! under smaller bounds, which end without it, are not counted. The programs are written from their
//! descriptions: the paper's had other sizes, other code around them and another machine, so that only
//! the order of the columns can be compared.

use std::time::Duration;

use raddle::Strategy;
use raddle_programs::{Form, Program, Space, find};

use super::search::{End, Outcome, Subject, least_fair_bound};
use crate::progress::progress;
use crate::table::{Cell, Row};

/// The paper's seconds for a program: DPOR, no BPOR, fair-bounded BPOR, BPOR under the bounds that the
/// second column has. `None` where the paper has a dash.
struct Published {
    program: &'static str,
    dpor: Option<f64>,
    bounded: Option<f64>,
    fair: Option<f64>,
    reduced: Option<f64>,
}

const fn acyclic(program: &'static str, [dpor, bounded, reduced]: [f64; 3]) -> Published {
    let (dpor, bounded, reduced) = (Some(dpor), Some(bounded), Some(reduced));
    Published { program, dpor, bounded, fair: None, reduced }
}

const fn cyclic(
    program: &'static str,
    bounded: Option<f64>,
    [fair, reduced]: [f64; 2],
) -> Published {
    Published { program, dpor: None, bounded, fair: Some(fair), reduced: Some(reduced) }
}

const PUBLISHED: &[Published] = &[
    acyclic("mrse", [2.0, 6.0, 1.0]),
    acyclic("exception", [69.0, 39.0, 9.0]),
    acyclic("exception-lost", [64.0, 35.0, 8.0]),
    cyclic("nqueens", Some(75.0), [5.0, 4.0]),
    cyclic("nqueens-wake", Some(3235.0), [502.0, 125.0]),
    cyclic("nqueens-sum", Some(312.0), [80.0, 11.0]),
    cyclic("matrix", Some(54.0), [2.0, 2.0]),
    cyclic("matrix-locks", Some(1089.0), [787.0, 137.0]),
    cyclic("matrix-wake", None, [694.0, 136.0]),
    cyclic("regown", None, [3474.0, 1586.0]),
];

/// Which bounds to try, and for how long each.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    pub(super) most_preemptions: u32,
    pub(super) most_yields: u32,
    pub(super) limit: Duration,
}

/// The rows of the table.
pub(super) fn rows(effort: Effort) -> Result<Vec<Row>, String> {
    PUBLISHED.iter().map(|published| row(published, effort)).collect()
}

fn row(published: &Published, effort: Effort) -> Result<Row, String> {
    let program = find(published.program)?;
    let preemptions = 0..=effort.most_preemptions;
    let yields = least_fair_bound()..=effort.most_yields;
    let both = |word: fn(u32, u32) -> String| -> Vec<String> {
        let pairs = yields.clone().flat_map(|f| preemptions.clone().map(move |c| (c, f)));
        pairs.map(|(c, f)| word(c, f)).collect()
    };
    let mut cells = Vec::new();
    let mut column = |names: [&'static str; 3], words: Vec<String>, paper| -> Result<(), String> {
        let [time, runs, by] = hunt(program, &words, effort.limit)?;
        let [time_name, runs_name, by_name] = names;
        cells.push((time_name, Cell { paper, ..time }));
        cells.push((runs_name, runs));
        cells.push((by_name, by));
        Ok(())
    };
    column(["dpor", "dpor_runs", "dpor_by"], vec!["dpor".to_owned()], published.dpor)?;
    let names = ["bounded", "bounded_runs", "bounded_by"];
    match program.space {
        Space::Acyclic => {
            let words = preemptions.clone().map(|c| format!("dfs:{c}")).collect();
            column(names, words, published.bounded)?;
            let words = preemptions.clone().map(|c| format!("bpor:{c}")).collect();
            column(["bpor", "bpor_runs", "bpor_by"], words, published.reduced)?;
        }
        Space::Cyclic => {
            let mut words = both(|c, f| format!("dfs:{c}:fair:{f}"));
            if words[0].parse::<Strategy>().is_err() {
                words = preemptions.clone().map(|c| format!("dfs:{c}")).collect();
            }
            column(names, words, published.bounded)?;
            let words = yields.clone().map(|f| format!("bpor:fair:{f}")).collect();
            column(["fair", "fair_runs", "fair_by"], words, published.fair)?;
            let words = both(|c, f| format!("bpor:{c}:fair:{f}"));
            column(["bpor", "bpor_runs", "bpor_by"], words, published.reduced)?;
        }
    }
    Ok(Row { name: program.name.to_owned(), cells })
}

/// Searches by one word after another until one finds the bug: its time, its runs and its word.
fn hunt(program: &'static Program, words: &[String], limit: Duration) -> Result<[Cell; 3], String> {
    let subject = Subject { program, form: Form::Bugged, size: program.size.usual };
    for word in words {
        let Ok(strategy) = word.parse::<Strategy>() else {
            let absent = Cell { ok: Some(false), ..Cell::note(format!("no {word}")) };
            return Ok([absent, Cell::default(), Cell::default()]);
        };
        progress(&format!("{} {word}", program.name));
        let Outcome { end, runs, seconds } = subject.search(strategy, limit)?;
        let (time, runs) = (Cell::value(seconds, "s"), Cell::count(runs, "runs"));
        let by = Cell::note(word.clone());
        match end {
            End::Complete => {}
            End::Found => return Ok([time, runs, by]),
            End::Cut => return Ok([time.unfinished(), runs.unfinished(), by]),
            End::Endless => return Ok([Cell::note("endless run"), runs, by]),
            End::Other(what) => return Ok([Cell::note(what), runs, by]),
        }
    }
    let most = words.last().cloned().unwrap_or_default();
    Ok([Cell::note("not found"), Cell::default(), Cell::note(format!("to {most}"))])
}
