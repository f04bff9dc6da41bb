//! Rates of original programs of SCTBench under raddle's native front end, for the rows whose Rust programs, written
//! from descriptions, do not have the published rates.
//!
//! Measured on 2026-11-18 and 2026-11-19 outside this program: the programs' public sources, built with `raddle cc` or `raddle c++` at
//! `-O0`, and run with `--races false` (places that race are scheduling points) and Maple's samplers of
//! [`crate::compat`], with the paper's n and k. Nothing of the programs is kept here.
//!
//! radbench-bug2: the JavaScript engine waits in loops of instructions that the native front end does not see. Where a thread waits
//! there under strict priorities no execution ends, so that three of PCT's rates could not be measured. `runs` is the least of a row.
//!
//! pbzip2: a thread that naps, as the one that waits for blocks to write, drops to the lowest priority under PCT. Without accesses as
//! points random walk did not come to the end of an execution in a million steps. A failure is any that raddle reports: use of a mutex
//! or of memory that main has freed, or main frees a mutex that is locked.
//!
//! SafeStack: the paper repeats it 10,000 times inside of a try, and does not say what becomes of the stack. Made anew, no
//! execution of 1,623,784 by random walk, 2,500,000 by POS and 200,000 by each PCT failed. If each repetition goes on with the stack
//! that the last one left, 300 in a row failed in 63 of 6,821 executions by random walk and 494 of 7,494 by POS. The row is of
//! 33 such executions, which are fewer than 10,000 repetitions; longer ones took too long. `runs` are tries then. Because links of the stack get lost, a
//! repetition then fails the more often, the later it comes: with 30 in a row none of 3,000 executions failed.

use super::{MOST_ERRORS, Published, TRIES};
use crate::statistics::two_sample;

/// An original program with some set of scheduling points.
pub(super) struct Original {
    pub(super) program: &'static str,
    /// What is special about the points or the program.
    pub(super) about: &'static str,
    /// Steps of a run of random walk, on average.
    pub(super) steps: f64,
    pub(super) runs: u64,
    /// By method, as published. [`NONE`] where it was not measured.
    pub(super) ratios: [f64; 7],
}

/// No figure.
const NONE: f64 = f64::NAN;

const ALL: &str = "all places that race";

const fn original(
    program: &'static str,
    about: &'static str,
    (runs, steps): (u64, f64),
    ratios: [f64; 7],
) -> Original {
    Original { program, about, steps, runs, ratios }
}

/// The rates by the samplers of the paper.
#[rustfmt::skip]
const ORIGINALS: &[Original] = &[
    original("radbench-bug6", "all places that race, debug build", (10_000, 118.2),
        [0.3095, 0.0473, 0.0808, 0.1023, 0.1174, 0.1486, 0.2363]),
    original("radbench-bug6", "optimised build without assertions", (1_000, 51.6),
        [0.1490, 0.0130, 0.0280, 0.0350, 0.0420, 0.1150, 0.1690]),
    original("radbench-bug2", "three threads that make contexts, as in the source", (300, 5210.5),
        [0.0000, 0.0000, 0.0000, 0.0086, 0.0200, NONE, 0.0633]),
    original("radbench-bug2", "one such thread, as the paper's n asks", (268, 5115.1),
        [0.0000, NONE, NONE, 0.0000, 0.0000, 0.0000, 0.0000]),
    original("safestack", "a new stack for each repetition", (162, 109.0), [0.0; 7]),
    original("safestack", "one stack for 300 repetitions", (206, 109.0),
        [0.2638, NONE, NONE, NONE, NONE, NONE, 0.8946]),
    original("WSQ-State", ALL, (500, 2321.6),
        [0.0160, 0.0000, 0.0040, 0.0100, 0.0160, 0.0380, 0.1300]),
    original("WSQ-State", "places found after 4 rounds", (1_000, 1155.7),
        [0.1190, 0.0000, 0.0020, 0.0040, 0.0060, 0.0330, 0.1760]),
    original("WSQ-State", "the places that race first", (1_000, 613.9),
        [0.1330, 0.0000, 0.0010, 0.0020, 0.0020, 0.0090, 0.1880]),
    original("IWSQ-State", ALL, (500, 2165.0),
        [0.0960, 0.0020, 0.0140, 0.0280, 0.0320, 0.1220, 0.1860]),
    original("IWSQ-State", "places found after 4 rounds", (1_000, 1180.3),
        [0.1360, 0.0020, 0.0070, 0.0160, 0.0230, 0.1360, 0.2020]),
    original("IWSQ-State", "the places that race first", (1_000, 521.8),
        [0.2270, 0.0020, 0.0050, 0.0060, 0.0080, 0.0470, 0.2340]),
    original("qsort_mt", "the places that race first", (10_000, 66.9),
        [0.0076, 0.0110, 0.0208, 0.0305, 0.0403, 0.0895, 0.0942]),
    original("qsort_mt", ALL, (1_000, 420.7),
        [0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0020]),
    original("ctrace-test", ALL, (1_000, 16.7), [1.0; 7]),
    original("pbzip2", ALL, (385, 109.6),
        [0.2860, 0.2500, 0.2675, 0.3100, 0.3240, 0.3940, 0.4420]),
    original("pbzip2", "no accesses to memory as points", (500, 41.4),
        [NONE, 0.0000, 0.0180, 0.0300, 0.0360, 0.1040, 0.1620]),
    original("streamcluster3", ALL, (10_000, 4821.6),
        [0.3434, 0.4980, 0.4980, 0.4980, 0.4980, 0.4980, 0.4525]),
    original("aget-bug2", "copies of memory are no points", (1_000, 20.2),
        [0.4730, 0.4120, 0.4810, 0.5190, 0.5510, 0.6350, 0.9440]),
];

/// What becomes of a published row.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Finding {
    /// The rates are the paper's.
    Agrees,
    /// Those of an original are.
    OriginalAgrees,
    /// Scheduling points decide, or what counts as a failure: why.
    Explained(String),
    /// None of these.
    Open,
}

/// Returns the originals of a program.
pub(super) fn of(program: &str) -> impl Iterator<Item = &'static Original> {
    ORIGINALS.iter().filter(move |original| original.program == program)
}

/// By how many standard errors the original's rates that were measured differ from the paper's, at most.
pub(super) fn largest(original: &Original, published: &Published) -> f64 {
    let errors = published.ratios.iter().zip(original.ratios);
    errors.fold(0.0, |most, (&paper, ratio)| most.max(distance(original, ratio, paper)))
}

fn distance(original: &Original, ratio: f64, paper: f64) -> f64 {
    two_sample(paper, TRIES, ratio, original.runs).abs()
}

/// Says what becomes of a row whose own rates differ from the paper's by `z` standard errors at most.
///
/// If no original agrees, the row is explained by its points if in each column the paper's rate is between the least and
/// the largest rate of the original with different sets of points, or within a factor of two or [`MOST_ERRORS`] standard
/// errors of one of them; or by what counts as a failure, if every run of the original fails.
pub(super) fn judge(published: &Published, z: f64) -> Finding {
    if z <= MOST_ERRORS {
        return Finding::Agrees;
    }
    let originals: Vec<_> = of(published.program).collect();
    let is_whole = |original: &Original| original.ratios.iter().all(|ratio| !ratio.is_nan());
    let agrees = |original: &Original| largest(original, published) <= MOST_ERRORS;
    if originals.iter().any(|original| is_whole(original) && agrees(original)) {
        return Finding::OriginalAgrees;
    }
    if originals.iter().any(|original| original.ratios.iter().all(|&ratio| ratio == 1.0)) {
        return Finding::Explained(
            "every run of the original uses a lock or semaphore after its end; the paper counts runs that crash".to_owned(),
        );
    }
    let is_between = |(column, &paper): (usize, &f64)| {
        let ratios = || {
            originals.iter().map(|original| original.ratios[column]).filter(|ratio| !ratio.is_nan())
        };
        let (low, high) = (ratios().fold(1.0, f64::min), ratios().fold(0.0, f64::max));
        let by_chance = |original: &&Original| {
            distance(original, original.ratios[column], paper) <= MOST_ERRORS
        };
        (low / 2.0..=high * 2.0).contains(&paper) || originals.iter().any(by_chance)
    };
    if originals.len() < 2 || !published.ratios.iter().enumerate().all(is_between) {
        return Finding::Open;
    }
    let shown = |ratio: f64| if ratio.is_nan() { "–".to_owned() } else { format!("{ratio:.3}") };
    let rates = |original: &&Original| {
        let [walk, .., pos] = original.ratios.map(shown);
        format!("RW {walk}, POS {pos} with {} ({:.0} steps)", original.about, original.steps)
    };
    let [walk, .., pos] = published.ratios;
    let rates: Vec<_> = originals.iter().map(rates).collect();
    Finding::Explained(format!("RW {walk:.3}, POS {pos:.3}; original: {}", rates.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::super::PUBLISHED;
    use super::*;

    #[test]
    fn originals_have_published_rows() {
        for original in ORIGINALS {
            assert!(PUBLISHED.iter().any(|row| row.program == original.program));
            let measured = original.ratios.iter().filter(|ratio| !ratio.is_nan());
            assert!(measured.clone().count() >= 2);
            assert!(measured.clone().all(|ratio| (0.0..=1.0).contains(ratio)));
        }
    }

    /// Rates far from any that were measured leave a row open.
    #[test]
    fn a_row_is_explained_only_by_rates_that_were_measured() {
        let row = |program: &str| PUBLISHED.iter().find(|row| row.program == program).unwrap();
        assert_eq!(judge(row("queue"), 2.0), Finding::Agrees);
        assert_eq!(judge(row("queue"), 5.0), Finding::Open);
        assert_eq!(judge(row("streamcluster3"), 50.0), Finding::OriginalAgrees);
        // Its rates that were measured agree, but not all were.
        assert!(matches!(judge(row("radbench-bug2"), 48.5), Finding::Explained(_)));
        assert!(matches!(judge(row("safestack"), 11.1), Finding::Explained(_)));
        assert!(matches!(judge(row("pbzip2"), 49.8), Finding::Explained(_)));
        let far = Published { ratios: [0.9; 7], ..*row("WSQ-State") };
        assert_eq!(judge(&far, 50.0), Finding::Open);
    }
}
