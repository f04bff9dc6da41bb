//! Counted references: all orders of clones and drops, the synchronisation of each method, and the same behaviour as in
//! `std` otherwise.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Mutex as RealMutex;
use std::sync::atomic::AtomicU32 as RealAtomicU32;

use raddle::cell::Shared;
use raddle::sync::atomic::{AtomicU32, Ordering::Relaxed};
use raddle::sync::counted::{Arc, Weak};
use raddle::{Config, Finding, Memory, Report, Verdict, thread};

use super::support::same_as_std::{message, same_as_std};

/// The exhaustive strategies.
const SEARCHES: [(&str, Memory); 3] =
    [("dpor", Memory::Sc), ("dfs", Memory::Sc), ("dfs", Memory::Rc11)];

fn search(
    (strategy, memory): (&str, Memory),
    program: impl Fn() + Send + Sync + 'static,
) -> Report {
    let config = Config::new().strategy(strategy).memory(memory).runs(1_000_000);
    let report = config.run(program);
    match &report.verdict {
        Verdict::Failed(failure) => assert!(failure.reproduced, "{}", raddle::text(&report)),
        verdict => assert!(matches!(verdict, Verdict::Exhausted), "{}", raddle::text(&report)),
    }
    report
}

/// Returns the finding of all searches, which must agree.
fn found(program: fn()) -> Option<Finding> {
    let found = SEARCHES.map(|by| search(by, program).failure().map(|it| it.finding.clone()));
    let kinds = found.each_ref().map(|found| found.as_ref().map(std::mem::discriminant));
    assert_eq!(kinds, [kinds[0]; 3]);
    let [finding, ..] = found;
    finding
}

fn panics(program: fn()) -> bool {
    found(program).is_some_and(|finding| {
        assert!(matches!(finding, Finding::Panic { .. }), "{finding:?}");
        true
    })
}

/// Returns all outcomes of `program`.
fn outcomes<T: Ord + Debug + Clone + Send + 'static>(
    by: (&str, Memory),
    program: impl Fn() -> T + Send + Sync + 'static,
) -> Vec<T> {
    let seen = std::sync::Arc::new(RealMutex::new(BTreeSet::new()));
    let kept = seen.clone();
    let report = search(by, move || {
        let outcome = program();
        kept.lock().unwrap().insert(outcome);
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    seen.lock().unwrap().iter().cloned().collect()
}

/// Runs `mine` and, on another thread, `theirs`, each with a reference to the same value.
fn run_both<A: Send + 'static, B: Send + 'static>(
    mine: fn(Arc<u32>) -> A,
    theirs: fn(Arc<u32>) -> B,
) -> (A, B) {
    let first = Arc::new(7);
    let second = first.clone();
    let other = thread::spawn(move || theirs(second));
    let mine = mine(first);
    (mine, other.join().unwrap())
}

#[test]
fn concurrent_try_unwraps_may_both_fail() {
    for by in SEARCHES {
        let is_ok = |arc| Arc::try_unwrap(arc).is_ok();
        let seen = outcomes(by, move || run_both(is_ok, is_ok));
        assert_eq!(seen, [(false, false), (false, true), (true, false)], "{by:?}");
        let seen = outcomes(by, || run_both(Arc::into_inner, Arc::into_inner));
        assert_eq!(seen, [(None, Some(7)), (Some(7), None)], "{by:?}");
    }
    assert!(panics(|| {
        let is_ok = |arc| Arc::try_unwrap(arc).is_ok();
        let (mine, theirs) = run_both(is_ok, is_ok);
        assert!(mine || theirs, "the value is lost");
    }));
    assert!(!panics(|| {
        let (mine, theirs) = run_both(Arc::into_inner, Arc::into_inner);
        assert!(mine.or(theirs) == Some(7));
    }));
}

#[test]
fn the_last_reference_may_be_dropped_before_an_upgrade() {
    fn look_up(entry: Weak<u32>) -> Option<u32> {
        entry.upgrade().map(|value| *value)
    }
    fn cache() -> Option<u32> {
        let value = Arc::new(7);
        let entry = Arc::downgrade(&value);
        let reader = thread::spawn(move || look_up(entry));
        drop(value);
        reader.join().unwrap()
    }
    assert!(panics(|| assert_eq!(cache().unwrap(), 7)));
    assert!(!panics(|| assert!(cache().is_none_or(|value| value == 7))));
    // With `std`'s type the drop between two operations is not explored.
    assert!(!panics(|| {
        let value = std::sync::Arc::new(7);
        let entry = std::sync::Arc::downgrade(&value);
        let reader = thread::spawn(move || entry.upgrade().is_some());
        thread::yield_now();
        drop(value);
        reader.join().unwrap();
    }));
}

#[test]
fn a_count_may_be_stale_when_it_is_used() {
    fn owner(change: fn(&mut Arc<u32>)) {
        let mut value = Arc::new(7);
        let weak = Arc::downgrade(&value);
        let reader = thread::spawn(move || weak.upgrade().map_or(7, |value| *value));
        change(&mut value);
        assert_eq!(reader.join().unwrap(), 7, "the reader has upgraded");
    }
    assert!(panics(|| owner(|value| {
        if Arc::strong_count(value) == 1 && Arc::weak_count(value) == 0 {
            // The weak reference may have been upgraded.
            assert!(Arc::get_mut(value).is_some() || Arc::strong_count(value) == 1);
        } else {
            assert!(Arc::get_mut(value).is_none(), "it was not the only one");
        }
    })));
    assert!(!panics(|| owner(|value| {
        if let Some(value) = Arc::get_mut(value) {
            *value = 7;
        }
    })));
}

#[test]
fn counts_decrease_with_drops() {
    for by in SEARCHES {
        let seen = outcomes(by, || {
            let value = Arc::new(());
            let threads = [value.clone(), value.clone()].map(|it| thread::spawn(move || drop(it)));
            let counts = (Arc::strong_count(&value), Arc::strong_count(&value));
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(Arc::strong_count(&value), 1);
            counts
        });
        assert_eq!(seen, [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)], "{by:?}");
    }
}

/// Ways to test whether the only strong reference is left. A drop would synchronise too, so the tests keep their reference.
const TESTS: [(&str, Test, Synchronises); 6] = [
    ("strong_count", |arc| Arc::strong_count(&forget(arc)) == 1, Synchronises::No),
    ("get_mut", |arc| Arc::get_mut(&mut forget(arc)).is_some(), Synchronises::Yes),
    ("try_unwrap", |arc| Arc::try_unwrap(arc).is_ok(), Synchronises::Yes),
    ("into_inner", |arc| Arc::into_inner(arc).is_some(), Synchronises::Yes),
    (
        "make_mut",
        |arc| {
            let (before, mut arc) = (Arc::as_ptr(&arc), forget(arc));
            std::ptr::eq(Arc::make_mut(&mut arc), before)
        },
        Synchronises::Yes,
    ),
    (
        "upgrade",
        |arc| {
            let weak = forget(Arc::downgrade(&arc));
            drop(arc);
            weak.upgrade().is_none()
        },
        Synchronises::No,
    ),
];

fn forget<T>(value: T) -> std::mem::ManuallyDrop<T> {
    std::mem::ManuallyDrop::new(value)
}

type Test = fn(Arc<Token>) -> bool;

/// For each test, whether a positive answer synchronises with earlier accesses.
#[derive(Copy, Clone, PartialEq, Debug)]
enum Synchronises {
    No,
    Yes,
}

#[derive(Clone)]
struct Token(#[expect(dead_code, reason = "has an address")] u8);

#[test]
fn counts_synchronise_with_earlier_writes() {
    for (name, test, synchronises) in TESTS {
        let program = move || {
            let token = Arc::new(Token(7));
            let data = std::sync::Arc::new(AtomicU32::new(0));
            let writer = {
                let (token, data) = (token.clone(), data.clone());
                thread::spawn(move || {
                    data.store(1, Relaxed);
                    drop(token);
                })
            };
            let seen = test(token).then(|| data.load(Relaxed));
            writer.join().unwrap();
            seen
        };
        let (no, stale, fresh) = (None, Some(0), Some(1));
        assert_eq!(outcomes(("dpor", Memory::Sc), program), [no, fresh], "{name}");
        let weak: &[_] =
            if synchronises == Synchronises::Yes { &[no, fresh] } else { &[no, stale, fresh] };
        assert_eq!(outcomes(("dfs", Memory::Rc11), program), weak, "{name}");
    }
}

#[test]
fn counts_order_plain_accesses() {
    for (name, test, synchronises) in TESTS {
        let program = move || {
            let token = Arc::new(Token(7));
            let data = std::sync::Arc::new(Shared::new(0));
            let writer = {
                let (token, data) = (token.clone(), data.clone());
                thread::spawn(move || {
                    data.set(1);
                    drop(token);
                })
            };
            if test(token) {
                assert_eq!(data.get(), 1);
            }
            writer.join().unwrap();
        };
        for by in SEARCHES {
            let report = search(by, program);
            let finding = report.failure().map(|failure| &failure.finding);
            let races = matches!(finding, Some(Finding::Race { .. }));
            assert_eq!(
                (races, finding.is_some()),
                (synchronises == Synchronises::No, races),
                "{name} {by:?}"
            );
        }
    }
}

struct ReadsAtItsEnd(Shared<u32>);

impl Drop for ReadsAtItsEnd {
    fn drop(&mut self) {
        assert!(self.0.get() > 0);
    }
}

#[test]
fn the_value_is_dropped_after_all_accesses() {
    assert_eq!(
        found(|| {
            let value = Arc::new(ReadsAtItsEnd(Shared::new(1)));
            let theirs = value.clone();
            let other = thread::spawn(move || theirs.0.set(2));
            drop(value);
            other.join().unwrap();
        }),
        None
    );
    let finding = found(|| {
        let value = Arc::new(ReadsAtItsEnd(Shared::new(1)));
        let theirs = value.clone();
        let other = thread::spawn(move || theirs.0.set(2));
        value.0.set(3);
        drop(value);
        other.join().unwrap();
    });
    assert!(matches!(finding, Some(Finding::Race { .. })), "{finding:?}");
}

/// A value that counts its clones.
struct Copied(u32, std::sync::Arc<RealAtomicU32>);

impl Clone for Copied {
    fn clone(&self) -> Copied {
        self.1.fetch_add(1, Relaxed);
        Copied(self.0, self.1.clone())
    }
}

#[test]
fn make_mut_clones_if_the_value_is_shared() {
    fn make_mut<R: Send + 'static>(
        theirs: fn(Arc<Copied>) -> R,
        use_reference: fn(R) -> u32,
    ) -> (u32, u32) {
        let clones = std::sync::Arc::new(RealAtomicU32::new(0));
        let mut value = Arc::new(Copied(1, clones.clone()));
        let theirs = theirs(value.clone());
        let other = thread::spawn(move || use_reference(theirs));
        Arc::make_mut(&mut value).0 = 2;
        assert_eq!((value.0, Arc::strong_count(&value), Arc::weak_count(&value)), (2, 1, 0));
        (clones.load(Relaxed), other.join().unwrap())
    }
    for by in SEARCHES {
        let seen = outcomes(by, || make_mut(|arc| arc, |arc| arc.0));
        assert_eq!(seen, [(0, 1), (1, 1)], "{by:?}");
        // The other thread sees the old value or none, and never the value that main has changed.
        let upgrade = |weak: Weak<Copied>| weak.upgrade().map_or(0, |value| value.0);
        let seen = outcomes(by, move || make_mut(|arc| Arc::downgrade(&arc), upgrade));
        assert_eq!(seen, [(0, 0), (0, 1), (1, 1)], "{by:?}");
    }
}

/// One thread tests whether its reference is the only one while another downgrades.
#[test]
fn downgrade_waits_while_the_weak_count_is_locked() {
    fn program() -> (bool, bool) {
        run_both(
            |mut mine| Arc::get_mut(&mut mine).is_some(),
            |theirs| {
                let weak = Arc::downgrade(&theirs);
                drop(theirs);
                weak.upgrade().is_some()
            },
        )
    }
    for by in SEARCHES {
        // Main has the only reference only after the weak one is dropped, which was upgraded before.
        let seen = outcomes(by, program);
        assert_eq!(seen, [(false, false), (false, true), (true, true)], "{by:?}");
    }
    let (searched, halves) =
        (search(SEARCHES[0], || _ = program()), Config::new().strategy("dpor"));
    let halves = halves.threads(2).run(|| _ = program());
    assert_eq!((searched.executions, searched.classes), (41, 41));
    assert_eq!((halves.executions, halves.classes), (41, 41));
}

/// Expands to the same program for the types of `std` and of raddle. Returns its observations.
macro_rules! everything {
    ($($path:ident)::+) => {{
        use $($path)::+::{Arc, Weak};

        let mut seen: Vec<String> = Vec::new();
        let mut first = Arc::new(vec![1]);
        let second = Arc::clone(&first);
        let weak = Arc::downgrade(&second);
        seen.push(format!("{:?} {:?}", Arc::get_mut(&mut first), Arc::strong_count(&second)));
        seen.push(format!("{} {}", Arc::weak_count(&first), weak.clone().weak_count()));
        seen.push(format!("{} {:?} {weak:?}", Arc::ptr_eq(&first, &second), weak.upgrade()));
        seen.push(format!("{}", weak.ptr_eq(&weak.clone())));
        Arc::make_mut(&mut first).push(2);
        seen.push(format!("{first:?} {second:?} {}", weak.strong_count()));
        let mut second = Arc::try_unwrap(second).map(Arc::new).unwrap();
        seen.push(format!("{:?} {} {}", weak.upgrade(), weak.strong_count(), weak.weak_count()));
        Arc::make_mut(&mut second).push(3);
        let weak = Arc::downgrade(&second);
        Arc::make_mut(&mut second).push(4);
        seen.push(format!("{second:?} {:?} {}", weak.upgrade(), Arc::weak_count(&second)));
        drop(weak);
        Arc::get_mut(&mut second).unwrap().push(5);
        seen.push(format!("{:?} {:?}", Arc::try_unwrap(second.clone()), first < second));
        seen.push(format!("{:?} {:?}", Arc::into_inner(first.clone()), Arc::into_inner(first)));
        seen.push(format!("{:?}", Arc::unwrap_or_clone(second)));
        seen.push(format!("{:?} {:?}", Weak::<u8>::new().upgrade(), Weak::<u8>::default().weak_count()));
        struct Node(u8, Weak<Node>);
        let node = Arc::new_cyclic(|me| {
            seen.push(format!("{} {}", me.strong_count(), me.upgrade().is_none()));
            Node(1, Weak::clone(me))
        });
        seen.push(format!("{} {}", Arc::weak_count(&node), node.1.upgrade().unwrap().0));
        let texts: [Arc<str>; 3] = [Arc::from("a"), Arc::from("a".to_owned()), Arc::default()];
        seen.push(format!("{texts:?} {}", texts[0] == texts[1]));
        let lists: [Arc<[u8]>; 4] =
            [Arc::from(vec![1]), Arc::from([2]), (0..2).collect(), Arc::from(&[3][..])];
        seen.push(format!("{lists:?} {:?}", lists[0].cmp(&lists[1])));
        let function: Arc<dyn Fn() -> u8> = Arc::from(Box::new(|| 7u8) as Box<dyn Fn() -> u8>);
        seen.push(format!("{} {}", function.clone()(), *Arc::pin(8)));
        let error = Arc::new("x".parse::<u8>().unwrap_err());
        seen.push(format!("{error} {:?}", std::error::Error::source(&error).is_none()));
        seen
    }};
}

#[test]
fn counted_references_behave_as_in_std() {
    let real = everything!(std::sync);
    assert_eq!(everything!(raddle::sync::counted), real);
    assert_eq!(same_as_std(|| everything!(raddle::sync::counted)), real);
}

#[test]
fn from_std_refuses_shared_references() {
    let shared = std::sync::Arc::new(7);
    let weak = std::sync::Arc::downgrade(&shared);
    assert!(message(|| Arc::from_std(shared.clone())).contains("takes the only reference"));
    assert!(message(|| Arc::from_std(shared)).contains("takes the only reference"));
    assert!(weak.upgrade().is_none());
    let counted = Arc::from_std(std::sync::Arc::<str>::from("a"));
    assert_eq!(Arc::strong_count(&counted.clone()), 2);
}

/// Names are those of the execution that is reported, also if others follow it.
#[test]
fn names_are_those_of_the_reported_execution() {
    let report = Config::new().strategy("dpor").run(|| {
        let flag = Arc::new(AtomicU32::new(0));
        raddle::name(&flag, "flag");
        let other = flag.clone();
        raddle::thread::spawn(move || other.store(1, Relaxed));
        raddle::thread::yield_now();
        assert_eq!(flag.load(Relaxed), 0);
    });
    let text = raddle::text(&report);
    assert!(text.contains("flag.store 1") && text.contains("strong count of flag"), "{text}");
    assert!(!text.contains("counts.rs"), "{text}");
}

#[test]
fn reports_show_lines_and_names_of_the_program() {
    let report = Config::new().run(|| {
        let first = Arc::new(raddle::sync::Mutex::new(7));
        let mut second = Arc::new(7);
        let mut third = second.clone();
        raddle::name(&first, "queue");
        drop((first.clone(), first.lock()));
        assert!(Arc::get_mut(&mut second).is_none() && second.clone() == third);
        Arc::make_mut(&mut third);
        let weak = Arc::downgrade(&second);
        assert!(weak.clone().upgrade().is_some() && weak.strong_count() == weak.weak_count());
        assert_eq!(Arc::strong_count(&second) + Arc::weak_count(&second), 2);
        Arc::make_mut(&mut second);
        assert!(Arc::try_unwrap(Arc::new_cyclic(|me| me.strong_count())).is_ok());
        assert_eq!((Arc::unwrap_or_clone(second), Arc::into_inner(third)), (7, Some(7)));
        panic!("the end");
    });
    let text = raddle::text(&report);
    let failure = report.failure().expect("it always fails");
    let strangers: Vec<_> = failure
        .trace
        .events
        .iter()
        .filter(|event| !event.site.to_string().contains(file!()))
        .collect();
    assert!(text.contains("the end") && strangers.is_empty(), "{text}");
    for expected in ["queue.lock", "strong count of queue.fetch_add", " strong count 2.fetch_sub"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn auto_traits_are_those_of_std() {
    fn is_safe<T: Send + Sync + Unpin + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    is_safe::<(Arc<str>, Weak<u8>)>();
}
