//! Tables 1 and 2 of the POS paper: how evenly samplers cover the partial orders of small random programs.
//!
//! Four threads make four accesses each, to four objects, with 4, 4, 4 and 4 or 2, 2, 6 and 6 accesses; all
//! are writes, or half are reads. The measure is the ratio at which the partial order is hit that is hit
//! least. For random walk it is worked out exactly; the others are sampled, and where an order was never hit
//! they count with one in all samples, as in the paper. The paper's ten programs are not published: these
//! are others, made in the same way, and more of them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use raddle_core::ThreadId;
use raddle_engine::{Engine, Family, Sc, Substrate};
use raddle_strategy::{Pct, Pos, Rapos, Sampler, Surw, mix};

use crate::parallel::each;
use crate::statistics::geometric_mean;
use crate::table::{Cell, Row, Size, Table};

mod exact;
mod program;
mod scripted;

use exact::{Orders, orders};
use program::{Micro, Mix, Spread};
use scripted::Scripted;

/// What is known from the paper: the geometric means over its ten programs.
struct Published {
    name: &'static str,
    mix: Mix,
    /// Random walk, PCT, RAPOS, BasicPOS, POS, and POS* where there are reads.
    means: [Option<f64>; 6],
    /// How many partial orders its programs have, from and to.
    orders: [u64; 2],
}

const WRITES: Published = Published {
    name: "pos-1",
    mix: Mix::Writes,
    means: [Some(2.14e-8), Some(2.00e-8), Some(4.11e-7), Some(2.67e-8), Some(2.87e-6), None],
    orders: [1416, 39078],
};

const HALF_READS: Published = Published {
    name: "pos-2",
    mix: Mix::HalfReads,
    means: [
        Some(4.77e-8),
        Some(2.00e-8),
        Some(2.14e-6),
        Some(1.05e-7),
        Some(7.82e-6),
        Some(1.08e-5),
    ],
    orders: [896, 11148],
};

/// Columns that are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Pct,
    Rapos,
    BasicPos,
    Pos,
    PosStar,
    Surw,
}

const COLUMNS: [(&str, Column); 6] = [
    ("PCT", Column::Pct),
    ("RAPOS", Column::Rapos),
    ("BasicPOS", Column::BasicPos),
    ("POS", Column::Pos),
    ("surw", Column::Surw),
    // Last, because it is POS where there are no reads.
    ("POS*", Column::PosStar),
];

impl Published {
    /// What is sampled.
    fn columns(&self) -> &'static [(&'static str, Column)] {
        match self.mix {
            Mix::Writes => &COLUMNS[..5],
            Mix::HalfReads => &COLUMNS,
        }
    }

    /// The paper's mean of a column.
    fn mean(&self, column: Column) -> Option<f64> {
        let [_, pct, rapos, basic_pos, pos, pos_star] = self.means;
        match column {
            Column::Pct => pct,
            Column::Rapos => rapos,
            Column::BasicPos => basic_pos,
            Column::Pos => pos,
            Column::PosStar => pos_star,
            Column::Surw => None,
        }
    }
}

/// Samples for each ratio in the paper. Orders that are never hit count with one in so many.
const SAMPLES: f64 = 5e7;

/// Table 1.
pub(crate) fn writes(size: Size, command: String) -> Result<Table, String> {
    table(&WRITES, size, command)
}

/// Table 2.
pub(crate) fn half_reads(size: Size, command: String) -> Result<Table, String> {
    table(&HALF_READS, size, command)
}

fn table(published: &Published, size: Size, command: String) -> Result<Table, String> {
    // So many programs are only counted and worked out, and so many of them are sampled as well.
    let (counted, sampled, samples) = match size {
        Size::Full => (100, 6, 50_000_000),
        Size::Quick => (10, 4, 100_000),
    };
    let jobs: Vec<_> =
        (0..counted).map(|seed| Micro::new(published.mix, spread(seed, counted), seed)).collect();
    let exact = each(&jobs, |_| "partial orders".to_owned(), |micro| Ok(orders(micro)))?;
    // As many of each spread.
    let chosen: Vec<_> =
        (0..sampled / 2).flat_map(|index| [index, counted as usize / 2 + index]).collect();
    let columns = published.columns();
    let mut work = Vec::new();
    for &index in &chosen {
        for &(name, column) in columns {
            work.push((index, name, column));
        }
    }
    let ratios = each(
        &work,
        |(index, name, _)| format!("program {index} {name}"),
        |&(index, _, column)| Ok(least(&jobs[index], &exact[index], column, samples)),
    )?;
    let mut rows = Vec::new();
    for (place, &index) in chosen.iter().enumerate() {
        let ratios = &ratios[place * columns.len()..][..columns.len()];
        rows.push(row(&jobs[index], &exact[index], columns, ratios));
    }
    rows.push(means(published, &chosen, &exact, &ratios, samples));
    rows.push(all_programs(published, &exact));
    Ok(Table { name: published.name, size, command, rows, legend: legend(published, samples) })
}

/// The first half of the programs is uniform, the second skewed.
fn spread(seed: u64, all: u64) -> Spread {
    if seed < all / 2 { Spread::Uniform } else { Spread::Skewed }
}

/// How often the order was hit that was hit least, and how many orders were hit.
#[derive(Clone, Copy)]
struct Least {
    ratio: f64,
    hit: usize,
}

fn least(micro: &Micro, exact: &Orders, column: Column, samples: u64) -> Least {
    match column {
        Column::Pct => cover(micro, exact, Pct::new(exact.most_preemptions + 1), samples),
        Column::Rapos => cover(micro, exact, Rapos::default(), samples),
        Column::BasicPos => cover(micro, exact, Pos::basic(), samples),
        Column::Pos => cover(micro, exact, Pos::plain(), samples),
        Column::PosStar => cover(micro, exact, Pos::default(), samples),
        Column::Surw => cover(micro, exact, Surw::default(), samples),
    }
}

/// Samples a program, after its threads have been spawned.
fn cover(micro: &Micro, exact: &Orders, sampler: impl Sampler, samples: u64) -> Least {
    let mut hits: HashMap<u64, u64, BuildHasherDefault<AsIs>> = HashMap::default();
    let mut substrate = Scripted;
    let mut engine = Engine::new(Sc, Family::default(), sampler, 1_000);
    for run in 0..samples {
        let plan = engine.plan_mut();
        plan.prefix.clear();
        plan.prefix.extend([raddle_core::Choice::Thread(ThreadId::MAIN); program::THREADS]);
        plan.then.begin(mix(1, run));
        if substrate.execute(&mut engine, micro).is_err() {
            unreachable!("raddle invariant broken: nothing has to be cleared away after a script");
        }
        let (trace, plan) = engine.trace_and_plan_mut();
        plan.then.learn(trace);
        *hits.entry(trace.fingerprint).or_default() += 1;
    }
    let is_all = hits.len() == exact.count();
    let fewest = hits.values().min().copied().unwrap_or(0);
    let fewest = if is_all { fewest } else { 0 };
    Least { ratio: fewest as f64 / samples as f64, hit: hits.len() }
}

fn row(micro: &Micro, exact: &Orders, columns: &[(&'static str, Column)], ratios: &[Least]) -> Row {
    let mut cells = vec![
        ("orders", Cell::count(exact.count() as u64, "")),
        ("preemptions", Cell::count(u64::from(exact.most_preemptions), "most")),
        ("RW", Cell { unit: Some("exact"), ..Cell::tiny(exact.least_of_random_walk) }),
    ];
    for (&(name, _), least) in columns.iter().zip(ratios) {
        let cell = if least.ratio > 0.0 {
            Cell::tiny(least.ratio)
        } else {
            Cell::note(format!("0({})", least.hit))
        };
        cells.push((name, cell));
    }
    cells.push(("ranking", Cell::default()));
    Row { name: micro.to_string(), cells }
}

/// Within a factor of three of the paper's.
fn is_near(measured: f64, paper: f64) -> bool {
    (1.0 / 3.0..=3.0).contains(&(measured / paper))
}

fn means(
    published: &Published,
    chosen: &[usize],
    exact: &[Orders],
    ratios: &[Least],
    samples: u64,
) -> Row {
    let orders = geometric_mean(chosen.iter().map(|&index| exact[index].count() as f64));
    let walk = geometric_mean(chosen.iter().map(|&index| exact[index].least_of_random_walk));
    let beside = |mut cell: Cell, paper: Option<f64>| {
        cell.paper = paper;
        if let (Some(value), Some(paper)) = (cell.value, paper) {
            // With fewer samples, what is never hit counts with more.
            let comparable = samples as f64 >= SAMPLES || paper > 10.0 / samples as f64;
            cell.ok = comparable.then(|| is_near(value, paper));
        }
        cell
    };
    let mut cells = vec![
        ("orders", Cell::count(orders as u64, "")),
        ("preemptions", Cell::default()),
        ("RW", beside(Cell::tiny(walk), published.means[0])),
    ];
    let columns = published.columns();
    let mut ranking = vec![(published.means[0], walk)];
    for (at, &(name, column)) in columns.iter().enumerate() {
        let of_column = ratios.iter().skip(at).step_by(columns.len());
        let mean = geometric_mean(of_column.map(|least| least.ratio.max(1.0 / samples as f64)));
        let paper = published.mean(column);
        ranking.push((paper, mean));
        cells.push((name, beside(Cell::tiny(mean), paper)));
    }
    let ranking = if samples as f64 >= SAMPLES { ranked(ranking) } else { Cell::default() };
    cells.push(("ranking", ranking));
    Row { name: "geometric mean".to_owned(), cells }
}

/// Whether means come in the order of the paper's. Those that it has within a factor of two are ties: the
/// least that can be measured is one in all samples, and three of its algorithms are there.
fn ranked(mut ranking: Vec<(Option<f64>, f64)>) -> Cell {
    ranking.retain(|(paper, _)| paper.is_some());
    let follows = ranking.iter().all(|(paper, mean)| {
        ranking.iter().all(|(other_paper, other_mean)| {
            let is_ahead = paper.zip(*other_paper).is_some_and(|(one, other)| one > 2.0 * other);
            !is_ahead || mean > other_mean
        })
    });
    let note = if follows { "as in the paper" } else { "another" };
    Cell { ok: Some(follows), ..Cell::note(note) }
}

/// What is exact, over all programs that were made.
fn all_programs(published: &Published, exact: &[Orders]) -> Row {
    let mut counts: Vec<_> = exact.iter().map(|orders| orders.count() as u64).collect();
    counts.sort_unstable();
    let walk = geometric_mean(exact.iter().map(|orders| orders.least_of_random_walk));
    let mut cell = Cell::tiny(walk);
    cell.paper = published.means[0];
    cell.ok = published.means[0].map(|paper| is_near(walk, paper));
    let median = |counts: &[u64]| counts[counts.len() / 2];
    let cells = vec![
        (
            "fewest_orders",
            Cell { paper: Some(published.orders[0] as f64), ..Cell::count(counts[0], "") },
        ),
        ("median_orders", Cell::count(median(&counts), "")),
        (
            "most_orders",
            Cell {
                paper: Some(published.orders[1] as f64),
                ..Cell::count(counts[counts.len() - 1], "")
            },
        ),
        ("random_walk", cell),
    ];
    Row { name: format!("all {} programs", exact.len()), cells }
}

fn legend(published: &Published, samples: u64) -> Vec<String> {
    let mut lines = vec![
        format!("the least ratio at which a partial order is hit, of {samples} samples; paper: of 5e7"),
        "0(n): not all orders were hit, n were; counts as one in all samples in the mean".to_owned(),
        "RW: exact; PCT: of the depth that the most preemptions need; met: within a factor of 3".to_owned(),
        "orders: counted exactly, and by `dpor` in the tests; most preemptions of the order that needs most".to_owned(),
    ];
    if published.mix == Mix::HalfReads {
        lines.push("POS: any two accesses race; POS*: two reads do not".to_owned());
    }
    lines
}

/// Fingerprints are hashes already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("raddle invariant broken: fingerprints are whole words")
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}

#[cfg(test)]
mod tests {
    use raddle_explore::{Dpor, Explorer};

    use super::*;

    /// `dpor` makes one run for every partial order.
    #[test]
    fn orders_are_as_many_as_classes() {
        for (mix, seed) in [(Mix::Writes, 3), (Mix::HalfReads, 5), (Mix::HalfReads, 80)] {
            let micro = Micro::new(mix, spread(seed, 100), seed);
            let mut substrate = Scripted;
            let mut dpor = Dpor::default();
            let mut engine = Engine::new(Sc, dpor.family(), dpor.chooser(), 1_000);
            let mut runs = 0;
            while dpor.next(engine.plan_mut()) {
                assert!(substrate.execute(&mut engine, &micro).is_ok());
                let (trace, plan) = engine.trace_and_plan_mut();
                dpor.learn(runs, trace, plan);
                runs += 1;
            }
            assert_eq!(runs, orders(&micro).count() as u64, "{micro}");
        }
    }

    /// POS hits more of the orders than PCT.
    #[test]
    fn sampling_finds_the_orders() {
        let micro = Micro::new(Mix::HalfReads, Spread::Uniform, 5);
        let exact = orders(&micro);
        let samples = raddle_testkit::scaled(10_000);
        let pos = least(&micro, &exact, Column::PosStar, samples);
        let pct = least(&micro, &exact, Column::Pct, samples);
        assert!(pos.hit <= exact.count() && pos.hit > pct.hit, "{} {}", pos.hit, pct.hit);
    }
}
