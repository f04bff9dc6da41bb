//! Litmus tests searched by Loom.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64 as Counter, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::exhaustive::search::{End, Searched};

super::body::body!(loom);

/// Searches for at most so long.
pub(super) fn search(script: &Arc<Script>, limit: Duration) -> Searched {
    let runs = Arc::new(Counter::new(0));
    let seen = Arc::new(AtomicBool::new(false));
    let mut builder = ::loom::model::Builder::new();
    builder.max_duration = Some(limit);
    // Between looks at the clock, which are cheap.
    builder.checkpoint_interval = 16;
    let start = Instant::now();
    let checked = {
        let (script, runs, seen) = (script.clone(), runs.clone(), seen.clone());
        catch_unwind(AssertUnwindSafe(|| {
            builder.check(move || {
                runs.fetch_add(1, Relaxed);
                if execute(&script).is(&script.wanted) {
                    seen.store(true, Relaxed);
                }
            });
        }))
    };
    let end = match checked {
        Err(_) => End::Failed,
        Ok(()) if start.elapsed() >= limit => End::Cut,
        Ok(()) => End::Complete,
    };
    Searched { runs: runs.load(Relaxed), end, classes: None, seen: Some(seen.load(Relaxed)) }
}
