//! The tables of PCTWM's evaluation (Gao, Chakraborty and Kulahcioglu Ozkan, ASPLOS 2023), beside the
//! paper's figures.
//!
//! A rate is the part of a number of executions that show the bug, all made under RC11. Where the paper
//! gives k_com it is learnt here, so the first execution of each series has no sinks.

use raddle::Granularity;
use raddle_core::{Action, AtomicOp, Choices, Ending, Op, Order, Trace};
use raddle_engine::Rc11;
use raddle_explore::Repeat;
use raddle_programs::Form;
use raddle_programs::weak::{Instance, Origin, PROGRAMS, Program, Published};
use raddle_strategy::{Pct, Pctwm, Random, Sampler};

use self::eager::Eager;
use crate::drive::{self, Driver};
use crate::table::{Cell, Kind, Row, Size, Table, Target};

mod depths;
mod eager;
mod verdicts;

/// Operations one execution may have.
const MAX_STEPS: usize = 20_000;

/// By how many percentage points a rate may be below the paper's.
const TOLERANCE: f64 = 10.0;

/// The largest history depth of the paper.
const DEEPEST_HISTORY: u32 = 4;

/// Why rates fall short of the paper's.
const CAUSES: &[&str] = &[
    "",
    "Why rates fall short. The strategy is the paper's: a test (engine, `frequencies_agree_with_the_papers_algorithms`) \
     holds it against Algorithms 1 and 2, written down plainly and run with every outcome of their draws.",
    "mcslock, linuxrwlocks, rwlock: threads that run one after the other hand over by accesses that still \
     synchronise, so serial executions never fail; that alone forbids the paper's 100. mcslock has the \
     paper's 16 communication events; the bug shows if the sink is one of the 4 between locking and unlocking in \
     the thread that goes first: 25 % at d.",
    "cldeque: the thief's load of the array has to be a sink, while the bottom that it read is old: d of \
     k_com. (At d 1 the paper has 55.7 in table 2 and 100 in table 3.)",
    "seqlock: the reader's first load has to be a sink, d of k_com, and then the orders of the two variables \
     have to disagree, one time in two.",
    "mpmcqueue: a reader has to take an item of a writer's. Items are published in order here; the \
     original does not do that, and fails under sequential consistency, too.",
];

/// About the baseline.
const PCT_STEPS: &str = "pct-weak: PCT with random sources; k is given as in the paper, by the events of the shortest of \
                         200 executions";

/// Which table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Which {
    /// Events and communication events.
    One,
    /// Rates by depth.
    Two,
    /// Rates by history depth.
    Three,
    /// The best rates of C11Tester, PCT and PCTWM.
    Figure5,
    /// Rates with more and more relaxed stores.
    Figure6,
}

/// The programs of the tables.
fn nine() -> impl Iterator<Item = (&'static Program, &'static Published)> {
    PROGRAMS.iter().filter_map(|program| match &program.origin {
        Origin::Pctwm(published) => Some((program, published)),
        Origin::Classic => None,
    })
}

/// The programs of the weak suite that are in no table of the paper.
fn others() -> impl Iterator<Item = &'static Program> {
    PROGRAMS.iter().filter(|program| matches!(program.origin, Origin::Classic))
}

/// Measures a table.
pub(crate) fn table(which: Which, size: Size, command: String) -> Table {
    let runs = match size {
        Size::Full => 1000,
        Size::Quick => 200,
    };
    let nine = nine();
    let (name, rows): (_, Vec<Row>) = match which {
        Which::One => ("pctwm-1", nine.map(|(program, paper)| events(program, paper)).collect()),
        Which::Two => (
            "pctwm-2",
            nine.flat_map(|(program, paper)| depths::rows(program, paper, runs)).collect(),
        ),
        Which::Three => {
            ("pctwm-3", nine.flat_map(|(program, paper)| histories(program, paper, runs)).collect())
        }
        Which::Figure5 => {
            let rows = nine.map(|(program, paper)| best(program, paper, runs));
            ("pctwm-fig5", rows.chain(others().map(|program| stores(program, runs))).collect())
        }
        Which::Figure6 => (
            "pctwm-fig6",
            nine.flat_map(|(program, paper)| more_stores(program, paper, runs)).collect(),
        ),
    };
    let legend = legend(which, runs);
    let mut table = Table { name, size, command, rows, legend, verdicts: Vec::new() };
    table.verdicts.push(match which {
        Which::One => verdicts::events(&table),
        Which::Two => depths::verdict(&table),
        Which::Three => verdicts::histories(&table),
        Which::Figure5 => verdicts::best(&table),
        Which::Figure6 => verdicts::more_stores(&table),
    });
    table
}

fn legend(which: Which, runs: u64) -> Vec<String> {
    let rates =
        format!("rates: percent of {runs} executions under RC11 that show the bug; (paper)");
    match which {
        Which::One => vec![
            "k: events of an execution, k_com: communication events, the most of 200 executions".into(),
            "least, most: of 1,000 executions of random testing in which a thread that waits reads once, and 1,000 in which it goes on".into(),
            "programs were written from their descriptions, so counts differ from the paper's; where they wait, \
             k is the longest wait"
                .into(),
        ],
        Which::Two => [
            rates.as_str(),
            "rows: a program, the depth of its bug, and more",
            "h: the paper's; learnt: k_com learnt, with the best h of 1 to 4; given: the paper's k_com and h",
            "fixed: the same sinks in all runs, of the tuples that were tried the one whose rate is nearest to the \
             paper's; met: within 10 percentage points of it",
            "low, high: the least and the largest rate of all tuples that were tried",
            "tool: the authors' tool on its programs, 300 runs a cell, with the one tuple that it draws for all runs; \
             redrawn: with sinks drawn in each run; both measured outside this program. On msqueue the driver itself \
             races, on cldeque the tool reports only a false alarm (the allocator reuses a block), mpmcqueue does not end",
            "serial: executions (learnt) in which threads run one after the other; failing: those of them that show \
             the bug. No rate of redrawn sinks can be above 100 − serial + failing",
        ]
        .iter()
        .chain(CAUSES)
        .map(|&line| line.into())
        .collect(),
        Which::Three => vec![
            rates,
            "(d): sinks drawn in each run, at the depth that the paper varies h for, with k_com learnt".into(),
            "(d, k): the same with the paper's k_com".into(),
            "[s]: these sinks in all runs, as in the authors' tool; all tuples if there are few, else the one of those tried \
             whose rates are nearest to the paper's"
                .into(),
        ],
        Which::Figure5 => vec![
            rates,
            "c11-random: random threads and sources; pct-weak and pctwm: the best of depths d to d+2 \
             (at least 1 for PCT) and, for PCTWM, of h 1 to 4"
                .into(),
            "c11-eager: the same with relaxed and release stores, and starts and ends of threads, performed at once, as in \
             C11Tester; also on the programs of the weak suite that the paper does not have"
                .into(),
            PCT_STEPS.into(),
        ],
        Which::Figure6 => vec![
            rates,
            "so many relaxed stores in front of each thread; PCTWM at d and the best h, PCT at \
             d + 2, so that it has change points"
                .into(),
            PCT_STEPS.into(),
        ],
    }
}

/// k and k_com.
fn events(program: &'static Program, paper: &Published) -> Row {
    let mut longest = 0;
    let mut sampler = Pctwm::new(0, 1);
    let instance = instance(program, 0);
    run_all(program, instance, &mut sampler, 200, |trace| {
        longest = longest.max(trace.events.len())
    });
    let with_paper = |value: usize, paper: u32| Cell {
        paper: Some(paper.into()),
        ..Cell::count(value as u64, "")
    };
    let (mut least, mut most) = ([usize::MAX; 2], [0; 2]);
    for tries in [program.tries.least, program.tries.most] {
        let instance = Instance { tries, ..instance };
        run_all(program, instance, &mut Random::default(), 1000, |trace| {
            let communicating = trace.events.iter().filter(|event| communicates(event.op)).count();
            for (place, count) in [trace.events.len(), communicating].into_iter().enumerate() {
                least[place] = least[place].min(count);
                most[place] = most[place].max(count);
            }
        });
    }
    let count = |value: usize| Cell::count(value as u64, "");
    Row {
        name: program.name.to_owned(),
        cells: vec![
            ("k", with_paper(longest, paper.events)),
            ("k_least", count(least[0])),
            ("k_most", count(most[0])),
            ("k_com", with_paper(sampler.events(), paper.communication)),
            ("k_com_least", count(least[1])),
            ("k_com_most", count(most[1])),
            ("d", Cell::count(paper.depth.into(), "")),
        ],
    }
}

/// Returns whether an operation is a communication event (§5.1), of those that the programs use.
fn communicates(op: Op) -> bool {
    match op.action() {
        Action::Atomic(AtomicOp::Store { order, .. }) => order == Order::SeqCst,
        Action::Atomic(_) => true,
        Action::Fence(order) => order.acquires(),
        _ => false,
    }
}

/// Rates at history depths 1 to 4, with sinks drawn in each run and with the same sinks in all runs.
fn histories(program: &'static Program, paper: &Published, runs: u64) -> Vec<Row> {
    const NAMES: [&str; 4] = ["h:1", "h:2", "h:3", "h:4"];
    let (depth, published) = paper.by_history;
    let row = |name: String, sampler: &dyn Fn(u32) -> Pctwm| {
        let cells = NAMES.into_iter().zip(1..=DEEPEST_HISTORY).zip(published);
        let cells = cells.map(|((name, history), published)| {
            let found = rate(program, instance(program, 0), sampler(history), runs);
            (name, Cell { paper: Some(published), ..percent(found) })
        });
        Row { name, cells: cells.collect() }
    };
    let drawn = row(format!("{} ({depth})", program.name), &|history| Pctwm::new(depth, history));
    let events = paper.communication as usize;
    let given = row(format!("{} ({depth}, k {events})", program.name), &|history| {
        Pctwm::with_events(depth, history, events)
    });
    let fixed = depths::by_history(program, paper, runs);
    let fixed = fixed.iter().map(|sinks| {
        let sampler = |history| Pctwm::with_sinks(history, sinks);
        row(format!("{} {sinks:?}", program.name), &sampler)
    });
    [drawn, given].into_iter().chain(fixed).collect()
}

/// The best rate of each strategy.
fn best(program: &'static Program, paper: &Published, runs: u64) -> Row {
    let instance = instance(program, 0);
    let depths = paper.depth..=paper.depth + 2;
    let random = rate(program, instance, Random::default(), runs);
    let pct = depths.clone().map(|depth| pct_rate(program, instance, depth.max(1), runs));
    let pct = pct.fold(0.0, f64::max);
    let pctwm = depths.map(|depth| best_history(program, depth, runs, 0).0).fold(0.0, f64::max);
    let published = paper.by_depth.iter().map(|(rate, _)| *rate).fold(0.0, f64::max);
    Row {
        name: program.name.to_owned(),
        cells: vec![
            ("c11-random", percent(random)),
            ("c11-eager", percent(rate(program, instance, Eager::default(), runs))),
            ("pct-weak", percent(pct)),
            ("pctwm", against(pctwm, published)),
        ],
    }
}

/// The rates of random testing with and without stores performed at once.
fn stores(program: &'static Program, runs: u64) -> Row {
    let instance = instance(program, 0);
    let cells = vec![
        ("c11-random", percent(rate(program, instance, Random::default(), runs))),
        ("c11-eager", percent(rate(program, instance, Eager::default(), runs))),
    ];
    Row { name: program.name.to_owned(), cells }
}

/// Rates with 0 to 10 more relaxed stores in each thread.
fn more_stores(program: &'static Program, paper: &Published, runs: u64) -> [Row; 2] {
    const STORES: [(&str, u32); 4] = [("0", 0), ("3", 3), ("6", 6), ("10", 10)];
    let history = best_history(program, paper.depth, runs / 4, 0).1;
    let row = |strategy: &str, rate: &dyn Fn(Instance) -> f64| Row {
        name: format!("{} {strategy}", program.name),
        cells: STORES.map(|(name, stores)| (name, percent(rate(instance(program, stores))))).into(),
    };
    [
        row("pctwm", &|instance| rate(program, instance, Pctwm::new(paper.depth, history), runs)),
        row("pct-weak", &|instance| pct_rate(program, instance, paper.depth + 2, runs)),
    ]
}

fn percent(rate: f64) -> Cell {
    Cell { kind: Kind::Measure, ..Cell::value(rate, "%") }
}

/// A rate beside the paper's, which it should not fall short of by much.
fn against(rate: f64, published: f64) -> Cell {
    let cell = percent(rate).target(Target::AtLeast(published - TOLERANCE));
    Cell { paper: Some(published), ..cell }
}

fn instance(program: &Program, extra_stores: u32) -> Instance {
    Instance { form: Form::Bugged, tries: program.tries.most, extra_stores }
}

/// The best rate at a depth, and the history depth at which it is.
fn best_history(program: &'static Program, depth: u32, runs: u64, extra: u32) -> (f64, u32) {
    // Without sinks the history is not used.
    let histories = if depth == 0 { 1..=1 } else { 1..=DEEPEST_HISTORY };
    let rates = histories.map(|history| {
        (rate(program, instance(program, extra), Pctwm::new(depth, history), runs), history)
    });
    rates.fold((0.0, 1), |best, next| if next.0 > best.0 { next } else { best })
}

/// In how many percent of the executions the bug shows.
fn rate<S: Sampler + Clone>(
    program: &'static Program,
    instance: Instance,
    mut sampler: S,
    runs: u64,
) -> f64 {
    let mut found = 0;
    run_all(program, instance, &mut sampler, runs, |trace| found += u64::from(has_failed(trace)));
    100.0 * found as f64 / runs as f64
}

/// The same with PCT, k being given as in the paper: the events of the shortest of 200 executions. What it
/// learns itself is the longest wait of a thread, and change points would be nowhere else.
fn pct_rate(program: &'static Program, instance: Instance, depth: u32, runs: u64) -> f64 {
    let mut shortest = usize::MAX;
    run_all(program, instance, &mut Random::default(), 200, |trace| {
        shortest = shortest.min(trace.events.len());
    });
    rate(program, instance, Untaught(Pct::with_steps(depth, shortest)), runs)
}

/// A sampler that learns nothing.
#[derive(Clone)]
struct Untaught<S>(S);

impl<S: Sampler> Sampler for Untaught<S> {
    fn begin(&mut self, seed: u64) {
        self.0.begin(seed);
    }

    fn choices(&mut self) -> Choices<'_> {
        self.0.choices()
    }
}

fn has_failed(trace: &Trace) -> bool {
    match &trace.ending {
        Ending::Panicked(_) => true,
        Ending::Finished => raddle_explore::race(trace).is_some(),
        Ending::Deadlock
        | Ending::Stopped
        | Ending::StepLimit
        | Ending::TimeLimit
        | Ending::Abandoned
        | Ending::Diverged(_) => false,
    }
}

/// Makes `runs` executions, whether they fail or not, and shows them to `each`.
fn run_all<S: Sampler + Clone>(
    program: &'static Program,
    instance: Instance,
    sampler: &mut S,
    runs: u64,
    mut each: impl FnMut(&Trace),
) {
    let body = program.closure(instance);
    let (runtime, explorer) =
        (drive::runtime(program.name, Granularity::Sync), Repeat::new(sampler.clone(), 1));
    let mut driver = Driver::new(runtime, Rc11::default(), explorer, MAX_STEPS);
    for _ in 0..runs {
        driver.run(&body);
        driver.learn();
        each(driver.trace());
    }
    *sampler = driver.finish().sampler().clone();
}
