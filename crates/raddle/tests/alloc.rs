//! Tests with `raddle::Alloc`: publication of new objects, and memory leaks.
//!
//! A separate binary, because a program has one `#[global_allocator]`.

use raddle::cell::{Shared, UnsafeCell};
use raddle::sync::atomic::{AtomicPtr, AtomicU32, Ordering, Ordering::*};
use raddle::sync::{Arc, Mutex, Weak};
use raddle::{Config, Finding, Granularity, Leak, Leaks, Report, thread};

#[global_allocator]
static ALLOCATOR: raddle::Alloc = raddle::Alloc::new();

fn clean(report: &Report) {
    assert!(report.failure().is_none(), "{}", raddle::text(report));
}

fn is_race(report: &Report) -> bool {
    let failure = report.failure();
    assert!(failure.is_none_or(|failure| failure.reproduced), "{}", raddle::text(report));
    matches!(failure.map(|failure| &failure.finding), Some(Finding::Race { .. }))
}

/// One thread publishes the object that `make` returns. The other uses the object if it has been published.
fn published<T: Send + Sync + 'static>(
    make: fn() -> T,
    store: Ordering,
    load: Ordering,
    use_it: fn(&T),
) -> Report {
    Config::new().run(move || {
        let shared: AtomicPtr<T> = AtomicPtr::default();
        thread::scope(|scope| {
            scope.spawn(|| shared.store(Box::into_raw(Box::new(make())), store));
            // SAFETY: the object is freed below, after its last use.
            if let Some(there) = unsafe { shared.load(load).as_ref() } {
                use_it(there);
            }
        });
        // SAFETY: there is no other reference to the object any more.
        drop(unsafe { Box::from_raw(shared.load(Relaxed)) });
    })
}

#[test]
fn publishing_without_release_is_a_race() {
    for (store, load, race) in [
        (Relaxed, Relaxed, true),
        (Relaxed, Acquire, true),
        (Release, Relaxed, true),
        (Release, Acquire, false),
        (SeqCst, SeqCst, false),
    ] {
        let reports = [
            published(|| AtomicU32::new(1), store, load, |number| _ = number.load(SeqCst)),
            published(|| Mutex::new(1), store, load, |number| *number.lock().unwrap() += 1),
            published(|| Shared::new(1), store, load, |number| _ = number.get()),
        ];
        for report in &reports {
            assert_eq!(is_race(report), race, "{store:?} {load:?}: {}", raddle::text(report));
        }
    }
}

#[test]
fn the_report_names_the_allocating_thread() {
    let report = published(|| Shared::new(1), Relaxed, Relaxed, |number| _ = number.get());
    let Finding::Race { first, second } = &report.failure().unwrap().finding else { panic!() };
    assert_eq!((first.thread.0, first.writes, second.thread.0, second.writes), (1, true, 0, false));
    let text = raddle::text(&report);
    assert!(text.contains("thread 1 creates it and main reads"), "{text}");
    assert!(text.contains("alloc.rs:"), "{text}");
}

#[test]
fn other_ways_to_publish_are_no_race() {
    clean(&Config::new().run(|| {
        let (sender, receiver) = raddle::sync::mpsc::channel();
        let other = thread::spawn(move || sender.send(Arc::new(AtomicU32::new(1))).unwrap());
        receiver.recv().unwrap().store(2, Relaxed);
        other.join().unwrap();
        // The object is sent to another thread, which frees it.
        let number = Box::new(Mutex::new(1));
        let number = thread::spawn(move || {
            *number.lock().unwrap() += 1;
            number
        });
        assert_eq!(*number.join().unwrap().lock().unwrap(), 2);
    }));
}

/// Reused memory belongs to its current owner.
#[test]
fn reused_memory_is_another_object() {
    clean(&Config::new().granularity(Granularity::All).run(|| {
        let other = thread::spawn(|| {
            for number in 0..3 {
                let new = Box::new(AtomicU32::new(number));
                assert_eq!(new.load(Relaxed), number);
            }
        });
        for number in 0..3 {
            let new = Box::new(Shared::new(number));
            assert_eq!(new.get(), number);
        }
        other.join().unwrap();
    }));
}

struct Node {
    next: Mutex<Option<Arc<Node>>>,
    _back: Mutex<Option<Weak<Node>>>,
}

impl Node {
    fn new() -> Arc<Node> {
        Arc::new(Node { next: Mutex::new(None), _back: Mutex::new(None) })
    }
}

#[test]
fn memory_leaks_are_found_on_request() {
    fn cycle() {
        let (one, other) = (Node::new(), Node::new());
        *one.next.lock().unwrap() = Some(other.clone());
        *other.next.lock().unwrap() = Some(one.clone());
    }
    fn cleared() {
        let (one, other) = (Node::new(), Node::new());
        *one.next.lock().unwrap() = Some(other.clone());
        *other.next.lock().unwrap() = Some(one.clone());
        *one.next.lock().unwrap() = None;
    }
    fn forgotten() {
        let cell = Box::leak(Box::new(UnsafeCell::new(1)));
        cell.with(|_| ());
    }
    let run = |leaks, program: fn()| Config::new().leaks(leaks).run(program);
    for program in [cycle, forgotten] {
        let report = run(Leaks::Fail, program);
        let finding = &report.failure().expect("there is a leak").finding;
        assert!(matches!(finding, Finding::Leak(Leak::Memory { .. })), "{finding:?}");
        assert!(report.failure().unwrap().reproduced);
        let text = raddle::text(&report);
        assert!(
            text.contains(" is never freed\n")
                && text.contains("the memory of ")
                && text.contains("alloc.rs:"),
            "{text}"
        );
        clean(&run(Leaks::Note, program));
    }
    clean(&run(Leaks::Fail, cleared));
}

/// The memory of the counts is freed with the last reference.
#[test]
fn counted_references_are_freed() {
    use raddle::sync::counted;

    let program = |ends: fn(counted::Arc<Mutex<u8>>)| {
        Config::new().leaks(Leaks::Fail).run(move || {
            let value = counted::Arc::new(Mutex::new(1));
            raddle::name(&value, "value");
            let (weak, theirs) = (counted::Arc::downgrade(&value), value.clone());
            let other = thread::spawn(move || drop((theirs, weak)));
            ends(value);
            other.join().unwrap();
        })
    };
    clean(&program(drop));
    assert!(program(std::mem::forget).failure().is_some());
}
