//! Table 2: operations k, and k_eff after the optimisations of §4.2.
//!
//! The optimisations remove operations at which one thread alone can run. So k_eff depends on how a program divides its
//! operations, and the originals' division is not published. The programs here have the paper's k and divide it so that
//! k_eff becomes the paper's: main alone first, then both threads, with or without meetings.

use std::sync::atomic::AtomicU32 as QuietCount;
use std::sync::atomic::Ordering::Relaxed;

use raddle_programs::{Form, Program, Size, find};
use raddle_strategy::{Pct, Sampler};

use super::{Published, bugs};
use crate::index;
use crate::sample::Subject;
use crate::table::{Cell, Row, Table};
use crate::verdict::{Judged, Verdict};

/// How a program divides its critical sections, which are two operations each.
struct Division {
    /// The row of the paper's program.
    name: &'static str,
    body: fn(Form, u32),
    about: &'static str,
}

const DIVISIONS: [Division; 3] = [
    Division {
        name: "Splash-FFT",
        body: |_, _| run(255, 1, 70),
        about: "main makes 255 critical sections alone, then two threads 70 each",
    },
    Division {
        name: "Splash-LU",
        body: |_, _| run(250, 10, 25),
        about: "main makes 250 critical sections alone, then two threads 25 each, ten times, and meet each time",
    },
    Division {
        name: "Splash-Barnes",
        body: |_, _| run(3640, 1, 159),
        about: "main makes 3,640 critical sections alone, then two threads 159 each",
    },
];

/// Figures agree with the paper's within this share of them.
const TOLERANCE: f64 = 0.15;

/// Main makes some critical sections alone; then two threads make some in each phase, and meet between phases.
fn run(alone: u32, phases: u32, together: u32) {
    use raddle::sync::{Arc, Mutex};
    use raddle::thread;

    let sections = |lock: &Mutex<u32>, count: u32| {
        for _ in 0..count {
            *lock.lock().expect("no thread panics") += 1;
        }
    };
    let lock = Arc::new(Mutex::new(0));
    sections(&lock, alone);
    // Reading it is no operation, so that a thread that waits adds only its yields.
    let arrived = Arc::new(QuietCount::new(0));
    let work = move |lock: &Mutex<u32>, arrived: &QuietCount| {
        for phase in 1..=phases {
            sections(lock, together);
            arrived.fetch_add(1, Relaxed);
            while phase < phases && arrived.load(Relaxed) < 2 * phase {
                thread::yield_now();
            }
        }
    };
    let other = {
        let (lock, arrived) = (lock.clone(), arrived.clone());
        thread::spawn(move || work(&lock, &arrived))
    };
    work(&lock, &arrived);
    other.join().expect("a panic ends the execution");
}

/// The steps from which PCT draws change points, after some runs.
pub(super) fn effective(subject: Subject, depth: u32) -> (usize, Cell) {
    let mut longest = 0;
    let sampler = subject.each_trace(Pct::new(depth), 50, 3, |_, trace| {
        longest = longest.max(trace.events.len());
        true
    });
    let steps = sampler.guarantees().first().map(|guarantee| guarantee.steps);
    (longest, steps.map_or_else(Cell::default, |steps| Cell::count(steps, "steps")))
}

/// The programs that divide their operations as the paper's might.
pub(super) fn rows() -> Result<Vec<Row>, String> {
    let like = find("pct-splash")?;
    let row = |division: &Division| {
        // Depth 2, because PCT of depth 1 has no change points.
        let program = Program {
            name: "divided",
            origin: like.origin,
            about: division.about,
            failure: like.failure,
            class: like.class,
            granularity: like.granularity,
            space: like.space,
            size: Size::FIXED,
            threads: like.threads,
            body: division.body,
        };
        let program: &'static Program = Box::leak(Box::new(program));
        let subject = Subject { program, form: Form::Fixed, size: program.size.usual };
        let (longest, effective) = effective(subject, 2);
        let [k, paper] = published(division).steps.unwrap_or_default();
        let cells = vec![
            ("k", Cell { paper: Some(k), ..Cell::count(longest as u64, "steps") }),
            ("k_eff", Cell { paper: Some(paper), ..effective }),
        ];
        Row { name: divided(division.name), cells }
    };
    Ok(DIVISIONS.iter().map(row).collect())
}

pub(super) fn legend() -> impl Iterator<Item = String> {
    DIVISIONS.iter().map(|division| format!("{}: {}", divided(division.name), division.about))
}

fn divided(name: &str) -> String {
    format!("{name}, divided")
}

fn published(division: &Division) -> &'static Published {
    let mut bugs = bugs();
    bugs.find(|bug| bug.name == division.name).expect("a division belongs to a published row")
}

/// Says that k_eff follows from how operations are divided.
pub(super) fn verdict(table: &Table) -> Judged {
    let figure = |row: &str, cell: &str| table.figure(row, cell).unwrap_or(f64::NAN);
    let figures = |row: &str| ["k", "k_eff"].map(|cell| figure(row, cell));
    let mut parts = Vec::new();
    for Published { name, steps, .. } in bugs() {
        let ([k, effective], Some([paper_k, paper])) = (figures(name), steps) else { continue };
        parts.push(format!("{name} {k:.0} → {effective:.0} ({paper_k:.0} → {paper:.0})"));
    }
    let (mut divisions, mut near) = (Vec::new(), 0);
    for division in &DIVISIONS {
        let here = figures(&divided(division.name));
        let paper = published(division).steps.unwrap_or_default();
        let is_near = |(here, paper): (f64, f64)| (here / paper - 1.0).abs() <= TOLERANCE;
        near += usize::from(here.into_iter().zip(paper).all(is_near));
        divisions.push(format!("{} {:.0} → {:.0}", division.name, here[0], here[1]));
    }
    let reason = format!(
        "k → k_eff (paper): {}. The optimisations remove operations at which one thread alone can run, so k_eff follows \
         from how a program divides its operations: programs of the paper's k that divide them in another way have {}, \
         within {:.0} % of the paper in {near} of 3. How the originals divide them is not published (their sizes are not \
         given; IE and Mozilla have no counterpart)",
        parts.join(", "),
        divisions.join(", "),
        100.0 * TOLERANCE,
    );
    Judged::new(index::PCT_TABLE_2, Verdict::Explained, near == DIVISIONS.len(), reason)
}
