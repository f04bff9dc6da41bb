//! The mirror of `std`: a program behaves in the same way inside a run and outside.

use std::time::Duration;

use raddle::cell::Shared;
use raddle::sync::atomic::*;
use raddle::sync::{Arc, Condvar, Mutex, PoisonError, TryLockError};
use raddle::{Config, thread};

use super::support::same_as_std::{message, same_as_std, same_as_std_under};

#[test]
fn mutex() {
    same_as_std(|| {
        let mut mutex = Mutex::new(vec![1]);
        let mut seen = Vec::new();
        {
            let mut guard = mutex.lock().unwrap();
            guard.push(2);
            seen.push(format!("{guard:?}"));
            seen.push(format!("{}", matches!(mutex.try_lock(), Err(TryLockError::WouldBlock))));
        }
        mutex.try_lock().unwrap().push(3);
        mutex.get_mut().unwrap().push(4);
        seen.push(format!("{:?} {}", mutex.lock().unwrap(), mutex.is_poisoned()));
        seen.push(format!("{:?}", mutex.into_inner().unwrap()));
        seen.push(format!("{:?}", Mutex::<u8>::default().into_inner().unwrap()));
        seen.push(format!("{:?}", Mutex::from("a").into_inner().unwrap()));
        seen
    });
}

#[test]
fn a_mutex_ensures_mutual_exclusion() {
    let total = same_as_std(|| {
        let total = Arc::new(Mutex::new(0));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let total = total.clone();
                thread::spawn(move || {
                    let mut total = total.lock().unwrap();
                    let seen = *total;
                    thread::yield_now();
                    *total = seen + 1;
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        *total.lock().unwrap()
    });
    assert_eq!(total, 3);
}

#[test]
fn a_mutex_is_poisoned_by_a_panic() {
    let seen = same_as_std(|| {
        let mutex = Mutex::new(1);
        let mut seen = Vec::new();
        let panics = || {
            let mut guard = mutex.lock().unwrap_or_else(PoisonError::into_inner);
            *guard += 1;
            panic!("while locked")
        };
        seen.push(message::<()>(panics));
        seen.push(mutex.is_poisoned().to_string());
        seen.push(format!("{:?}", mutex.lock().map(|guard| *guard).map_err(|e| *e.into_inner())));
        seen.push(match mutex.try_lock() {
            Ok(_) => "free".into(),
            Err(TryLockError::WouldBlock) => "busy".into(),
            Err(TryLockError::Poisoned(guard)) => format!("poisoned {}", guard.into_inner()),
        });
        mutex.clear_poison();
        seen.push(format!("{:?}", mutex.lock().map(|guard| *guard).map_err(|e| *e.into_inner())));
        seen.push(message::<()>(panics));
        seen.push(format!("{:?}", mutex.into_inner().map_err(PoisonError::into_inner)));
        seen
    });
    let held = "while locked";
    assert_eq!(seen, [held, "true", "Err(2)", "poisoned 2", "Ok(2)", held, "Err(3)"]);
}

#[test]
#[cfg_attr(miri, ignore = "Miri cannot switch stacks")]
fn poison_does_not_outlive_its_execution() {
    static MUTEX: Mutex<()> = Mutex::new(());
    let report = Config::new().runs(5).explore_trivial(true).run(|| {
        assert!(!MUTEX.is_poisoned());
        message(|| {
            let _guard = MUTEX.lock();
            panic!("here")
        });
        assert!(MUTEX.is_poisoned());
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    assert!(!MUTEX.is_poisoned());
}

#[test]
fn condvar() {
    same_as_std(|| {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let threads: Vec<_> = (1..=2)
            .map(|add| {
                let pair = pair.clone();
                thread::spawn(move || {
                    *pair.0.lock().unwrap() += add;
                    pair.1.notify_all();
                })
            })
            .collect();
        let guard = pair.1.wait_while(pair.0.lock().unwrap(), |sum| *sum < 3).unwrap();
        let sum = *guard;
        drop(guard);
        for thread in threads {
            thread.join().unwrap();
        }
        pair.1.notify_one();
        sum
    });
}

/// Outside runs a leaked guard leaves the mutex locked, even if the mutex is moved. This is the only effect.
#[test]
fn a_leaked_guard_outside_a_run() {
    let mutex = Mutex::new(String::from("kept"));
    std::mem::forget(mutex.lock());
    let moved = Box::new(mutex);
    assert!(moved.try_lock().is_err());
    assert_eq!(moved.into_inner().unwrap(), "kept");
}

#[test]
fn condvar_with_a_timeout() {
    let timed_out = same_as_std(|| {
        let pair = (Mutex::new(7), Condvar::new());
        let time = Duration::from_millis(1);
        let (guard, result) = pair.1.wait_timeout(pair.0.lock().unwrap(), time).unwrap();
        (*guard, result.timed_out(), pair.0.try_lock().is_err())
    });
    assert_eq!(timed_out, (7, true, true));
    let conditions = same_as_std(|| {
        let pair = (Mutex::new(7), Condvar::new());
        let time = Duration::from_millis(1);
        let holds = |wanted: i32| {
            let guard = pair.0.lock().unwrap();
            let waited = pair.1.wait_timeout_while(guard, time, |value| *value == wanted);
            waited.unwrap().1.timed_out()
        };
        (holds(7), holds(8))
    });
    assert_eq!(conditions, (true, false));
}

#[test]
#[cfg_attr(miri, ignore = "Miri cannot switch stacks")]
fn a_timed_wait_may_be_notified_or_time_out() {
    let seen: &'static std::sync::Mutex<Vec<bool>> = Box::leak(Box::default());
    let report = Config::new().strategy("dfs").run(|| {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let notifier = thread::spawn({
            let pair = pair.clone();
            move || pair.1.notify_one()
        });
        let guard = pair.0.lock().unwrap();
        let (guard, result) = pair.1.wait_timeout(guard, Duration::from_secs(9)).unwrap();
        drop(guard);
        notifier.join().unwrap();
        seen.lock().unwrap().push(result.timed_out());
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    let seen = seen.lock().unwrap();
    assert!(seen.contains(&true) && seen.contains(&false));
}

/// Tests every method of an atomic integer with the minimum and the maximum of its type.
macro_rules! integer {
    ($($test:ident $atomic:ident $type:ident),*) => {$(
        #[test]
        fn $test() {
            same_as_std(|| {
                let (min, max) = ($type::MIN, $type::MAX);
                let mut seen: Vec<Result<$type, $type>> = Vec::new();
                let mut atomic = $atomic::new(5);
                for order in [Ordering::Relaxed, Ordering::Acquire, Ordering::SeqCst] {
                    seen.push(Ok(atomic.load(order)));
                }
                for order in [Ordering::Relaxed, Ordering::Release, Ordering::SeqCst] {
                    atomic.store(min, order);
                }
                seen.push(Ok(atomic.swap(max, Ordering::AcqRel)));
                let order = Ordering::SeqCst;
                for operand in [1, 3, min, max, max / 2, !0] {
                    for start in [0, 1, min, max, !0] {
                        let of = |change: &dyn Fn(&$atomic) -> $type| {
                            let atomic = $atomic::new(start);
                            [Ok(change(&atomic)), Ok(atomic.load(order))]
                        };
                        seen.extend(of(&|a| a.fetch_add(operand, order)));
                        seen.extend(of(&|a| a.fetch_sub(operand, order)));
                        seen.extend(of(&|a| a.fetch_and(operand, order)));
                        seen.extend(of(&|a| a.fetch_nand(operand, order)));
                        seen.extend(of(&|a| a.fetch_or(operand, order)));
                        seen.extend(of(&|a| a.fetch_xor(operand, order)));
                        seen.extend(of(&|a| a.fetch_max(operand, order)));
                        seen.extend(of(&|a| a.fetch_min(operand, order)));
                    }
                }
                seen.push(atomic.compare_exchange(max, 1, order, Ordering::Relaxed));
                seen.push(atomic.compare_exchange(max, 2, order, Ordering::Acquire));
                while atomic.compare_exchange_weak(1, min, order, order).is_err() {}
                seen.push(atomic.fetch_update(order, order, |old| old.checked_add(1)));
                seen.push(atomic.fetch_update(order, order, |_| None));
                *atomic.get_mut() = max;
                seen.push(Ok(atomic.fetch_add(1, order)));
                let debug = format!("{atomic:?}");
                (seen, debug, atomic.into_inner(), $atomic::default().into_inner(),
                    $atomic::from(9).load(order))
            });
        }
    )*};
}

integer! {
    atomic_u8 AtomicU8 u8, atomic_u16 AtomicU16 u16, atomic_u32 AtomicU32 u32,
    atomic_u64 AtomicU64 u64, atomic_usize AtomicUsize usize,
    atomic_i8 AtomicI8 i8, atomic_i16 AtomicI16 i16, atomic_i32 AtomicI32 i32,
    atomic_i64 AtomicI64 i64, atomic_isize AtomicIsize isize
}

#[test]
fn atomic_bool() {
    same_as_std(|| {
        let order = Ordering::SeqCst;
        let mut seen = Vec::new();
        for start in [false, true] {
            for operand in [false, true] {
                let of = |change: &dyn Fn(&AtomicBool) -> bool| {
                    let atomic = AtomicBool::new(start);
                    [change(&atomic), atomic.load(order)]
                };
                seen.extend(of(&|a| a.fetch_and(operand, order)));
                seen.extend(of(&|a| a.fetch_nand(operand, order)));
                seen.extend(of(&|a| a.fetch_or(operand, order)));
                seen.extend(of(&|a| a.fetch_xor(operand, order)));
                seen.extend(of(&|a| a.swap(operand, order)));
                seen.extend(of(&|a| a.compare_exchange(operand, !start, order, order).is_ok()));
            }
            seen.push(AtomicBool::new(start).fetch_not(order));
        }
        let mut atomic = AtomicBool::default();
        atomic.store(true, order);
        seen.push(*atomic.get_mut());
        seen.push(atomic.into_inner());
        seen
    });
}

#[test]
fn atomic_pointer() {
    same_as_std(|| {
        let order = Ordering::SeqCst;
        let (mut one, mut two) = (1, 2);
        let (one, two): (*mut i32, *mut i32) = (&mut one, &mut two);
        let mut atomic = AtomicPtr::new(one);
        let mut seen = vec![atomic.load(order) == one, atomic.swap(two, order) == one];
        seen.push(atomic.compare_exchange(one, two, order, order) == Err(two));
        seen.push(atomic.compare_exchange(two, one, order, order) == Ok(two));
        *atomic.get_mut() = two;
        seen.push(atomic.into_inner() == two);
        seen.push(AtomicPtr::<i32>::default().load(order).is_null());
        seen
    });
}

#[test]
fn pointer_arithmetic() {
    let offsets = same_as_std(|| {
        let order = Ordering::SeqCst;
        let mut numbers = [0_u32, 1, 2, 3];
        let start = numbers.as_mut_ptr();
        let atomic = AtomicPtr::new(start);
        let mut seen = vec![
            atomic.fetch_ptr_add(3, order),
            atomic.fetch_ptr_sub(2, order),
            atomic.fetch_byte_add(4, order),
            atomic.fetch_byte_sub(8, order),
            atomic.fetch_or(1, order),
            atomic.fetch_xor(3, order),
            atomic.fetch_and(!3, order),
        ];
        seen.push(atomic.into_inner());
        seen.iter().map(|pointer| pointer.addr() - start.addr()).collect::<Vec<_>>()
    });
    assert_eq!(offsets, [0, 12, 4, 8, 0, 1, 2, 0]);
}

#[test]
fn values_in_a_run_do_not_leave_it() {
    same_as_std(|| {
        let counter = Arc::new(AtomicUsize::new(10));
        let other = thread::spawn({
            let counter = counter.clone();
            move || {
                counter.fetch_add(1, Ordering::SeqCst);
                drop(counter);
            }
        });
        counter.fetch_add(1, Ordering::SeqCst);
        other.join().unwrap();
        let mut counter = Arc::into_inner(counter).unwrap();
        *counter.get_mut() += 1;
        counter.fetch_add(1, Ordering::SeqCst);
        counter.into_inner()
    });
}

#[test]
#[cfg_attr(miri, ignore = "Miri cannot switch stacks")]
fn statics_have_initial_values_in_every_execution() {
    static COUNTER: AtomicI32 = AtomicI32::new(-3);
    static FLAG: AtomicBool = AtomicBool::new(true);
    let report = Config::new().strategy("random").runs(50).run(|| {
        assert_eq!(COUNTER.load(Ordering::SeqCst), -3);
        let other = thread::spawn(|| COUNTER.fetch_add(1, Ordering::SeqCst));
        assert!(FLAG.swap(false, Ordering::SeqCst));
        COUNTER.fetch_add(1, Ordering::SeqCst);
        other.join().unwrap();
        assert_eq!(COUNTER.load(Ordering::SeqCst), -1);
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    assert_eq!(report.executions, 50);
    // The runs have not changed the values outside.
    assert_eq!((COUNTER.load(Ordering::SeqCst), FLAG.load(Ordering::SeqCst)), (-3, true));
    COUNTER.store(8, Ordering::SeqCst);
    assert_eq!(COUNTER.load(Ordering::SeqCst), 8);
}

#[test]
fn threads() {
    let values = same_as_std(|| {
        let words = thread::spawn(|| vec!["a".to_owned(), "b".to_owned()]);
        let nested = thread::spawn(|| thread::spawn(|| 1).join().unwrap() + 1);
        let unit = thread::spawn(thread::yield_now);
        unit.join().unwrap();
        (words.join().unwrap(), nested.join().unwrap())
    });
    assert_eq!(values, (vec!["a".into(), "b".into()], 2));
}

#[test]
fn polling_whether_a_thread_has_ended() {
    same_as_std_under(&["random", "round-robin", "pos-star", "pct:3", "surw", "urw"], || {
        let thread = thread::spawn(|| 3);
        while !thread.is_finished() {
            thread::yield_now();
        }
        (thread.is_finished(), thread.join().unwrap())
    });
}

#[test]
fn a_shared_variable() {
    same_as_std(|| {
        let shared = Arc::new(Shared::new(1));
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.set(shared.get() + 1)
        });
        other.join().unwrap();
        shared.get()
    });
}

#[test]
fn fences() {
    same_as_std(|| {
        for order in [Ordering::Acquire, Ordering::Release, Ordering::AcqRel, Ordering::SeqCst] {
            fence(order);
        }
        compiler_fence(Ordering::SeqCst);
    });
    let relaxed = Ordering::Relaxed;
    let text = same_as_std(|| {
        let relaxed = Ordering::Relaxed;
        message(|| fence(relaxed))
    });
    assert_eq!(text, message(|| std::sync::atomic::fence(relaxed)));
}

/// Returns the message of each misuse of an ordering, with the atomics of raddle or of `std`.
macro_rules! misuses {
    ($atomic:ty) => {{
        let atomic = <$atomic>::new(0);
        // The orderings are variables, because the compiler refuses literals.
        let load = |order| message(|| atomic.load(order));
        let store = |order| message(|| atomic.store(1, order));
        let exchange = |failure| {
            message(|| atomic.compare_exchange(0, 1, Ordering::SeqCst, failure).map(drop))
        };
        [
            load(Ordering::Release),
            load(Ordering::AcqRel),
            store(Ordering::Acquire),
            store(Ordering::AcqRel),
            exchange(Ordering::Release),
            exchange(Ordering::AcqRel),
            exchange(Ordering::Relaxed),
        ]
    }};
}

#[test]
fn invalid_orderings() {
    let ours = same_as_std(|| misuses!(AtomicU32));
    assert_eq!(ours, misuses!(std::sync::atomic::AtomicU32));
    assert!(ours.iter().take(6).all(|text| text.starts_with("there is no such thing")));
}

#[test]
fn choose_returns_zero_outside_a_run() {
    assert_eq!(raddle::choose(5), 0);
}
