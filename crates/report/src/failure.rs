//! A failing execution: headline, how it was found, the run, what explains it, how to replay it.

use raddle_core::{Panic, Trace};
use raddle_results::{Failure, Finding, Phase, PhaseEnd, Report};

use crate::backtrace::program_part;
use crate::clean::REPLAY;
use crate::excerpt::Source;
use crate::names::Names;
use crate::number::{count, thousands, time};
use crate::paint::{Look, Paint};
use crate::{census, circles, deadlock, oddity, race, stale, steps};

/// Messages longer than this are shortened in the headline and shown whole below it.
const HEADLINE: usize = 160;

pub(crate) fn text(report: &Report, failure: &Failure, paint: Paint, source: Source<'_>) -> String {
    let names = Names::new(&failure.trace);
    let (finding, trace) = (&failure.finding, &failure.trace);
    let mut text = format!(
        "raddle: test `{}` {} — {}\n",
        report.name,
        paint.paint(Look::Bad, "FAILED"),
        paint.paint(Look::Strong, &headline(finding, &names))
    );
    text += &format!("  {}\n", origin(report, failure));
    for line in warning(failure) {
        text += &format!("  {line}\n");
    }
    let sections = [
        message(finding),
        match finding {
            // The run itself is not what is wrong.
            Finding::Nondeterminism { .. } => String::new(),
            Finding::Panic(_)
            | Finding::Deadlock(_)
            | Finding::Race { .. }
            | Finding::StepLimit { .. }
            | Finding::Leak(_)
            | Finding::Stuck { .. } => steps::picture(trace, finding, &names, paint, source),
        },
        stale::explanation(report, trace),
        explanation(report, finding, trace, &names),
        replay(report, failure, paint),
        report.failures.as_ref().map_or_else(String::new, |all| census::text(report, all)),
    ];
    for section in sections.iter().filter(|section| !section.is_empty()) {
        text.push('\n');
        text += section;
    }
    text.truncate(text.trim_end().len());
    text
}

pub(crate) fn headline(finding: &Finding, names: &Names<'_>) -> String {
    match finding {
        Finding::Panic(panic) => shortened(&one_line(&panic.message)),
        Finding::Deadlock(waits) => deadlock::headline(waits, names),
        Finding::Race { first, second } => race::headline(first, second, names),
        Finding::StepLimit { steps } => {
            format!("an execution did not end within {}", count(*steps, "step", "steps"))
        }
        Finding::Nondeterminism { .. } => "the program is not deterministic".into(),
        Finding::Leak(leak) => oddity::headline(leak, names),
        Finding::Stuck { thread, .. } => {
            format!("{} could not be cleared away after its execution", names.thread(*thread))
        }
    }
}

/// How the failure came about, and whether it can be had again.
pub(crate) fn origin(report: &Report, failure: &Failure) -> String {
    let steps = count(failure.trace.events.len() as u64, "step", "steps");
    if report.strategy == REPLAY {
        return format!("replayed from its token · {steps}");
    }
    // The part of the strategy that found it.
    let has_failed = |phase: &&Phase| phase.end == PhaseEnd::Failed;
    let by = match report.phases.iter().find(has_failed) {
        None => report.strategy.to_string(),
        Some(phase) => format!("{} ({})", phase.strategy, report.strategy),
    };
    let found = format!(
        "found by {by} after {} ({}) · {steps}",
        count(failure.execution, "execution", "executions"),
        time(report.elapsed)
    );
    let differs = matches!(failure.finding, Finding::Nondeterminism { .. });
    if failure.reproduced && !differs {
        format!("{found} · replayed once: it fails in the same way")
    } else {
        found
    }
}

pub(crate) fn warning(failure: &Failure) -> &'static [&'static str] {
    match failure.finding {
        Finding::Panic(_)
        | Finding::Deadlock(_)
        | Finding::Race { .. }
        | Finding::StepLimit { .. }
        | Finding::Leak(_)
            if !failure.reproduced =>
        {
            &[
                "NOT reproduced: making the same choices again did not bring it back, or was not possible.",
                "The program may be nondeterministic: look for clocks, randomness, addresses, hash maps,",
                "`std` threads or locks, and state that outlives an execution.",
            ]
        }
        Finding::Panic(_)
        | Finding::Deadlock(_)
        | Finding::Race { .. }
        | Finding::StepLimit { .. }
        | Finding::Nondeterminism { .. }
        | Finding::Leak(_)
        | Finding::Stuck { .. } => &[],
    }
}

/// The whole message of a panic, if the headline does not have it.
pub(crate) fn message(finding: &Finding) -> String {
    match finding {
        Finding::Panic(panic) if width(&one_line(&panic.message)) > HEADLINE => {
            indented(&panic.message, "  ")
        }
        Finding::Panic(_)
        | Finding::Deadlock(_)
        | Finding::Race { .. }
        | Finding::StepLimit { .. }
        | Finding::Nondeterminism { .. }
        | Finding::Leak(_)
        | Finding::Stuck { .. } => String::new(),
    }
}

pub(crate) fn explanation(
    report: &Report,
    finding: &Finding,
    trace: &Trace,
    names: &Names<'_>,
) -> String {
    match finding {
        Finding::Panic(panic) => place(panic, names),
        Finding::Deadlock(waits) => deadlock::explanation(waits, trace, names),
        Finding::Race { first, second } => race::explanation(first, second, names),
        Finding::StepLimit { .. } => format!(
            "{}  Does a loop wait for another thread without blocking? If the executions are just \
             long, raise\n  the limit with `Config::max_steps`; to set such executions aside, use \
             `Config::on_step_limit`.\n{}",
            circles::text(trace, names),
            advice_to_searchers(report)
        ),
        Finding::Nondeterminism { at, first, second } => format!(
            "  After the same choices, step {} was not the same in two executions:\n    \
             first:  {}\n    then:   {}\n\n  \
             Something outside raddle's control decides: look for clocks, randomness, addresses, \
             hash maps,\n  `std` threads or locks, and state that outlives an execution. Until \
             then no result would mean\n  anything, and no failure could be replayed.\n",
            thousands(*at as u64 + 1),
            one_line(first),
            one_line(second)
        ),
        Finding::Leak(leak) => oddity::explanation(leak, names),
        Finding::Stuck { thread, site } => format!(
            "  {} is at {site}. After an execution raddle unwinds the threads that are left; \
             this one\n  waits in a destructor for something that will not happen, or keeps \
             catching the unwinding\n  (a loop around `catch_unwind`).\n",
            names.thread(*thread)
        ),
    }
}

/// What to do if a search has met an endless execution.
fn advice_to_searchers(report: &Report) -> &'static str {
    if report.search.is_none() {
        return "";
    }
    "  A search of everything does not end if an execution does not. If the loop gives way to others\n  \
     (`yield_now`, `spin_loop`), a fair bound leaves out what goes round too often: try the strategy\n  \
     `bpor:fair:1`, or `bpor:2:fair:1`. Or sample executions: `random`, `pct:3`.\n"
}

fn place(panic: &Panic, names: &Names<'_>) -> String {
    let mut text = format!("  {} panicked", names.thread(panic.thread));
    if let Some(place) = &panic.place {
        text += &format!(" at {place}");
    }
    text.push('\n');
    if let Some(backtrace) = &panic.backtrace {
        text += &format!("  backtrace:\n{}", indented(&program_part(backtrace), "  "));
    }
    text
}

fn replay(report: &Report, failure: &Failure, paint: Paint) -> String {
    replay_command(report, failure).map_or_else(String::new, |command| {
        format!("  replay: {}\n", paint.paint(Look::Strong, &command))
    })
}

/// What to do to have the failure again.
pub(crate) fn replay_command(report: &Report, failure: &Failure) -> Option<String> {
    let token = &quoted(&failure.token);
    match failure.finding {
        // It would only show the first of the executions that differ.
        Finding::Nondeterminism { .. } => None,
        Finding::Panic(_)
        | Finding::Deadlock(_)
        | Finding::Race { .. }
        | Finding::StepLimit { .. }
        | Finding::Leak(_)
        | Finding::Stuck { .. } => Some(if is_test_name(&report.name) {
            format!("RADDLE_REPLAY={token} cargo test {}", report.name)
        } else {
            format!("set RADDLE_REPLAY={token} and run the check again")
        }),
    }
}

/// A word as it is written in a shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.@/:".contains(letter);
    if word.chars().all(is_plain) { word.into() } else { format!("'{word}'") }
}

/// Whether `name` can be a test's path, which is what it is unless the program gave another.
fn is_test_name(name: &str) -> bool {
    name.split("::").all(|part| {
        !part.is_empty() && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    })
}

/// A message on one line: `assertion failed: left: 1, right: 2`.
fn one_line(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("a panic without a message");
    let rest: Vec<&str> = lines.collect();
    if rest.is_empty() { first.into() } else { format!("{first}: {}", rest.join(", ")) }
}

fn shortened(line: &str) -> String {
    if width(line) <= HEADLINE {
        return line.into();
    }
    let kept: String = line.chars().take(HEADLINE - 1).collect();
    format!("{}…", kept.trim_end())
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn indented(text: &str, margin: &str) -> String {
    text.lines().map(|line| format!("{margin}{line}").trim_end().to_owned() + "\n").collect()
}
