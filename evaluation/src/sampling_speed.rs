//! The table of what samplers cost: time per step beside random walk's, by number of threads.
//!
//! All strategies run in this process, in slices that take turns; a ratio pairs the slices of one
//! round. Three programs: all threads update one variable, so that every pending operation races with
//! every step; each updates a variable of its own, so that none does; and each reads or updates one
//! of eight.

use std::sync::Arc;

use raddle::sync::atomic::{AtomicU64, Ordering};
use raddle::thread;

use crate::interleave::{begin_measuring, median, middle_half, paired_ratios};
use crate::measure::timed;
use crate::progress::progress;
use crate::table::{Cell, Row, Size, Table, Target};

/// The strategies, the one that others are compared with first.
const STRATEGIES: [&str; 8] =
    ["random", "pos", "pos-star", "basic-pos", "pct:3", "rapos", "urw", "surw"];

/// Numbers of threads, and how many times slower than random walk partial order sampling may be.
const THREADS: [(usize, f64); 5] = [(2, 2.0), (4, 2.0), (16, 2.0), (64, 3.0), (256, 4.0)];

/// Steps of one execution, about.
const STEPS: usize = 16_384;

/// What the threads of a program share.
#[derive(Copy, Clone)]
enum Shared {
    One,
    Own,
    Eight,
}

impl Shared {
    const ALL: [Shared; 3] = [Shared::One, Shared::Own, Shared::Eight];

    fn word(self) -> &'static str {
        match self {
            Shared::One => "one",
            Shared::Own => "own",
            Shared::Eight => "eight",
        }
    }

    /// Runs `threads` threads, `steps` steps each.
    fn run(self, threads: usize, steps: usize) {
        let variables: Arc<Vec<AtomicU64>> =
            Arc::new((0..threads.max(8)).map(|_| AtomicU64::new(0)).collect());
        let body = move |number: usize, variables: &[AtomicU64]| {
            for step in 0..steps {
                match self {
                    Shared::One => variables[0].fetch_add(1, Ordering::SeqCst),
                    Shared::Own => variables[number].fetch_add(1, Ordering::SeqCst),
                    Shared::Eight => {
                        // Some fixed mixture.
                        let mixed = (number * 31 + step * 7) ^ (step >> 3);
                        let variable = &variables[mixed % 8];
                        if mixed & 8 == 0 {
                            variable.load(Ordering::SeqCst)
                        } else {
                            variable.fetch_add(1, Ordering::SeqCst)
                        }
                    }
                };
            }
        };
        let spawn = |number| {
            let variables = variables.clone();
            thread::spawn(move || body(number, &variables))
        };
        let handles: Vec<_> = (0..threads).map(spawn).collect();
        for handle in handles {
            handle.join().expect("a panic ends the execution");
        }
    }
}

/// Measures the whole table.
pub(crate) fn table(size: Size, command: String) -> Result<Table, String> {
    begin_measuring()?;
    let mut rows = Vec::new();
    for shared in Shared::ALL {
        for (threads, most) in THREADS {
            rows.push(row(shared, threads, most, size)?);
        }
    }
    progress("");
    let legend = vec![
        "one: all threads update one variable; own: each its own; eight: reads and updates of one of eight".to_owned(),
        "random: CPU time per step; others: times that, paired by round, and their middle half".to_owned(),
    ];
    Ok(Table { name: "sampling-speed", size, command, rows, legend, verdicts: Vec::new() })
}

fn row(shared: Shared, threads: usize, most: f64, size: Size) -> Result<Row, String> {
    let name = format!("{} {threads}", shared.word());
    progress(&name);
    let (rounds, executions) = match size {
        Size::Full => (21, 16),
        Size::Quick => (5, 4),
    };
    let mut samples = vec![Vec::new(); STRATEGIES.len()];
    // The first round warms up.
    for round in 0..=rounds {
        for (strategy, samples) in STRATEGIES.iter().zip(&mut samples) {
            let sample = nanoseconds_per_step(strategy, shared, threads, executions)?;
            if round > 0 {
                samples.push(sample);
            }
        }
    }
    let cells = STRATEGIES.iter().zip(&samples).enumerate().map(|(position, (strategy, times))| {
        if position == 0 {
            return (*strategy, Cell::value(median(times), "ns/step"));
        }
        let ratios = paired_ratios(&samples[0], times);
        let cell =
            Cell { middle_half: Some(middle_half(&ratios)), ..Cell::value(median(&ratios), "×") };
        let is_asked = matches!(*strategy, "pos" | "pos-star");
        (*strategy, if is_asked { cell.target(Target::AtMost(most)) } else { cell })
    });
    Ok(Row { name, cells: cells.collect() })
}

fn nanoseconds_per_step(
    strategy: &str,
    shared: Shared,
    threads: usize,
    executions: u64,
) -> Result<f64, String> {
    let config = raddle::Config::new()
        .name("sampling-speed")
        .strategy(strategy)
        .runs(executions)
        .unlimited_time();
    let steps = STEPS / threads;
    let run = || Ok(config.run(move || shared.run(threads, steps)));
    let (report, nanoseconds) = timed(run)?;
    match report.failure() {
        Some(failure) => Err(format!("raddle found a failure: {failure:?}")),
        None => Ok(nanoseconds as f64 / report.steps as f64),
    }
}
