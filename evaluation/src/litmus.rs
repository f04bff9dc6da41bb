//! The command `litmus`: every litmus test, run as a program under RC11 with an exhaustive search.
//!
//! Expected are the verdict and the number of consistent executions, as computed by brute force from
//! the axioms; found is what raddle sees.

use std::time::Duration;

use raddle::{Config, Memory, Verdict as Result};
use raddle_testkit::litmus::Code;
use raddle_testkit::litmus::table::{MORE, TESTS, Test, Verdict};

mod body;
#[cfg(feature = "rivals")]
mod loom;
mod ours;
mod script;
pub(crate) mod speed;

use script::Script;

/// What a search found out about a program.
pub(crate) struct Found {
    /// Whether the outcome asked for was seen.
    seen: bool,
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
        let outcome = row.outcome.map_or("", |(outcome, _)| outcome);
        let found = search(Script::new(code, outcome)?)?;
        let verdict = if found.seen { Verdict::Allowed } else { Verdict::Forbidden };
        let verdict = row.outcome.map(|_| verdict);
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

/// Runs every execution of a program. These programs share nothing that raddle does not see.
pub(crate) fn search(script: &'static Script) -> std::result::Result<Found, String> {
    script.look();
    let config = Config::new().memory(Memory::Rc11).strategy("dfs").runs(u64::MAX);
    let config = config.hidden_state(false).unlimited_time();
    let report = config.name("litmus").run(move || ours::execute(script));
    match report.verdict {
        Result::Exhausted | Result::NothingToExplore => {}
        _ => {
            return Err(format!("{}: {}", script.code, raddle::text(&report)));
        }
    }
    let (graphs, executions) = (report.classes, report.executions);
    Ok(Found { seen: script.has_seen(), graphs, executions, elapsed: report.elapsed })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::{Arc, Mutex};

    use raddle::sync::atomic::{AtomicU32, Ordering, Ordering::*};
    use raddle::thread;
    use raddle_testkit::litmus::axioms;

    use super::*;

    #[test]
    fn every_test_is_as_expected() {
        let (text, is_equal) = table().unwrap();
        assert!(is_equal, "{text}");
    }

    /// What a weak exchange of 1 for 2 tells, and what is read afterwards.
    type Told = (std::result::Result<u32, u32>, u32);

    /// By the axioms: what a strong exchange tells, and what a load with the order of failure does.
    fn allowed(success: char, failure: char) -> BTreeSet<Told> {
        let told = |code: String, is_load: bool| {
            let code: Code = code.parse().unwrap();
            let outcomes = axioms::consistent(&code).into_values();
            outcomes.map(move |outcome| {
                let [old, after] = [0, 1].map(|at| outcome.read[at].unwrap() as u32);
                (if is_load || old != 1 { Err(old) } else { Ok(old) }, after)
            })
        };
        let exchange = told(format!("Wx1;Wy1r | Cy1>2{success}{failure};Rx"), false);
        let load = told(format!("Wx1;Wy1r | Ry{failure};Rx"), true);
        exchange.chain(load).collect()
    }

    /// By raddle, with this number of failures without a reason in each thread.
    fn found(success: Ordering, failure: Ordering, spurious: u32) -> BTreeSet<Told> {
        let seen = Arc::new(Mutex::new(BTreeSet::new()));
        let config = Config::new().memory(Memory::Rc11).strategy("dfs").spurious(spurious);
        let report = {
            let seen = seen.clone();
            config.runs(u64::MAX).unlimited_time().run(move || {
                let variables = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
                let writer = {
                    let variables = variables.clone();
                    thread::spawn(move || {
                        variables.0.store(1, Relaxed);
                        variables.1.store(1, Release);
                    })
                };
                let told = variables.1.compare_exchange_weak(1, 2, success, failure);
                let after = variables.0.load(Relaxed);
                writer.join().unwrap();
                seen.lock().unwrap().insert((told, after));
            })
        };
        assert!(matches!(report.verdict, Result::Exhausted), "{}", raddle::text(&report));
        std::mem::take(&mut *seen.lock().unwrap())
    }

    #[test]
    fn a_weak_exchange_that_fails_without_a_reason_is_a_load() {
        for (success, failure) in [("l", "l"), ("q", "l"), ("l", "a"), ("q", "a"), ("s", "s")] {
            let orders = [success, failure].map(|letter| match letter {
                "l" => Relaxed,
                "a" => Acquire,
                "q" => AcqRel,
                _ => SeqCst,
            });
            let letters = [success, failure].map(|letter| letter.chars().next().unwrap());
            let allowed = allowed(letters[0], letters[1]);
            assert_eq!(found(orders[0], orders[1], 1), allowed, "{success} {failure}");
            // Unless it is asked for, it does not.
            let strong: BTreeSet<Told> =
                allowed.into_iter().filter(|(told, _)| *told != Err(1)).collect();
            assert_eq!(found(orders[0], orders[1], 0), strong, "{success} {failure}");
        }
    }
}
