//! Shuttle's depth-first search, without its bound on steps and without warnings.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64 as Counter;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use shuttle::scheduler::DfsScheduler;
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};

use super::programs;
use super::search::{End, Prepared, Searched};

programs::bodies!(shuttle);

/// Prepares a search by `dfs`.
pub(crate) fn prepare(strategy: &str, program: &str) -> Result<Prepared, String> {
    if strategy != "dfs" {
        return Err(format!("no search `{strategy}` for Shuttle; there is dfs"));
    }
    let body = programs::find(BODIES, program)?;
    // The answer reports a failure.
    std::panic::set_hook(Box::new(|_| {}));
    Ok(Prepared::Ready(Box::new(move |limit| Ok(search(body, limit)))))
}

fn search(body: fn(), limit: Duration) -> Searched {
    static RUNS: Counter = Counter::new(0);
    RUNS.store(0, Relaxed);
    let mut config = Config::new();
    config.max_steps = MaxSteps::None;
    config.silence_warnings = true;
    config.failure_persistence = FailurePersistence::None;
    config.max_time = Some(limit);
    let start = Instant::now();
    let run = catch_unwind(AssertUnwindSafe(|| {
        Runner::new(DfsScheduler::new(None, false), config).run(move || {
            RUNS.fetch_add(1, Relaxed);
            body();
        });
    }));
    let end = match run {
        Err(_) => End::Failed,
        Ok(()) if start.elapsed() >= limit => End::Cut,
        Ok(()) => End::Complete,
    };
    Searched { runs: RUNS.load(Relaxed), end, classes: None, seen: None }
}
