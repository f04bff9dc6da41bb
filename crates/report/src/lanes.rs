//! Steps drawn in lanes, one for each thread, from top to bottom.
//!
//! A lane holds a line while its thread is alive and does nothing. Where the lanes of many threads
//! would become too wide to read, a column says who acts instead.

use raddle_core::ThreadId;

use crate::excerpt::acts;
use crate::names::Names;
use crate::number::{count, thousands};
use crate::paint::{Look, Paint};

/// One line of the picture.
pub(crate) enum Line {
    /// A thread does something.
    Act(Act),
    /// So many steps, left out.
    Omitted(usize),
}

/// What a thread does.
pub(crate) struct Act {
    /// Its number, counted from one; or a mark for what is no step.
    pub(crate) step: Step,
    /// Who does it.
    pub(crate) thread: ThreadId,
    /// What it does.
    pub(crate) text: String,
    /// Where in the source.
    pub(crate) source: String,
    /// What else is to be said.
    pub(crate) note: String,
    /// The threads that are alive.
    pub(crate) alive: Vec<ThreadId>,
}

/// What stands where steps have their number.
#[derive(Copy, Clone)]
pub(crate) enum Step {
    Number(usize),
    Mark(&'static str),
}

/// Lanes wider than this in all are not drawn.
const WIDEST: usize = 120;
const MARGIN: &str = "  ";
const GAP: &str = "   ";

/// Draws `lines`; each line of the picture ends with a line break.
pub(crate) fn draw(lines: &[Line], names: &Names<'_>, paint: Paint) -> String {
    let lanes = Lanes::new(lines, names);
    if lanes.width() <= WIDEST {
        lanes.draw(lines, names, paint)
    } else {
        list(lines, names, paint)
    }
}

struct Lanes {
    /// Who has a lane, and how wide each is.
    threads: Vec<ThreadId>,
    widths: Vec<usize>,
    steps: usize,
    sources: usize,
}

impl Lanes {
    fn new(lines: &[Line], names: &Names<'_>) -> Lanes {
        let mut threads: Vec<ThreadId> = acts(lines).map(|act| act.thread).collect();
        threads.sort();
        threads.dedup();
        let widths = threads
            .iter()
            .map(|thread| {
                let own = acts(lines).filter(|act| act.thread == *thread);
                let widest = own.map(|act| width(&act.text)).max().unwrap_or(0);
                widest.max(width(&names.thread(*thread)))
            })
            .collect();
        Lanes { threads, widths, steps: step_width(lines), sources: source_width(lines) }
    }

    fn width(&self) -> usize {
        self.widths.iter().map(|width| width + GAP.len()).sum()
    }

    fn draw(&self, lines: &[Line], names: &Names<'_>, paint: Paint) -> String {
        let cells = |cell: &dyn Fn(ThreadId) -> String| -> String {
            let padded = self.threads.iter().zip(&self.widths);
            let padded = padded.map(|(thread, width)| (*thread, pad(&cell(*thread), *width) + GAP));
            padded.map(|(thread, cell)| paint.paint(Look::Thread(thread), &cell)).collect()
        };
        let titles = cells(&|thread| names.thread(thread));
        let mut text = finished(&format!("{MARGIN}{}  {titles}", pad("", self.steps)));
        for line in lines {
            text += &match line {
                Line::Act(act) => {
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
                Line::Omitted(number) => omitted(*number, self.steps),
            };
        }
        text
    }
}

/// The steps without lanes: who, what, where.
fn list(lines: &[Line], names: &Names<'_>, paint: Paint) -> String {
    let (steps, sources) = (step_width(lines), source_width(lines));
    let threads = acts(lines).map(|act| width(&names.thread(act.thread))).max().unwrap_or(0);
    let texts = acts(lines).map(|act| width(&act.text)).max().unwrap_or(0);
    lines
        .iter()
        .map(|line| match line {
            Line::Act(act) => finished(&format!(
                "{}{}{GAP}{}{GAP}{}",
                start(act, steps, paint),
                paint.paint(Look::Thread(act.thread), &pad(&names.thread(act.thread), threads)),
                paint.paint(Look::Thread(act.thread), &pad(&act.text, texts)),
                end(act, sources, paint)
            )),
            Line::Omitted(number) => omitted(*number, steps),
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

fn omitted(number: usize, steps: usize) -> String {
    let number = count(number as u64, "step", "steps");
    finished(&format!("{MARGIN}{}  … {number} …", pad("", steps)))
}

fn step_text(step: Step) -> String {
    match step {
        Step::Number(number) => thousands(number as u64),
        Step::Mark(mark) => mark.into(),
    }
}

/// Steps stand a little apart from the margin, however few there are.
fn step_width(lines: &[Line]) -> usize {
    acts(lines).map(|act| width(&step_text(act.step))).max().unwrap_or(0).max(3)
}

fn source_width(lines: &[Line]) -> usize {
    acts(lines).map(|act| width(&act.source)).max().unwrap_or(0)
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn pad(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

fn finished(line: &str) -> String {
    format!("{}\n", line.trim_end())
}
