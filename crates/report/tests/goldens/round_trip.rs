//! Round trips of documents through JSON: nothing is lost, and texts and pages are the same.

use std::collections::BTreeSet;
use std::time::Duration;

use raddle::cell::Shared;
use raddle::sync::atomic::{AtomicU32, Ordering};
use raddle::sync::{Arc, Condvar, Mutex, Once, RwLock, mpsc};
use raddle::thread;
use raddle_core::{Action, AtomicOp, Effect, ObjectKind, Order, Scalar};
use raddle_report::Paint;
use raddle_results::Report;
use raddle_results::document::{Document, Finding};
use raddle_strategy::Rng;

use crate::build::{Build, failed};
use crate::html::source;
use crate::site;

/// Checks that `json`, the JSON of `report`, contains all that a text and a page need.
pub(crate) fn check(report: &Report, json: &str) {
    let document = raddle_report::document(report);
    let read = Document::parse(json).unwrap_or_else(|error| panic!("{error}\n{json}"));
    assert_eq!(format!("{read}\n"), json);
    assert_eq!(read, document);
    let text = |document: &Document| raddle_report::text_with(document, Paint::Plain, &source);
    assert_eq!(text(&read), text(&document));
    assert_eq!(raddle_report::html(&read, &source), raddle_report::html(&document, &source));
}

/// JSON has every step of a long execution, and a page only its beginning and its end.
#[test]
fn a_very_long_run_is_whole_in_json() {
    let mut build = Build::with_threads(0);
    let object = build.object(ObjectKind::Atomic(Scalar::U32));
    for value in 0..10_500 {
        let store = Action::Atomic(AtomicOp::Store { order: Order::SeqCst, value });
        build.step(0, object, store, Effect::None, site::three());
    }
    let report = failed(raddle_results::Finding::StepLimit { steps: 10_500 }, build.finish());
    let read = Document::parse(&raddle_report::json(&report)).unwrap();
    let trace = &read.failure.as_ref().unwrap().trace;
    assert_eq!((trace.omitted, trace.events.len(), trace.events[1_234].step), (0, 10_500, 1_235));
    let short = raddle_report::document(&report);
    let trace = &short.failure.as_ref().unwrap().trace;
    assert_eq!(
        (trace.omitted, trace.events[999].step, trace.events[1_000].step),
        (500, 1_000, 1_501)
    );
    for document in [&read, &short] {
        let page = raddle_report::html(document, &source);
        assert_eq!(page.matches("<tr id=\"step-").count(), 10_000);
    }
}

/// The objects that the threads of a random program share.
#[derive(Default)]
struct Objects {
    atomics: [AtomicU32; 2],
    cell: Shared<u32>,
    locks: [Mutex<u32>; 2],
    reads: RwLock<u32>,
    condvar: Condvar,
    once: Once,
}

/// Runs a small random program. Each number is an operation; the first list is main's.
#[derive(Clone)]
struct Program(Vec<Vec<u8>>);

impl Program {
    fn new(rng: &mut Rng) -> Program {
        let script = |rng: &mut Rng| (0..1 + rng.below(4)).map(|_| rng.below(19) as u8).collect();
        Program((0..2 + rng.below(2)).map(|_| script(rng)).collect())
    }

    fn run(&self) {
        let objects = Arc::new(Objects::default());
        let (sender, receiver) = mpsc::sync_channel(1);
        let other = |(number, script): (usize, &Vec<u8>)| {
            let (script, objects, sender) = (script.clone(), objects.clone(), sender.clone());
            let body = move || script.iter().for_each(|&op| perform(op, &objects, &sender));
            thread::Builder::new().name(format!("w{number}")).spawn(body).unwrap()
        };
        let others: Vec<_> = self.0[1..].iter().enumerate().map(other).collect();
        self.0[0].iter().for_each(|&op| perform(op, &objects, &sender));
        others[0].thread().unpark();
        let _ = receiver.try_recv();
        others.into_iter().for_each(|other| other.join().unwrap());
    }
}

fn perform(op: u8, objects: &Objects, sender: &mpsc::SyncSender<u32>) {
    let Objects { atomics: [a, b], cell, locks: [first, second], reads, condvar, once } = objects;
    match op {
        0 => a.store(1, Ordering::Relaxed),
        1 => b.store(2, Ordering::Release),
        2 => assert!(a.load(Ordering::Relaxed) >= b.load(Ordering::Acquire) / 2, "a\nstale \"a\""),
        3 => drop(a.fetch_add(1, Ordering::AcqRel)),
        4 => drop(b.compare_exchange(0, 3, Ordering::SeqCst, Ordering::Relaxed)),
        5 => cell.set(1),
        6 => drop(cell.get()),
        7 => drop((first.lock().unwrap(), second.lock().unwrap())),
        8 => drop((second.lock().unwrap(), first.lock().unwrap())),
        9 => drop((reads.read().unwrap(), first.try_lock())),
        10 => *reads.write().unwrap() += 1,
        11 => drop(condvar.wait(first.lock().unwrap()).unwrap()),
        12 => condvar.notify_one(),
        13 => once.call_once(|| a.store(4, Ordering::SeqCst)),
        14 => drop(sender.send(1)),
        15 => thread::park_timeout(Duration::from_millis(1)),
        16 => std::mem::forget(second.lock().unwrap()),
        17 => while b.load(Ordering::Acquire) == 3 {},
        _ => assert!(raddle::choose(3) != 2 || a.load(Ordering::SeqCst) != 1, "chosen"),
    }
}

/// Checks reports on random programs under both memory models, with all kinds of strategies.
#[test]
fn reports_on_random_programs_survive_a_round_trip() {
    let mut rng = Rng::new(7);
    let (mut kinds, mut stale) = (BTreeSet::new(), 0);
    for case in 0..400 {
        let program = Program::new(&mut rng);
        let strategies =
            ["random", "dpor", "pct:3", "pos", "bpor:1", "portfolio:urw+pct:2", "auto", "pcr"];
        let config = raddle::Config::new()
            .name(format!("random {case}"))
            .seed(case)
            .runs(30)
            .max_steps(200)
            .leaks(if case % 3 == 0 { raddle::Leaks::Fail } else { raddle::Leaks::Note })
            .coverage(raddle::Accesses::BySite);
        let config = match case % 2 {
            0 => config.memory(raddle::Memory::Rc11).strategy("random").keep_going(case % 4 == 0),
            _ => config.strategy(strategies[case as usize % strategies.len()]),
        };
        let report = config.run(move || program.run());
        let json = raddle_report::json(&report);
        check(&report, &json);
        let document = raddle_report::document(&report);
        if let Some(failure) = document.failure {
            stale += failure.trace.stale_reads.len();
            kinds.insert(match failure.finding {
                Finding::Panic { .. } => "panic",
                Finding::Deadlock { .. } => "deadlock",
                Finding::WaitsForever { .. } => "waits forever",
                Finding::Race { .. } => "race",
                Finding::UseAfterFree { .. } => "use after free",
                Finding::FreedTwice { .. } => "freed twice",
                Finding::ReadTwice { .. } => "read twice",
                Finding::StepLimit { .. } => "step limit",
                Finding::Nondeterminism { .. } => "nondeterminism",
                Finding::Leak { .. } => "leak",
            });
        } else {
            kinds.insert("clean");
        }
    }
    let expected = ["clean", "deadlock", "leak", "panic", "race", "step limit", "waits forever"];
    assert_eq!(Vec::from_iter(kinds), expected);
    assert!(stale > 0, "weak memory is part of it");
}
