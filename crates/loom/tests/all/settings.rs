//! The settings of a model.

use std::sync::atomic::{AtomicUsize as Real, Ordering::Relaxed as RealRelaxed};
use std::time::Duration;

use loom::model::Builder;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

#[test]
fn the_settings_are_those_of_loom() {
    let mut builder = Builder::new();
    builder.checkpoint_file("none");
    assert_eq!((builder.max_threads, builder.max_branches), (loom::MAX_THREADS, 1_000));
    assert_eq!((builder.checkpoint_interval, builder.expect_explicit_explore), (20_000, false));
    assert!(!builder.location && !builder.log);
    assert!(builder.checkpoint_file.is_some());
}

/// Store buffering: both threads read 0 under a weak memory model only.
#[test]
fn executions_are_weak() {
    static BOTH_READ_ZERO: Real = Real::new(0);
    loom::model(|| {
        let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let other = {
            let (x, y) = (x.clone(), y.clone());
            thread::spawn(move || {
                x.store(1, Ordering::Relaxed);
                y.load(Ordering::Relaxed)
            })
        };
        y.store(1, Ordering::Relaxed);
        let seen = x.load(Ordering::Relaxed);
        if seen + other.join().unwrap() == 0 {
            BOTH_READ_ZERO.fetch_add(1, RealRelaxed);
        }
    });
    assert!(BOTH_READ_ZERO.load(RealRelaxed) > 0);
}

fn executions(change: impl FnOnce(&mut Builder)) -> usize {
    let executions = std::sync::Arc::new(Real::new(0));
    let mut builder = Builder::new();
    change(&mut builder);
    let counted = executions.clone();
    builder.check(move || {
        counted.fetch_add(1, RealRelaxed);
        let x = Arc::new(AtomicUsize::new(0));
        let spawn = |_| {
            let x = x.clone();
            thread::spawn(move || {
                for _ in 0..3 {
                    x.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let threads: Vec<_> = (0..3).map(spawn).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    executions.load(RealRelaxed)
}

#[test]
fn executions_and_time_can_be_limited() {
    assert!(executions(|builder| builder.max_permutations = Some(50)) < 200);
    let start = std::time::Instant::now();
    executions(|builder| builder.max_duration = Some(Duration::from_millis(300)));
    assert!(start.elapsed() < Duration::from_secs(20));
}

/// A bound leaves executions out.
#[test]
fn a_bound_leaves_executions_out() {
    let bounded = executions(|builder| {
        builder.max_permutations = Some(200_000);
        builder.preemption_bound = Some(0);
    });
    let unbounded = executions(|builder| builder.max_permutations = Some(200_000));
    assert!(bounded < unbounded, "{bounded} {unbounded}");
}
