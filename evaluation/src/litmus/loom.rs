//! Litmus tests searched by Loom.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64 as Counter, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::exhaustive::search::{End, Searched};

super::body::body!(loom);

/// Searches for at most so long.
pub(super) fn search(script: &'static Script, limit: Duration) -> Searched {
    let runs = Arc::new(Counter::new(0));
    script.look();
    let mut builder = ::loom::model::Builder::new();
    builder.max_duration = Some(limit);
    // Between looks at the clock, which are cheap.
    builder.checkpoint_interval = 16;
    let start = Instant::now();
    let checked = {
        let runs = runs.clone();
        catch_unwind(AssertUnwindSafe(|| {
            builder.check(move || {
                runs.fetch_add(1, Relaxed);
                execute(script);
            });
        }))
    };
    let end = match checked {
        Err(_) => End::Failed,
        Ok(()) if start.elapsed() >= limit => End::Cut,
        Ok(()) => End::Complete,
    };
    Searched { runs: runs.load(Relaxed), end, classes: None, seen: Some(script.has_seen()) }
}
