//! Shuttle, without its bound on steps and without warnings; a fresh runner per slice, as its users
//! have one per test.

use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, MaxSteps, Runner};

use crate::measure::Prepared;

crate::workloads::workloads!(shuttle, crate::workloads::Unwatched);
crate::workloads::tasks!(shuttle);

const SEED: u64 = 42;

/// Prepares a workload under `random` or `pct:DEPTH`.
pub(crate) fn prepare(strategy: &str, workload: &str) -> Result<Prepared, String> {
    let body = crate::workloads::find(&[WORKLOADS, tasks::TASKS], workload)?.body;
    if strategy == "random" {
        return Ok(Prepared::Ready(Box::new(move |count| {
            let scheduler = RandomScheduler::new_from_seed(SEED, count as usize);
            Ok(Runner::new(scheduler, config()).run(body) as u64)
        })));
    }
    let depth = strategy.strip_prefix("pct:").and_then(|depth| depth.parse().ok());
    match depth {
        Some(depth) if depth > 0 => Ok(Prepared::Ready(Box::new(move |count| {
            let scheduler = PctScheduler::new_from_seed(SEED, depth, count as usize);
            Ok(Runner::new(scheduler, config()).run(body) as u64)
        }))),
        _ => Err(format!("no strategy `{strategy}` for Shuttle; there are random and pct:DEPTH")),
    }
}

fn config() -> Config {
    let mut config = Config::new();
    config.max_steps = MaxSteps::None;
    config.silence_warnings = true;
    config
}
