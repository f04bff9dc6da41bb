//! Threads, statics and what is current.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize as Real, Ordering::SeqCst};

use shuttle::current::{self, TaskId};
use shuttle::sync::{Arc, Barrier, Condvar, Mutex, Once, RwLock, mpsc};
use shuttle::thread;

static INITIALISED: Real = Real::new(0);
static DROPPED: Real = Real::new(0);

struct Counter(Mutex<u32>);

impl Drop for Counter {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, SeqCst);
    }
}

shuttle::lazy_static! {
    static ref COUNTER: Counter = {
        INITIALISED.fetch_add(1, SeqCst);
        Counter(Mutex::new(0))
    };
    /// Two statics in one macro.
    pub static ref NUMBER: u32 = 7;
}

shuttle::thread_local! {
    static OWN: Cell<u32> = Cell::new(1);
}

#[test]
fn statics_live_as_long_as_an_execution() {
    shuttle::check_dfs(
        || {
            shuttle::lazy_static::initialize(&NUMBER);
            let other = thread::spawn(|| {
                OWN.with(|own| own.set(2));
                *COUNTER.0.lock().unwrap() += *NUMBER;
            });
            *COUNTER.0.lock().unwrap() += 1;
            other.join().unwrap();
            assert_eq!((*COUNTER.0.lock().unwrap(), OWN.with(Cell::get)), (8, 1));
        },
        None,
    );
    assert!(INITIALISED.load(SeqCst) > 1);
    assert_eq!(INITIALISED.load(SeqCst), DROPPED.load(SeqCst));
}

#[test]
fn tasks_have_numbers_names_and_labels() {
    assert_eq!(current::get_current_task(), None);
    shuttle::check_random(
        || {
            let other = thread::spawn(|| {
                let me = current::me();
                current::set_name_for_task(me, "worker");
                assert_eq!(format!("{me:?}"), "worker(1)");
                current::set_label_for_task(me, 7_u32);
                me
            });
            let other = other.join().unwrap();
            assert_eq!((usize::from(current::me()), usize::from(other)), (0, 1));
            assert_eq!(current::get_label_for_task::<u32>(TaskId::from(1)), Some(7));
            assert_eq!(current::remove_label_for_task::<u32>(other), Some(7));
            assert_eq!(current::get_label_for_task::<u32>(other), None);
            assert!(current::context_switches() > 0);
        },
        10,
    );
}

#[test]
fn synchronisation_works() {
    shuttle::check_random(
        || {
            let shared = Arc::new((Mutex::new(false), Condvar::new(), RwLock::new(1), Once::new()));
            let barrier = Arc::new(Barrier::new(2));
            let (sender, receiver) = mpsc::sync_channel(0);
            let other = {
                let (shared, barrier) = (shared.clone(), barrier.clone());
                thread::Builder::new().name("other".to_owned()).spawn(move || {
                    *shared.0.lock().unwrap() = true;
                    shared.1.notify_all();
                    shared.3.call_once(|| *shared.2.write().unwrap() += 1);
                    barrier.wait();
                    sender.send(7).unwrap();
                })
            };
            let other = other.unwrap();
            let is_set = shared.0.lock().unwrap();
            drop(shared.1.wait_while(is_set, |is_set| !*is_set).unwrap());
            barrier.wait();
            assert_eq!((receiver.recv(), *shared.2.read().unwrap()), (Ok(7), 2));
            other.join().unwrap();
            thread::scope(|scope| {
                scope.spawn(shuttle::hint::spin_loop);
            });
        },
        50,
    );
}

/// New tasks have the labels and the tag of the task that spawns them, changed by its `ChildLabelFn`.
#[test]
fn labels_and_tags_are_inherited() {
    use shuttle::current::{
        ChildLabelFn, Labels, Taggable, TaskId, TaskName, get_label_for_task, get_name_for_task,
        get_tag_for_current_task, me, set_label_for_task, set_tag_for_current_task,
    };

    #[derive(Debug, PartialEq)]
    struct Team(u8);
    impl Taggable for Team {}
    let is_team = |number| {
        let tag = get_tag_for_current_task().unwrap();
        tag.as_any().downcast_ref() == Some(&Team(number))
    };

    shuttle::check_random(
        move || {
            let rename = |task: TaskId, labels: &mut Labels| {
                labels.insert(TaskName::from(format!("worker {task}")));
            };
            set_label_for_task(me(), 7u8);
            set_tag_for_current_task(Arc::new(Team(1)));
            set_label_for_task(me(), ChildLabelFn(Arc::new(rename)));
            let other = thread::spawn(move || {
                assert_eq!(get_name_for_task(me()), Some(TaskName::from("worker 1")));
                assert_eq!(set_label_for_task(me(), 8u8), Some(7));
                assert!(is_team(1));
                set_tag_for_current_task(Arc::new(Team(2)));
            });
            set_label_for_task(me(), 9u8);
            let task = shuttle::future::spawn(async move {
                assert_eq!(get_label_for_task(me()), Some(9u8));
                assert!(is_team(1));
            });
            shuttle::future::block_on(task).unwrap();
            other.join().unwrap();
            assert!(is_team(1));
        },
        20,
    );
}
