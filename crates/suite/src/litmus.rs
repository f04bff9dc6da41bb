//! `raddle-suite litmus`: every litmus test, run as a program under RC11 with an exhaustive search.
//!
//! Expected are the verdict and the number of consistent executions, as computed by brute force from
//! the axioms; found is what raddle sees.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use raddle::sync::atomic::{AtomicU64, Ordering, fence};
use raddle::{Config, Memory, Verdict as Result, thread};
use raddle_core::Order;
use raddle_testkit::litmus::table::{MORE, TESTS, Test, Verdict};
use raddle_testkit::litmus::{Code, Instruction, Outcome};

/// What a search found out about a program.
pub(crate) struct Found {
    outcomes: BTreeSet<Outcome>,
    pub(crate) graphs: u64,
    pub(crate) executions: u64,
    pub(crate) elapsed: Duration,
}

/// All tests with expected and found, and whether all are equal.
pub(crate) fn table() -> std::result::Result<(String, bool), String> {
    let mut text = format!(
        "{:<34} {:<46} {:<14} {:>12} {:>12} {:>10} {:>9}\n",
        "test", "program", "outcome", "expected", "found", "executions", "time"
    );
    let mut is_equal = true;
    let adds: Vec<(String, String, usize)> = (2..=6usize)
        .map(|threads| {
            let orders = (1..=threads).product();
            (format!("{threads} × fetch_add"), vec!["Ux+1"; threads].join(" | "), orders)
        })
        .collect();
    let adds =
        adds.iter().map(|(name, code, graphs)| Row { name, code, outcome: None, graphs: *graphs });
    let rows = TESTS.iter().chain(MORE).map(Row::from).chain(adds);
    for row in rows {
        let code: Code = row.code.parse().map_err(|error| format!("{}: {error}", row.name))?;
        let found = search(&code)?;
        let verdict = row.outcome.map(|(outcome, _)| {
            let is_seen = found.outcomes.iter().any(|seen| seen.matches(outcome));
            if is_seen { Verdict::Allowed } else { Verdict::Forbidden }
        });
        let expected = word(row.outcome.map(|(_, verdict)| verdict), row.graphs as u64);
        let found_word = word(verdict, found.graphs);
        let mark = if expected == found_word { "" } else { "  DIFFERS" };
        is_equal &= expected == found_word;
        text += &format!(
            "{:<34} {:<46} {:<14} {:>12} {:>12} {:>10} {:>6} µs{mark}\n",
            row.name,
            row.code,
            row.outcome.map_or("", |(outcome, _)| outcome),
            expected,
            found_word,
            found.executions,
            found.elapsed.as_micros(),
        );
    }
    text += if is_equal { "all equal\n" } else { "not all equal\n" };
    Ok((text, is_equal))
}

struct Row<'a> {
    name: &'a str,
    code: &'a str,
    outcome: Option<(&'a str, Verdict)>,
    graphs: usize,
}

impl<'a> From<&'a Test> for Row<'a> {
    fn from(test: &'a Test) -> Row<'a> {
        let outcome = Some((test.outcome, test.verdict));
        Row { name: test.name, code: test.code, outcome, graphs: test.graphs }
    }
}

fn word(verdict: Option<Verdict>, graphs: u64) -> String {
    match verdict {
        Some(Verdict::Allowed) => format!("allowed {graphs}"),
        Some(Verdict::Forbidden) => format!("forbidden {graphs}"),
        None => graphs.to_string(),
    }
}

/// Runs every execution of a program.
pub(crate) fn search(code: &Code) -> std::result::Result<Found, String> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let config = Config::new().memory(Memory::Rc11).strategy("dfs").runs(u64::MAX);
    let report = {
        let (seen, code) = (seen.clone(), code.clone());
        config.unlimited_time().name("litmus").run(move || {
            let outcome = execute(&code);
            seen.lock().expect("nobody panics").insert(outcome);
        })
    };
    match report.verdict {
        Result::Exhausted | Result::NothingToExplore => {}
        Result::Bounded(_) | Result::Sampled | Result::Failed(_) => {
            return Err(format!("{code}: {}", raddle::text(&report)));
        }
    }
    let outcomes = std::mem::take(&mut *seen.lock().expect("nobody panics"));
    let (graphs, executions) = (report.classes, report.executions);
    Ok(Found { outcomes, graphs, executions, elapsed: report.elapsed })
}

/// One execution.
fn execute(code: &Code) -> Outcome {
    let variables = code.variables();
    let values: Vec<AtomicU64> = variables.iter().map(|_| AtomicU64::new(0)).collect();
    let at = |variable| &values[variables.iter().position(|&known| known == variable).unwrap_or(0)];
    let mut outcome = Outcome::default();
    thread::scope(|scope| {
        let threads: Vec<_> = code
            .threads
            .iter()
            .map(|instructions| scope.spawn(move || follow(instructions, &at)))
            .collect();
        for (thread, instructions) in threads.into_iter().zip(&code.threads) {
            let read = thread.join().expect("nobody panics");
            let readers = instructions.iter().filter(|instruction| instruction.reads()).count();
            let missing = readers - read.len();
            outcome.read.extend(read.into_iter().map(Some));
            outcome.read.extend(std::iter::repeat_n(None, missing));
        }
    });
    let last = variables.iter().map(|&variable| (variable, at(variable).load(Ordering::Relaxed)));
    outcome.last.extend(last);
    outcome
}

/// Does what a thread does, and returns what it read.
fn follow<'a>(instructions: &[Instruction], at: &dyn Fn(char) -> &'a AtomicU64) -> Vec<u64> {
    let mut read = Vec::new();
    for &instruction in instructions {
        let last = read.last().copied().unwrap_or(0);
        match instruction {
            Instruction::Store(variable, value, order) => {
                at(variable).store(value.unwrap_or(last), ordering(order));
            }
            Instruction::Load(variable, order) => read.push(at(variable).load(ordering(order))),
            Instruction::Add(variable, value, order) => {
                read.push(at(variable).fetch_add(value, ordering(order)));
            }
            Instruction::Swap(variable, value, order) => {
                read.push(at(variable).swap(value, ordering(order)));
            }
            Instruction::Exchange(variable, expected, new, success, failure) => {
                let (success, failure) = (ordering(success), ordering(failure));
                let (Ok(old) | Err(old)) =
                    at(variable).compare_exchange(expected, new, success, failure);
                read.push(old);
            }
            Instruction::Fence(order) => fence(ordering(order)),
            Instruction::Require(value) => {
                if value != last {
                    break;
                }
            }
        }
    }
    read
}

fn ordering(order: Order) -> Ordering {
    match order {
        Order::Relaxed => Ordering::Relaxed,
        Order::Acquire => Ordering::Acquire,
        Order::Release => Ordering::Release,
        Order::AcqRel => Ordering::AcqRel,
        Order::SeqCst => Ordering::SeqCst,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_is_as_expected() {
        let (text, is_equal) = table().unwrap();
        assert!(is_equal, "{text}");
    }
}
