//! Documents made from reports: the analyses of the failing execution, and operations in words.

mod explanation;
mod fields;
mod finding;
mod repair;
mod stack;
mod summary;
mod trace;

use raddle_analysis::Words;
use raddle_results::document::{
    Cause, Condition, Coverage, Document, Failure, Failures, VariableCoverage, Verdict, Warning,
};
use raddle_results::{self as results, Report};

use self::explanation::explanation;
use self::finding::{finding, warning_kind};
use self::summary::{summary, warning_summary};
use self::trace::trace;
use crate::fold::Fold;

/// Which steps of long executions are in the document of a text or a page. JSON has all.
const STEPS: Fold = Fold { whole: 10_000, first: 1_000, last: 9_000 };
const ALL: Fold = Fold { whole: u64::MAX, first: 0, last: 0 };

/// Returns the document of a report. Of a very long execution it has only the first and the last steps.
///
/// ```
/// use raddle_results::document::Document;
///
/// let report = raddle::Config::new().name("seven").run(|| {
///     assert!(raddle::choose(10) != 7, "seven");
/// });
/// let document = raddle_report::document(&report);
/// assert_eq!(document.failure.as_ref().unwrap().summary, "seven");
/// assert_eq!(Document::parse(&document.to_string()), Ok(document));
/// ```
pub fn document(report: &Report) -> Document {
    with_steps(report, STEPS)
}

/// Returns the report as JSON, with all steps of the failing execution, and with a line break at its end.
///
/// ```
/// let report = raddle::Config::new().strategy("dpor").name("seven").run(|| {
///     assert!(raddle::choose(10) != 7, "seven");
/// });
/// let json = raddle_report::json(&report);
/// assert!(json.contains(r#""verdict": {"kind": "failed"}"#));
/// ```
pub fn json(report: &Report) -> String {
    format!("{}\n", with_steps(report, ALL))
}

fn with_steps(report: &Report, steps_shown: Fold) -> Document {
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
        unseen_drops,
        leaked,
        equivalents,
        probes,
        unchecked,
        hidden_state,
        blind_spots,
        incomplete,
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
        conditions,
        conditions_required,
        rerun,
    } = report;
    Document {
        name: name.to_string(),
        strategy: strategy.to_string(),
        memory: *memory,
        seed: *seed,
        verdict: match verdict {
            results::Verdict::Exhausted => Verdict::Exhausted,
            results::Verdict::Bounded(bounds) => Verdict::Bounded(*bounds),
            results::Verdict::Sampled => Verdict::Sampled,
            results::Verdict::NothingToExplore => Verdict::NothingToExplore,
            results::Verdict::Failed(_) => Verdict::Failed,
            _ => raddle_results::new_variant(),
        },
        executions: *executions,
        steps: *steps,
        classes: *classes,
        classes_exact: *classes_exact,
        discarded: *discarded,
        unseen_drops: *unseen_drops,
        leaked: *leaked,
        equivalents: *equivalents,
        probes: *probes,
        unchecked: *unchecked,
        hidden_state: hidden_state.as_deref().cloned(),
        blind_spots: *blind_spots,
        incomplete: Some(*incomplete).filter(|incomplete| incomplete.total() > 0),
        elapsed_seconds: elapsed.as_secs_f64(),
        threads: *threads,
        phases: phases.clone(),
        search: *search,
        coverage: coverage.as_deref().map(covered),
        patterns: patterns.as_deref().copied(),
        unseen: *unseen,
        guarantees: guarantees.clone(),
        warnings: warnings.iter().map(warning).collect(),
        conditions: conditions.iter().map(condition).collect(),
        conditions_required: *conditions_required,
        rerun: rerun.clone(),
        failure: report.failure().map(|found| failure(found, steps_shown)),
        failures: failures.as_deref().map(all_failures),
    }
}

fn covered(coverage: &results::Coverage) -> Coverage {
    let results::Coverage { by, covered, total, variables } = coverage;
    let variable = |variable: &results::VariableCoverage| VariableCoverage {
        site: variable.site.into(),
        reads: variable.reads,
        writes: variable.writes,
        covered: variable.covered,
        total: variable.total,
    };
    let variables = variables.iter().map(variable).collect();
    Coverage { by: *by, covered: *covered, total: *total, variables }
}

fn condition(condition: &results::Condition) -> Condition {
    let results::Condition { name, site, held } = condition;
    Condition { name: name.clone(), site: (*site).into(), held: *held }
}

fn warning(warning: &results::Warning) -> Warning {
    Warning {
        summary: warning_summary(warning),
        execution: warning.execution,
        warning: warning_kind(&warning.kind),
    }
}

fn failure(failure: &results::Failure, steps: Fold) -> Failure {
    let words = Words::of(&failure.trace);
    Failure {
        summary: summary(&failure.finding, &words.names),
        finding: finding(&failure.finding, &failure.trace, &words),
        execution: failure.execution,
        reproduced: failure.reproduced,
        beyond_bound: failure.beyond_bound,
        token: failure.token.clone(),
        explanation: failure.explanation.as_deref().map(|known| explanation(known, &words)),
        unexplained: failure.unexplained,
        trace: trace(&failure.trace, &words, steps),
    }
}

fn all_failures(failures: &results::Failures) -> Failures {
    let results::Failures { failing, runs, interval: (low, high), causes, others } = failures;
    Failures {
        failing: *failing,
        runs: *runs,
        interval: [*low, *high],
        causes: causes.iter().map(cause).collect(),
        others: *others,
    }
}

fn cause(cause: &results::Cause) -> Cause {
    let results::Cause { failure, runs } = cause;
    let words = Words::of(&failure.trace);
    Cause {
        runs: *runs,
        summary: summary(&failure.finding, &words.names),
        finding: finding(&failure.finding, &failure.trace, &words),
        execution: failure.execution,
        reproduced: failure.reproduced,
        token: failure.token.clone(),
    }
}
