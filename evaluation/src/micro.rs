//! Tables 1 and 2 of the POS paper: how evenly samplers cover the partial orders of small random programs.
//!
//! Four threads make four accesses each, to four objects, with 4, 4, 4 and 4 or 2, 2, 6 and 6 accesses; all
//! are writes, or half are reads. The measure is the ratio at which the partial order is hit that is hit
//! least. For random walk it is worked out exactly; the others are sampled, and where an order was never hit
//! they count with one in all samples, as in the paper. Sampled are the paper's ten programs (`published.rs`
//! tells how they are known); and of 100 others, made in the same way, all that is exact is worked out.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use raddle_core::{Choice, Choices, Schedule, ThreadId, Trace};
use raddle_engine::Sc;
use raddle_explore::Explorer;
use raddle_strategy::{Pct, Pos, Rapos, Sampler, mix};

use crate::drive::Driver;
use crate::index;
use crate::parallel::each;
use crate::statistics::geometric_mean;
use crate::table::{Cell, Kind, Row, Size, Table};
use crate::verdict::{Judged, Verdict};

mod exact;
mod program;
mod published;
mod scripted;

use exact::{Orders, most_races, orders};
use program::{Micro, Mix, Spread};
use published::{HALF_READS, Program, Published, WRITES};
use scripted::Scripted;

/// A way to sample, in the order of the published ratios, after random walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Pct,
    Rapos,
    BasicPos,
    Pos,
    PosStar,
}

const COLUMNS: [(&str, Column); 5] = [
    ("PCT", Column::Pct),
    ("RAPOS", Column::Rapos),
    ("BasicPOS", Column::BasicPos),
    ("POS", Column::Pos),
    // Last, because it is POS where there are no reads.
    ("POS*", Column::PosStar),
];

/// What is sampled.
fn columns(mix: Mix) -> &'static [(&'static str, Column)] {
    match mix {
        Mix::Writes => &COLUMNS[..4],
        Mix::HalfReads => &COLUMNS,
    }
}

/// Samples for each ratio in the paper. Orders that are never hit count with one in this number.
const SAMPLES: f64 = 5e7;

/// Ratios of two means agree with the paper's within this factor.
const RATIO_TOLERANCE: f64 = 1.5;

/// Table 1.
pub(crate) fn writes(size: Size, command: String) -> Result<Table, String> {
    table(&WRITES, size, command)
}

/// Table 2.
pub(crate) fn half_reads(size: Size, command: String) -> Result<Table, String> {
    table(&HALF_READS, size, command)
}

fn table(published: &Published, size: Size, command: String) -> Result<Table, String> {
    // How many of the paper's programs are sampled, how often, and how many random ones are only computed.
    let (sampled, samples, counted) = match size {
        Size::Full => (10, 50_000_000, 100),
        Size::Quick => (10, 30_000, 10),
    };
    let random: Vec<_> = (0..counted)
        .map(|seed| Micro::random(published.mix, spread(seed, counted), seed))
        .collect();
    let counts = each(&random, |_| "partial orders".to_owned(), |micro| Ok(orders(micro)))?;
    let programs = &published.programs[..sampled];
    let micros: Vec<_> = programs.iter().map(|program| Micro::from_text(program.text)).collect();
    let exact = each(&micros, Micro::to_string, |micro| Ok(orders(micro)))?;
    let columns = columns(published.mix);
    let mut work = Vec::new();
    for index in 0..programs.len() {
        for &(name, column) in columns {
            work.push((index, name, column));
        }
    }
    let ratios = each(
        &work,
        |(index, name, _)| format!("{} {name}", micros[*index]),
        |&(index, _, column)| Ok(least(&micros[index], &exact[index], column, samples)),
    )?;
    let mut rows = Vec::new();
    for (place, (program, ratios)) in programs.iter().zip(ratios.chunks(columns.len())).enumerate()
    {
        rows.push(row(program, &micros[place], &exact[place], columns, ratios));
    }
    rows.push(means(published, &exact, &ratios, samples));
    rows.push(all_programs(published, &counts));
    let (name, legend) = (published.name, legend(published, samples));
    let mut table = Table { name, size, command, rows, legend, verdicts: Vec::new() };
    table.verdicts.push(verdict(published.mix, &table));
    Ok(table)
}

/// Says how much better POS is than the others, by geometric means, beside what the paper says.
fn verdict(mix: Mix, table: &Table) -> Judged {
    let mean = |name: &str| table.figure("geometric mean", name).unwrap_or(f64::NAN);
    let (item, best, ratios): (_, _, &[(&str, f64)]) = match mix {
        Mix::Writes => (index::POS_TABLE_1, "POS", &[("RAPOS", 7.0), ("RW", 134.1)]),
        Mix::HalfReads => {
            (index::POS_TABLE_2, "POS*", &[("POS", 1.4), ("RAPOS", 5.0), ("RW", 226.4)])
        }
    };
    let mut holds = table.missed().is_empty();
    let mut parts = Vec::new();
    for (other, paper) in ratios {
        let ratio = mean(best) / mean(other);
        holds &= (1.0 / RATIO_TOLERANCE..=RATIO_TOLERANCE).contains(&(ratio / paper));
        parts.push(format!("{ratio:.1} times {other} (paper {paper})"));
    }
    let reason = format!(
        "{best} {}; ratios of means within a factor of {RATIO_TOLERANCE}, means within 3",
        parts.join(", ")
    );
    Judged::new(item, Verdict::Reproduced, holds, reason)
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
    }
}

/// Lets main spawn all threads, then samples.
struct AfterSpawns<S> {
    sampler: S,
    run: u64,
}

impl<S: Sampler> Explorer for AfterSpawns<S> {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        prefix.clear();
        prefix.extend([Choice::Thread(ThreadId::MAIN); program::THREADS]);
        self.sampler.begin(mix(1, self.run));
        self.run += 1;
        true
    }

    fn choices(&mut self) -> Choices<'_> {
        self.sampler.choices()
    }

    fn learn(&mut self, _run: u64, trace: &Trace) {
        self.sampler.learn(trace);
    }
}

/// Samples a program, after its threads have been spawned.
fn cover<S: Sampler>(micro: &Micro, exact: &Orders, sampler: S, samples: u64) -> Least {
    let mut hits: HashMap<u64, u64, BuildHasherDefault<AsIs>> = HashMap::default();
    let mut driver = Driver::new(Scripted, Sc, AfterSpawns { sampler, run: 0 }, 1_000);
    for _ in 0..samples {
        driver.run(micro);
        driver.learn();
        *hits.entry(driver.trace().fingerprint).or_default() += 1;
    }
    let is_all = hits.len() == exact.count();
    let fewest = hits.values().min().copied().unwrap_or(0);
    let fewest = if is_all { fewest } else { 0 };
    Least { ratio: fewest as f64 / samples as f64, hit: hits.len() }
}

fn row(
    program: &Program,
    micro: &Micro,
    exact: &Orders,
    columns: &[(&'static str, Column)],
    ratios: &[Least],
) -> Row {
    let beside = |cell: Cell, paper: f64| Cell { paper: Some(paper), ..cell };
    let mut cells = vec![
        ("orders", beside(Cell::count(exact.count() as u64, ""), program.orders as f64)),
        (
            "preemptions",
            beside(Cell::count(exact.most_preemptions.into(), "most"), program.preemptions.into()),
        ),
        ("races", beside(Cell::count(most_races(micro).into(), "most"), program.races.into())),
        (
            "RW",
            Cell {
                unit: Some("exact"),
                ..beside(Cell::tiny(exact.least_of_random_walk), program.ratios[0])
            },
        ),
    ];
    for ((&(name, _), least), paper) in columns.iter().zip(ratios).zip(&program.ratios[1..]) {
        let cell = if least.ratio > 0.0 {
            Cell::tiny(least.ratio)
        } else {
            Cell { kind: Kind::Tiny, ..Cell::note(format!("0({})", least.hit)) }
        };
        cells.push((name, beside(cell, *paper)));
    }
    cells.push(("ranking", Cell::default()));
    Row { name: program.text.to_owned(), cells }
}

/// Within a factor of three of the paper's.
fn is_near(measured: f64, paper: f64) -> bool {
    (1.0 / 3.0..=3.0).contains(&(measured / paper))
}

fn means(published: &Published, exact: &[Orders], ratios: &[Least], samples: u64) -> Row {
    let orders = geometric_mean(exact.iter().map(|orders| orders.count() as f64));
    let walk = geometric_mean(exact.iter().map(|orders| orders.least_of_random_walk));
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
        ("races", Cell::default()),
        ("RW", beside(Cell::tiny(walk), published.means[0])),
    ];
    let columns = columns(published.mix);
    let mut ranking = vec![(published.means[0], walk)];
    for (at, &(name, _)) in columns.iter().enumerate() {
        let of_column = ratios.iter().skip(at).step_by(columns.len());
        let mean = geometric_mean(of_column.map(|least| least.ratio.max(1.0 / samples as f64)));
        let paper = published.means[at + 1];
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
    let published_orders = || published.programs.iter().map(|program| program.orders as f64);
    let beside = |count: u64, paper: f64| Cell { paper: Some(paper), ..Cell::count(count, "") };
    let most = counts[counts.len() - 1];
    let cells = vec![
        ("fewest_orders", beside(counts[0], published_orders().fold(f64::MAX, f64::min))),
        ("median_orders", Cell::count(counts[counts.len() / 2], "")),
        ("most_orders", beside(most, published_orders().fold(0.0, f64::max))),
        ("random_walk", cell),
    ];
    Row { name: format!("{} random programs", exact.len()), cells }
}

fn legend(published: &Published, samples: u64) -> Vec<String> {
    let mut lines = vec![
        format!("the least ratio at which a partial order is hit, of {samples} samples; paper: of 5e7"),
        "0(n): not all orders were hit, n were; counts as one in all samples in the mean".to_owned(),
        "RW: exact; PCT: of the depth that the most preemptions need; met: within a factor of 3".to_owned(),
        "orders: counted exactly, and by `dpor` in the tests; preemptions, races: of the order with most".to_owned(),
        "programs: threads and the objects they access, capital where they write".to_owned(),
    ];
    match published.mix {
        Mix::Writes => {
            lines.push("programs: those of the paper, found by their properties".to_owned())
        }
        Mix::HalfReads => {
            lines.push("programs: others with the properties of the paper's".to_owned());
            lines.push("POS: any two accesses race; POS*: two reads do not".to_owned());
        }
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
    use raddle_explore::Dpor;

    use super::*;

    /// `dpor` makes one run for every partial order.
    #[test]
    fn orders_are_as_many_as_classes() {
        for (mix, seed) in [(Mix::Writes, 3), (Mix::HalfReads, 5), (Mix::HalfReads, 80)] {
            let micro = Micro::random(mix, spread(seed, 100), seed);
            let mut driver = Driver::new(Scripted, Sc, Dpor::default(), 1_000);
            let mut runs = 0;
            while driver.run(&micro) {
                driver.learn();
                runs += 1;
            }
            assert_eq!(runs, orders(&micro).count() as u64, "{micro}");
        }
    }

    /// POS hits more of the orders than PCT.
    #[test]
    fn sampling_finds_the_orders() {
        let micro = Micro::random(Mix::HalfReads, Spread::Uniform, 5);
        let exact = orders(&micro);
        let samples = raddle_testkit::scaled(10_000);
        let pos = least(&micro, &exact, Column::PosStar, samples);
        let pct = least(&micro, &exact, Column::Pct, samples);
        assert!(pos.hit <= exact.count() && pos.hit > pct.hit, "{} {}", pos.hit, pct.hit);
    }
}
