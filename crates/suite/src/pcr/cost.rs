//! What coverage costs a run, and what a solver makes of a long one.

use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicU64, Ordering};
use raddle::{Accesses, Config, thread};
use raddle_core::Plan;
use raddle_engine::{Engine, Sc, Substrate};
use raddle_explore::{Explorer, Pcr};
use raddle_runtime::{Options, Runtime};
use rustix::time::ClockId;

use crate::engines::raddle::WORKLOADS;
use crate::interleave::{median, paired_ratios};
use crate::measure::nanoseconds;
use crate::progress::progress;
use crate::table::{Cell, Row, Size, Target};
use crate::workloads::find;

pub(super) fn table(size: Size) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for (name, runs) in [("a", 20_000), ("b", 1_000), ("c", 40)] {
        rows.push(coverage(name, runs, size)?);
    }
    rows.push(solving("trace-200", 4, 50, Some(1_000.0))?);
    rows.push(solving("trace-10000", 4, 2_500, None)?);
    Ok(rows)
}

/// A workload with and without coverage, by turns.
fn coverage(name: &str, runs: u64, size: Size) -> Result<Row, String> {
    progress(&format!("coverage {name}"));
    let body = find(WORKLOADS, name)?.body;
    let per_step = |coverage: bool| {
        let mut config = Config::new().strategy("random").runs(runs).unlimited_time();
        if coverage {
            config = config.coverage(Accesses::BySite);
        }
        let start = nanoseconds(ClockId::ThreadCPUTime);
        let report = config.run(body);
        (nanoseconds(ClockId::ThreadCPUTime) - start) as f64 / report.steps as f64
    };
    let rounds = match size {
        Size::Full => 25,
        Size::Quick => 7,
    };
    let pairs: Vec<(f64, f64)> = (0..rounds).map(|_| (per_step(false), per_step(true))).collect();
    let (without, with): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    let ratio = median(&paired_ratios(&without, &with));
    let cells = vec![
        ("without", Cell::value(median(&without), "ns/step")),
        ("with", Cell::value(median(&with), "ns/step")),
        ("ratio", Cell::value(ratio, "×").target(Target::AtMost(1.5))),
    ];
    Ok(Row { name: format!("coverage {name}"), cells })
}

/// Everything that PCR asks about one trace of `threads` threads with so many accesses each.
fn solving(name: &str, threads: usize, accesses: usize, least: Option<f64>) -> Result<Row, String> {
    progress(name);
    let program = move || accesses_by(threads, accesses);
    let options = Options { plain_accesses: true, ..Options::new(name) };
    let mut runtime = Runtime::<raddle_runtime::Default>::new(options);
    let mut explorer = Pcr::new(1);
    let mut engine = Engine::new(Sc, explorer.family(), explorer.chooser(), 1_000_000);
    explorer.next(engine.plan_mut());
    runtime.execute(&mut engine, &program).map_err(|_| "a thread could not be cleared away")?;
    let (trace, plan): (_, &mut Plan<_>) = engine.trace_and_plan_mut();
    let events = trace.events.len() as u64;
    let start = nanoseconds(ClockId::ThreadCPUTime);
    explorer.learn(0, trace, plan);
    let seconds = (nanoseconds(ClockId::ThreadCPUTime) - start) as f64 / 1e9;
    let counts = explorer.counts();
    let answered = counts.solved + counts.unsat + counts.unknown;
    let speed = Cell::value(answered as f64 / seconds, "questions/s");
    let time = Cell::value(seconds, "s");
    let cells = vec![
        ("events", Cell::count(events, "events")),
        ("questions", Cell::count(answered, "questions")),
        ("speed", least.map_or(speed.clone(), |least| speed.target(Target::AtLeast(least)))),
        ("seconds", if least.is_some() { time } else { time.target(Target::AtMost(10.0)) }),
    ];
    Ok(Row { name: name.to_owned(), cells })
}

/// Threads that read and write eight variables, each in an order of its own.
fn accesses_by(threads: usize, accesses: usize) {
    let variables: Arc<Vec<AtomicU64>> = Arc::new((0..8).map(AtomicU64::new).collect());
    let work = move |thread: usize, variables: &[AtomicU64]| {
        for turn in 0..accesses {
            let variable = &variables[(turn * (2 * thread + 1) + thread) % variables.len()];
            if (turn + thread) % 3 == 0 {
                variable.store((turn * threads + thread) as u64, Ordering::SeqCst);
            } else {
                variable.load(Ordering::SeqCst);
            }
        }
    };
    let handles: Vec<_> = (0..threads)
        .map(|thread| {
            let variables = variables.clone();
            thread::spawn(move || work(thread, &variables))
        })
        .collect();
    for handle in handles {
        handle.join().expect("no thread fails");
    }
}
