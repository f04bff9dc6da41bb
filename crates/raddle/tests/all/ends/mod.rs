//! Ends of executions, and threads that unwind: the same answer from every strategy that claims one.

mod failed;
mod given_up;
mod panicking;
mod unwinding;

use raddle::{Config, Explain, Finding, Memory, Report, Verdict};

/// Searches, and whether each supports RC11.
const SEARCHES: &[(&str, bool)] = &[
    ("dfs", true),
    ("auto", true),
    ("dpor", false),
    ("dpor-classic", false),
    ("bpor:1", false),
    ("bpor:2", false),
    ("bpor:3", false),
    ("bpor:fair:1", false),
    ("dfs:2", false),
    ("dfs-delay:2", false),
    ("mcr", false),
    ("pcr", false),
];

const SAMPLERS: &[(&str, bool)] = &[
    ("random", true),
    ("pos", false),
    ("pos-star", true),
    ("pct:3", true),
    ("urw", false),
    ("surw", false),
    ("delay:2", false),
    ("round-robin", true),
];

/// Returns the reports of all searches and samplers, under the memory models they support. To explain so many deadlocks
/// would leave too many threads behind.
fn reports(config: fn() -> Config, program: fn()) -> impl Iterator<Item = Report> {
    let searches = SEARCHES.iter().map(|strategy| (strategy, 2000));
    let all = searches.chain(SAMPLERS.iter().map(|strategy| (strategy, 200)));
    let all = all.flat_map(|of| [Memory::Sc, Memory::Rc11].map(|memory| (of, memory)));
    let all = all.filter(|((strategy, _), memory)| *memory == Memory::Sc || strategy.1);
    all.filter_map(move |((&(strategy, _), runs), memory)| {
        let config = config().explain(Explain::Off).strategy(strategy);
        match config.memory(memory).runs(runs).try_run(program) {
            Ok(report) => Some(report),
            // These refuse programs whose threads share little.
            Err(_) if matches!(strategy, "mcr" | "pcr") => None,
            Err(error) => panic!("{strategy}: {error}"),
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
