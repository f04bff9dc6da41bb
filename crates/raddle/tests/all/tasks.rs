//! Futures and tasks.

use std::collections::BTreeSet;
use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicUsize as Real, Ordering::SeqCst as RealSeqCst};
use std::sync::{Arc as RealArc, Mutex as RealMutex};
use std::task::{Poll, Waker};

use raddle::future::{JoinHandle, block_on, spawn, spawn_local, yield_now};
use raddle::sync::atomic::{AtomicBool, Ordering};
use raddle::sync::{Arc, Mutex};
use raddle::{Config, Finding, Panics, Report, Verdict};

fn dpor(program: impl Fn() + Send + Sync + 'static) -> Report {
    Config::new().strategy("dpor").run(program)
}

#[track_caller]
fn assert_exhausted(report: &Report) {
    assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(report));
}

/// Three tasks append to a list of `std`, which raddle does not see: there are six orders.
fn orders(ordered_polls: bool) -> usize {
    let seen = RealArc::new(RealMutex::new(BTreeSet::new()));
    let found = seen.clone();
    let config = Config::new().strategy("dpor").ordered_polls(ordered_polls).hidden_state(false);
    config.run(move || {
        let list = RealArc::new(RealMutex::new(Vec::new()));
        let task = |number: usize| {
            let list = list.clone();
            spawn(async move { list.lock().unwrap().push(number) })
        };
        let tasks: Vec<_> = (0..3).map(task).collect();
        block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
        found.lock().unwrap().insert(list.lock().unwrap().clone());
    });
    seen.lock().unwrap().len()
}

#[test]
fn polls_conflict_unless_they_share_nothing_else() {
    assert_eq!(orders(true), 6);
    assert!(orders(false) < 6);
}

/// A flag of raddle with a waker of `std`.
#[derive(Default)]
struct Flag {
    is_set: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Flag {
    fn set(&self) {
        self.is_set.store(true, Ordering::SeqCst);
        if let Some(waker) = self.waker.lock().unwrap().take() {
            waker.wake();
        }
    }

    /// Waits for the flag. The waker is registered before the flag is looked at, or too late.
    async fn wait(&self, is_too_late: bool) {
        poll_fn(|context| {
            if !is_too_late {
                *self.waker.lock().unwrap() = Some(context.waker().clone());
            }
            if self.is_set.load(Ordering::SeqCst) {
                return Poll::Ready(());
            }
            *self.waker.lock().unwrap() = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

async fn consumer(flag: Arc<Flag>, is_too_late: bool) {
    flag.wait(is_too_late).await;
}

fn set_and_wait(is_too_late: bool) {
    let flag = Arc::new(Flag::default());
    let task = spawn(consumer(flag.clone(), is_too_late));
    flag.set();
    block_on(task).unwrap();
}

#[test]
fn a_lost_wakeup_is_a_deadlock_that_names_the_task() {
    let report = dpor(|| set_and_wait(false));
    assert_exhausted(&report);
    for strategy in ["dpor", "auto", "pos-star"] {
        let report = Config::new().strategy(strategy).run(|| set_and_wait(true));
        let failure = report.failure().expect("a lost wake-up");
        assert!(matches!(failure.finding, Finding::Deadlock(_)), "{:?}", failure.finding);
        let text = raddle::text(&report);
        assert!(text.contains("waits for a notification of task consumer"), "{text}");
        assert!(text.contains("thread 1 (task consumer)"), "{text}");
    }
}

/// Checks a future that wakes itself in its first poll, that a thread wakes too, and that is ready in poll `ready_in`.
fn wake_twice(ready_in: usize) -> Report {
    dpor(move || {
        let mut polls = 0;
        let twice = poll_fn(move |context| {
            polls += 1;
            if polls == 1 {
                let waker = context.waker().clone();
                raddle::thread::spawn(move || waker.wake());
                context.waker().wake_by_ref();
            }
            if polls < ready_in { Poll::Pending } else { Poll::Ready(()) }
        });
        block_on(spawn(twice)).unwrap();
    })
}

/// Wake-ups before a poll are one wake-up, and one of them may come from the future itself.
/// The end of a task wakes who waits for it. If that is a set of futures made of `std`, the wake-up changes the set, which
/// raddle does not see.
#[test]
fn wakers_made_of_std_conflict_with_polls() {
    use std::pin::Pin;
    use std::task::{Context, Poll, Wake, Waker};

    /// Two tasks, polled only after they were woken.
    struct Set {
        tasks: Vec<Option<JoinHandle<()>>>,
        woken: Arc<std::sync::Mutex<Vec<usize>>>,
    }

    struct Entry {
        index: usize,
        woken: Arc<std::sync::Mutex<Vec<usize>>>,
        waker: Waker,
    }

    impl Wake for Entry {
        fn wake(self: std::sync::Arc<Entry>) {
            self.woken.lock().unwrap().push(self.index);
            self.waker.wake_by_ref();
        }
    }

    impl Future for Set {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            loop {
                let Some(index) = self.woken.lock().unwrap().pop() else {
                    let is_done = self.tasks.iter().all(Option::is_none);
                    return if is_done { Poll::Ready(()) } else { Poll::Pending };
                };
                let entry =
                    Entry { index, woken: self.woken.clone(), waker: context.waker().clone() };
                let waker = Waker::from(std::sync::Arc::new(entry));
                let Some(task) = &mut self.tasks[index] else { continue };
                if Pin::new(task).poll(&mut Context::from_waker(&waker)).is_ready() {
                    self.tasks[index] = None;
                }
            }
        }
    }

    assert_exhausted(&dpor(|| {
        let tasks = (0..2).map(|_| Some(spawn(async {}))).collect();
        block_on(Set { tasks, woken: Arc::new(std::sync::Mutex::new(vec![0, 1])) });
    }));
}

#[test]
fn wakeups_before_a_poll_are_one() {
    assert_exhausted(&wake_twice(2));
    let report = wake_twice(3);
    let failure = report.failure().expect("the second wake-up comes before the second poll");
    assert!(matches!(failure.finding, Finding::Deadlock(_)), "{:?}", failure.finding);
    assert!(raddle::text(&report).contains("already woken"), "{}", raddle::text(&report));
}

#[test]
fn a_task_returns_its_output_and_local_ones_are_not_send() {
    let report = dpor(|| {
        let number = std::rc::Rc::new(3);
        let task = spawn_local(async move { *number + spawn(async { 4 }).await.unwrap() });
        assert_eq!(block_on(task).unwrap(), 7);
    });
    assert_exhausted(&report);
}

#[test]
fn an_aborted_task_ends_at_its_next_poll_and_drops_its_future() {
    static DROPPED: Real = Real::new(0);
    static RUNS: Real = Real::new(0);
    struct Guard;
    impl Drop for Guard {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, RealSeqCst);
        }
    }
    let report = dpor(|| {
        RUNS.fetch_add(1, RealSeqCst);
        let guard = Guard;
        let task = spawn(async move {
            pending::<()>().await;
            drop(guard);
        });
        let handle = task.abort_handle();
        handle.abort();
        let error = block_on(task).unwrap_err();
        assert!(error.is_cancelled() && !error.is_panic());
        assert!(handle.is_finished());
    });
    assert_exhausted(&report);
    assert_eq!(DROPPED.load(RealSeqCst), RUNS.load(RealSeqCst));
}

/// Abort and the end of the task race: both results occur.
#[test]
fn an_abort_may_come_too_late() {
    static RESULTS: RealMutex<BTreeSet<bool>> = RealMutex::new(BTreeSet::new());
    let report = dpor(|| {
        let task = spawn(async { yield_now().await });
        task.abort();
        RESULTS.lock().unwrap().insert(block_on(task).is_ok());
    });
    assert_exhausted(&report);
    assert_eq!(RESULTS.lock().unwrap().len(), 2);
}

#[test]
fn a_panic_of_a_task_is_a_failure_or_the_result_of_its_handle() {
    let report = dpor(|| {
        drop(spawn(async { panic!("in a task") }));
    });
    assert!(raddle::text(&report).contains("in a task"));
    let report = Config::new().strategy("dpor").panics(Panics::Join).run(|| {
        let result: Result<(), _> = block_on(spawn(async { panic!("in a task") }));
        let error = result.unwrap_err();
        assert!(error.is_panic());
        assert_eq!(error.into_panic().unwrap().downcast_ref::<&str>(), Some(&"in a task"));
    });
    assert_exhausted(&report);
}

#[test]
fn tasks_that_still_wait_end_with_main() {
    let report = dpor(|| drop(spawn(pending::<()>())));
    assert_exhausted(&report);
}

#[test]
fn a_thousand_tasks_run_in_one_execution() {
    let report = Config::new().strategy("random").runs(2).explore_trivial(true).run(|| {
        let flag = Arc::new(Mutex::new(0));
        let task = |_| {
            let flag = flag.clone();
            spawn(async move {
                yield_now().await;
                *flag.lock().unwrap() += 1;
            })
        };
        let tasks: Vec<_> = (0..1_000).map(task).collect();
        block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
        assert_eq!(*flag.lock().unwrap(), 1_000);
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
}

#[test]
fn a_waker_of_another_execution_is_refused() {
    static KEPT: RealMutex<Option<Waker>> = RealMutex::new(None);
    let report = Config::new().strategy("random").run(|| {
        block_on(poll_fn(|context| {
            let kept = KEPT.lock().unwrap().replace(context.waker().clone());
            if let Some(kept) = kept {
                kept.wake();
            }
            Poll::Ready(())
        }));
        raddle::thread::spawn(|| ()).join().unwrap();
    });
    let text = raddle::text(&report);
    assert!(text.contains("a waker was used in another execution"), "{text}");
}

#[test]
fn outside_a_check_tasks_run_on_threads() {
    let task = spawn(async {
        yield_now().await;
        7
    });
    assert_eq!(block_on(task).unwrap(), 7);
    let task = spawn(pending::<()>());
    task.abort();
    assert!(block_on(task).unwrap_err().is_cancelled());
}

#[raddle::test(strategy = "dpor")]
async fn a_test_can_be_async() {
    let (one, two) = (spawn(async { 1 }), spawn(async { 2 }));
    assert_eq!(one.await.unwrap() + two.await.unwrap(), 3);
}

#[raddle::test]
#[should_panic = "seven"]
async fn an_async_test_can_fail() {
    assert!(spawn(async { raddle::choose(10) }).await.unwrap() != 7, "seven");
}
