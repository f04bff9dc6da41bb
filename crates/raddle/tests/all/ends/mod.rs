//! Ends of executions, and threads that unwind: the same answer from every strategy that claims one.

mod failed;
mod given_up;
mod panicking;
mod unwinding;

use raddle::{Config, Explain, Finding, Report, Verdict};

use crate::support::{Known, every_strategy};

/// Returns the reports of every strategy, under the memory models that it supports. To explain so many deadlocks would
/// leave too many threads behind.
fn reports(config: fn() -> Config, program: fn()) -> impl Iterator<Item = Report> {
    every_strategy().into_iter().filter_map(move |Known { word, memory, is_sampler }| {
        let runs = if is_sampler { 30 } else { 500 };
        let config = config().explain(Explain::Off).strategy(&*word);
        match config.memory(memory).runs(runs).try_run(program) {
            Ok(report) => Some(report),
            // These refuse programs whose threads share little.
            Err(_) if matches!(&*word, "mcr" | "pcr") => None,
            Err(error) => panic!("{word}: {error}"),
        }
    })
}

/// Asserts that no strategy finds a failure, and that `dfs` exhausts the program.
#[track_caller]
fn assert_clean(program: fn()) {
    for report in reports(Config::new, program) {
        assert!(report.failure().is_none(), "{:?} {}", report.memory, raddle::text(&report));
    }
    let report = Config::new().strategy("dpor").run(program);
    assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
}

/// Asserts that every strategy that claims to have made all executions finds a failure like this one, and that every
/// failure that is found is such a one and can be replayed.
#[track_caller]
fn assert_found(program: fn(), is_it: fn(&Finding) -> bool) {
    for report in reports(Config::new, program) {
        let claims = match &report.verdict {
            Verdict::Failed(failure) => {
                assert!(is_it(&failure.finding), "{:?}", failure.finding);
                assert!(failure.reproduced, "{}", raddle::text(&report));
                continue;
            }
            Verdict::Exhausted | Verdict::NothingToExplore => true,
            Verdict::Bounded(_) | Verdict::Sampled => false,
            other => panic!("{other:?}"),
        };
        assert!(!claims, "{:?} {}", report.memory, raddle::text(&report));
    }
    for strategy in ["dpor", "dfs", "bpor:2", "random"] {
        let report = Config::new().explain(Explain::Off).strategy(strategy).run(program);
        assert!(report.failure().is_some(), "{}", raddle::text(&report));
    }
}

fn is_panic(finding: &Finding) -> bool {
    matches!(finding, Finding::Panic(_))
}

fn is_deadlock(finding: &Finding) -> bool {
    matches!(finding, Finding::Deadlock(_))
}
