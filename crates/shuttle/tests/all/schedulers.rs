//! Schedulers of users.

use std::collections::BTreeSet;
use std::sync::Mutex as RealMutex;

use shuttle::rand::{Rng, RngCore, thread_rng};
use shuttle::scheduler::{DfsScheduler, RandomScheduler, Schedule, Scheduler, Task, TaskId};
use shuttle::{Config, Runner};

use crate::support::{failure, lost_update, token};

/// Runs the newest thread that can run, in a number of executions. It need not be `Send`.
#[derive(Debug)]
struct Newest {
    left: std::rc::Rc<u32>,
}

impl Scheduler for Newest {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.left = std::rc::Rc::new(self.left.checked_sub(1)?);
        Some(Schedule::new(0))
    }

    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        _current_task: Option<TaskId>,
        _is_yielding: bool,
    ) -> Option<TaskId> {
        runnable_tasks.iter().map(|task| task.id()).max()
    }

    fn next_u64(&mut self) -> u64 {
        5
    }
}

#[test]
fn a_scheduler_of_a_user_decides() {
    static ORDERS: RealMutex<BTreeSet<Vec<usize>>> = RealMutex::new(BTreeSet::new());
    let scheduler = Newest { left: std::rc::Rc::new(3) };
    let executions = Runner::new(scheduler, Config::new()).run(|| {
        let order = std::sync::Arc::new(RealMutex::new(Vec::new()));
        let spawn = |number: usize| {
            let order = order.clone();
            shuttle::thread::spawn(move || {
                shuttle::thread::yield_now();
                order.lock().unwrap().push(number);
            })
        };
        let threads: Vec<_> = (1..=3).map(spawn).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        ORDERS.lock().unwrap().insert(order.lock().unwrap().clone());
        assert_eq!(thread_rng().next_u64(), 5 << 42 | 5 << 21 | 5);
    });
    assert_eq!(executions, 3);
    assert_eq!(ORDERS.lock().unwrap().len(), 1);
}

/// A scheduler that wraps one of Shuttle's, as users do to record what it does.
#[derive(Debug)]
struct Wrapped<S>(S);

impl<S: Scheduler> Scheduler for Wrapped<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.0.new_execution()
    }

    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        current_task: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        self.0.next_task(runnable_tasks, current_task, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
}

#[test]
fn a_wrapped_scheduler_finds_failures_that_can_be_replayed() {
    let wrapped: [fn(); 2] = [
        || _ = Runner::new(Wrapped(RandomScheduler::new(1_000)), Config::new()).run(lost_update),
        || _ = Runner::new(Wrapped(DfsScheduler::new(None, false)), Config::new()).run(lost_update),
    ];
    for run in wrapped {
        let report = failure(run).expect("a failure");
        let again = failure(|| shuttle::replay(lost_update, &token(&report)));
        assert!(again.expect("a failure").contains("an update was lost"));
    }
}

/// Two threads of two steps each, and main's steps: depth-first search ends, and sees both orders.
#[test]
fn a_wrapped_depth_first_search_ends() {
    static SEEN: RealMutex<BTreeSet<usize>> = RealMutex::new(BTreeSet::new());
    let runner = Runner::new(Wrapped(DfsScheduler::new(None, false)), Config::new());
    let executions = runner.run(|| {
        let lock = shuttle::sync::Arc::new(shuttle::sync::Mutex::new(0));
        let other = {
            let lock = lock.clone();
            shuttle::thread::spawn(move || *lock.lock().unwrap() = 1)
        };
        SEEN.lock().unwrap().insert(*lock.lock().unwrap());
        other.join().unwrap();
    });
    assert!(executions > 2);
    assert_eq!(*SEEN.lock().unwrap(), BTreeSet::from([0, 1]));
}

#[test]
fn random_numbers_are_chosen_and_searches_refuse_them() {
    let numbers = || assert!(thread_rng().gen_range(0..10) != 3, "three");
    assert!(
        failure(|| shuttle::check_random(numbers, 1_000)).expect("a failure").contains("three")
    );
    assert!(failure(|| shuttle::check_dfs(numbers, None)).expect("a refusal").contains("choose"));
    shuttle::check_random(
        || {
            let mut bytes = [0; 11];
            thread_rng().fill_bytes(&mut bytes);
        },
        3,
    );
}
