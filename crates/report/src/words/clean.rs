//! Results without a failure. Each says what was tried, never more.

use std::time::Duration;

use raddle_core::{Guarantee, MemoryModel};
use raddle_results::document::{Document, Verdict};
use raddle_results::{BlindSpots, Bounds, HiddenState, Incomplete, MAX_LEAKED, Phase, PhaseEnd};

use crate::number::{about, count, probability, thousands, time};
use crate::phrase::one_line;

/// The word that stands for the strategy in a report on a replay.
pub(crate) const REPLAY: &str = "replay";

/// The word that stands for the strategy in a report on an execution that an earlier check has kept.
pub(crate) const KEPT: &str = "kept";

/// The word of the strategy that has phases with a part of the budget each.
const AUTO: &str = "auto";

/// The probability up to which a bug is said to have been ruled out.
const UNLIKELY: f64 = 0.05;

/// Returns the result in words: a sentence, and lines that explain it. Empty if the check failed.
pub(crate) fn lines(document: &Document) -> Vec<String> {
    let mut lines = match &document.verdict {
        Verdict::Exhausted => exhaustive(document),
        Verdict::Bounded(bounds) => bounded(document, bounds),
        Verdict::Sampled => sampled(document),
        Verdict::NothingToExplore => vec![nothing_to_explore(document)],
        Verdict::Failed => return Vec::new(),
    };
    lines.extend(ended_early(document));
    lines.extend(never_held(document));
    lines
}

/// Returns the conditions that never held.
fn never_held(document: &Document) -> Vec<String> {
    let is_proved = matches!(document.verdict, Verdict::Exhausted | Verdict::NothingToExplore)
        && document.discarded == 0;
    let words = if is_proved { "cannot hold" } else { "never held" };
    let unmet = document.conditions.iter().filter(|condition| !condition.held);
    unmet.map(|one| format!("{words}: `{}` ({})", one_line(&one.name), one.site)).collect()
}

/// Returns what is wrong if no execution fails, but a condition never held that had to.
pub(crate) fn unmet(document: &Document) -> Option<String> {
    let unmet = document.conditions.iter().filter(|condition| !condition.held).count() as u64;
    let is_failure = document.conditions_required && unmet > 0 && document.failure.is_none();
    is_failure.then(|| {
        let subject = count(unmet, "condition", "conditions");
        format!("{subject} never held that had to hold in some execution")
    })
}

/// Returns why the check ended before its time, if threads that were left behind are the reason.
pub(crate) fn ended_early(document: &Document) -> Option<String> {
    (document.leaked >= MAX_LEAKED).then(|| {
        let leaked = thousands(document.leaked);
        format!("ended early: {leaked} threads that were blocked or cut off keep their memory")
    })
}

/// Returns the bounds that executions keep within.
pub(crate) fn within(bounds: &Bounds) -> String {
    let Bounds { preemptions, delays, unfairness } = *bounds;
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

/// Returns the duration of the check.
pub(crate) fn elapsed(document: &Document) -> String {
    time(Duration::try_from_secs_f64(document.elapsed_seconds).unwrap_or_default())
}

fn exhaustive(document: &Document) -> Vec<String> {
    let how_far = if document.discarded > 0 { " up to the step limit" } else { "" };
    let mut lines = vec![format!(
        "exhaustive{how_far}{}: {}, {}, {}, {}",
        but_for_drops(document),
        classes(document),
        executions(document),
        elapsed(document),
        memory(document)
    )];
    if document.discarded > 0 {
        lines.push(format!(
            "{} it and {} discarded: nothing is known of {}",
            count(document.discarded, "execution reached", "executions reached"),
            if document.discarded == 1 { "was" } else { "were" },
            if document.discarded == 1 { "it" } else { "them" },
        ));
    }
    lines.extend(abandoned(document));
    lines.extend(drops(document));
    lines.extend(wait_loops(document));
    lines
}

fn bounded(document: &Document, bounds: &Bounds) -> Vec<String> {
    let first = format!(
        "bounded: all executions {}{}: none fails; {}, {}{}, {}, {}",
        within(bounds),
        but_for_drops(document),
        classes(document),
        executions(document),
        parts(document),
        elapsed(document),
        memory(document)
    );
    let notes = abandoned(document).into_iter().chain(drops(document)).chain(wait_loops(document));
    [first].into_iter().chain(notes).collect()
}

/// Returns what the result does not cover, if `Arc`s free objects that other threads use.
fn but_for_drops(document: &Document) -> &'static str {
    if document.unseen_drops { " but for the drops of `Arc`" } else { "" }
}

/// Returns why the drops of `Arc` are not covered.
fn drops(document: &Document) -> Option<String> {
    let text = "the last `std::sync::Arc` is dropped, or its content moved out, while other threads use what is in it, and \
                drops of `Arc` are not seen; `sync::counted::Arc` makes them steps";
    document.unseen_drops.then(|| text.to_owned())
}

/// Returns what the result presumes of loops that wait, if threads were cut off in some.
fn wait_loops(document: &Document) -> Option<String> {
    let has_waits = document.incomplete.unwrap_or_default().waits > 0;
    let text = "loops that wait are cut off when registers and stack are as before: one that counts more than 1,000 rounds \
                elsewhere, on the heap or in a thread-local variable, may go on differently";
    has_waits.then(|| text.to_owned())
}

/// Returns how many executions a search did not need to finish.
fn abandoned(document: &Document) -> Option<String> {
    let blocked = document.search.map_or(0, |search| search.blocked);
    (blocked > 0).then(|| {
        let number = count(blocked, "execution was", "executions were");
        format!("{number} abandoned: everything reachable from there had been tried")
    })
}

fn sampled(document: &Document) -> Vec<String> {
    if document.strategy == REPLAY {
        return vec!["replayed: this execution does not fail".into()];
    }
    let mut lines = vec![format!(
        "{}sampled: {}{}{}, {} seen{}, {}, {}",
        if document.hidden_state.is_some() { "not exhaustive, " } else { "" },
        count(document.executions, "execution", "executions"),
        probes(document).map(|probes| format!(" {probes}")).unwrap_or_default(),
        strategies(document),
        classes(document),
        document.unseen.map(unseen).unwrap_or_default(),
        elapsed(document),
        memory(document)
    )];
    lines.extend(document.hidden_state.iter().flat_map(hidden));
    if document.blind_spots.clock_loops {
        lines.push(
            "a thread waits in a loop that reads the clock: how often it goes round depends on the time that steps take, so \
             searches claim nothing"
                .into(),
        );
    }
    if document.unchecked {
        lines.push(
            "the search ended, but there was no time left to look for state that raddle does not see: it claims nothing"
                .into(),
        );
    }
    let program = if document.blind_spots.idle_rounds {
        ", for the program without rounds of loops in which a thread only waits"
    } else {
        ""
    };
    lines.extend(strongest(&document.guarantees).map(|found| guaranteed(found) + program));
    lines.extend(incomplete(document));
    lines.extend(document.phases.iter().filter_map(|phase| explained(phase, document)));
    if let (true, Some(estimate)) =
        (document.phases.is_empty(), document.search.and_then(|search| search.estimate))
    {
        lines.push(format!("{} executions in all", about(estimate)));
    }
    if document.discarded > 0 {
        lines.push(format!(
            "of these, {} reached the step limit and {} discarded",
            thousands(document.discarded),
            if document.discarded == 1 { "was" } else { "were" },
        ));
    }
    lines
}

/// Returns the memory model, and what raddle did not see or explore.
fn memory(document: &Document) -> String {
    let BlindSpots { silent_threads, weak_orderings, clock_loops: _, idle_rounds: _ } =
        document.blind_spots;
    let mut text = document.memory.to_string();
    if weak_orderings {
        text += "; weaker orderings were not explored: `memory = \"rc11\"`";
    }
    if silent_threads > 0 {
        let threads = count(silent_threads.into(), "spawned thread", "spawned threads");
        text += &format!("; {threads} performed no operation that raddle sees");
    }
    if document.hidden_state.is_some() {
        text += "; threads share unseen state";
    }
    text
}

/// Returns what shows that threads share state that raddle does not see.
pub(crate) fn hidden(hidden_state: &HiddenState) -> Vec<String> {
    let HiddenState { execution, before, after } = hidden_state;
    vec![
        "threads share state that raddle does not see, such as an atomic or a lock of `std`: searches prove nothing".into(),
        format!("execution {execution}: {}", one_line(before)),
        format!("with independent steps in another order: {}", one_line(after)),
    ]
}

fn nothing_to_explore(document: &Document) -> String {
    let why = if document.threads > 1 {
        "at every step only one thread is runnable, and the program makes no choices"
    } else {
        "the program runs one thread and makes no choices"
    };
    format!("nothing to explore: {why}; it ran without failing")
}

/// Returns the estimated probability of an execution of a class not seen before.
fn unseen(mass: f64) -> String {
    match mass * 100.0 {
        percent if percent >= 9.95 => format!(", unseen mass ≈ {percent:.0} %"),
        percent if percent >= 0.1 => format!(", unseen mass ≈ {percent:.1} %"),
        percent if percent > 0.0 => ", unseen mass < 0.1 %".to_owned(),
        _ => ", unseen mass ≈ 0 %".to_owned(),
    }
}

/// Returns the guarantee worth showing: for the deepest bugs that are ruled out, or else for those that
/// escape with the smallest probability.
fn strongest(guarantees: &[Guarantee]) -> Option<&Guarantee> {
    let good = guarantees.iter().filter(|guarantee| guarantee.escape <= UNLIKELY);
    let deepest = good.max_by_key(|guarantee| guarantee.depth);
    deepest.or_else(|| guarantees.iter().min_by(|a, b| a.escape.total_cmp(&b.escape)))
}

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

/// Returns the strategy, or its phases with the executions of each.
fn strategies(document: &Document) -> String {
    match parts(document) {
        parts if parts.is_empty() => format!(" ({})", document.strategy),
        parts => parts,
    }
}

/// Returns the phases of a strategy with the executions of each, if it has any.
fn parts(document: &Document) -> String {
    if document.phases.is_empty() {
        return String::new();
    }
    let part = |phase: &Phase| format!("{} {}", phase.strategy, thousands(phase.executions));
    format!(" ({})", document.phases.iter().map(part).collect::<Vec<_>>().join(" · "))
}

/// Returns why a phase did not try everything.
fn explained(phase: &Phase, document: &Document) -> Option<String> {
    let is_last = document.phases.last().is_some_and(|last| last == phase);
    match phase.end {
        PhaseEnd::TooMany(estimate) => Some(format!(
            "{} gave up after {}: {} in all would not fit the budget",
            phase.strategy,
            count(phase.executions, "execution", "executions"),
            about(estimate)
        )),
        PhaseEnd::OutOfBudget if document.strategy == AUTO && !is_last => Some(format!(
            "{} did not end within its part of the budget, {}; the rest was sampled",
            phase.strategy,
            count(phase.executions, "execution", "executions")
        )),
        PhaseEnd::TooLong => Some(format!(
            "{} met an execution that does not seem to end: a loop that waits for another thread?",
            phase.strategy
        )),
        PhaseEnd::Bounded(_) if document.hidden_state.is_some() => None,
        PhaseEnd::Bounded(bounds) => {
            Some(format!("{}: all executions {}: none fails", phase.strategy, within(&bounds)))
        }
        PhaseEnd::HiddenState
        | PhaseEnd::Clock
        | PhaseEnd::Exhausted
        | PhaseEnd::OutOfBudget
        | PhaseEnd::Failed => None,
        _ => raddle_results::new_variant(),
    }
}

/// Returns the number of executions, and of those that are counted apart.
fn executions(document: &Document) -> String {
    let number = count(document.executions, "execution", "executions");
    let mut apart = incomplete(document);
    if document.equivalents > 0 {
        apart.insert(0, format!("+ {} equivalent", thousands(document.equivalents)));
    }
    if let Some(probes) = probes(document) {
        apart.insert(0, probes);
    }
    if apart.is_empty() { number } else { format!("{number} ({})", apart.join("; ")) }
}

/// Returns how many executions of other strategies were made first.
fn probes(document: &Document) -> Option<String> {
    (document.probes > 0).then(|| format!("after {}", count(document.probes, "probe", "probes")))
}

/// Returns how many more executions were not completed, and why.
fn incomplete(document: &Document) -> Vec<String> {
    let Incomplete { assumed, waits, out_of_time } = document.incomplete.unwrap_or_default();
    let were = |number: u64, what: &str| {
        let was = if number == 1 { "was" } else { "were" };
        (number > 0).then(|| format!("{} more {was} {what}", thousands(number)))
    };
    let waits = (waits > 0).then(|| format!("{} more ended in a wait", thousands(waits)));
    let assumed = were(assumed, "stopped by an assumption");
    let out_of_time = were(out_of_time, "cut off by the time limit");
    [waits, assumed, out_of_time].into_iter().flatten().collect()
}

/// Returns the number of classes. Under RC11 a class is an execution graph.
fn classes(document: &Document) -> String {
    let about = if document.classes_exact { "" } else { "≈ " };
    let (one, many) = match document.memory {
        MemoryModel::Sc => ("class", "classes"),
        MemoryModel::Rc11 => ("graph", "graphs"),
    };
    format!("{about}{}", count(document.classes, one, many))
}
