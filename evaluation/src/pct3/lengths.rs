//! Table 2: operations k, and k_eff after the optimisations of §4.2.
//!
//! The optimisations remove operations at which one thread alone can run. So k_eff depends on how a program divides its
//! operations, and the originals' division is not published. The programs here have the paper's k and divide it so that
//! k_eff becomes the paper's: main alone first, then two threads.

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
    /// The critical sections of main alone, and then of each of two threads.
    alone: u32,
    together: u32,
    body: fn(Form, u32),
}

/// Makes a [`Division`]; a program's body is a function, so it repeats the numbers.
macro_rules! division {
    ($name:literal, $alone:literal, $together:literal) => {
        Division {
            name: $name,
            alone: $alone,
            together: $together,
            body: |_, _| run($alone, $together),
        }
    };
}

const DIVISIONS: [Division; 3] = [
    division!("Splash-FFT", 317, 38),
    division!("Splash-LU", 212, 272),
    division!("Splash-Barnes", 3796, 80),
];

/// Figures agree with the paper's within this share of them.
const TOLERANCE: f64 = 0.15;

/// Main makes some critical sections alone, then together with another thread.
fn run(alone: u32, together: u32) {
    use raddle::sync::{Arc, Mutex};
    use raddle::thread;

    let sections = |lock: &Mutex<u32>, count: u32| {
        for _ in 0..count {
            *lock.lock().expect("no thread panics") += 1;
        }
    };
    let lock = Arc::new(Mutex::new(0));
    sections(&lock, alone);
    let other = {
        let lock = lock.clone();
        thread::spawn(move || sections(&lock, together))
    };
    sections(&lock, together);
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
            about: "main makes critical sections alone, then with another thread",
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
    DIVISIONS.iter().map(|Division { name, alone, together, .. }| {
        let name = divided(name);
        format!(
            "{name}: main makes {alone} critical sections alone, then two threads {together} each"
        )
    })
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
