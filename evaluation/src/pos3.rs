//! Table 3 of the POS paper (Yuan, Yang and Gu, CAV 2018): how often each algorithm hits the bugs of
//! SCTBench.
//!
//! The paper's own algorithms go by Maple's rules ([`crate::compat`]). 20 of the 32 programs are known to be
//! the published ones, point for point, and their ratios have to be the published ones, as far as chance
//! goes. The others are written from descriptions that leave open how many steps there are around the bug.
//! Where their ratios are not the paper's, those of the original programs stand below the table
//! ([`originals`]).

use std::fmt::Write;

use raddle_programs::{Form, find};

use crate::index;
use crate::methods::Method;
use crate::parallel::each;
use crate::sample::{Sample, Subject, Until};
use crate::statistics::{geometric_mean, two_sample};
use crate::table::{Cell, Row, Size, Table};
use crate::verdict::{self, Judged};

mod originals;

use originals::{Finding, Original};

/// A row of the published table.
struct Published {
    program: &'static str,
    /// n and k.
    threads: usize,
    steps: usize,
    /// By method, in the order of [`OF_THE_PAPER`].
    ratios: [f64; 7],
    verdict: Verdict,
}

/// Whether a program is known to have the points of the published one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Held,
    /// Why its ratios may be others.
    Open(&'static str),
}

/// The algorithms of the table.
const OF_THE_PAPER: [Method; 7] = [
    Method::MapleWalk,
    Method::MaplePct(2),
    Method::MaplePct(3),
    Method::MaplePct(4),
    Method::MaplePct(5),
    Method::MaplePct(20),
    Method::PosStar,
];

/// Ratios agree within this number of standard errors of their difference.
const MOST_ERRORS: f64 = 4.0;

/// Tries for each ratio in the paper.
const TRIES: u64 = 10_000;

/// The paper ran SafeStack this often in one try, for fewer tries.
const REPEATED: u64 = 10_000;
const REPEATED_TRIES: u64 = 500;
const SAFESTACK: &str = "safestack";

const fn held(program: &'static str, size: [usize; 2], ratios: [f64; 7]) -> Published {
    let [threads, steps] = size;
    Published { program, threads, steps, ratios, verdict: Verdict::Held }
}

const fn open(
    program: &'static str,
    size: [usize; 2],
    ratios: [f64; 7],
    why: &'static str,
) -> Published {
    let [threads, steps] = size;
    Published { program, threads, steps, ratios, verdict: Verdict::Open(why) }
}

/// As published, in its order.
#[rustfmt::skip]
const PUBLISHED: [Published; 32] = [
    held("stringbuffer", [2, 10], [0.0638, 0.0000, 0.0193, 0.0420, 0.0600, 0.0332, 0.0833]),
    held("reorder_10", [11, 40], [0.0000, 0.0007, 0.0014, 0.0017, 0.0021, 0.0000, 0.0308]),
    held("reorder_20", [21, 89], [0.0000, 0.0015, 0.0027, 0.0040, 0.0043, 0.0021, 0.1709]),
    open("twostage_100", [101, 792], [0.0000, 0.0000, 0.0000, 0.0002, 0.0002, 0.0000, 0.0047],
        "which accesses to the first variable are points is not known"),
    open("radbench-bug2", [2, 171], [0.0003, 0.0000, 0.0010, 0.0030, 0.0045, 0.0000, 0.0418],
        "a few contexts in place of an engine with 171 steps"),
    open("safestack", [4, 117], [0.0480, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.2440],
        "one point for each atomic operation and use of a node; 10,000 runs count as one"),
    held("WSQ", [3, 161], [0.0002, 0.0484, 0.0813, 0.1054, 0.1190, 0.1444, 0.0497]),
    open("WSQ-State", [3, 2406], [0.0092, 0.0003, 0.0015, 0.0017, 0.0019, 0.0146, 0.0926],
        "two entries in the log for each operation, where the paper's program has 2,406 steps"),
    open("IWSQ-State", [3, 660], [0.0643, 0.0006, 0.0040, 0.0073, 0.0121, 0.0618, 0.1380],
        "two entries in the log for each operation, where the paper's program has 660 steps"),
    held("IWSQ", [3, 169], [0.0010, 0.0461, 0.0775, 0.0984, 0.1183, 0.1205, 0.0500]),
    held("reorder_5", [6, 20], [0.0018, 0.0061, 0.0110, 0.0122, 0.0126, 0.0089, 0.0668]),
    held("queue", [3, 83], [0.9999, 0.0068, 0.1415, 0.2621, 0.3511, 0.6176, 0.9999]),
    held("reorder_4", [5, 16], [0.0074, 0.0118, 0.0206, 0.0263, 0.0294, 0.0294, 0.0795]),
    open("qsort_mt", [3, 81], [0.0097, 0.0117, 0.0239, 0.0328, 0.0398, 0.0937, 0.0958],
        "eight elements and one hand-over for each worker"),
    held("reorder_3", [4, 12], [0.0246, 0.0255, 0.0457, 0.0580, 0.0660, 0.0920, 0.0997]),
    held("wronglock", [9, 49], [0.3272, 0.0351, 0.0630, 0.0942, 0.1142, 0.2508, 0.4227]),
    held("bluetooth_driver", [2, 13], [0.0628, 0.0390, 0.0597, 0.0778, 0.0791, 0.1334, 0.0847]),
    open("radbench-bug6", [3, 101], [0.3026, 0.0461, 0.0748, 0.1011, 0.1220, 0.1435, 0.2305],
        "the lock alone, without the runtime around it"),
    held("wronglock_3", [5, 25], [0.3095, 0.0683, 0.1137, 0.1454, 0.1741, 0.2689, 0.3625]),
    held("twostage", [3, 11], [0.0806, 0.1213, 0.1959, 0.2448, 0.2804, 0.2579, 0.1212]),
    held("deadlock01", [3, 11], [0.3668, 0.0904, 0.1714, 0.2468, 0.3160, 0.8363, 0.3315]),
    held("account", [4, 8], [0.1173, 0.2140, 0.1929, 0.1748, 0.1628, 0.1189, 0.3367]),
    held("token_ring", [5, 11], [0.1245, 0.1367, 0.1717, 0.1923, 0.2021, 0.2171, 0.1724]),
    held("circular_buffer", [3, 31], [0.9159, 0.1301, 0.2888, 0.4226, 0.5180, 0.7114, 0.9369]),
    held("carter01", [5, 19], [0.4706, 0.1591, 0.2974, 0.4043, 0.5007, 0.9583, 0.4999]),
    open("ctrace-test", [3, 22], [0.2380, 0.2755, 0.3342, 0.3459, 0.3453, 0.2099, 0.4680],
        "one record and one message"),
    open("pbzip2", [4, 54], [0.3768, 0.2321, 0.2736, 0.3048, 0.3245, 0.3609, 0.6268],
        "three blocks; a wait is four points in raddle, three to Maple"),
    held("stack", [3, 43], [0.6051, 0.2800, 0.4060, 0.4811, 0.5365, 0.7352, 0.6210]),
    held("lazy01", [4, 11], [0.6089, 0.5386, 0.5645, 0.5906, 0.6112, 0.6887, 0.3313]),
    open("streamcluster3", [5, 1373], [0.3523, 0.4970, 0.5020, 0.4979, 0.5009, 0.4849, 0.4421],
        "three phases; raddle's barrier is two points"),
    open("aget-bug2", [4, 24], [0.4961, 0.3993, 0.4691, 0.5036, 0.5285, 0.6117, 0.9395],
        "two blocks for each download"),
    open("barnes", [2, 4449], [0.5180, 0.5050, 0.5049, 0.5048, 0.5052, 0.5043, 0.4846],
        "60 critical sections in place of 4,449 steps"),
];

/// Measures the whole table.
pub(crate) fn table(size: Size, command: String) -> Result<Table, String> {
    let tries = match size {
        Size::Full => TRIES,
        Size::Quick => TRIES / 20,
    };
    let methods: Vec<_> = OF_THE_PAPER.into_iter().chain(Method::others()).collect();
    let mut jobs = Vec::new();
    for published in &PUBLISHED {
        for method in &methods {
            jobs.push((published, *method));
        }
    }
    let samples = each(
        &jobs,
        |(published, method)| format!("{} {}", published.program, method.name()),
        |(published, method)| sample(published, *method, tries),
    )?;
    let mut rows: Vec<_> = PUBLISHED
        .iter()
        .zip(samples.chunks(methods.len()))
        .map(|(published, samples)| row(published, &methods, samples))
        .collect();
    rows.push(means(&methods, &samples, "geometric mean, 20", |row| row.verdict == Verdict::Held));
    rows.push(means(&methods, &samples, "geometric mean, 32", |_| true));
    for published in &PUBLISHED {
        rows.extend(
            originals::of(published.program).map(|original| original_row(original, published)),
        );
    }
    let legend = legend(tries);
    let mut table = Table { name: "pos-3", size, command, rows, legend, verdicts: Vec::new() };
    table.verdicts.push(judged(&table));
    Ok(table)
}

/// Says how much better POS is than PCT and the random walk, and which rows are not the paper's.
fn judged(table: &Table) -> Judged {
    let mut parts = Vec::new();
    for (rows, [of_pct, of_walk]) in [("20", [1.72, 4.99]), ("32", [2.6, 4.7])] {
        let mean =
            |name: &str| table.figure(&format!("geometric mean, {rows}"), name).unwrap_or(f64::NAN);
        let (pct, walk) = (mean("POS") / mean("PCT-20"), mean("POS") / mean("RW"));
        parts.push(format!(
            "over {rows} rows POS is {pct:.1} times PCT-20 (paper {of_pct}), {walk:.1} times RW (paper {of_walk})"
        ));
    }
    let (mut agree, mut by_original, mut explained, mut open) =
        (0, Vec::new(), Vec::new(), Vec::new());
    for published in &PUBLISHED {
        let program = published.program;
        let z = table.figure(program, "z").unwrap_or(f64::INFINITY);
        match originals::judge(published, z) {
            Finding::Agrees => agree += 1,
            Finding::OriginalAgrees => by_original.push(program),
            Finding::Explained(why) => explained.push(format!("{program} ({why})")),
            Finding::Open => open.push(format!("{program} {z:.0}")),
        }
    }
    let mut reason = format!(
        "{agree} of 32 rows within {MOST_ERRORS} standard errors in every column; so are, on the original programs by the \
         native front end, {} more: {}",
        by_original.len(),
        by_original.join(", ")
    );
    if !explained.is_empty() {
        let _ = write!(reason, "; explained: {}", explained.join(", "));
    }
    if !open.is_empty() {
        let _ = write!(reason, "; open (largest z): {}", open.join(", "));
    }
    let _ = write!(reason, "; {}", parts.join("; "));
    let verdict = if explained.is_empty() {
        verdict::Verdict::Reproduced
    } else {
        verdict::Verdict::Explained
    };
    let holds = open.is_empty() && table.missed().is_empty();
    Judged::new(index::POS_TABLE_3, verdict, holds, reason)
}

/// The rates of an original program.
fn original_row(original: &Original, published: &Published) -> Row {
    let columns = OF_THE_PAPER.iter().zip(original.ratios).zip(published.ratios);
    let mut cells: Vec<_> = columns
        .map(|((method, ratio), paper)| {
            let value = Some(ratio).filter(|ratio| !ratio.is_nan());
            let cell = Cell { value, ..Cell::ratio(0.0) };
            (method.name(), Cell { paper: Some(paper), ..cell })
        })
        .collect();
    let z = originals::largest(original, published);
    cells.push(("z", Cell::value(z, "largest")));
    Row { name: format!("{}, original: {}", original.program, original.about), cells }
}

fn sample(published: &Published, method: Method, tries: u64) -> Result<Sample, String> {
    let program = find(published.program)?;
    let subject = Subject { program, form: Form::Bugged, size: program.size.usual };
    let runs = if published.program == SAFESTACK {
        // As many runs as the paper's, in the same proportion; fewer of what the paper does not have.
        let share = if OF_THE_PAPER.contains(&method) { 1 } else { 25 };
        REPEATED * REPEATED_TRIES * tries / TRIES / share
    } else {
        tries
    };
    Ok(method.sample(subject, [published.threads, published.steps], runs, 1, Until::AllRuns))
}

/// The ratio as the paper has it: of tries, which repeat some programs.
fn ratio(published: &Published, sample: &Sample) -> f64 {
    if published.program == SAFESTACK {
        1.0 - (1.0 - sample.ratio()).powi(REPEATED as i32)
    } else {
        sample.ratio()
    }
}

/// By how many standard errors a ratio differs from the paper's.
fn distance(published: &Published, paper: f64, sample: &Sample) -> f64 {
    if published.program == SAFESTACK {
        let tries = sample.runs / REPEATED;
        return two_sample(paper, REPEATED_TRIES, ratio(published, sample), tries);
    }
    two_sample(paper, TRIES, sample.ratio(), sample.runs)
}

fn row(published: &Published, methods: &[Method], samples: &[Sample]) -> Row {
    let mut largest = 0.0f64;
    let cells = methods.iter().zip(samples).enumerate().map(|(index, (method, sample))| {
        let mut cell = Cell::ratio(ratio(published, sample));
        if let Some(&paper) = published.ratios.get(index) {
            cell.paper = Some(paper);
            let z = distance(published, paper, sample).abs();
            largest = largest.max(z);
            if published.verdict == Verdict::Held {
                cell.ok = Some(z <= MOST_ERRORS);
            }
        }
        (method.name(), cell)
    });
    let mut cells: Vec<_> = cells.collect();
    cells.insert(OF_THE_PAPER.len(), ("z", Cell::value(largest, "largest")));
    Row { name: published.program.to_owned(), cells }
}

/// Geometric means, with 1/tries for what was never hit, as in the paper.
fn means(
    methods: &[Method],
    samples: &[Sample],
    name: &str,
    counts: impl Fn(&Published) -> bool,
) -> Row {
    let cells = methods.iter().enumerate().map(|(index, method)| {
        let rows = PUBLISHED.iter().zip(samples.chunks(methods.len()));
        let rows: Vec<_> = rows.filter(|(published, _)| counts(published)).collect();
        let measured = rows.iter().map(|(published, samples)| {
            let sample = &samples[index];
            let least = if published.program == SAFESTACK {
                REPEATED as f64 / sample.runs as f64
            } else {
                1.0 / sample.runs as f64
            };
            ratio(published, sample).max(least)
        });
        let mut cell = Cell::ratio(geometric_mean(measured));
        if index < OF_THE_PAPER.len() {
            let paper = geometric_mean(rows.iter().map(|(published, _)| {
                let tries = if published.program == SAFESTACK { REPEATED_TRIES } else { TRIES };
                published.ratios[index].max(1.0 / tries as f64)
            }));
            cell.paper = Some(paper);
            if *method == Method::PosStar && rows.len() < PUBLISHED.len() {
                let off = (cell.value.unwrap_or(0.0) / paper - 1.0).abs();
                cell.ok = Some(off <= 0.05);
            }
        }
        (method.name(), cell)
    });
    let mut cells: Vec<_> = cells.collect();
    cells.insert(OF_THE_PAPER.len(), ("z", Cell::default()));
    Row { name: name.to_owned(), cells }
}

fn legend(tries: u64) -> Vec<String> {
    let mut lines = vec![
        format!("ratios of {tries} tries that hit the bug; paper: of {TRIES}"),
        "RW, PCT-d, POS: by Maple's rules; the others as raddle has them, on the same programs"
            .to_owned(),
        "met: within 4 standard errors of the difference; the mean of POS within 5 %".to_owned(),
        "z: the largest difference of the seven, in standard errors".to_owned(),
        "original: the program's public source, by the native front end with Maple's rules, measured on 2026-11-18 and 2026-11-19 outside \
         this program; places that race are scheduling points"
            .to_owned(),
        "a row is explained if the paper's rates are between those of the original with different sets of points, to a \
         factor of two or 4 standard errors, or if every run of the original fails"
            .to_owned(),
        "safestack: the paper repeats it 10,000 times inside of a try and does not say whether each repetition has a new \
         stack; with one stack links get lost, and later repetitions fail more often"
            .to_owned(),
        "written from a description, so that points and steps differ:".to_owned(),
    ];
    for Published { program, verdict, .. } in &PUBLISHED {
        if let Verdict::Open(why) = verdict {
            let mut line = String::new();
            let _ = write!(line, "  {program}: {why}");
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the paper says about its own table.
    #[test]
    fn the_table_is_copied_without_mistakes() {
        let published = [0.0380, 0.0213, 0.0459, 0.0604, 0.0692, 0.0694, 0.1795];
        for (index, mean) in published.into_iter().enumerate() {
            let ratios = PUBLISHED.iter().map(|row| {
                let tries = if row.program == SAFESTACK { REPEATED_TRIES } else { TRIES };
                row.ratios[index].max(1.0 / tries as f64)
            });
            let ours = geometric_mean(ratios);
            assert!((ours / mean - 1.0).abs() < 0.01, "{index}: {ours} is not {mean}");
        }
        assert_eq!(PUBLISHED.iter().filter(|row| row.verdict == Verdict::Held).count(), 20);
    }

    /// The programs have the threads of the published ones, and about as many steps where that is held.
    #[test]
    fn programs_are_the_published_ones() {
        for published in &PUBLISHED {
            let program = find(published.program).unwrap();
            assert_eq!((program.threads)(program.size.usual) as usize, published.threads);
        }
    }

    /// A small sample of the held programs, by the algorithms that need nothing but this crate.
    #[test]
    fn ratios_are_the_published_ones() {
        let held = PUBLISHED.iter().filter(|row| row.verdict == Verdict::Held);
        for published in held {
            for (index, method) in OF_THE_PAPER.into_iter().enumerate() {
                let tries = 300;
                let sample = sample(published, method, tries).unwrap();
                assert_eq!((sample.others, sample.endless), (0, 0), "{}", published.program);
                let z = two_sample(published.ratios[index], TRIES, sample.ratio(), tries);
                let (program, name) = (published.program, method.name());
                assert!(z.abs() <= 5.0, "{program} {name}: {} ({z:.1})", sample.ratio());
            }
        }
    }
}
