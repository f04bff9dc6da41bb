//! Pages of short and long executions with few and many threads, photographed. The pictures are in the target folder.

use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Explain, thread};

use crate::html::photographed;
use crate::picture::Place;

/// Threads that update a counter without a lock, after some rounds of work with one.
fn work(threads: usize, rounds: usize) {
    let shared = Arc::new((AtomicUsize::new(0), Mutex::new(0)));
    let workers: Vec<_> = (0..threads)
        .map(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                for _ in 0..rounds {
                    *shared.1.lock().unwrap() += 1;
                }
                let seen = shared.0.load(SeqCst);
                shared.0.store(seen + 1, SeqCst);
            })
        })
        .collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    assert_eq!(shared.0.load(SeqCst), threads, "an update is lost");
}

pub(crate) fn report(threads: usize, rounds: usize, explain: Explain) -> raddle::Report {
    let config = raddle::Config::new().name("sizes").strategy("random").explain(explain);
    config.run(move || work(threads, rounds))
}

#[test]
fn pages_of_all_sizes_are_photographed() {
    for (name, threads, rounds, explain) in [
        ("page-3-threads-10-steps", 2, 0, Explain::Quick),
        ("page-3-threads-500-steps", 2, 120, Explain::Quick),
        ("page-50-threads-500-steps", 49, 2, Explain::Quick),
        ("page-3-threads-10000-steps", 2, 2_490, Explain::Off),
        ("page-50-threads-10000-steps", 49, 100, Explain::Off),
    ] {
        let report = report(threads, rounds, explain);
        let page = report.to_html();
        let places = "{rows: [...document.querySelectorAll('table.steps tbody tr')].filter((row) => row.offsetHeight > 0).length, \
            cause: document.querySelectorAll('tr.cause').length, arrows: document.querySelectorAll('path.cause').length, \
            steps: box('table.steps'), button: document.getElementById('fold').textContent}";
        let Some((picture, places)) = photographed(name, &page, "", places) else { return };
        let whole = Place { left: 0.0, top: 0.0, right: 1399.0, bottom: 1599.0 };
        assert!(picture.ink(whole) > 5_000, "{name} shows nothing");
        let steps = report.failure().expect("it fails").trace.events.len();
        let rows = places["rows"].as_u64().expect("a number");
        // A long execution is folded to what matters.
        assert!(rows > 5 && rows < if steps > 60 { 80 } else { 70 }, "{name}: {rows} of {steps}");
        let has_button = places["button"].as_str().is_some_and(|text| text.starts_with("show all"));
        assert_eq!(has_button, steps > 60, "{name}: {places}");
        let is_caused = places["cause"].as_u64() > Some(0) && places["arrows"].as_u64() > Some(0);
        assert!(is_caused || explain == Explain::Off || rounds > 0, "{name}: {places}");
    }
}

/// Returns the numbers of the steps in the picture of a report, and the number of its lines.
fn picture(text: &str) -> (Vec<u64>, usize) {
    let picture = text.split("\n\n").nth(1).expect("a picture");
    let number = |line: &str| line.split_whitespace().next()?.parse().ok();
    (picture.lines().filter_map(number).collect(), picture.lines().count())
}

#[test]
fn five_threads_and_10_steps_are_shown_whole() {
    let report = raddle::Config::new().name("five").strategy("random").run(|| {
        let value = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let value = value.clone();
                thread::spawn(move || value.store(1, SeqCst))
            })
            .collect();
        drop(threads);
        assert_eq!(value.load(SeqCst), 7);
    });
    let steps = report.failure().unwrap().trace.events.len() as u64;
    assert!((5..=14).contains(&steps), "{steps}");
    let (shown, _) = picture(&raddle::text(&report));
    assert_eq!(shown, Vec::from_iter(1..=steps));
}
