//! A report as JSON. What it holds is documented in `docs/report-json.md`; [`VERSION`] changes when a
//! reader of the old form would be misled.

mod operation;
mod trace;
mod value;

use raddle_core::{Guarantee, Panic, PlainAccess, Site, ThreadId};
use raddle_results::{
    Bounds, Cause, Failure, Failures, Finding, Phase, PhaseEnd, Report, Search, Verdict, Wait,
};

use crate::circles;
use crate::failure::headline;
use crate::fold::Fold;
use crate::names::Names;
use crate::oddity::{leak_json, warning_json};
pub(crate) use value::Json;

/// The version of the form. New fields do not change it.
const VERSION: u64 = 1;

/// The report as JSON, with a line break at its end.
///
/// ```
/// let report = raddle::Config::new().strategy("dpor").name("seven").run(|| {
///     assert!(raddle::choose(10) != 7, "seven");
/// });
/// let json = raddle_report::json(&report);
/// assert!(json.contains(r#""verdict": {"kind": "failed"}"#));
/// ```
pub fn json(report: &Report) -> String {
    format!("{}\n", document(report, trace::FOLD))
}

/// The JSON for a page, with the steps that it shows.
pub(crate) fn embedded(report: &Report) -> String {
    document(report, crate::html::FOLD).to_string()
}

fn document(report: &Report, how: Fold) -> Json {
    let Report {
        name,
        strategy,
        memory,
        seed,
        verdict,
        executions,
        steps,
        classes,
        classes_exact,
        discarded,
        elapsed,
        threads,
        phases,
        search,
        coverage,
        patterns,
        unseen,
        guarantees,
        failures,
        warnings,
    } = report;
    Json::Object(vec![
        ("version", Json::Number(VERSION)),
        ("name", Json::text(&**name)),
        ("strategy", Json::text(&**strategy)),
        ("memory", Json::text(memory.to_string())),
        ("seed", Json::Number(*seed)),
        ("verdict", verdict_json(verdict)),
        ("executions", Json::Number(*executions)),
        ("steps", Json::Number(*steps)),
        ("classes", Json::Number(*classes)),
        ("classes_exact", Json::Bool(*classes_exact)),
        ("discarded", Json::Number(*discarded)),
        ("elapsed_seconds", Json::Fraction(elapsed.as_secs_f64())),
        ("threads", Json::Number(u64::from(*threads))),
        ("phases", Json::list(phases.iter().map(phase))),
        ("search", Json::or_null(search.as_ref(), search_json)),
        ("coverage", Json::or_null(coverage.as_deref(), crate::coverage::coverage_json)),
        ("patterns", Json::or_null(patterns.as_deref(), crate::coverage::patterns_json)),
        ("unseen", Json::or_null(*unseen, Json::Fraction)),
        ("guarantees", Json::list(guarantees.iter().map(guarantee))),
        ("warnings", Json::list(warnings.iter().map(warning_json))),
        ("failure", Json::or_null(report.failure(), |found| failure(found, how))),
        ("failures", Json::or_null(failures.as_deref(), failures_json)),
    ])
}

fn verdict_json(verdict: &Verdict) -> Json {
    match verdict {
        Verdict::Exhausted => kind("exhausted", []),
        Verdict::Bounded(limits) => kind("bounded", [("bounds", bounds(limits))]),
        Verdict::Sampled => kind("sampled", []),
        Verdict::NothingToExplore => kind("nothing-to-explore", []),
        Verdict::Failed(_) => kind("failed", []),
    }
}

fn bounds(bounds: &Bounds) -> Json {
    let Bounds { preemptions, delays, unfairness } = *bounds;
    let number = |most: Option<u32>| Json::or_null(most, |most| Json::Number(most.into()));
    Json::Object(vec![
        ("preemptions", number(preemptions)),
        ("delays", number(delays)),
        ("unfairness", number(unfairness)),
    ])
}

fn phase(phase: &Phase) -> Json {
    let end = match &phase.end {
        PhaseEnd::Exhausted => kind("exhausted", []),
        PhaseEnd::Bounded(limits) => kind("bounded", [("bounds", bounds(limits))]),
        PhaseEnd::TooMany(estimate) => kind("too-many", [("estimate", Json::Fraction(*estimate))]),
        PhaseEnd::TooLong => kind("too-long", []),
        PhaseEnd::OutOfBudget => kind("out-of-budget", []),
        PhaseEnd::Failed => kind("failed", []),
    };
    Json::Object(vec![
        ("strategy", Json::text(&phase.strategy)),
        ("executions", Json::Number(phase.executions)),
        ("failing", Json::Number(phase.failing)),
        ("end", end),
    ])
}

fn search_json(search: &Search) -> Json {
    let Search { blocked, points, planned, estimate } = *search;
    Json::Object(vec![
        ("blocked", Json::Number(blocked)),
        ("points", Json::Number(points)),
        ("planned", Json::Number(planned)),
        ("estimate", Json::or_null(estimate, Json::Fraction)),
    ])
}

fn guarantee(guarantee: &Guarantee) -> Json {
    let Guarantee { strategy, depth, threads, steps, in_one_phase, history, runs, escape } =
        guarantee;
    Json::Object(vec![
        ("strategy", Json::text(strategy)),
        ("depth", Json::Number(u64::from(*depth))),
        ("threads", Json::Number(u64::from(*threads))),
        ("steps", Json::Number(*steps)),
        ("in_one_phase", Json::Bool(*in_one_phase)),
        ("history", Json::or_null(history.as_ref(), |&most| Json::Number(u64::from(most)))),
        ("runs", Json::Number(*runs)),
        ("escape", Json::Fraction(*escape)),
    ])
}

fn failure(failure: &Failure, how: Fold) -> Json {
    let names = Names::new(&failure.trace);
    let mut fields = failure_fields(failure, &names);
    fields.push(("trace", trace::trace(&failure.trace, &names, how)));
    Json::Object(fields)
}

fn failure_fields(failure: &Failure, names: &Names<'_>) -> Vec<(&'static str, Json)> {
    vec![
        ("summary", Json::text(headline(&failure.finding, names))),
        ("finding", finding(failure, names)),
        ("execution", Json::Number(failure.execution)),
        ("reproduced", Json::Bool(failure.reproduced)),
        ("token", Json::text(&failure.token)),
    ]
}

fn failures_json(failures: &Failures) -> Json {
    let Failures { failing, runs, interval: (low, high), causes, others } = failures;
    Json::Object(vec![
        ("failing", Json::Number(*failing)),
        ("runs", Json::Number(*runs)),
        ("interval", Json::list([Json::Fraction(*low), Json::Fraction(*high)])),
        ("causes", Json::list(causes.iter().map(cause))),
        ("others", Json::Number(*others)),
    ])
}

fn cause(cause: &Cause) -> Json {
    let mut fields = vec![("runs", Json::Number(cause.runs))];
    fields.extend(failure_fields(&cause.failure, &Names::new(&cause.failure.trace)));
    Json::Object(fields)
}

fn finding(failure: &Failure, names: &Names<'_>) -> Json {
    match &failure.finding {
        Finding::Panic(Panic { thread: by, message, place, backtrace }) => kind(
            "panic",
            [
                ("thread", thread(*by)),
                ("message", Json::text(message)),
                ("place", Json::or_null(place.as_ref(), Json::text)),
                ("backtrace", Json::or_null(backtrace.as_ref(), Json::text)),
            ],
        ),
        Finding::Deadlock(waits) => {
            kind("deadlock", [("waits", Json::list(waits.iter().map(wait)))])
        }
        Finding::Race { first, second } => {
            kind("race", [("first", access(first)), ("second", access(second))])
        }
        Finding::StepLimit { steps } => {
            let circles = circles::json(&failure.trace, names);
            kind("step-limit", [("steps", Json::Number(*steps)), ("circles", circles)])
        }
        Finding::Nondeterminism { at, first, second } => kind(
            "nondeterminism",
            [
                ("step", Json::Number(*at as u64 + 1)),
                ("first", Json::text(first)),
                ("second", Json::text(second)),
            ],
        ),
        Finding::Leak(leak) => leak_json(leak),
        Finding::Stuck { thread: who, site: place } => {
            kind("stuck", [("thread", thread(*who)), ("site", site(*place))])
        }
    }
}

fn access(access: &PlainAccess) -> Json {
    Json::Object(vec![
        ("thread", thread(access.thread)),
        ("after", Json::Number(access.after as u64)),
        ("object", Json::Number(access.object.0.into())),
        ("writes", Json::Bool(access.writes)),
        ("site", site(access.site)),
    ])
}

fn wait(wait: &Wait) -> Json {
    let holder = |(holder, taken): &(ThreadId, Site)| {
        Json::Object(vec![("thread", thread(*holder)), ("taken", site(*taken))])
    };
    Json::Object(vec![
        ("thread", thread(wait.thread)),
        ("object", Json::Number(wait.object.0.into())),
        ("site", site(wait.site)),
        ("holders", Json::list(wait.holders.iter().map(holder))),
        ("in_cycle", Json::Bool(wait.in_cycle)),
    ])
}

/// An object that says by `kind` which other fields it has.
pub(crate) fn kind<const N: usize>(word: &'static str, fields: [(&'static str, Json); N]) -> Json {
    let kind = ("kind", Json::text(word));
    Json::Object(std::iter::once(kind).chain(fields).collect())
}

pub(crate) fn thread(thread: ThreadId) -> Json {
    Json::Number(thread.0.into())
}

pub(crate) fn site(site: Site) -> Json {
    Json::or_null(site.location(), |location| {
        Json::Object(vec![
            ("file", Json::text(location.file())),
            ("line", Json::Number(location.line().into())),
            ("column", Json::Number(location.column().into())),
        ])
    })
}
