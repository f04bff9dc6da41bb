//! The work-stealing queue of the PCT paper: Figs 9 to 11.
//!
//! Fig. 9: how often PCT hits the bug, with more stealers and more items. Fig. 10: the same with four items
//! beside a stress test, here with real threads of the operating system. Fig. 11: which pairs of events, one
//! of the owner and one of a stealer, have been seen one right after the other, by the number of runs.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_core::{Event, ThreadId, Trace};
use raddle_programs::{Form, Program, find, stealing_half_of, stealing_with};
use raddle_strategy::{Pct, Pos, Random, Sampler};

use crate::index;
use crate::parallel::each;
use crate::plot::{Plot, Series, Spacing};
use crate::sample::{Subject, Until};
use crate::table::{Cell, Row, Size, Table};
use crate::verdict::{Judged, Verdict};

const STEALERS: [u32; 6] = [2, 4, 8, 16, 32, 64];
const ITEMS: [u32; 5] = [4, 8, 16, 32, 64];
const NAMES: [&str; 5] = ["4 items", "8 items", "16 items", "32 items", "64 items"];

/// The bug is of this depth.
const DEPTH: u32 = 2;

fn runs(size: Size, stealers: u32, items: u32) -> u64 {
    let steps = match size {
        Size::Full => 20_000_000,
        Size::Quick => 500_000,
    };
    steps / u64::from(20 * stealers + 12 * items)
}

fn queue(stealers: u32, items: u32) -> Result<Subject, String> {
    let program = stealing_with(items)?;
    Ok(Subject { program, form: Form::Bugged, size: program.admits(stealers)? })
}

/// Fig. 9.
pub(crate) fn threads_and_items(size: Size, command: String) -> Result<(Table, Vec<Plot>), String> {
    let mut jobs = Vec::new();
    for stealers in STEALERS {
        for items in ITEMS {
            jobs.push((stealers, items));
        }
    }
    let samples = each(
        &jobs,
        |(stealers, items)| format!("{stealers} stealers, {items} items"),
        |&(stealers, items)| {
            let runs = runs(size, stealers, items);
            Ok(queue(stealers, items)?.sample(Pct::new(DEPTH), runs, 1, Until::AllRuns))
        },
    )?;
    let ratio = |s: usize, i: usize| samples[s * ITEMS.len() + i].ratio();
    let mut rows = Vec::new();
    for (s, stealers) in STEALERS.into_iter().enumerate() {
        let cell = |i: usize| {
            let mut cell = Cell::ratio(ratio(s, i));
            // What the figure shows: the more stealers, the more often.
            if s + 1 == STEALERS.len() {
                cell.ok = Some(ratio(s, i) > ratio(0, i));
            }
            (NAMES[i], cell)
        };
        let name = format!("{stealers} stealers");
        rows.push(Row { name, cells: (0..ITEMS.len()).map(cell).collect() });
    }
    // k, and hits that each of its steps stands for.
    for (s, stealers) in STEALERS.into_iter().enumerate() {
        let cell = |i: usize| {
            let sample = &samples[s * ITEMS.len() + i];
            let steps = sample.ratio() * sample.longest as f64;
            (NAMES[i], Cell { value: Some(steps), ..Cell::default() })
        };
        let name = format!("{stealers} stealers, hits × k");
        rows.push(Row { name, cells: (0..ITEMS.len()).map(cell).collect() });
    }
    let more = each(
        &jobs,
        |(stealers, items)| format!("{stealers} stealers, {} attempts", items / 2),
        |&(stealers, items)| {
            let program = stealing_half_of(items)?;
            let (form, stealing) = (Form::Bugged, program.admits(stealers)?);
            let subject = Subject { program, form, size: stealing };
            let runs = runs(size, stealers * items / 4, items);
            Ok(subject.sample(Pct::new(DEPTH), runs, 1, Until::AllRuns))
        },
    )?;
    for (s, stealers) in STEALERS.into_iter().enumerate() {
        let cell = |i: usize| (NAMES[i], Cell::ratio(more[s * ITEMS.len() + i].ratio()));
        let name = format!("{stealers} stealers, items / 2 attempts");
        rows.push(Row { name, cells: (0..ITEMS.len()).map(cell).collect() });
    }
    let series = NAMES.into_iter().enumerate().map(|(i, name)| {
        let point = |(s, stealers): (usize, u32)| (f64::from(stealers), ratio(s, i));
        Series { name, points: STEALERS.into_iter().enumerate().map(point).collect() }
    });
    let plot = Plot {
        name: "pct-fig9".to_owned(),
        title: "Work-stealing queue: how often PCT hits the bug".to_owned(),
        across: "stealers",
        spacing: Spacing::Even,
        up: "hits per run",
        series: series.collect(),
    };
    let legend = vec![
        "shares of runs of pct:2 that hit the bug; each stealer makes two attempts".to_owned(),
        "the paper shows a plot without numbers, which rises with the threads; so must these (met)"
            .to_owned(),
        "the paper's Table 3 has .002 for one stealer of a larger program".to_owned(),
        "hits × k: hits times the steps of the longest run, which is the number of steps whose change point hits the bug"
            .to_owned(),
        "items / 2 attempts: each stealer makes this number instead of two".to_owned(),
    ];
    let mut table = Table { name: "pct-fig9", size, command, rows, legend, verdicts: Vec::new() };
    table.verdicts.push(items_verdict(&table));
    Ok((table, vec![plot]))
}

/// Says how hits depend on the threads and on the items.
fn items_verdict(table: &Table) -> Judged {
    let figure = |row: &str, items: &str| table.figure(row, items).unwrap_or(f64::NAN);
    let rises =
        NAMES.iter().all(|items| figure("64 stealers", items) > figure("2 stealers", items));
    // From four items to 64, for two and for eight stealers.
    let change = |row: &str| figure(row, "64 items") / figure(row, "4 items");
    let [two, per_step, attempts] = ["", ", hits × k", ", items / 2 attempts"]
        .map(|ending| change(&format!("2 stealers{ending}")));
    let [eight, eight_per_step, eight_attempts] = ["", ", hits × k", ", items / 2 attempts"]
        .map(|ending| change(&format!("8 stealers{ending}")));
    let reason = format!(
        "hits rise with the threads, as in the paper, but fall with the items, 4 to 64: by a factor of {two:.2} with 2 \
         stealers, {eight:.2} with 8. A stealer makes two attempts whatever the items, so about as many steps can hit \
         the bug (hits × k: {per_step:.2}, {eight_per_step:.2}), of a k that grows; with as many attempts as items, hits \
         change by {attempts:.2} and {eight_attempts:.2}"
    );
    let is_steady = |factor: f64| (0.5..=2.0).contains(&factor);
    let holds = rises && is_steady(per_step) && is_steady(attempts);
    Judged::new(index::PCT_FIG_9, Verdict::Explained, holds, reason)
}

/// Fig. 10.
pub(crate) fn against_stress(size: Size, command: String) -> Result<(Table, Vec<Plot>), String> {
    let mut rows = Vec::new();
    let (mut pct, mut stress) = (Vec::new(), Vec::new());
    for stealers in STEALERS {
        let subject = queue(stealers, 4)?;
        let runs = runs(size, stealers, 4);
        let sample = subject.sample(Pct::new(DEPTH), runs, 1, Until::AllRuns);
        let real = match size {
            Size::Full => 20_000 / u64::from(stealers),
            Size::Quick => 1_000 / u64::from(stealers),
        };
        let hits = under_stress(subject, real);
        pct.push((f64::from(stealers), sample.ratio()));
        stress.push((f64::from(stealers), hits as f64 / real as f64));
        let mut cell = Cell::ratio(sample.ratio());
        cell.ok = Some(sample.ratio() > hits as f64 / real as f64);
        let cells = vec![
            ("pct", cell),
            ("stress", Cell::ratio(hits as f64 / real as f64)),
            ("runs", Cell::count(runs, "pct")),
            ("stress_runs", Cell::count(real, "stress")),
        ];
        rows.push(Row { name: format!("{stealers} stealers"), cells });
    }
    let plot = Plot {
        name: "pct-fig10".to_owned(),
        title: "Work-stealing queue, 4 items: PCT and a stress test".to_owned(),
        across: "stealers",
        spacing: Spacing::Even,
        up: "hits per run",
        series: vec![
            Series { name: "PCT", points: pct },
            Series { name: "stress", points: stress },
        ],
    };
    let legend = vec![
        "stress: the same program on threads of the operating system, nothing in control"
            .to_owned(),
        "met: PCT hits the bug more often, as in the paper's plot, which has no numbers".to_owned(),
    ];
    let mut table = Table { name: "pct-fig10", size, command, rows, legend, verdicts: Vec::new() };
    let more = table.asked() - table.missed().len();
    let figure = |stealers: &str, name: &str| table.figure(stealers, name).unwrap_or(f64::NAN);
    let reason = format!(
        "PCT hits more often than stress with 2 to 64 stealers, {more} of 6: {:.3} to {:.3}, stress {:.4} to {:.4}; the \
         paper's plot has no numbers",
        figure("2 stealers", "pct"),
        figure("64 stealers", "pct"),
        figure("2 stealers", "stress"),
        figure("64 stealers", "stress"),
    );
    let judged = Judged::new(index::PCT_FIG_10, Verdict::Reproduced, more == 6, reason);
    table.verdicts.push(judged);
    Ok((table, vec![plot]))
}

/// How many of a number of runs outside raddle fail.
pub(crate) fn under_stress(subject: Subject, runs: u64) -> u64 {
    let Subject { program, form, size } = subject;
    let closure = program.closure(form, size);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let failures = (0..runs).filter(|_| catch_unwind(AssertUnwindSafe(&closure)).is_err());
    let failures = failures.count() as u64;
    std::panic::set_hook(hook);
    failures
}

/// Fig. 11.
pub(crate) fn event_pairs(size: Size, command: String) -> Result<(Table, Vec<Plot>), String> {
    let most = match size {
        Size::Full => 1 << 16,
        Size::Quick => 1 << 11,
    };
    let program = find("pct-wsq")?;
    let subject = Subject { program, form: Form::Fixed, size: 1 };
    let checkpoints: Vec<u64> = (0..=u64::ilog2(most)).map(|power| 1 << power).collect();
    let pct = covered(subject, Pct::new(3), &checkpoints);
    let pct_5 = covered(subject, Pct::new(5), &checkpoints);
    let pct_20 = covered(subject, Pct::new(20), &checkpoints);
    let random = covered(subject, Random::default(), &checkpoints);
    let pos = covered(subject, Pos::default(), &checkpoints);
    // What all of them together have seen, which after so many runs is what there is.
    let mut all = HashSet::new();
    for coverage in [&pct, &pct_5, &pct_20, &random, &pos] {
        all.extend(coverage.pairs.iter().copied());
    }
    let share = |seen: usize| seen as f64 / all.len() as f64;
    let mut rows = Vec::new();
    for (index, runs) in checkpoints.iter().enumerate() {
        let cells = vec![
            ("pct", Cell::ratio(share(pct.counts[index]))),
            ("pct:5", Cell::ratio(share(pct_5.counts[index]))),
            ("pct:20", Cell::ratio(share(pct_20.counts[index]))),
            ("random", Cell::ratio(share(random.counts[index]))),
            ("pos", Cell::ratio(share(pos.counts[index]))),
        ];
        rows.push(Row { name: format!("{runs} runs"), cells });
    }
    let line = |name, coverage: &Coverage| {
        let points = checkpoints.iter().zip(&coverage.counts);
        let points = points.map(|(runs, seen)| ((*runs as f64).log2(), share(*seen))).collect();
        Series { name, points }
    };
    let plot = Plot {
        name: "pct-fig11".to_owned(),
        title: "Work-stealing queue: pairs of events covered".to_owned(),
        across: "runs, as a power of two",
        spacing: Spacing::Even,
        up: "share of pairs",
        series: vec![
            line("PCT", &pct),
            line("PCT 5", &pct_5),
            line("PCT 20", &pct_20),
            line("random", &random),
            line("POS", &pos),
        ],
    };
    let legend = vec![
        format!(
            "an event is a place in the source; {} pairs of one of the owner and one of the stealer, in an \
             order, were seen one right after the other; the paper has 168",
            all.len()
        ),
        "pct: pct:3; the paper's plot, without numbers, has PCT cover all and stress 20 %"
            .to_owned(),
    ];
    let mut table = Table { name: "pct-fig11", size, command, rows, legend, verdicts: Vec::new() };
    let last = table.rows.last().map_or(String::new(), |row| row.name.clone());
    let figure = |row: &str, name: &str| 100.0 * table.figure(row, name).unwrap_or(f64::NAN);
    let (three, five, twenty) =
        (figure(&last, "pct"), figure(&last, "pct:5"), figure(&last, "pct:20"));
    let reason = format!(
        "after {last} PCT of depth 3 covers {three:.0} % of the pairs, of depth 5 {five:.0} %, of depth 20 {twenty:.0} %: a \
         pair of neighbours takes up to two switches beside those that lead to it, and depth d has d − 1; the paper \
         does not give its d. Random walk covers {:.0} %, POS {:.0} %",
        figure(&last, "random"),
        figure(&last, "pos"),
    );
    let judged =
        Judged::new(index::PCT_FIG_11, Verdict::Explained, twenty >= 98.0 && five > three, reason);
    table.verdicts.push(judged);
    Ok((table, vec![plot]))
}

/// Pairs of neighbouring events of different threads.
struct Coverage {
    pairs: HashSet<(Place, Place)>,
    /// How many there were after so many runs.
    counts: Vec<usize>,
}

/// Whether it is the owner's, and the line and column.
type Place = (bool, u32, u32);

fn place(event: &Event) -> Place {
    let location = event.site.location();
    let (line, column) = location.map_or((0, 0), |place| (place.line(), place.column()));
    (event.id.thread == ThreadId::MAIN, line, column)
}

fn covered(subject: Subject, sampler: impl Sampler + Clone, checkpoints: &[u64]) -> Coverage {
    let mut coverage = Coverage { pairs: HashSet::new(), counts: Vec::new() };
    let mut runs = 0;
    let most = checkpoints.last().copied().unwrap_or(0);
    subject.each_trace(sampler, most, 1, |_: &Program, trace: &Trace| {
        let is_on_queue = |event: &&Event| !event.op.is_thread();
        let events: Vec<_> = trace.events.iter().filter(is_on_queue).collect();
        for pair in events.windows(2) {
            if pair[0].id.thread != pair[1].id.thread {
                coverage.pairs.insert((place(pair[0]), place(pair[1])));
            }
        }
        runs += 1;
        if checkpoints.contains(&runs) {
            coverage.counts.push(coverage.pairs.len());
        }
        true
    });
    coverage
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_is_hit_at_every_size() {
        for (stealers, items) in [(2, 4), (8, 8), (2, 16)] {
            let subject = queue(stealers, items).unwrap();
            let bugged = subject.sample(Pct::new(DEPTH), 1_000, 1, Until::AllRuns);
            assert!(bugged.hits > 0 && bugged.others == 0, "{stealers} {items}: {bugged:?}");
            let fixed = Subject { form: Form::Fixed, ..subject };
            let fixed = fixed.sample(Pct::new(DEPTH), 300, 1, Until::AllRuns);
            assert_eq!((fixed.hits, fixed.others), (0, 0), "{stealers} {items}");
        }
    }

    #[test]
    fn stress_counts_failures() {
        let program = find("fsbench").unwrap();
        let subject = |form| Subject { program, form, size: 1 };
        assert_eq!(under_stress(subject(Form::Bugged), 3), 3);
        assert_eq!(under_stress(subject(Form::Fixed), 3), 0);
    }
}
