//! Independent jobs on all processors, with a bar that says how far they are.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use crate::progress::progress;

/// Does every job, each on one OS thread, and returns the results in the order of the jobs.
pub(crate) fn each<J: Sync, R: Send>(
    jobs: &[J],
    name: impl Fn(&J) -> String + Sync,
    work: impl Fn(&J) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    let start = Instant::now();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results = Mutex::new(Vec::new());
    let worker = || {
        while let Some((index, job)) = {
            let index = next.fetch_add(1, Relaxed);
            jobs.get(index).map(|job| (index, job))
        } {
            let made = done.load(Relaxed);
            progress(&bar(made, jobs.len(), start.elapsed().as_secs(), &name(job)));
            let result = work(job);
            done.fetch_add(1, Relaxed);
            results.lock().expect("no worker panics").push((index, result));
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(worker);
        }
    });
    progress("");
    let mut results = results.into_inner().expect("no worker panics");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// `[=====     ] 12/32, 40 s, about 60 s left: what`.
fn bar(done: usize, all: usize, seconds: u64, what: &str) -> String {
    const WIDTH: usize = 20;
    let full = WIDTH * done / all.max(1);
    let left = match done {
        0 => String::new(),
        _ => format!(", about {} s left", seconds * (all - done) as u64 / done as u64),
    };
    let (full, rest) = ("=".repeat(full), " ".repeat(WIDTH - full));
    format!("[{full}{rest}] {done}/{all}, {seconds} s{left}: {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_jobs() {
        let jobs: Vec<u32> = (0..50).collect();
        let squares = each(&jobs, u32::to_string, |job| Ok(job * job)).unwrap();
        assert!(
            squares.iter().enumerate().all(|(index, square)| index * index == *square as usize)
        );
        let refuse = |job: &u32| if *job == 7 { Err("seven".to_owned()) } else { Ok(()) };
        assert_eq!(each(&jobs, u32::to_string, refuse), Err("seven".to_owned()));
    }

    #[test]
    fn the_bar_tells_what_is_left() {
        assert_eq!(bar(0, 4, 0, "a"), "[                    ] 0/4, 0 s: a");
        assert_eq!(bar(1, 4, 10, "b"), "[=====               ] 1/4, 10 s, about 30 s left: b");
    }
}
