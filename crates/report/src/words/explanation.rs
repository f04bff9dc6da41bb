//! What raddle found out about a failing execution, in words.

use raddle_results::document::{
    CauseEvent, Causes, Event, Explanation, Link, OrderedPair, Place, Trace,
};
use raddle_results::{CutOff, RunSize, Shrunk, Sufficiency, Unknown};

use super::names::{object_name, thread_name};
use crate::number::{count, thousands};

/// Returns how an execution was shrunk. Empty if there is nothing to say.
pub(crate) fn shrunk(explanation: &Explanation) -> String {
    let Explanation { shrunk, cut_off, executions, .. } = explanation;
    let Shrunk { from, to, minimal, .. } = shrunk;
    let mut text = match change(from, to) {
        Some((from, to)) => format!("shrunk from {from} to {to}"),
        None if *minimal && to.preemptions > 0 => {
            format!("needs {}", count(to.preemptions.into(), "preemption", "preemptions"))
        }
        None => match cut_off {
            Some(CutOff::Leaks) => "not shrunk".to_owned(),
            Some(CutOff::Executions | CutOff::Time) | None => return String::new(),
            _ => raddle_results::new_variant(),
        },
    };
    if *minimal {
        text += match to.preemptions {
            0 => "",
            1 => ": no execution without a preemption fails this way",
            _ => ": no execution with fewer fails this way",
        };
    }
    match cut_off {
        None => {}
        Some(CutOff::Executions) => {
            text += &format!(" · ended after {}", count(*executions, "execution", "executions"));
        }
        Some(CutOff::Time) => text += " · ended by its time limit",
        Some(CutOff::Leaks) => {
            text += " · ended because failing executions have left too many threads behind";
        }
        _ => raddle_results::new_variant(),
    }
    text
}

/// Returns what causes the failure, in lines. Empty if that is not known.
pub(crate) fn causes(explanation: &Explanation, trace: &Trace) -> String {
    let Some(Causes { orderings, certificate }) = &explanation.causes else {
        let absent = explanation.no_causes.and_then(absent);
        return absent.map(|why| format!("why: {why}\n")).unwrap_or_default();
    };
    let refuted = if orderings.len() < 2 { "" } else { "; no smaller set is enough" };
    let mut text = match orderings.len() {
        0 => String::new(),
        _ => "why: it fails whenever\n".to_owned(),
    };
    for (number, OrderedPair { before, after }) in orderings.iter().enumerate() {
        let number = if orderings.len() > 1 { format!("{}. ", number + 1) } else { String::new() };
        text += &format!("  {number}{}\n", step(before, trace));
        text += &format!("  {:width$}before {}\n", "", step(after, trace), width = number.len());
    }
    text + &match (certificate.sufficient, orderings.len()) {
        (Sufficiency::Proved { executions }, 0) => format!(
            "why: every execution fails this way (proved: {})\n",
            count(executions, "execution", "executions")
        ),
        (Sufficiency::Sampled { executions }, 0) => format!(
            "why: perhaps every execution fails this way: {} of {} drawn do{}\n",
            thousands(executions),
            thousands(executions),
            confidence(executions)
        ),
        (Sufficiency::Proved { executions: 1 }, _) => {
            format!("proved: the one execution that does so fails{refuted}\n")
        }
        (Sufficiency::Proved { executions }, _) => {
            format!("proved: all {} executions that do so fail{refuted}\n", thousands(executions))
        }
        (Sufficiency::Sampled { executions }, _) => format!(
            "not proved: {number} of {number} drawn executions that do so fail{}{refuted}\n",
            confidence(executions),
            number = thousands(executions)
        ),
        _ => raddle_results::new_variant(),
    }
}

/// Returns a step of a cause: `thread 1: mutex 1.lock at src/lib.rs:12 (step 4)`. That a lock is released stands for what
/// is done under it.
fn step(event: &CauseEvent, trace: &Trace) -> String {
    let CauseEvent { text, site, nth, step, object, .. } = event;
    if let Some((taken, released)) = section(event, trace) {
        let thread = thread_name(trace, event.thread);
        let object = object.map(|object| object_name(trace, object)).unwrap_or_default();
        let places = match (&taken.site, site) {
            (from, to) if from.to_string() == to.to_string() => format!(" at {to}"),
            (Place::Unknown, to) => format!(" until {to}"),
            (from, to) => format!(" from {from} to {to}"),
        };
        let (first, last) = (thousands(taken.step), thousands(released));
        return format!("{thread}: holds {object}{places} (step {first} to step {last})");
    }
    let thread = thread_name(trace, event.thread);
    let place = match site {
        Place::Unknown => String::new(),
        site => format!(" at {site}"),
    };
    let nth = match nth {
        0 => String::new(),
        1 => ", the 2nd time".into(),
        2 => ", the 3rd time".into(),
        nth => format!(", the {}th time", nth + 1),
    };
    let step = match step {
        Some(step) => format!(" (step {})", thousands(*step)),
        None => " (not yet)".into(),
    };
    format!("{thread}: {text}{place}{nth}{step}")
}

/// Returns the step in which a lock is acquired, and the number of the step, which is the event, that releases it.
fn section<'t>(event: &CauseEvent, trace: &'t Trace) -> Option<(&'t Event, u64)> {
    let released = event.step?;
    match trace.event(released)?.link {
        Some(Link::TakenIn { step }) => Some((trace.event(step)?, released)),
        _ => None,
    }
}

/// Returns why there are no causes, if a reader wants to know.
fn absent(unknown: Unknown) -> Option<&'static str> {
    match unknown {
        Unknown::HiddenState => {
            Some("not known, because threads share state that raddle does not see")
        }
        Unknown::Steps => Some("not looked for, because the execution has too many steps"),
        Unknown::Executions => Some("not found within the executions allowed (`explain`)"),
        Unknown::Time => Some("not found in the time allowed (`explain`)"),
        Unknown::Leaks => {
            Some("not found before failing executions had left too many threads behind")
        }
        Unknown::NoOrder => Some("not found: no few orders of steps decide whether it fails"),
        Unknown::Kind
        | Unknown::NotRepeatable
        | Unknown::WeakMemory
        | Unknown::SeqCstToo
        | Unknown::NoChange
        | Unknown::FrontEnd => None,
        _ => raddle_results::new_variant(),
    }
}

/// Returns why an execution was not shrunk. Empty if there is nothing to say.
pub(crate) fn unexplained(unknown: Unknown) -> &'static str {
    match unknown {
        Unknown::Kind => "",
        Unknown::Leaks => {
            "not shrunk: earlier failures of this process have left too many threads behind"
        }
        Unknown::Time => "not shrunk: there was no time left",
        Unknown::Executions => "not shrunk: the executions allowed were not enough",
        Unknown::NotRepeatable => {
            "not shrunk: its threads, led step by step, do not fail in this way again"
        }
        Unknown::HiddenState
        | Unknown::Steps
        | Unknown::WeakMemory
        | Unknown::NoOrder
        | Unknown::SeqCstToo
        | Unknown::NoChange
        | Unknown::FrontEnd => "not shrunk",
        _ => raddle_results::new_variant(),
    }
}

/// Returns what follows if all of some drawn executions fail: a bound of the share of failing ones.
fn confidence(executions: u64) -> String {
    let least = 0.05f64.powf(1.0 / executions.max(1) as f64);
    format!(" (at least {:.0} % with 95 % confidence)", (least * 100.0).floor())
}

/// Returns the size before and after, in the unit that says most. `None` if nothing became smaller.
fn change(from: &RunSize, to: &RunSize) -> Option<(String, String)> {
    if to >= from {
        return None;
    }
    let counted = |before: u64, after: u64, one: &str, many: &str| {
        let after = if after == 0 { "none".to_owned() } else { after.to_string() };
        Some((count(before, one, many), after))
    };
    let switches = |size: &RunSize| u64::from(size.blocks.saturating_sub(1));
    if to.preemptions < from.preemptions {
        let (before, after) = (from.preemptions.into(), to.preemptions.into());
        counted(before, after, "preemption", "preemptions")
    } else if to.blocks < from.blocks {
        counted(switches(from), switches(to), "context switch", "context switches")
    } else if to.unusual_choices < from.unusual_choices {
        let (before, after) = (from.unusual_choices.into(), to.unusual_choices.into());
        counted(before, after, "unusual choice", "unusual choices")
    } else {
        counted(from.steps, to.steps, "step", "steps")
    }
}
