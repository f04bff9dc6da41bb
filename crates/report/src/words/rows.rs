//! The rows of an execution: its steps, and what stopped it.

use raddle_results::document::{
    Access, Event, Failure, Finding, LeakKind, Link, Note, NoteKind, Pending, Place, Thread, Trace,
};

use super::names::{object_name, thread_name};
use crate::number::{count, thousands};
use crate::phrase::{access_verb, one_line};

/// A row.
pub(crate) enum Row {
    /// A thread does something.
    Act(Act),
    /// Steps are left out.
    Omitted(Omitted),
}

/// Steps that are left out.
pub(crate) struct Omitted {
    steps: u64,
    /// The threads, each with its steps, as far as the document has them.
    threads: Vec<(u32, u64)>,
}

/// What a thread does.
pub(crate) struct Act {
    /// The number of the step, or a mark.
    pub(crate) step: Step,
    /// The thread.
    pub(crate) thread: u32,
    /// The object.
    pub(crate) object: Option<u32>,
    /// What the thread does.
    pub(crate) text: String,
    /// Where in the program: `file:line`, or nothing.
    pub(crate) source: String,
    /// A remark.
    pub(crate) note: String,
    /// The threads that are alive.
    pub(crate) alive: Vec<u32>,
}

/// The first column of a row.
#[derive(Copy, Clone)]
pub(crate) enum Step {
    /// The number of a step.
    Number(u64),
    /// The mark of something that is no step.
    Mark(&'static str),
}

const STOP_MARK: &str = "✗";
const STOP: Step = Step::Mark(STOP_MARK);
const NOTE: Step = Step::Mark("·");
/// Of more threads only the number is given.
const MAX_THREADS: usize = 3;

impl Act {
    /// Returns whether this is what stopped the execution.
    pub(crate) fn is_stop(&self) -> bool {
        matches!(self.step, Step::Mark(mark) if mark == STOP_MARK)
    }

    /// Returns file and line.
    pub(crate) fn line(&self) -> Option<(&str, u32)> {
        let (file, line) = self.source.rsplit_once(':')?;
        Some((file, line.parse().ok()?))
    }
}

/// Returns the acts among `rows`.
pub(crate) fn acts(rows: &[Row]) -> impl Iterator<Item = &Act> {
    rows.iter().filter_map(|row| match row {
        Row::Act(act) => Some(act),
        Row::Omitted(_) => None,
    })
}

/// Returns the rows of a failing execution, with the steps that `is_shown`.
pub(crate) fn rows(failure: &Failure, is_shown: impl Fn(u64) -> bool) -> Vec<Row> {
    let Failure { finding, trace, .. } = failure;
    let mut rows = Vec::new();
    let mut accesses = racing(finding).into_iter().peekable();
    // What is left out takes its notes with it.
    let is_near = |note: &&Note| {
        let is_panic = note.kind == NoteKind::Panic || trace.events.is_empty();
        is_panic || is_shown(note.after) || is_shown(note.after + 1)
    };
    let mut notes = trace.notes.iter().filter(is_near).peekable();
    let mut last = 0;
    for event in trace.events.iter().filter(|event| is_shown(event.step)) {
        while let Some(note) = notes.next_if(|note| note.after <= last) {
            rows.push(Row::Act(noted(note, trace)));
        }
        if event.step > last + 1 {
            rows.push(Row::Omitted(Omitted::between(last, event.step, trace)));
        }
        last = event.step;
        while let Some(note) = notes.next_if(|note| note.after < last) {
            rows.push(Row::Act(noted(note, trace)));
        }
        while let Some(access) = accesses.next_if(|access| access.after < event.step) {
            rows.push(Row::Act(plain_access(access, trace)));
        }
        rows.push(Row::Act(step(event, trace)));
    }
    if trace.steps > last {
        rows.push(Row::Omitted(Omitted::between(last, trace.steps + 1, trace)));
    }
    rows.extend(notes.map(|note| Row::Act(noted(note, trace))));
    rows.extend(accesses.map(|access| Row::Act(plain_access(access, trace))));
    rows.extend(stopped(finding, trace).into_iter().map(Row::Act));
    rows
}

impl Omitted {
    /// Makes the row for the steps between two steps.
    fn between(before: u64, after: u64, trace: &Trace) -> Omitted {
        let mut threads: Vec<(u32, u64)> = Vec::new();
        let begin = trace.events.partition_point(|event| event.step <= before);
        for event in trace.events[begin..].iter().take_while(|event| event.step < after) {
            match threads.iter_mut().find(|known| known.0 == event.thread) {
                Some(known) => known.1 += 1,
                None => threads.push((event.thread, 1)),
            }
        }
        Omitted { steps: after - before - 1, threads }
    }

    /// Returns what is left out, in words: `12 steps of thread 1, 3 of main`.
    pub(crate) fn text(&self, trace: &Trace) -> String {
        let all = count(self.steps, "step", "steps");
        let known: u64 = self.threads.iter().map(|thread| thread.1).sum();
        match &self.threads[..] {
            _ if known < self.steps => all,
            [] => all,
            [(thread, _)] => format!("{all} of {}", thread_name(trace, *thread)),
            threads if threads.len() > MAX_THREADS => format!("{all} of {} threads", threads.len()),
            [(first, steps), others @ ..] => {
                let others = others.iter().map(|(thread, steps)| {
                    format!(", {} of {}", thousands(*steps), thread_name(trace, *thread))
                });
                let first = thread_name(trace, *first);
                format!("{} of {first}", count(*steps, "step", "steps"))
                    + &others.collect::<String>()
            }
        }
    }
}

/// Returns a line that belongs to a step.
fn noted(note: &Note, trace: &Trace) -> Act {
    Act {
        step: NOTE,
        thread: note.thread,
        object: None,
        text: match note.kind {
            NoteKind::Note => one_line(&note.text),
            NoteKind::Output => format!("prints: {}", one_line(&note.text)),
            NoteKind::Panic => format!("panics: {}", one_line(&note.text)),
        },
        source: note.place.as_deref().map(without_column).unwrap_or_default().into(),
        note: String::new(),
        alive: alive(trace, note.after + 1),
    }
}

fn step(event: &Event, trace: &Trace) -> Act {
    Act {
        step: Step::Number(event.step),
        thread: event.thread,
        object: event.object,
        text: event.text.clone(),
        source: source(&event.site),
        note: note(event),
        alive: alive(trace, event.step),
    }
}

/// Returns what links a step to earlier ones, in words.
fn note(event: &Event) -> String {
    let stale = event.missed.map_or(String::new(), |newest| format!(", stale: {newest} is newer"));
    match event.link {
        Some(Link::Reads { step }) => format!("reads {step}{stale}"),
        Some(Link::ReadsInitial) => format!("reads the initial value{stale}"),
        Some(Link::StoresBefore { step }) => format!("stored before {step}"),
        Some(Link::Overwrites { step }) => format!("overwrites {step}"),
        Some(Link::TakenIn { step }) => format!("acquired in {step}"),
        None => String::new(),
    }
}

/// Returns the accesses that race, unless they are steps.
fn racing(finding: &Finding) -> Vec<&Access> {
    match finding {
        Finding::Race { first, second } => {
            [first, second].into_iter().filter(|access| access.step.is_none()).collect()
        }
        Finding::UseAfterFree { access, .. } => {
            [access].into_iter().filter(|access| access.step.is_none()).collect()
        }
        Finding::Panic { .. }
        | Finding::Deadlock { .. }
        | Finding::WaitsForever { .. }
        | Finding::FreedTwice { .. }
        | Finding::ReadTwice { .. }
        | Finding::StepLimit { .. }
        | Finding::Nondeterminism { .. }
        | Finding::Leak { .. } => Vec::new(),
    }
}

/// Returns an access that is no step.
fn plain_access(access: &Access, trace: &Trace) -> Act {
    let verb = access_verb(access.writes, &access.site);
    Act {
        step: STOP,
        thread: access.thread,
        object: Some(access.object),
        text: format!("{verb} {}", object_name(trace, access.object)),
        source: source(&access.site),
        note: String::new(),
        alive: alive(trace, access.after + 1),
    }
}

/// Returns what stopped the execution, in the lanes of the threads it stopped.
fn stopped(finding: &Finding, trace: &Trace) -> Vec<Act> {
    let blocked = |pending: &Pending| Act {
        step: STOP,
        thread: pending.thread,
        object: pending.object,
        text: pending.text.clone(),
        source: source(&pending.site),
        note: "blocked forever".into(),
        alive: alive(trace, trace.steps + 1),
    };
    match finding {
        Finding::Panic { thread, place, .. } => vec![Act {
            step: STOP,
            thread: *thread,
            object: None,
            text: "panics".into(),
            source: place.as_deref().map(without_column).unwrap_or_default().into(),
            note: String::new(),
            alive: alive(trace, trace.steps + 1),
        }],
        Finding::Deadlock { waits, .. } => {
            let waits = |pending: &&Pending| waits.iter().any(|wait| wait.thread == pending.thread);
            trace.pending.iter().filter(waits).map(blocked).collect()
        }
        Finding::WaitsForever { loops, waits } => {
            let looping = loops.iter().filter_map(|one| Some((one.thread, one.looks.last()?)));
            let looping = looping.map(|(thread, looked)| Act {
                step: STOP,
                thread,
                object: looked.object,
                text: looked.text.clone(),
                source: source(&looked.site),
                note: "again and again".into(),
                alive: alive(trace, trace.steps + 1),
            });
            let waits = |pending: &&Pending| waits.iter().any(|wait| wait.thread == pending.thread);
            looping.chain(trace.pending.iter().filter(waits).map(blocked)).collect()
        }
        Finding::Leak { what: LeakKind::Thread, thread, .. } => {
            trace.pending(*thread).map(blocked).into_iter().collect()
        }
        Finding::Race { .. }
        | Finding::UseAfterFree { .. }
        | Finding::FreedTwice { .. }
        | Finding::ReadTwice { .. }
        | Finding::StepLimit { .. }
        | Finding::Nondeterminism { .. }
        | Finding::Leak { what: LeakKind::Lock | LeakKind::Memory, .. } => Vec::new(),
    }
}

fn source(site: &Place) -> String {
    if *site == Place::Unknown { String::new() } else { site.to_string() }
}

/// Returns `file:line` of `file:line:column`, and of `file:line`.
fn without_column(place: &str) -> &str {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((line, column)) = place.rsplit_once(':') else { return place };
    let has_line = line.rsplit_once(':').is_some_and(|(_, number)| is_number(number));
    if is_number(column) && has_line { line } else { place }
}

/// Returns the threads that are alive at a step.
fn alive(trace: &Trace, step: u64) -> Vec<u32> {
    let is_alive = |thread: &&Thread| {
        let is_spawned = thread.id == 0 || thread.spawned.is_some_and(|spawned| spawned <= step);
        is_spawned && thread.ended.is_none_or(|ended| step < ended)
    };
    trace.threads.iter().filter(is_alive).map(|thread| thread.id).collect()
}
