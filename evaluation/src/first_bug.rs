//! How many schedules it takes to the first failure, over SCTBench: the measure by which later samplers
//! compare themselves (SURW: Zhao et al., ASPLOS 2025).
//!
//! Mean over trials with different seeds; a trial that ends without a failure counts with all its schedules.
//! Programs that fail in every execution are left out. SafeStack has a table of its own, because nothing else
//! takes a million schedules.

use raddle_programs::{Class, Form, Origin, PROGRAMS, Program, find};

use crate::methods::Method;
use crate::parallel::each;
use crate::sample::{Subject, Until};
use crate::statistics::geometric_mean;
use crate::table::{Cell, Row, Size, Table, Target};

const METHODS: [Method; 8] = [
    Method::Random,
    Method::Pct(3),
    Method::BasicPos,
    Method::PosStar,
    Method::Rapos,
    Method::Urw,
    Method::Surw,
    Method::Portfolio,
];

const SAFESTACK: &str = "safestack";

/// Schedules of a trial.
const SCHEDULES: u64 = 10_000;
const SAFESTACK_SCHEDULES: u64 = 1_000_000;
const TRIALS: u64 = 20;

/// Measures the whole table.
pub(crate) fn table(size: Size, command: String) -> Result<Table, String> {
    let trials = match size {
        Size::Full => TRIALS,
        Size::Quick => 5,
    };
    let is_asked = |program: &&Program| {
        program.origin == Origin::SctBench
            && program.class != Class::Always
            && program.name != SAFESTACK
    };
    let programs: Vec<_> = PROGRAMS.iter().filter(is_asked).collect();
    let mut jobs = Vec::new();
    for &program in &programs {
        for method in METHODS {
            jobs.push((program, method));
        }
    }
    let means = each(
        &jobs,
        |(program, method)| format!("{} {}", program.name, method.name()),
        |&(program, method)| {
            let sum: u64 = (1..=trials).map(|seed| first(program, method, seed, SCHEDULES)).sum();
            Ok(sum as f64 / trials as f64)
        },
    )?;
    let mut rows: Vec<_> = programs
        .iter()
        .zip(means.chunks(METHODS.len()))
        .map(|(program, means)| {
            let cells = METHODS.iter().zip(means);
            let cells = cells.map(|(method, mean)| (method.name(), Cell::value(*mean, "")));
            Row { name: program.name.to_owned(), cells: cells.collect() }
        })
        .collect();
    let cells = METHODS.iter().enumerate().map(|(index, method)| {
        let mean = geometric_mean(means.iter().skip(index).step_by(METHODS.len()).copied());
        let cell = Cell::value(mean, "");
        let cell = match method {
            Method::Surw => cell.target(Target::AtMost(15.0)),
            _ => cell,
        };
        (method.name(), cell)
    });
    rows.push(Row { name: "geometric mean".to_owned(), cells: cells.collect() });
    let legend = vec![
        format!("mean schedules to the first failure, of {trials} trials with up to {SCHEDULES} schedules"),
        "published, on 26 of these programs under other tools: RFF 6.7, SURW 12.9, PERIOD 30, POS 65–96,".to_owned(),
        "  PCT-3 195–254, Q-learning 600".to_owned(),
    ];
    Ok(Table { name: "first-bug", size, command, rows, legend, verdicts: Vec::new() })
}

/// Schedules to the first failure, or all.
fn first(program: &'static Program, method: Method, seed: u64, schedules: u64) -> u64 {
    let subject = Subject { program, form: Form::Bugged, size: program.size.usual };
    let sample = method.sample(subject, [4, 100], schedules, seed, Until::FirstHit);
    sample.first.unwrap_or(schedules)
}

/// SafeStack: how many trials fail within a million schedules.
pub(crate) fn safestack(size: Size, command: String) -> Result<Table, String> {
    let trials = match size {
        Size::Full => TRIALS,
        Size::Quick => 2,
    };
    let program = find(SAFESTACK)?;
    let methods = [Method::Random, Method::PosStar, Method::Surw];
    let mut jobs = Vec::new();
    for method in methods {
        for seed in 1..=trials {
            jobs.push((method, seed));
        }
    }
    let firsts = each(
        &jobs,
        |(method, seed)| format!("{} {seed}", method.name()),
        |&(method, seed)| {
            let subject = Subject { program, form: Form::Bugged, size: program.size.usual };
            let sample =
                method.sample(subject, [4, 117], SAFESTACK_SCHEDULES, seed, Until::FirstHit);
            Ok(sample.first)
        },
    )?;
    let rows = methods.iter().zip(firsts.chunks(trials as usize)).map(|(method, firsts)| {
        let mut found = Cell::count(firsts.iter().flatten().count() as u64, "trials");
        if *method == Method::Surw {
            // 17 of 20.
            found = found.target(Target::AtLeast(0.85 * trials as f64));
        }
        let schedules = firsts.iter().map(|first| first.unwrap_or(SAFESTACK_SCHEDULES));
        let mean = schedules.sum::<u64>() / trials;
        let cells = vec![("found", found), ("schedules", Cell::count(mean, "mean"))];
        Row { name: method.name().to_owned(), cells }
    });
    let rows = rows.collect();
    let legend = vec![
        format!("trials of {trials} that fail within {SAFESTACK_SCHEDULES} schedules"),
        "published: SURW 19 of 20, mean 368,921; the others none".to_owned(),
    ];
    Ok(Table { name: SAFESTACK, size, command, rows, legend, verdicts: Vec::new() })
}
