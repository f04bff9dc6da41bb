//! Random programs with destructors that lock and touch shared data, panics that are caught, nested, resumed and joined,
//! detached threads, pauses and retries, waits with and without timeouts, and spurious wake-ups. Every search and ten
//! samplers, under both memory models, against brute force.
//!
//! A search that claims to have made all executions must show all outcomes and deadlocks that brute force finds. No strategy
//! may show others. A separate binary, because it replaces the panic hook of the process.

mod oracle;
mod program;

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Mutex;

use raddle::{Config, Explain, Finding, Memory, Panics, Verdict};
use raddle_strategy::{Rng, mix};
use raddle_testkit::scaled;

use oracle::Expected;
use program::Program;

/// Programs with more states are skipped.
const MAX_STATES: usize = 200;

/// Searches, each with the executions that it may make, and whether it supports RC11.
const SEARCHES: &[(&str, u64, bool)] = &[
    ("dfs", 100, true),
    ("auto", 100, true),
    ("dpor", 100, false),
    ("dpor-classic", 100, false),
    ("bpor:2", 100, false),
    ("dfs:1", 100, false),
    ("dfs-delay:2", 100, false),
    ("mcr", 2, false),
    ("pcr", 2, false),
];

/// Samplers, and whether each supports RC11.
const SAMPLERS: &[(&str, bool)] = &[
    ("random", true),
    ("pos", true),
    ("pos-star", true),
    ("rapos", false),
    ("pct:2", true),
    ("pct:3", true),
    ("urw", true),
    ("surw", true),
    ("delay:2", true),
    ("round-robin", true),
];

/// The executions of each sampler.
const SAMPLES: u64 = 3;

static SEEN: Mutex<BTreeSet<Vec<Vec<u32>>>> = Mutex::new(BTreeSet::new());

fn record(outcome: Vec<Vec<u32>>) {
    SEEN.lock().unwrap().insert(outcome);
}

/// The number of checks by what they claim.
#[derive(Default, Debug)]
struct Claims {
    complete: u64,
    partial: u64,
    failed: u64,
    refused: u64,
}

/// Returns what is wrong with the result of a strategy, if anything.
fn wrong(
    program: &Program,
    expected: &Expected,
    (strategy, memory, runs): (&str, Memory, u64),
    claims: &mut Claims,
) -> Option<String> {
    SEEN.lock().unwrap().clear();
    let same = program.clone();
    let config = Config::new().strategy(strategy).memory(memory).runs(runs).panics(Panics::Join);
    // Explaining thousands of deadlocks would leave too many threads behind.
    let config = config.explain(Explain::Off).spurious(program.spurious);
    let report =
        match config.lock_order(false).explore_trivial(true).try_run(move || same.run(record)) {
            Ok(report) => report,
            Err(_) if matches!(strategy, "mcr" | "pcr") => {
                claims.refused += 1;
                return None;
            }
            Err(error) => return Some(error.to_string()),
        };
    let seen = std::mem::take(&mut *SEEN.lock().unwrap());
    let is_exact = memory == Memory::Sc || !program.has_failures();
    if let Some(new) = seen.difference(&expected.outcomes).next().filter(|_| is_exact) {
        return Some(format!("an outcome that cannot be: {new:?}"));
    }
    match &report.verdict {
        Verdict::Failed(failure) => {
            claims.failed += 1;
            let is_deadlock =
                matches!(failure.finding, Finding::Deadlock(_) | Finding::WaitsForever { .. });
            let is_right = expected.deadlocks && is_deadlock && failure.reproduced;
            (!is_right).then(|| raddle::text(&report))
        }
        Verdict::Exhausted | Verdict::NothingToExplore => {
            claims.complete += 1;
            let missed = expected.outcomes.difference(&seen).next();
            match missed {
                _ if expected.deadlocks => Some("missed a deadlock".to_owned()),
                Some(missed) => Some(format!("missed {missed:?}")),
                None => None,
            }
        }
        Verdict::Bounded(_) | Verdict::Sampled => {
            claims.partial += 1;
            None
        }
        other => Some(format!("{other:?}")),
    }
    .or_else(|| {
        // Executions that are made to see whether a loop counts may deadlock, too.
        let may_leak = expected.leaves_behind || expected.deadlocks;
        let leaks = report.leaked > 0 && report.failure().is_none() && !may_leak;
        leaks.then(|| format!("{} threads leaked", report.leaked))
    })
}

/// The programs that one process checks. Failing executions leave threads behind until the process ends.
const BATCH: u64 = 500;
/// The number of the batch, in a process that checks one of several.
const BATCH_VARIABLE: &str = "RADDLE_TEST_BATCH";

#[test]
fn random_programs_have_the_outcomes_of_brute_force() {
    let programs = scaled(BATCH);
    if let Ok(number) = std::env::var(BATCH_VARIABLE) {
        return check_batch(number.parse().expect("the number of a batch"), BATCH);
    }
    if programs <= BATCH {
        return check_batch(0, programs);
    }
    for number in 0..programs.div_ceil(BATCH) {
        let this = std::env::current_exe().expect("a test has a file");
        let mut child = Command::new(this);
        let child = child.arg("--nocapture").env(BATCH_VARIABLE, number.to_string()).output();
        let output = child.expect("a test can be started");
        print!("batch {number}: {}", String::from_utf8_lossy(&output.stdout));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "batch {number}: {error}");
    }
}

/// Checks this many random programs.
fn check_batch(number: u64, count: u64) {
    // Without this the hook would print every caught panic.
    std::panic::set_hook(Box::new(|_| {}));
    let mut claims = Claims::default();
    let (mut programs, mut deadlocks, mut failure) = (0, 0, None);
    let mut case = 0;
    while programs < count && failure.is_none() {
        let program = Program::random(&mut Rng::new(mix(19 + number, case)));
        case += 1;
        // The portable back end does not recognise loops that wait, and its searches refuse them.
        if cfg!(feature = "portable") && format!("{program:?}").contains("Await") {
            continue;
        }
        let Some(expected) = oracle::expected(&program, MAX_STATES) else { continue };
        programs += 1;
        deadlocks += u64::from(expected.deadlocks);
        for (strategy, memory, runs) in checks(programs) {
            let how = (strategy, memory, runs);
            let text = wrong(&program, &expected, how, &mut claims);
            failure = failure.or(text.map(|text| {
                format!("case {}: {program:#?}\n{strategy} {memory:?}: {text}", case - 1)
            }));
        }
    }
    _ = std::panic::take_hook();
    println!("{programs} programs of {case}, {deadlocks} with deadlocks: {claims:?}");
    assert!(failure.is_none(), "{}", failure.unwrap_or_default());
    assert!(deadlocks * 50 >= programs && claims.complete >= 2 * programs, "{claims:?}");
}

/// Returns the strategies, models and numbers of executions for the program with this number. Solvers take long and get
/// one program in eight. A sampler that supports both models gets each for every other program.
fn checks(number: u64) -> impl Iterator<Item = (&'static str, Memory, u64)> {
    let is_solver = |strategy: &str| matches!(strategy, "mcr" | "pcr");
    let searches = SEARCHES.iter().filter(move |search| !is_solver(search.0) || number % 8 == 0);
    let searches = searches.flat_map(|&(strategy, runs, weak)| {
        let weak = weak.then_some((strategy, Memory::Rc11, runs));
        std::iter::once((strategy, Memory::Sc, runs)).chain(weak)
    });
    let samplers = SAMPLERS.iter().map(move |&(strategy, weak)| {
        let memory = if weak && number % 2 == 1 { Memory::Rc11 } else { Memory::Sc };
        (strategy, memory, SAMPLES)
    });
    searches.chain(samplers)
}
