//! Futures, tasks and the semaphore.

use std::sync::atomic::Ordering as Real;

use shuttle::future::batch_semaphore::{BatchSemaphore, Fairness, TryAcquireError};
use shuttle::future::{JoinError, block_on, spawn, spawn_local, yield_now};
use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicUsize, Ordering};

use crate::support::failure;

#[test]
fn tasks_are_joined_and_aborted() {
    shuttle::check_dfs(
        || {
            let task = spawn_local(async {
                yield_now().await;
                spawn(async { 7 }).await.unwrap()
            });
            assert_eq!(block_on(task).unwrap(), 7);
            let task = spawn(std::future::pending::<()>());
            task.abort_handle().abort();
            assert!(matches!(block_on(task), Err(JoinError::Cancelled)));
        },
        None,
    );
}

/// At most two tasks are in the section at once, and that many are.
#[test]
fn a_semaphore_limits_tasks() {
    for fairness in [Fairness::StrictlyFair, Fairness::Unfair] {
        static MOST: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        shuttle::check_random(
            move || {
                let semaphore = Arc::new(BatchSemaphore::new(2, fairness));
                let inside = Arc::new(AtomicUsize::new(0));
                let task = |_| {
                    let (semaphore, inside) = (semaphore.clone(), inside.clone());
                    spawn(async move {
                        semaphore.acquire(1).await.unwrap();
                        let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
                        assert!(now <= 2);
                        MOST.fetch_max(now, Real::SeqCst);
                        yield_now().await;
                        inside.fetch_sub(1, Ordering::SeqCst);
                        semaphore.release(1);
                    })
                };
                let tasks: Vec<_> = (0..3).map(task).collect();
                block_on(async {
                    for task in tasks {
                        task.await.unwrap();
                    }
                });
            },
            300,
        );
        assert_eq!(MOST.load(Real::SeqCst), 2);
    }
}

#[test]
fn a_semaphore_is_fair_if_asked_and_can_be_closed() {
    shuttle::check_dfs(
        || {
            let semaphore = Arc::new(BatchSemaphore::new(1, Fairness::StrictlyFair));
            let task = {
                let semaphore = semaphore.clone();
                spawn(async move { semaphore.acquire(2).await })
            };
            // Either the task does not wait yet, or it is first.
            match semaphore.try_acquire(1) {
                Ok(()) => semaphore.release(2),
                Err(error) => {
                    assert_eq!(error, TryAcquireError::NoPermits);
                    semaphore.release(1);
                }
            }
            block_on(task).unwrap().unwrap();
            semaphore.close();
            assert!(semaphore.is_closed());
            assert!(semaphore.acquire_blocking(1).is_err());
        },
        None,
    );
}

/// Nobody releases the second permit.
#[test]
fn waiting_forever_is_a_deadlock() {
    let report = failure(|| {
        shuttle::check_random(
            || {
                let semaphore = BatchSemaphore::new(1, Fairness::StrictlyFair);
                block_on(semaphore.acquire(2)).unwrap();
            },
            10,
        );
    });
    assert!(report.expect("a failure").contains("deadlock"));
}
