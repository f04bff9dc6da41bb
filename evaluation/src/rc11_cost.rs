//! The table of what weak memory costs: random walk under RC11 beside random walk under sequential
//! consistency, on the first workloads of the speed table with relaxed orders.
//!
//! And table 4 of the PCTWM paper: what `pctwm` costs beside random testing, there on whole applications.
//!
//! All run in this process, in slices that take turns; a ratio pairs the slices of one round.

use std::sync::Arc;

use raddle::sync::Mutex;
use raddle::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use raddle::thread::{self, JoinHandle};
use raddle::{Config, Memory};

use crate::index;
use crate::interleave::{begin_measuring, median, middle_half, paired_ratios};
use crate::measure::timed;
use crate::progress::progress;
use crate::statistics::geometric_mean;
use crate::table::{Cell, Row, Size, Table, Target};
use crate::verdict::{Judged, Verdict};

mod applications;

/// PCTWM as users have it.
const PCTWM: &str = "pctwm:3:2";

/// How many times slower than sequential consistency RC11 may be.
const MOST: f64 = 6.0;

struct Workload {
    name: &'static str,
    about: &'static str,
    kind: Kind,
    /// Executions of a slice, so that slices take about as long as each other.
    executions: u64,
    most: Option<f64>,
    body: fn(),
}

/// What a workload does besides accesses to what threads share.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing.
    Bare,
    /// Work of its own.
    Application,
}

/// How many times slower than random testing PCTWM may be on applications. The paper has 1.05 to 1.16.
const MOST_PCTWM: f64 = 1.2;

const WORKLOADS: [Workload; 8] = [
    Workload {
        name: "a",
        about: "2 threads × 5 relaxed fetch_add",
        kind: Kind::Bare,
        executions: 4_000,
        most: Some(MOST),
        body: || each_of(2, 5, add),
    },
    Workload {
        name: "b",
        about: "3 threads × 100 lock and unlock, with a relaxed fetch_add between them",
        kind: Kind::Bare,
        executions: 80,
        most: Some(MOST),
        body: locks,
    },
    Workload {
        name: "c",
        about: "8 threads × 1,000 relaxed fetch_add",
        kind: Kind::Bare,
        executions: 8,
        most: Some(MOST),
        body: || each_of(8, 1_000, add),
    },
    Workload {
        name: "c sc",
        about: "the same, sequentially consistent",
        kind: Kind::Bare,
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
        kind: Kind::Bare,
        executions: 80,
        most: None,
        body: || {
            each_of(4, 50, |variable, step| {
                variable.store(step, Relaxed);
                variable.load(Relaxed);
            });
        },
    },
    Workload {
        name: "log",
        about: "3 threads format 40 records each into a shared log",
        kind: Kind::Application,
        executions: 30,
        most: None,
        body: applications::log,
    },
    Workload {
        name: "store",
        about: "4 threads put or find 40 strings each in a map of 16 shards",
        kind: Kind::Application,
        executions: 30,
        most: None,
        body: applications::store,
    },
    Workload {
        name: "transactions",
        about: "3 threads make 30 optimistic transactions each on records with versions",
        kind: Kind::Application,
        executions: 30,
        most: None,
        body: applications::transactions,
    },
];

/// Starts a thread with its number.
fn spawn<S: Send + Sync + 'static>(
    shared: &Arc<S>,
    me: u64,
    body: impl Fn(&S, u64) + Send + 'static,
) -> JoinHandle<()> {
    let shared = shared.clone();
    thread::spawn(move || body(&shared, me))
}

fn join(handles: Vec<JoinHandle<()>>) {
    for handle in handles {
        handle.join().expect("a panic ends the execution");
    }
}

/// So many threads that do something so often to one variable.
fn each_of(threads: u64, times: u64, act: fn(&AtomicU64, u64)) {
    let variable = Arc::new(AtomicU64::new(0));
    let body = move |variable: &AtomicU64, _| (0..times).for_each(|step| act(variable, step));
    join((0..threads).map(|me| spawn(&variable, me, body)).collect());
}

fn add(counter: &AtomicU64, _step: u64) {
    counter.fetch_add(1, Relaxed);
}

fn locks() {
    let shared = Arc::new((Mutex::new(0), AtomicU64::new(0)));
    let body = |(sum, counter): &(Mutex<u64>, AtomicU64), _| {
        for _ in 0..100 {
            let mut guard = sum.lock().expect("no thread panics");
            *guard += counter.fetch_add(1, Relaxed);
        }
    };
    join((0..3).map(|me| spawn(&shared, me, body)).collect());
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

/// Says what PCTWM costs beside random testing: on applications, as in the paper, and on programs that do nothing
/// else.
fn verdict(table: &Table) -> Judged {
    let ratios = |kind: Kind| {
        let workloads = WORKLOADS.iter().filter(move |workload| workload.kind == kind);
        workloads.map(|workload| {
            (workload.name, table.figure(workload.name, "pctwm_ratio").unwrap_or(f64::NAN))
        })
    };
    let list = |kind| {
        let ratios = ratios(kind).map(|(name, ratio)| format!("{name} {ratio:.2}"));
        ratios.collect::<Vec<_>>().join(", ")
    };
    let mean = |kind| geometric_mean(ratios(kind).map(|(_, ratio)| ratio));
    let holds = ratios(Kind::Application).all(|(_, ratio)| ratio <= MOST_PCTWM);
    let reason = format!(
        "time of {PCTWM} beside random testing under RC11, on programs with work of their own: {} times, {:.2} on average \
         (paper, whole applications: 1.05 to 1.16 times C11Tester); tolerance: each at most {MOST_PCTWM}. On programs that \
         do nothing but access what they share: {}, {:.2} on average",
        list(Kind::Application),
        mean(Kind::Application),
        list(Kind::Bare),
        mean(Kind::Bare),
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
