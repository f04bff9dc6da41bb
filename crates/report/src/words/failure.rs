//! A failing execution: how it was found, what explains it, how to replay it.

use raddle_results::document::{Access, Document, Failure, Finding, LeakKind, Place, Trace};
use raddle_results::{Phase, PhaseEnd};

use super::backtrace::program_part;
use super::clean::{KEPT, REPLAY, elapsed};
use super::names::{object_name, thread_name};
use super::{deadlock, freed, waiting};
use crate::number::{count, thousands};
use crate::phrase::{access_verb, fits_summary, one_line, quoted};

/// Returns how the failure was found, and whether it was reproduced.
pub(crate) fn origin(document: &Document, failure: &Failure) -> String {
    let steps = count(failure.trace.steps, "step", "steps");
    if document.strategy == REPLAY {
        return format!("replayed from its token · {steps}");
    }
    if document.strategy == KEPT {
        return format!("failed before, and fails again (kept in `target/raddle`) · {steps}");
    }
    let has_failed = |phase: &&Phase| phase.end == PhaseEnd::Failed;
    let by = match document.phases.iter().find(has_failed) {
        None => document.strategy.clone(),
        Some(phase) => format!("{} ({})", phase.strategy, document.strategy),
    };
    let mut after = count(failure.execution, "execution", "executions");
    if document.probes > 0 {
        after += &format!(" and {}", count(document.probes, "probe", "probes"));
    }
    let found = format!("found by {by} after {after} ({}) · {steps}", elapsed(document));
    let found = if failure.beyond_bound {
        format!("{found} · found beyond the bound while ending a run")
    } else {
        found
    };
    let differs = matches!(failure.finding, Finding::Nondeterminism { .. });
    if failure.reproduced && !differs {
        format!("{found} · replayed once: it fails in the same way")
    } else {
        found
    }
}

/// Returns a warning in lines, if the failure was not reproduced although it should have been.
pub(crate) fn not_reproduced(failure: &Failure) -> &'static [&'static str] {
    match failure.finding {
        Finding::Panic { .. }
        | Finding::Deadlock { .. }
        | Finding::WaitsForever { .. }
        | Finding::Race { .. }
        | Finding::UseAfterFree { .. }
        | Finding::FreedTwice { .. }
        | Finding::ReadTwice { .. }
        | Finding::StepLimit { .. }
        | Finding::Leak { .. }
            if !failure.reproduced =>
        {
            &[
                "NOT reproduced: the same choices did not give the same failure, or could not be made again.",
                "The program may be nondeterministic: look for clocks, randomness, addresses, hash maps,",
                "`std` threads or locks, and state that outlives an execution.",
            ]
        }
        Finding::Panic { .. }
        | Finding::Deadlock { .. }
        | Finding::WaitsForever { .. }
        | Finding::Race { .. }
        | Finding::UseAfterFree { .. }
        | Finding::FreedTwice { .. }
        | Finding::ReadTwice { .. }
        | Finding::StepLimit { .. }
        | Finding::Nondeterminism { .. }
        | Finding::Leak { .. } => &[],
    }
}

/// Returns the whole message of a panic, if the summary is shorter.
pub(crate) fn message(finding: &Finding) -> Option<&str> {
    match finding {
        Finding::Panic { message, .. } => {
            Some(&message[..]).filter(|_| !fits_summary(&one_line(message)))
        }
        Finding::Deadlock { .. }
        | Finding::WaitsForever { .. }
        | Finding::Race { .. }
        | Finding::UseAfterFree { .. }
        | Finding::FreedTwice { .. }
        | Finding::ReadTwice { .. }
        | Finding::StepLimit { .. }
        | Finding::Nondeterminism { .. }
        | Finding::Leak { .. } => None,
    }
}

/// Returns the part of a panic's backtrace that belongs to the program, if it has one.
pub(crate) fn backtrace(finding: &Finding) -> Option<String> {
    match finding {
        Finding::Panic { backtrace, .. } => backtrace.as_deref().map(program_part),
        Finding::Deadlock { .. }
        | Finding::WaitsForever { .. }
        | Finding::Race { .. }
        | Finding::UseAfterFree { .. }
        | Finding::FreedTwice { .. }
        | Finding::ReadTwice { .. }
        | Finding::StepLimit { .. }
        | Finding::Nondeterminism { .. }
        | Finding::Leak { .. } => None,
    }
}

/// Returns what explains the failure, in lines.
pub(crate) fn explanation(document: &Document, failure: &Failure) -> String {
    let Failure { finding, trace, .. } = failure;
    match finding {
        Finding::Panic { thread, place, .. } => {
            let place = place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
            format!("{} panicked{place}\n", thread_name(trace, *thread))
        }
        Finding::Deadlock { waits, cycles } => deadlock::explanation(waits, cycles, trace),
        Finding::WaitsForever { loops, waits } => waiting::explanation(loops, waits, trace),
        Finding::Race { first, second } => race(first, second, trace),
        Finding::UseAfterFree { freed, access, is_late, stack } => {
            freed::used(freed, access, *is_late, stack.as_deref(), trace)
        }
        Finding::FreedTwice { first, second } => freed::twice(first, second, trace),
        Finding::ReadTwice { thread, object, first, second, writer, written } => format!(
            "{reader} acquires a read lock of {lock} at {second}, while it holds the one from {first}.\n{writer} \
             acquires the write lock at {written}, and may wait for it between the two. A real lock \
             may\nlet the writer go first: both threads then wait for each other. Read once, or turn \
             this off with\n`Config::read_twice`.\n",
            reader = thread_name(trace, *thread),
            lock = object_name(trace, *object),
            writer = thread_name(trace, *writer),
        ),
        Finding::StepLimit { .. } => format!(
            "{}\nDoes a loop wait for another thread without blocking? If the executions are just long, \
             raise\nthe limit with `Config::max_steps`; to discard such executions, use \
             `Config::on_step_limit`.\n{}",
            repetition(finding, trace),
            advice_to_searchers(document)
        ),
        Finding::Nondeterminism { step, first, second } => format!(
            "After the same choices, step {} was not the same in two executions:\n  \
             first:  {}\n  then:   {}\n\n\
             Something outside raddle's control decides: look for clocks, randomness, addresses, hash \
             maps,\n`std` threads or locks, and state that outlives an execution. Until then no result \
             would mean\nanything, and no failure could be replayed.\n",
            thousands(*step),
            one_line(first),
            one_line(second)
        ),
        Finding::Leak { what, thread, object, site, bytes } => {
            let object = object_name(trace, *object);
            leak(*what, &thread_name(trace, *thread), object, site, *bytes)
        }
    }
}

/// Returns the command that replays the failure, if that would show it.
pub(crate) fn replay_command(document: &Document, failure: &Failure) -> Option<String> {
    let token = &quoted(&failure.token);
    match failure.finding {
        // It would only show the first of the executions that differ.
        Finding::Nondeterminism { .. } => None,
        Finding::Panic { .. }
        | Finding::Deadlock { .. }
        | Finding::WaitsForever { .. }
        | Finding::Race { .. }
        | Finding::UseAfterFree { .. }
        | Finding::FreedTwice { .. }
        | Finding::ReadTwice { .. }
        | Finding::StepLimit { .. }
        | Finding::Leak { .. } => Some(if let Some(command) = &document.rerun {
            format!("RADDLE_REPLAY={token} {command}")
        } else if is_test_name(&document.name) {
            format!("RADDLE_REPLAY={token} cargo test {}", document.name)
        } else {
            format!("set RADDLE_REPLAY={token} and run the check again")
        }),
    }
}

/// Returns whether `name` can be the path of a test, which it is unless the program gave another.
fn is_test_name(name: &str) -> bool {
    name.split("::").all(|part| {
        !part.is_empty() && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    })
}

fn race(first: &Access, second: &Access, trace: &Trace) -> String {
    let name = |access: &Access| thread_name(trace, access.thread);
    let width = name(first).len().max(name(second).len());
    let line = |access: &Access| {
        let place = match &access.site {
            Place::Unknown => format!("after step {}", access.after),
            site => format!("at {site}"),
        };
        let verb = access_verb(access.writes, &access.site);
        format!("  {:width$}  {verb:6}  {place}\n", name(access))
    };
    format!(
        "Nothing orders these accesses to {}:\n{}{}No lock, join or message separates them, and no \
         acquire reads what the first thread\nreleased.\n",
        object_name(trace, first.object),
        line(first),
        line(second)
    )
}

/// Returns what an execution that does not end repeats.
fn repetition(finding: &Finding, trace: &Trace) -> String {
    let Finding::StepLimit { recent_steps, repeated, other_operations, .. } = finding else {
        return String::new();
    };
    let mut text = format!("the last {}:\n", count(*recent_steps, "step", "steps"));
    for operation in repeated {
        let (times, thread) = (thousands(operation.times), thread_name(trace, operation.thread));
        text += &format!("  {times:>5} × {thread}: {} at {}\n", operation.text, operation.site);
    }
    if *other_operations > 0 {
        text += &format!("  and {} other operations\n", thousands(*other_operations));
    }
    text
}

/// Returns what to do if a search has run into an execution that does not end.
fn advice_to_searchers(document: &Document) -> &'static str {
    if document.search.is_none() {
        return "";
    }
    "A search of everything does not end if an execution does not. If the loop yields\n\
     (`yield_now`, `spin_loop`), a fair bound cuts off executions that loop too often: try the strategy\n\
     `bpor:fair:1`, or `bpor:2:fair:1`. Or sample executions: `random`, `pct:3`.\n"
}

fn leak(what: LeakKind, thread: &str, object: &str, site: &Place, bytes: Option<u64>) -> String {
    match what {
        LeakKind::Thread => format!(
            "{thread} waits for {object} at {site}, and no thread is left that could wake it. Join it, \
             or\nmake it end.\n"
        ),
        LeakKind::Lock => format!(
            "{object} was acquired at {site} and never released: its guard was forgotten, or is part \
             of\nsomething that was (`mem::forget`, `Box::leak`, a cycle of `Arc`s). No thread can \
             acquire it any more.\n"
        ),
        LeakKind::Memory => format!(
            "{thread} allocated {} for {object}, which was first used at {site}. The memory \
             was\nnever freed: an `Arc` or `Box` was forgotten, or `Arc`s refer to one another.\n",
            count(bytes.unwrap_or(0), "byte", "bytes")
        ),
    }
}
