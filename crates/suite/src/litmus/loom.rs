//! Litmus tests searched by Loom.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64 as Counter;
use std::time::{Duration, Instant};

use crate::exhaustive::search::{End, Searched};

super::body::body!(loom);

/// Searches for at most so long; tells the outcomes too.
pub(super) fn search(script: &Arc<Script>, limit: Duration) -> (Searched, BTreeSet<Record>) {
    let runs = Arc::new(Counter::new(0));
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let mut builder = ::loom::model::Builder::new();
    builder.max_duration = Some(limit);
    // Between looks at the clock, which are cheap.
    builder.checkpoint_interval = 16;
    let start = Instant::now();
    let checked = {
        let (script, runs, seen) = (script.clone(), runs.clone(), seen.clone());
        catch_unwind(AssertUnwindSafe(|| {
            builder.check(move || {
                runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let record = execute(&script);
                seen.lock().expect("nobody panics").insert(record);
            });
        }))
    };
    let end = match checked {
        Err(_) => End::Failed,
        Ok(()) if start.elapsed() >= limit => End::Cut,
        Ok(()) => End::Complete,
    };
    let records = std::mem::take(&mut *seen.lock().expect("nobody panics"));
    let runs = runs.load(std::sync::atomic::Ordering::Relaxed);
    (Searched { runs, end, classes: None, seen: None }, records)
}
