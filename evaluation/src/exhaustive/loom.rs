//! Loom's search.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64 as Counter;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::programs;
use super::search::{End, Prepared, Searched};

programs::bodies!(loom);

/// Prepares a search by `exhaustive`, if Loom's bound on threads admits it.
pub(crate) fn prepare(strategy: &str, program: &str) -> Result<Prepared, String> {
    if strategy != "exhaustive" {
        return Err(format!("no strategy `{strategy}` for Loom; there is exhaustive"));
    }
    let body = programs::find(BODIES, program)?;
    let known = programs::PROGRAMS.iter().find(|known| known.name == program);
    if known.is_some_and(|known| known.threads > loom::MAX_THREADS) {
        return Ok(Prepared::Cannot(format!("max {} threads", loom::MAX_THREADS)));
    }
    // The answer reports a failure.
    std::panic::set_hook(Box::new(|_| {}));
    Ok(Prepared::Ready(Box::new(move |limit| Ok(search(body, limit)))))
}

fn search(body: fn(), limit: Duration) -> Searched {
    static RUNS: Counter = Counter::new(0);
    RUNS.store(0, Relaxed);
    let mut builder = loom::model::Builder::new();
    builder.max_duration = Some(limit);
    // Between looks at the clock, which are cheap.
    builder.checkpoint_interval = 16;
    let start = Instant::now();
    let checked = catch_unwind(AssertUnwindSafe(|| {
        builder.check(move || {
            RUNS.fetch_add(1, Relaxed);
            body();
        });
    }));
    let end = match checked {
        Err(_) => End::Failed,
        Ok(()) if start.elapsed() >= limit => End::Cut,
        Ok(()) => End::Complete,
    };
    Searched { runs: RUNS.load(Relaxed), end, classes: None, seen: None }
}
