//! The words for runs that differ from what was expected.

use std::fmt;

use raddle_analysis::Words;
use raddle_core::{Choice, Ending, EventId, Site, Trace};
use raddle_results::{Finding, TokenError};

/// Why a replay failed.
#[derive(Debug)]
pub enum ReplayError {
    /// The word is not a token.
    Token(TokenError),
    /// The token belongs to another check.
    Foreign {
        /// The name of this check.
        name: String,
    },
    /// The program differs from when the token was made.
    Diverged {
        /// The run up to the difference.
        trace: Box<Trace>,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::Token(error) => error.fmt(f),
            ReplayError::Foreign { name } => write!(
                f,
                "this replay token was not made by the check `{name}`; set RADDLE_REPLAY only for \
                 the check that printed it"
            ),
            ReplayError::Diverged { trace } => {
                let step = trace.events.len() + 1;
                match &trace.ending {
                    Ending::Diverged(divergence) => write!(
                        f,
                        "the program left the recorded schedule at step {step}, where {} was \
                         chosen and cannot be any more; it has changed since the token was made, \
                         or is not deterministic",
                        choice(divergence.expected)
                    ),
                    Ending::Finished => write!(
                        f,
                        "the program ended after {} steps, before the end of the recorded \
                         schedule; it has changed since the token was made, or is not deterministic",
                        trace.events.len()
                    ),
                    Ending::Deadlock
                    | Ending::Stopped
                    | Ending::Panicked(_)
                    | Ending::StepLimit
                    | Ending::TimeLimit
                    | Ending::Abandoned => write!(
                        f,
                        "the program continued after the recorded schedule, at step {step}; it has \
                         changed since the token was made, or is not deterministic"
                    ),
                }
            }
        }
    }
}

impl std::error::Error for ReplayError {}

/// Returns a description of the event at `position`, or of the ending if there is none.
pub(super) fn describe(position: Option<usize>, trace: &Trace) -> String {
    let event = position.and_then(|position| Some((position, trace.events.get(position)?)));
    let Some((position, event)) = event else { return ended(&trace.ending) };
    let words = Words::of(trace);
    let (thread, text) = (words.names.thread(event.id.thread), words.performed(position));
    format!("{thread}: {text}{}", at(event.site))
}

/// Returns the place of an operation, if it is known.
fn at(site: Site) -> String {
    if site == Site::UNKNOWN { String::new() } else { format!(" at {site}") }
}

/// Returns the operations that were possible where a run left its prefix.
pub(super) fn possible(trace: &Trace) -> String {
    let enabled = trace.pending.iter().filter(|pending| pending.enabled);
    let words = Words::of(trace);
    let enabled = enabled.map(|pending| {
        let (thread, text) = (words.names.thread(pending.thread), words.announced(pending.op));
        format!("{thread}: {text}{}", at(pending.site))
    });
    let enabled: Vec<String> = enabled.collect();
    if enabled.is_empty() {
        return "no thread was enabled".into();
    }
    format!("only this was: {}", enabled.join("; "))
}

/// Returns the finding if raddle itself refused an operation: the program shares something between runs.
pub(super) fn refused(trace: &Trace) -> Option<Finding> {
    match &trace.ending {
        Ending::Panicked(panic) if panic.message.starts_with("raddle: ") => {
            Some(Finding::Panic(panic.clone()))
        }
        Ending::Panicked(_)
        | Ending::Finished
        | Ending::Deadlock
        | Ending::Stopped
        | Ending::StepLimit
        | Ending::TimeLimit
        | Ending::Abandoned
        | Ending::Diverged(_) => None,
    }
}

fn ended(ending: &Ending) -> String {
    match ending {
        Ending::Finished => "the execution had ended".into(),
        Ending::Deadlock => "no thread was enabled".into(),
        Ending::Stopped => "no thread was enabled, and some were stopped".into(),
        Ending::Panicked(panic) => {
            let place = panic.place.as_deref().unwrap_or("an unknown place");
            format!("{} had panicked at {place}: {}", panic.thread, panic.message)
        }
        Ending::StepLimit => "the execution had reached the step limit".into(),
        Ending::TimeLimit => "the execution had reached the time limit".into(),
        Ending::Abandoned => "the execution continued".into(),
        Ending::Diverged(divergence) => {
            format!("the same choice, {}, was not possible", choice(divergence.expected))
        }
    }
}

/// Returns a description of a choice.
pub(super) fn choice(choice: Choice) -> String {
    match choice {
        Choice::Thread(thread) => format!("a step of {thread}"),
        Choice::Source(EventId::INITIAL) => "reading the initial value".into(),
        Choice::Source(source) => {
            format!("reading event {} of {}", source.index + 1, source.thread)
        }
        Choice::Place(EventId::INITIAL) => "storing right behind the initial value".into(),
        Choice::Place(before) => {
            format!("storing right behind event {} of {}", before.index + 1, before.thread)
        }
        Choice::Value(value) => format!("the value {value}"),
    }
}
