//! Several processes that share a check: each makes a part of the executions, with a seed of its own.
//!
//! The first process follows the strategy; if that is `auto`, the others sample. The first failure ends all of them, and
//! so does the end of the first process's search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use raddle::NativeSettings;
use raddle_results::document::{Document, Verdict};

use crate::Problem;
use crate::launch::{Outcome, launch};
use crate::options::{Options, Worker};
use crate::program::Program;

/// What samples in place of `auto`, by memory model.
const SAMPLERS: [(&str, &str); 2] =
    [("memory=rc11", "portfolio:c11-random+pctwm:1:2+pctwm:2:2+pct"), ("", "pos-star")];

/// The distance between the seeds of processes.
const SEED_STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Makes a check by as many processes as the settings say. Returns the merged outcome, and the options of the process
/// whose failure it is.
pub(crate) fn launch_all(
    program: &Program,
    options: &Options,
    settings: &NativeSettings,
) -> Result<(Outcome, Options), Problem> {
    if settings.threads <= 1 {
        return Ok((launch(program, options, settings, None)?, options.clone()));
    }
    if !settings.samples {
        return Err(Problem(
            "--threads: this strategy searches in one process; leave `--threads` out, or let a strategy sample".into(),
        ));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let workers: Vec<Options> = (0..settings.threads as u64)
        .map(|number| worker(number, options, settings, &stop))
        .collect();
    let outcomes: Vec<Result<Outcome, Problem>> = thread::scope(|scope| {
        let start = |(number, options): (usize, &'_ Options)| {
            let options = options.clone();
            let stop = &stop;
            scope.spawn(move || {
                let outcome = launch(program, &options, settings, None);
                if ends_all(number, &outcome) {
                    stop.store(true, Ordering::Relaxed);
                }
                outcome
            })
        };
        let threads: Vec<_> = workers.iter().enumerate().map(start).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err(Problem("a process was lost".into())))
        };
        threads.into_iter().map(join).collect()
    });
    let number = first_failure(&outcomes).unwrap_or(0);
    Ok((merge(outcomes, number)?, workers[number].clone()))
}

fn worker(
    number: u64,
    options: &Options,
    settings: &NativeSettings,
    stop: &Arc<AtomicBool>,
) -> Options {
    let sampler = SAMPLERS.iter().find(|(line, _)| settings.plan.contains(line));
    let is_other = number > 0 && settings.is_auto;
    let worker = Worker {
        seed: settings.seed.wrapping_add(number.wrapping_mul(SEED_STEP)),
        runs: settings.runs.div_ceil(settings.threads as u64),
        strategy: sampler.filter(|_| is_other).map(|(_, word)| (*word).to_owned()),
    };
    Options { worker: Some(worker), stop: stop.clone(), ..options.clone() }
}

/// Returns whether other processes need not go on.
fn ends_all(number: usize, outcome: &Result<Outcome, Problem>) -> bool {
    match outcome {
        Ok(Outcome::Report { document, .. }) => {
            document.failure.is_some()
                || number == 0 && !matches!(document.verdict, Verdict::Sampled)
        }
        Ok(Outcome::Lost(_)) => false,
        Ok(Outcome::Refused(_) | Outcome::NeedsFork | Outcome::Alone(_)) | Err(_) => true,
    }
}

fn first_failure(outcomes: &[Result<Outcome, Problem>]) -> Option<usize> {
    outcomes.iter().position(|outcome| {
        matches!(outcome, Ok(Outcome::Report { document, .. }) if document.failure.is_some())
    })
}

/// Returns the outcome of one process, with the executions of the others if all sampled.
fn merge(mut outcomes: Vec<Result<Outcome, Problem>>, number: usize) -> Result<Outcome, Problem> {
    let mut outcome = outcomes.swap_remove(number)?;
    if let Outcome::Report { document, .. } = &mut outcome
        && document.failure.is_none()
        && matches!(document.verdict, Verdict::Sampled)
    {
        for other in outcomes {
            match other? {
                Outcome::Report { document: other, .. } => add(document, &other),
                refused @ (Outcome::Refused(_) | Outcome::Lost(_)) => return Ok(refused),
                Outcome::NeedsFork | Outcome::Alone(_) => {}
            }
        }
    }
    Ok(outcome)
}

/// Adds the executions of another process. How many of its classes are new is not known.
fn add(document: &mut Document, other: &Document) {
    document.executions += other.executions;
    document.steps += other.steps;
    document.classes = document.classes.max(other.classes);
    document.classes_exact = false;
    document.discarded += other.discarded;
    document.probes += other.probes;
    document.equivalents += other.equivalents;
    document.elapsed_seconds = document.elapsed_seconds.max(other.elapsed_seconds);
    document.threads = document.threads.max(other.threads);
    document.unseen = None;
    document.phases.clear();
}
