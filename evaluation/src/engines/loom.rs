//! Loom, whose one strategy is its exhaustive search: a slice is the first executions of the search,
//! and begins the search anew where it ends before the slice.

use std::sync::atomic::AtomicU64 as Counter;
use std::sync::atomic::Ordering::Relaxed;

use crate::measure::Prepared;

crate::workloads::workloads!(loom, loom::cell::UnsafeCell<u64>);

/// Enough for every workload within Loom's bound on threads. Loom reserves memory for that many at
/// the start of a search, so more would slow down the short ones.
const MAX_BRANCHES: usize = 10_000;

/// Prepares a workload under `exhaustive`, if Loom's bound on threads admits it.
pub(crate) fn prepare(strategy: &str, workload: &str) -> Result<Prepared, String> {
    if strategy != "exhaustive" {
        return Err(format!("no strategy `{strategy}` for Loom; there is exhaustive"));
    }
    let workload = crate::workloads::find(&[WORKLOADS], workload)?;
    if workload.threads > loom::MAX_THREADS {
        return Ok(Prepared::Cannot(format!("max {} threads", loom::MAX_THREADS)));
    }
    let body = workload.body;
    Ok(Prepared::Ready(Box::new(move |count| {
        let mut done = 0;
        while done < count {
            done += search(body, count - done);
        }
        Ok(done)
    })))
}

/// Runs at most `count` executions of a new search; says how many there were.
fn search(body: fn(), count: u64) -> u64 {
    static DONE: Counter = Counter::new(0);
    DONE.store(0, Relaxed);
    let mut builder = loom::model::Builder::new();
    builder.max_branches = MAX_BRANCHES;
    // Loom looks at the bound every `checkpoint_interval` executions, before the execution that
    // carries the number: so both are one more than the executions wanted.
    builder.max_permutations = Some(count as usize + 1);
    builder.checkpoint_interval = count as usize + 1;
    builder.check(move || {
        DONE.fetch_add(1, Relaxed);
        body();
    });
    DONE.load(Relaxed)
}
