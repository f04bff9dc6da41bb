//! The table of what weak memory costs: random walk under RC11 beside random walk under sequential
//! consistency, on the first workloads of the speed table with relaxed orders.
//!
//! Both run in this process, in slices that take turns; a ratio pairs the slices of one round.

use std::sync::Arc;

use raddle::sync::Mutex;
use raddle::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use raddle::{Config, Memory, thread};

use crate::index;
use crate::interleave::{begin_measuring, median, middle_half, paired_ratios};
use crate::measure::timed;
use crate::progress::progress;
use crate::statistics::geometric_mean;
use crate::table::{Cell, Row, Size, Table, Target};
use crate::verdict::{Judged, Verdict};

/// PCTWM as users have it.
const PCTWM: &str = "pctwm:3:2";

/// How many times slower than sequential consistency RC11 may be.
const MOST: f64 = 6.0;

struct Workload {
    name: &'static str,
    about: &'static str,
    /// Executions of a slice, so that slices take about as long as each other.
    executions: u64,
    most: Option<f64>,
    body: fn(),
}

const WORKLOADS: [Workload; 5] = [
    Workload {
        name: "a",
        about: "2 threads × 5 relaxed fetch_add",
        executions: 4_000,
        most: Some(MOST),
        body: || each_of(2, 5, add),
    },
    Workload {
        name: "b",
        about: "3 threads × 100 lock and unlock, with a relaxed fetch_add between them",
        executions: 80,
        most: Some(MOST),
        body: locks,
    },
    Workload {
        name: "c",
        about: "8 threads × 1,000 relaxed fetch_add",
        executions: 8,
        most: Some(MOST),
        body: || each_of(8, 1_000, add),
    },
    Workload {
        name: "c sc",
        about: "the same, sequentially consistent",
        executions: 2,
        most: None,
        body: || {
            each_of(8, 1_000, |counter, _| {
                counter.fetch_add(1, SeqCst);
            })
        },
    },
    Workload {
        name: "stale",
        about: "4 threads × 50 relaxed stores and loads, which have old values to read and places to take",
        executions: 80,
        most: None,
        body: || {
            each_of(4, 50, |variable, step| {
                variable.store(step, Relaxed);
                variable.load(Relaxed);
            });
        },
    },
];

/// So many threads that do something so often to one variable.
fn each_of(threads: u64, times: u64, act: fn(&AtomicU64, u64)) {
    let variable = Arc::new(AtomicU64::new(0));
    let spawn = |_| {
        let variable = variable.clone();
        thread::spawn(move || (0..times).for_each(|step| act(&variable, step)))
    };
    let handles: Vec<_> = (0..threads).map(spawn).collect();
    for handle in handles {
        handle.join().expect("a panic ends the execution");
    }
}

fn add(counter: &AtomicU64, _step: u64) {
    counter.fetch_add(1, Relaxed);
}

fn locks() {
    let shared = Arc::new((Mutex::new(0), AtomicU64::new(0)));
    let spawn = |_| {
        let shared = shared.clone();
        thread::spawn(move || {
            for _ in 0..100 {
                let mut guard = shared.0.lock().expect("no thread panics");
                *guard += shared.1.fetch_add(1, Relaxed);
            }
        })
    };
    let handles: Vec<_> = (0..3).map(spawn).collect();
    for handle in handles {
        handle.join().expect("a panic ends the execution");
    }
}

/// Measures the whole table.
pub(crate) fn table(size: Size, command: String) -> Result<Table, String> {
    begin_measuring()?;
    let rows = WORKLOADS.iter().map(|workload| row(workload, size)).collect::<Result<_, _>>()?;
    progress("");
    let about = WORKLOADS.iter().map(|workload| format!("{}: {}", workload.name, workload.about));
    let mut legend: Vec<String> = about.collect();
    legend.push("sc, rc11: CPU time per step of random walk; ratio: paired by round".to_owned());
    legend.push(format!("pctwm: {PCTWM} under RC11; pctwm_ratio: times `rc11`"));
    let mut table = Table { name: "rc11-cost", size, command, rows, legend, verdicts: Vec::new() };
    table.verdicts.push(verdict(&table));
    Ok(table)
}

/// Says what PCTWM costs beside random testing.
fn verdict(table: &Table) -> Judged {
    let mut parts = Vec::new();
    let mut ratios = Vec::new();
    for row in &table.rows {
        let ratio = table.figure(&row.name, "pctwm_ratio").unwrap_or(f64::NAN);
        ratios.push(ratio);
        parts.push(format!("{} {ratio:.2}", row.name));
    }
    let holds = ratios.iter().all(|&ratio| ratio <= 1.2);
    let mean = geometric_mean(ratios.into_iter());
    let reason = format!(
        "time per step of {PCTWM} beside random testing under RC11, on programs that do nothing else: {} times, {mean:.2} \
         on average (paper, whole applications: 1.05 to 1.16 times C11Tester); tolerance: each at most 1.2",
        parts.join(", ")
    );
    Judged::new(index::PCTWM_TABLE_4, Verdict::Reproduced, holds, reason)
}

fn row(workload: &Workload, size: Size) -> Result<Row, String> {
    progress(workload.name);
    let rounds = match size {
        Size::Full => 41,
        Size::Quick => 5,
    };
    let (mut sc, mut rc11, mut pctwm) = (Vec::new(), Vec::new(), Vec::new());
    // The first round warms up.
    for round in 0..=rounds {
        let of_sc = nanoseconds_per_step(workload, Memory::Sc, "random")?;
        let of_rc11 = nanoseconds_per_step(workload, Memory::Rc11, "random")?;
        let of_pctwm = nanoseconds_per_step(workload, Memory::Rc11, PCTWM)?;
        if round > 0 {
            sc.push(of_sc);
            rc11.push(of_rc11);
            pctwm.push(of_pctwm);
        }
    }
    let ratios = paired_ratios(&sc, &rc11);
    let ratio =
        Cell { middle_half: Some(middle_half(&ratios)), ..Cell::value(median(&ratios), "×") };
    let ratios = paired_ratios(&rc11, &pctwm);
    let beside_random =
        Cell { middle_half: Some(middle_half(&ratios)), ..Cell::value(median(&ratios), "×") };
    let ratio = match workload.most {
        Some(most) => ratio.target(Target::AtMost(most)),
        None => ratio,
    };
    Ok(Row {
        name: workload.name.to_owned(),
        cells: vec![
            ("sc", Cell::value(median(&sc), "ns/step")),
            ("rc11", Cell::value(median(&rc11), "ns/step")),
            ("ratio", ratio),
            ("pctwm", Cell::value(median(&pctwm), "ns/step")),
            ("pctwm_ratio", beside_random),
        ],
    })
}

fn nanoseconds_per_step(workload: &Workload, memory: Memory, word: &str) -> Result<f64, String> {
    let config = Config::new().name("rc11-cost").memory(memory).strategy(word);
    let config = config.runs(workload.executions).unlimited_time();
    let (report, nanoseconds) = timed(|| Ok(config.run(workload.body)))?;
    match report.failure() {
        Some(failure) => Err(format!("raddle found a failure: {failure:?}")),
        None => Ok(nanoseconds as f64 / report.steps as f64),
    }
}
