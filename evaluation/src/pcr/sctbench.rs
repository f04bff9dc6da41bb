//! PCR on the short programs of SCTBench: it finds the bug, or says what it has covered.

use std::time::Duration;

use raddle::{Accesses, OnStepLimit, Report};
use raddle_programs::run::{Request, config};
use raddle_programs::{Failure, Form, Origin, PROGRAMS, Program, Space};

use crate::methods::Method;
use crate::parallel::each;
use crate::sample::{Subject, Until};
use crate::table::{Cell, Extent, Row, Size, Table, Target};

/// Longer programs are left out: the maximum number of events, and the number of random runs of which the longest counts.
const MOST_STEPS: usize = 200;
const MEASURING_RUNS: u64 = 100;

/// The samplers beside it, with the words that choose them.
const SAMPLERS: [(&str, Method); 4] = [
    ("random", Method::Random),
    ("pct:3", Method::Pct(3)),
    ("pos-star", Method::PosStar),
    ("surw", Method::Surw),
];

/// What is tried of each program before giving up.
#[derive(Clone, Copy)]
struct Budget {
    seeds: u64,
    schedules: u64,
    /// For one search of PCR.
    time: Duration,
}

/// What the searches with all seeds came to.
#[derive(Debug, Default)]
struct Outcome {
    schedules: f64,
    found: u64,
    /// Searches that had nothing left to try, and told what they covered.
    exhausted: u64,
    /// What was covered without finding the bug, most of all seeds, and the estimate of all there is.
    covered: Option<(u64, f64)>,
    /// Why there was no search, or what else was found.
    trouble: Option<String>,
}

/// Measures the whole table.
pub(super) fn table(size: Size, command: String) -> Result<Table, String> {
    let budget = match size {
        Size::Full => Budget { seeds: 5, schedules: 10_000, time: Duration::from_secs(10) },
        Size::Quick => Budget { seeds: 2, schedules: 1_000, time: Duration::from_secs(1) },
    };
    let programs: Vec<_> =
        PROGRAMS.iter().filter(|program| program.origin == Origin::SctBench).collect();
    let name = |program: &&'static Program| program.name.to_owned();
    let rows = each(&programs, name, |program| row(program, budget))?;
    let mut legend = vec![
        format!("mean schedules to the first failure, of {} seeds", budget.seeds),
        format!(
            "> some seeds did not fail: within {} schedules, or for pcr more than {} s, or before nothing was left to try",
            budget.schedules,
            budget.time.as_secs()
        ),
        "settled: seeds with which pcr finds the bug, or has nothing left to try and tells what it covered"
            .to_owned(),
        "covered, at_most: memory-access patterns (accesses one by one) where a seed did not find the bug"
            .to_owned(),
        format!("steps: the most of {MEASURING_RUNS} random runs"),
    ];
    let mut left_out = Vec::new();
    let mut shown = Vec::new();
    for (program, row) in programs.iter().zip(rows) {
        match row {
            Some(row) => shown.push(row),
            None => left_out.push(program.name),
        }
    }
    if !left_out.is_empty() {
        legend.push(format!("with more than {MOST_STEPS} steps: {}", left_out.join(", ")));
    }
    Ok(Table { name: "pcr-sctbench", size, command, rows: shown, legend, verdicts: Vec::new() })
}

/// One program; nothing if it is too long.
fn row(program: &'static Program, budget: Budget) -> Result<Option<Row>, String> {
    let subject = Subject { program, form: Form::Bugged, size: program.size.usual };
    let steps = Method::Random.sample(subject, [4, 100], MEASURING_RUNS, 0, Until::AllRuns).longest;
    if steps > MOST_STEPS {
        return Ok(None);
    }
    let mut outcome = Outcome::default();
    for seed in 1..=budget.seeds {
        outcome.add(program, search(program, seed, budget)?);
    }
    let mut cells = vec![("steps", Cell::count(steps as u64, "events"))];
    cells.extend(outcome.cells(budget.seeds));
    for (word, method) in SAMPLERS {
        cells.push((word, sampled(subject, method, budget)));
    }
    Ok(Some(Row { name: program.name.to_owned(), cells }))
}

/// One search by PCR; the text is why there was none.
fn search(
    program: &'static Program,
    seed: u64,
    budget: Budget,
) -> Result<Result<Report, String>, String> {
    let strategy = "pcr".parse().map_err(|error| format!("{error}"))?;
    let (form, size) = (Form::Bugged, program.size.usual);
    let request = Request { strategy, runs: budget.schedules, seed, form, size };
    // A search that knows no fairness need not leave a spinning loop.
    let on_step_limit = match (program.space, program.failure) {
        (Space::Cyclic, Failure::Assertion | Failure::Deadlock) => OnStepLimit::Discard,
        (Space::Acyclic, _) | (_, Failure::Livelock) => OnStepLimit::Fail,
    };
    let config = config(program, request)
        .explain(raddle::Explain::Off)
        .time(budget.time)
        .on_step_limit(on_step_limit)
        .coverage(Accesses::ByEvent);
    Ok(config.try_run(program.closure(form, size)).map_err(|error| error.to_string()))
}

impl Outcome {
    fn add(&mut self, program: &Program, search: Result<Report, String>) {
        let report = match search {
            Ok(report) => report,
            Err(error) => {
                self.trouble = Some(error);
                return;
            }
        };
        match report.failure() {
            Some(failure) if program.failure.is(&failure.finding) => {
                self.schedules += failure.execution as f64;
                self.found += 1;
                return;
            }
            Some(failure) => self.trouble = Some(format!("{:?}", failure.finding)),
            None => {}
        }
        self.schedules += report.executions as f64;
        if let Some(coverage) = &report.coverage {
            let most = self.covered.map_or(0, |(covered, _)| covered);
            if self.covered.is_none() || coverage.covered > most {
                self.covered = Some((coverage.covered, coverage.total));
            }
            let is_done = report.patterns.as_ref().is_some_and(|patterns| patterns.is_done);
            self.exhausted += u64::from(is_done && report.failure().is_none());
        }
    }

    fn cells(&self, seeds: u64) -> Vec<(&'static str, Cell)> {
        let first = match &self.trouble {
            Some(trouble) => Cell::note(trouble.clone()),
            None => mean(self.schedules, seeds, self.found == seeds),
        };
        let settled = Cell::count(self.found + self.exhausted, "seeds");
        let (covered, at_most) = match self.covered {
            Some((covered, total)) => {
                (Cell::count(covered, "patterns"), Cell::value(total, "patterns"))
            }
            None => (Cell::default(), Cell::default()),
        };
        vec![
            ("pcr", first),
            ("found", Cell::count(self.found, "seeds")),
            ("settled", settled.target(Target::Exactly(seeds as f64))),
            ("covered", covered),
            ("at_most", at_most),
        ]
    }
}

fn sampled(subject: Subject, method: Method, budget: Budget) -> Cell {
    let Budget { seeds, schedules, .. } = budget;
    let first = |seed| method.sample(subject, [4, 100], schedules, seed, Until::FirstHit).first;
    let firsts: Vec<_> = (1..=seeds).map(first).collect();
    let sum: u64 = firsts.iter().map(|first| first.unwrap_or(schedules)).sum();
    mean(sum as f64, seeds, firsts.iter().all(Option::is_some))
}

/// A mean of all seeds, whether or not all of them found the bug.
fn mean(sum: f64, seeds: u64, all_found: bool) -> Cell {
    let extent = if all_found { Extent::Whole } else { Extent::Unfinished };
    Cell { extent, ..Cell::value(sum / seeds as f64, "schedules") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_programs::find;

    const BUDGET: Budget = Budget { seeds: 2, schedules: 200, time: Duration::from_secs(20) };

    fn cell(row: &Row, name: &str) -> Cell {
        row.cells.iter().find(|(cell, _)| *cell == name).expect("a cell of the row").1.clone()
    }

    #[test]
    fn a_bug_is_found_beside_the_samplers() {
        let row = row(find("account").unwrap(), BUDGET).unwrap().expect("a short program");
        assert_eq!(cell(&row, "found").value, Some(2.0));
        assert_eq!(cell(&row, "settled").ok, Some(true));
        for word in ["pcr", "random", "pct:3", "pos-star", "surw"] {
            let first = cell(&row, word);
            assert_eq!(first.extent, Extent::Whole, "{word}");
            assert!(first.value.is_some_and(|mean| (1.0..=200.0).contains(&mean)), "{word}");
        }
    }

    #[test]
    fn a_search_without_the_bug_tells_what_it_covered() {
        let program = find("account").unwrap();
        let strategy = "pcr".parse().unwrap();
        let (form, size) = (Form::Fixed, program.size.usual);
        let request = Request { strategy, runs: 200, seed: 1, form, size };
        let config =
            config(program, request).explain(raddle::Explain::Off).coverage(Accesses::ByEvent);
        let mut outcome = Outcome::default();
        outcome.add(program, Ok(config.run(program.closure(form, size))));
        let cells = outcome.cells(1);
        let row = Row { name: program.name.to_owned(), cells };
        assert_eq!(cell(&row, "found").value, Some(0.0));
        assert_eq!(cell(&row, "pcr").extent, Extent::Unfinished);
        assert_eq!(cell(&row, "settled").ok, Some(true), "nothing is left to try");
        assert!(cell(&row, "covered").value.is_some_and(|covered| covered > 0.0));
    }

    #[test]
    fn a_search_that_is_cut_short_settles_nothing() {
        let program = find("reorder_10").unwrap();
        let budget = Budget { schedules: 2, ..BUDGET };
        let mut outcome = Outcome::default();
        outcome.add(program, search(program, 1, budget).unwrap());
        let row = Row { name: program.name.to_owned(), cells: outcome.cells(1) };
        assert_eq!(cell(&row, "settled").ok, Some(false));
        assert!(cell(&row, "covered").value.is_some_and(|covered| covered > 0.0));
    }
}
