//! Functions that run a test with one scheduler.

use std::path::Path;

use crate::scheduler::{
    DfsScheduler, PctScheduler, RandomScheduler, ReplayScheduler, RoundRobinScheduler, Scheduler,
    UncontrolledNondeterminismCheckScheduler, UrwRandomScheduler,
};
use crate::{Config, Runner};

#[track_caller]
fn run<F>(scheduler: impl Scheduler + 'static, f: F)
where
    F: Fn() + Send + Sync + 'static,
{
    Runner::new(scheduler, Config::default()).run(f);
}

/// Runs a test once, with threads that take turns.
#[track_caller]
pub fn check<F>(f: F)
where
    F: Fn() + Send + Sync + 'static,
{
    run(RoundRobinScheduler::new(1), f);
}

/// Runs a test with a random runnable thread at each step.
///
/// # Panics
/// Panics with a report if an execution fails. So do the other functions of this kind.
#[track_caller]
pub fn check_random<F>(f: F, iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    run(RandomScheduler::new(iterations), f);
}

/// Runs a test as [`check_random`], with a seed.
#[track_caller]
pub fn check_random_with_seed<F>(f: F, seed: u64, iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    run(RandomScheduler::new_from_seed(seed, iterations), f);
}

/// Runs a test with random priorities that change at `depth` − 1 random steps.
#[track_caller]
pub fn check_pct<F>(f: F, iterations: usize, depth: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    run(PctScheduler::new(depth, iterations), f);
}

/// Runs a test with nearly equal probability of all interleavings.
#[track_caller]
pub fn check_urw<F>(f: F, iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    run(UrwRandomScheduler::new(iterations), f);
}

/// Runs all executions of a test, one of every class of equivalent ones.
#[track_caller]
pub fn check_dfs<F>(f: F, max_iterations: Option<usize>)
where
    F: Fn() + Send + Sync + 'static,
{
    run(DfsScheduler::new(max_iterations, false), f);
}

/// Runs a test at random, and checks that executions can be repeated.
#[track_caller]
pub fn check_uncontrolled_nondeterminism<F>(f: F, max_iterations: usize)
where
    F: Fn() + Send + Sync + 'static,
{
    run(UncontrolledNondeterminismCheckScheduler::new(RandomScheduler::new(max_iterations)), f);
}

/// Repeats an execution by its token.
#[track_caller]
pub fn replay<F>(f: F, encoded_schedule: &str)
where
    F: Fn() + Send + Sync + 'static,
{
    run(ReplayScheduler::new_from_encoded(encoded_schedule), f);
}

/// Repeats an execution by the token in a file.
///
/// # Panics
/// Panics if the file cannot be read.
#[track_caller]
pub fn replay_from_file<F, P>(f: F, path: P)
where
    F: Fn() + Send + Sync + 'static,
    P: AsRef<Path>,
{
    let scheduler = ReplayScheduler::new_from_file(path);
    run(scheduler.expect("could not load schedule from file"), f);
}
