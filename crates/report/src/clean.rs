//! Results without a failure. Each says what was tried, never more.

use raddle_core::Guarantee;
use raddle_results::{Bounds, Phase, PhaseEnd, Report};

use crate::number::{about, count, probability, thousands, time};

/// The strategy's word of a report on a replay.
pub(crate) const REPLAY: &str = "replay";

/// Bugs that escape with a smaller probability hardly do.
const HARDLY: f64 = 0.05;

pub(crate) fn exhaustive(report: &Report) -> String {
    let how_far = if report.discarded > 0 { " up to the step limit" } else { "" };
    let mut text = format!(
        "{} exhaustive{how_far}: {}, {}, {}, {}",
        ok(report),
        classes(report),
        executions(report),
        time(report.elapsed),
        report.memory
    );
    if report.discarded > 0 {
        text += &format!(
            "\n        {} it and {} set aside: nothing is known of {}",
            count(report.discarded, "execution reached", "executions reached"),
            if report.discarded == 1 { "was" } else { "were" },
            if report.discarded == 1 { "it" } else { "them" },
        );
    }
    text + &given_up(report)
}

pub(crate) fn bounded(report: &Report, bound: &Bounds) -> String {
    let text = format!(
        "{} bounded: all executions {}: none fails; {}, {}{}, {}, {}",
        ok(report),
        within(bound),
        classes(report),
        executions(report),
        parts(report),
        time(report.elapsed),
        report.memory
    );
    text + &given_up(report)
}

/// Runs that a search did not need to finish.
fn given_up(report: &Report) -> String {
    match report.search.map_or(0, |search| search.blocked) {
        0 => String::new(),
        blocked => format!(
            "\n        {} given up half-way: nothing new could follow",
            count(blocked, "execution was", "executions were")
        ),
    }
}

/// What executions have to keep within.
pub(crate) fn within(bound: &Bounds) -> String {
    let Bounds { preemptions, delays, unfairness } = *bound;
    let counted = [
        preemptions.map(|most| format!("≤ {}", count(most.into(), "preemption", "preemptions"))),
        delays.map(|most| format!("≤ {}", count(most.into(), "delay", "delays"))),
    ];
    let counted = counted.into_iter().flatten().collect::<Vec<_>>().join(" and ");
    match unfairness {
        None => format!("with {counted}"),
        Some(most) if counted.is_empty() => format!("within the fair bound {most}"),
        Some(most) => format!("with {counted} (fair bound {most})"),
    }
}

pub(crate) fn sampled(report: &Report) -> String {
    if report.strategy == REPLAY {
        return format!("{} replayed: this execution does not fail", ok(report));
    }
    let mut text = format!(
        "{} sampled: {}{}, {} seen{}, {}, {}",
        ok(report),
        executions(report),
        strategies(report),
        classes(report),
        report.unseen.map(unseen).unwrap_or_default(),
        time(report.elapsed),
        report.memory
    );
    if let Some(guarantee) = strongest(&report.guarantees) {
        text += &format!("\n        {}", guaranteed(guarantee));
    }
    for phase in &report.phases {
        text += &explained(phase, report);
    }
    if let (true, Some(estimate)) =
        (report.phases.is_empty(), report.search.and_then(|search| search.estimate))
    {
        text += &format!("\n        {} executions in all", about(estimate));
    }
    if report.discarded > 0 {
        text += &format!(
            "\n        of these, {} reached the step limit and {} set aside",
            thousands(report.discarded),
            if report.discarded == 1 { "was" } else { "were" },
        );
    }
    text
}

pub(crate) fn nothing_to_explore(report: &Report) -> String {
    let why = if report.threads > 1 {
        "at every step only one thread can go on, and the program makes no choices"
    } else {
        "the program runs one thread and makes no choices"
    };
    format!("{} nothing to explore: {why}; it ran without failing", ok(report))
}

/// How likely a run of a class not seen before would be.
fn unseen(mass: f64) -> String {
    match mass * 100.0 {
        percent if percent >= 9.95 => format!(", unseen mass ≈ {percent:.0} %"),
        percent if percent >= 0.1 => format!(", unseen mass ≈ {percent:.1} %"),
        // One class seen once in so many runs would already be more.
        percent if percent > 0.0 => ", unseen mass < 0.1 %".to_owned(),
        _ => ", unseen mass ≈ 0 %".to_owned(),
    }
}

/// The guarantee worth telling: for the deepest bugs that hardly escape, or else for those that
/// escape least.
fn strongest(guarantees: &[Guarantee]) -> Option<&Guarantee> {
    let good = guarantees.iter().filter(|guarantee| guarantee.escape <= HARDLY);
    let deepest = good.max_by_key(|guarantee| guarantee.depth);
    deepest.or_else(|| guarantees.iter().min_by(|a, b| a.escape.total_cmp(&b.escape)))
}

/// What is known of bugs that were not found.
fn guaranteed(guarantee: &Guarantee) -> String {
    let Guarantee { strategy, depth, threads, steps, in_one_phase, history, runs, escape } =
        guarantee;
    if let Some(history) = history {
        return format!(
            "a bug of {} among ≤ {}, each with one of the {} newest stores, escaped with probability ≤ {} ({} of {strategy})",
            count(u64::from(*depth), "communication", "communications"),
            count(*steps, "communication event", "communication events"),
            thousands(u64::from(*history)),
            probability(*escape),
            count(*runs, "qualifying run", "qualifying runs"),
        );
    }
    let within = if *in_one_phase { " within one phase" } else { "" };
    format!(
        "a depth-≤{depth} bug{within} in ≤ {} and ≤ {} escaped with probability ≤ {} ({} of {strategy})",
        count(u64::from(*threads), "thread", "threads"),
        count(*steps, "step", "steps"),
        probability(*escape),
        count(*runs, "qualifying run", "qualifying runs"),
    )
}

/// The strategy, or its parts with what each did.
fn strategies(report: &Report) -> String {
    match parts(report) {
        parts if parts.is_empty() => format!(" ({})", report.strategy),
        parts => parts,
    }
}

/// The parts of a strategy with what each did, if it has any.
fn parts(report: &Report) -> String {
    if report.phases.is_empty() {
        return String::new();
    }
    let part = |phase: &Phase| format!("{} {}", phase.strategy, thousands(phase.executions));
    format!(" ({})", report.phases.iter().map(part).collect::<Vec<_>>().join(" · "))
}

/// Why a part of a check was not all of it.
fn explained(phase: &Phase, report: &Report) -> String {
    match phase.end {
        PhaseEnd::TooMany(estimate) => format!(
            "\n        {} found {} executions in all, too many for {} or the time allowed",
            phase.strategy,
            about(estimate),
            thousands(report.executions)
        ),
        PhaseEnd::TooLong => format!(
            "\n        {} met an execution that does not seem to end: a loop that waits for another \
             thread?",
            phase.strategy
        ),
        PhaseEnd::Bounded(bound) => {
            format!("\n        {}: all executions {}: none fails", phase.strategy, within(&bound))
        }
        PhaseEnd::Exhausted | PhaseEnd::OutOfBudget | PhaseEnd::Failed => String::new(),
    }
}

pub(crate) fn ok(report: &Report) -> String {
    format!("raddle: test `{}` ok —", report.name)
}

fn executions(report: &Report) -> String {
    count(report.executions, "execution", "executions")
}

fn classes(report: &Report) -> String {
    let about = if report.classes_exact { "" } else { "≈ " };
    format!("{about}{}", count(report.classes, "class", "classes"))
}
