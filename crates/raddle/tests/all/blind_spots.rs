//! The result line says what raddle did not see or explore.

use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicUsize, Ordering, Ordering::SeqCst};
use raddle::{Config, Memory, thread};

const WEAK: &str = "; weaker orderings were not explored: `memory = \"rc11\"`";

/// Two threads access one variable with this ordering.
fn shares(order: Ordering) -> impl Fn() + Send + Sync {
    move || {
        let value = Arc::new(AtomicUsize::new(0));
        let own = AtomicUsize::new(0);
        let other = thread::spawn({
            let value = value.clone();
            move || value.fetch_add(1, order)
        });
        value.fetch_add(1, SeqCst);
        // No other thread can notice.
        own.fetch_add(1, Ordering::Relaxed);
        other.join().unwrap();
    }
}

#[test]
fn weak_orderings_under_sc_are_named() {
    for strategy in ["auto", "dpor", "bpor:1", "random", "pct:2"] {
        for order in [Ordering::Relaxed, Ordering::AcqRel, SeqCst] {
            for memory in [Memory::Sc, Memory::Rc11] {
                let config = Config::new().memory(memory).runs(100);
                let strategy = if memory == Memory::Rc11 { "dfs" } else { strategy };
                let report = config.strategy(strategy).run(shares(order));
                let text = raddle::text(&report);
                let line = text.lines().next().unwrap();
                let is_expected = order != SeqCst && memory == Memory::Sc;
                assert_eq!(line.contains(WEAK), is_expected, "{line}");
                assert_eq!(report.blind_spots.weak_orderings, is_expected);
                assert!(!line.contains("raddle sees"), "{line}");
            }
        }
    }
}

#[test]
fn silent_threads_are_counted() {
    for strategy in ["auto", "random"] {
        let report = Config::new().strategy(strategy).runs(20).run(|| {
            let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
            let threads = [0; 2].map(|_| {
                let count = count.clone();
                thread::spawn(move || count.fetch_add(1, SeqCst))
            });
            let third = thread::spawn(thread::yield_now);
            threads.into_iter().for_each(|thread| _ = thread.join().unwrap());
            third.join().unwrap();
        });
        assert_eq!(report.blind_spots.silent_threads, 2);
        let text = raddle::text(&report);
        let line = text.lines().next().unwrap();
        assert!(
            line.ends_with("SC; 2 spawned threads performed no operation that raddle sees"),
            "{line}"
        );
    }
}
