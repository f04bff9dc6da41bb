//! The picture of a run: its steps, and what stopped it.

use raddle_analysis::{Link, Links};
use raddle_core::{Action, ObjectId, ObjectKind, PlainAccess, Site, ThreadId, ThreadOp, Trace};
use raddle_results::{Finding, Leak};

use crate::excerpt::{Source, excerpt};
use crate::fold::{Fold, PICTURE, Part, fold};
use crate::lanes::{Act, Line, Step, draw};
use crate::names::Names;
use crate::paint::{Look, Paint};
use crate::{operation, race};

/// The most objects explained below a picture.
const LEGEND: usize = 20;

/// The steps of a run that ended in `finding`, and below them what the objects are.
pub(crate) fn picture(
    trace: &Trace,
    finding: &Finding,
    names: &Names<'_>,
    paint: Paint,
    source: Source<'_>,
) -> String {
    let (lines, used) = lines(trace, finding, names, PICTURE);
    let mut text = draw(&lines, names, paint);
    let legend = names.legend(&used);
    if !legend.is_empty() {
        text.push('\n');
    }
    for line in legend.iter().take(LEGEND) {
        text += &format!("  {}\n", paint.paint(Look::Faint, line));
    }
    if legend.len() > LEGEND {
        text += &format!("  … and {} more\n", legend.len() - LEGEND);
    }
    let excerpt = excerpt(&lines, source, paint);
    if !excerpt.is_empty() {
        text.push('\n');
    }
    text + &excerpt
}

/// The steps of a run that ended in `finding`, what stopped it, and the objects they are about.
pub(crate) fn lines(
    trace: &Trace,
    finding: &Finding,
    names: &Names<'_>,
    how: Fold,
) -> (Vec<Line>, Vec<ObjectId>) {
    let (lives, links) = (Lives::new(trace), Links::of(trace));
    let mut lines = Vec::new();
    let mut used = Vec::new();
    let mut accesses = racing(trace, finding).into_iter().peekable();
    for part in fold(trace.events.len(), how) {
        match part {
            Part::Omitted(number) => lines.push(Line::Omitted(number)),
            Part::Steps(range) => {
                for position in range {
                    while let Some(access) = accesses.next_if(|access| access.after <= position) {
                        used.push(access.object);
                        lines.push(Line::Act(plain(&access, names, &lives)));
                    }
                    used.push(trace.events[position].op.object());
                    lines.push(Line::Act(step(trace, position, names, &lives, &links)));
                }
            }
        }
    }
    for access in accesses {
        used.push(access.object);
        lines.push(Line::Act(plain(&access, names, &lives)));
    }
    for act in stopped(trace, finding, names, &lives, &mut used) {
        lines.push(Line::Act(act));
    }
    (lines, used)
}

fn step(trace: &Trace, position: usize, names: &Names<'_>, lives: &Lives, links: &Links) -> Act {
    let event = &trace.events[position];
    Act {
        step: Step::Number(position + 1),
        thread: event.id.thread,
        text: operation::performed(event, names),
        source: source(event.site),
        note: note(links.link(position), links.missed(position)),
        alive: lives.at(position),
    }
}

/// What ties a step to earlier ones, in words.
fn note(link: Option<Link>, missed: Option<usize>) -> String {
    let stale = missed.map_or(String::new(), |newest| format!(", stale: {} is newer", newest + 1));
    match link {
        Some(Link::Reads(step)) => format!("reads {}{stale}", step + 1),
        Some(Link::ReadsInitial) => format!("reads the initial value{stale}"),
        Some(Link::StoresBefore(step)) => format!("stored before {}", step + 1),
        Some(Link::Overwrites(step)) => format!("overwrites {}", step + 1),
        Some(Link::TakenIn(step)) => format!("taken in {}", step + 1),
        None => String::new(),
    }
}

/// The accesses that race, unless they are steps.
fn racing(trace: &Trace, finding: &Finding) -> Vec<PlainAccess> {
    match finding {
        Finding::Race { first, second } => {
            [*first, *second].into_iter().filter(|access| trace.plain.contains(access)).collect()
        }
        Finding::Panic(_)
        | Finding::Deadlock(_)
        | Finding::StepLimit { .. }
        | Finding::Nondeterminism { .. }
        | Finding::Leak(_)
        | Finding::Stuck { .. } => Vec::new(),
    }
}

/// An access that is no step.
fn plain(access: &PlainAccess, names: &Names<'_>, lives: &Lives) -> Act {
    Act {
        step: Step::Mark("✗"),
        thread: access.thread,
        text: format!("{} {}", race::verb(access), names.name(access.object)),
        source: source(access.site),
        note: String::new(),
        alive: lives.at(access.after),
    }
}

/// What stopped the run, in the lanes of the threads it stopped.
fn stopped(
    trace: &Trace,
    finding: &Finding,
    names: &Names<'_>,
    lives: &Lives,
    used: &mut Vec<ObjectId>,
) -> Vec<Act> {
    let end = trace.events.len();
    match finding {
        Finding::Panic(panic) => vec![Act {
            step: Step::Mark("✗"),
            thread: panic.thread,
            text: "panics".into(),
            source: panic.place.as_deref().map(without_column).unwrap_or_default().into(),
            note: String::new(),
            alive: lives.at(end),
        }],
        Finding::Deadlock(waits) => trace
            .pending
            .iter()
            .filter(|pending| waits.iter().any(|wait| wait.thread == pending.thread))
            .map(|pending| {
                used.push(pending.op.object());
                Act {
                    step: Step::Mark("✗"),
                    thread: pending.thread,
                    text: operation::announced(pending.op, names),
                    source: source(pending.site),
                    note: "waits for ever".into(),
                    alive: lives.at(end),
                }
            })
            .collect(),
        Finding::Leak(Leak::Thread { thread, object, site }) => {
            used.push(*object);
            let pending = trace.pending.iter().find(|pending| pending.thread == *thread);
            vec![Act {
                step: Step::Mark("✗"),
                thread: *thread,
                text: pending
                    .map_or_else(String::new, |pending| operation::announced(pending.op, names)),
                source: source(*site),
                note: "waits for ever".into(),
                alive: lives.at(end),
            }]
        }
        Finding::Race { .. }
        | Finding::StepLimit { .. }
        | Finding::Nondeterminism { .. }
        | Finding::Leak(Leak::Lock { .. } | Leak::Memory { .. })
        | Finding::Stuck { .. } => Vec::new(),
    }
}

fn source(site: Site) -> String {
    if site == Site::UNKNOWN { String::new() } else { site.to_string() }
}

/// `file:line` of `file:line:column`.
fn without_column(place: &str) -> &str {
    match place.rsplit_once(':') {
        Some((line, column)) if column.bytes().all(|byte| byte.is_ascii_digit()) => line,
        Some(_) | None => place,
    }
}

/// When each thread was there.
struct Lives(Vec<(ThreadId, std::ops::Range<usize>)>);

impl Lives {
    fn new(trace: &Trace) -> Lives {
        let end = trace.events.len() + 1;
        let mut lives: Vec<_> = trace
            .threads
            .iter()
            .map(|thread| (thread.id, if thread.id == ThreadId::MAIN { 0 } else { end }..end))
            .collect();
        for (position, event) in trace.events.iter().enumerate() {
            if let Action::Thread(op) = event.op.action() {
                let object = trace.objects.get(event.op.object().index());
                let Some(ObjectKind::Thread(thread)) = object.map(|object| object.kind) else {
                    continue;
                };
                let Some(life) = lives.iter_mut().find(|life| life.0 == thread) else { continue };
                match op {
                    ThreadOp::Spawn => life.1.start = position,
                    ThreadOp::Exit => life.1.end = position,
                    ThreadOp::Join | ThreadOp::IsFinished => {}
                }
            }
        }
        Lives(lives)
    }

    /// The threads there at a step.
    fn at(&self, position: usize) -> Vec<ThreadId> {
        self.0.iter().filter(|life| life.1.contains(&position)).map(|life| life.0).collect()
    }
}
