//! Rows drawn in lanes, one per thread, from top to bottom.
//!
//! A lane shows a line while its thread is alive and does nothing. If the lanes of many threads would be too
//! wide to read, a column names the thread instead.

use raddle_results::document::Trace;

use crate::number::thousands;
use crate::paint::{Look, Paint};
use crate::phrase::width;
use crate::words::names::thread_name;
use crate::words::rows::{Act, Omitted, Row, Step, acts};

/// The maximal width of all lanes together.
const MAX_WIDTH: usize = 120;
const MARGIN: &str = "  ";
const GAP: &str = "   ";

/// Draws `rows`; each line ends with a line break.
pub(super) fn draw(rows: &[Row], trace: &Trace, paint: Paint) -> String {
    let lanes = Lanes::new(rows, trace);
    if lanes.width() <= MAX_WIDTH {
        lanes.draw(rows, trace, paint)
    } else {
        list(rows, trace, paint)
    }
}

struct Lanes {
    /// The threads that have a lane.
    threads: Vec<u32>,
    /// The width of each lane.
    widths: Vec<usize>,
    /// The width of the numbers of steps.
    steps: usize,
    /// The width of the places.
    sources: usize,
}

impl Lanes {
    fn new(rows: &[Row], trace: &Trace) -> Lanes {
        let mut threads: Vec<u32> = acts(rows).map(|act| act.thread).collect();
        threads.sort();
        threads.dedup();
        let widths = threads
            .iter()
            .map(|thread| {
                let own = acts(rows).filter(|act| act.thread == *thread);
                let widest = own.map(|act| width(&act.text)).max().unwrap_or(0);
                widest.max(width(&thread_name(trace, *thread)))
            })
            .collect();
        Lanes { threads, widths, steps: step_width(rows), sources: source_width(rows) }
    }

    fn width(&self) -> usize {
        self.widths.iter().map(|width| width + GAP.len()).sum()
    }

    fn draw(&self, rows: &[Row], trace: &Trace, paint: Paint) -> String {
        let cells = |cell: &dyn Fn(u32) -> String| -> String {
            let padded = self.threads.iter().zip(&self.widths);
            let padded = padded.map(|(thread, width)| (*thread, pad(&cell(*thread), *width) + GAP));
            padded.map(|(thread, cell)| paint.paint(Look::Thread(thread), &cell)).collect()
        };
        let titles = cells(&|thread| thread_name(trace, thread));
        let mut text = finished(&format!("{MARGIN}{}  {titles}", pad("", self.steps)));
        for row in rows {
            text += &match row {
                Row::Act(act) => {
                    let lanes = cells(&|thread| match thread {
                        acting if acting == act.thread => act.text.clone(),
                        idle if act.alive.contains(&idle) => "│".into(),
                        _absent => String::new(),
                    });
                    finished(&format!(
                        "{}{lanes}{}",
                        start(act, self.steps, paint),
                        end(act, self.sources, paint)
                    ))
                }
                Row::Omitted(row) => omitted(row, trace, self.steps),
            };
        }
        text
    }
}

/// Returns the rows without lanes: thread, operation, place.
fn list(rows: &[Row], trace: &Trace, paint: Paint) -> String {
    let (steps, sources) = (step_width(rows), source_width(rows));
    let threads = acts(rows).map(|act| width(&thread_name(trace, act.thread))).max().unwrap_or(0);
    let texts = acts(rows).map(|act| width(&act.text)).max().unwrap_or(0);
    rows.iter()
        .map(|row| match row {
            Row::Act(act) => finished(&format!(
                "{}{}{GAP}{}{GAP}{}",
                start(act, steps, paint),
                paint.paint(
                    Look::Thread(act.thread),
                    &pad(&thread_name(trace, act.thread), threads)
                ),
                paint.paint(Look::Thread(act.thread), &pad(&act.text, texts)),
                end(act, sources, paint)
            )),
            Row::Omitted(row) => omitted(row, trace, steps),
        })
        .collect()
}

fn start(act: &Act, steps: usize, paint: Paint) -> String {
    let step = step_text(act.step);
    let look = match act.step {
        Step::Number(_) => Look::Faint,
        Step::Mark(_) => Look::Bad,
    };
    format!("{MARGIN}{}{}  ", " ".repeat(steps - width(&step)), paint.paint(look, &step))
}

fn end(act: &Act, sources: usize, paint: Paint) -> String {
    let source = pad(&act.source, sources) + GAP;
    if act.note.is_empty() {
        return paint.paint(Look::Faint, source.trim_end());
    }
    paint.paint(Look::Faint, &source) + &act.note
}

fn omitted(row: &Omitted, trace: &Trace, steps: usize) -> String {
    finished(&format!("{MARGIN}{}  … {} …", pad("", steps), row.text(trace)))
}

fn step_text(step: Step) -> String {
    match step {
        Step::Number(number) => thousands(number),
        Step::Mark(mark) => mark.into(),
    }
}

/// Returns the width of the numbers of steps, which stand a little apart from the margin.
fn step_width(rows: &[Row]) -> usize {
    acts(rows).map(|act| width(&step_text(act.step))).max().unwrap_or(0).max(3)
}

fn source_width(rows: &[Row]) -> usize {
    acts(rows).map(|act| width(&act.source)).max().unwrap_or(0)
}

fn pad(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

fn finished(line: &str) -> String {
    format!("{}\n", line.trim_end())
}
