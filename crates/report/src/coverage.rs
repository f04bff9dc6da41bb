//! Which memory-access patterns were seen, and what a search for them has done.

use raddle_results::{Accesses, Coverage, PatternSearch, Report, VariableCoverage};

use crate::json::{Json, site};
use crate::number::{about, count, thousands};

/// So many variables are told one by one.
const SHOWN: usize = 5;

/// Lines for the end of a report, each with a line break before it; none if nobody asked.
pub(crate) fn text(report: &Report) -> String {
    let mut text = String::new();
    if let Some(coverage) = &report.coverage {
        text += &covered(coverage);
    }
    if let Some(patterns) = &report.patterns {
        text += &searched(patterns);
    }
    text
}

fn covered(coverage: &Coverage) -> String {
    let variables = &coverage.variables;
    let mut text = format!("\n        {}", sentence(coverage));
    for variable in variables.iter().take(SHOWN) {
        let VariableCoverage { site, covered, total, .. } = variable;
        text += &format!("\n          {site}: {} of {}", thousands(*covered), at_most(*total));
    }
    if variables.len() > SHOWN {
        text += &format!("\n          and {} more", thousands((variables.len() - SHOWN) as u64));
    }
    text
}

/// All variables together.
pub(crate) fn sentence(coverage: &Coverage) -> String {
    let Coverage { by, covered, total, variables } = coverage;
    let by = match by {
        Accesses::BySite => "accesses by line",
        Accesses::ByEvent => "accesses one by one",
    };
    if variables.is_empty() {
        return "memory-access patterns: none, nothing that changes is shared".into();
    }
    format!(
        "memory-access patterns: {} covered of at most {} ({by}), {}",
        thousands(*covered),
        at_most(*total),
        count(variables.len() as u64, "shared variable", "shared variables")
    )
}

/// A number that is whole unless it is too large for that.
pub(crate) fn at_most(total: f64) -> String {
    if total < 1e15 { thousands(total as u64) } else { about(total) }
}

/// What a solver did; lines as in [`text`].
pub(crate) fn searched(patterns: &PatternSearch) -> String {
    let mut text = format!(
        "\n        solver: {} put together, {} left out by rules, {} solved, {} impossible",
        thousands(patterns.generated),
        thousands(patterns.filtered.iter().sum()),
        thousands(patterns.solved),
        thousands(patterns.unsat + patterns.by_core),
    );
    if patterns.unknown + patterns.left_out > 0 {
        text += &format!(", {} given up", thousands(patterns.unknown + patterns.left_out));
    }
    if patterns.missed > 0 {
        text += &format!(
            "\n        {} not followed: something that raddle does not see decides",
            count(patterns.missed, "planned order was", "planned orders were")
        );
    }
    if patterns.is_done {
        text += "\n        nothing is left to try: all other orders of what was seen are covered, left \
                 out by a rule, or impossible";
    }
    text
}

pub(crate) fn coverage_json(coverage: &Coverage) -> Json {
    let Coverage { by, covered, total, variables } = coverage;
    let by = match by {
        Accesses::BySite => "site",
        Accesses::ByEvent => "event",
    };
    let variable = |variable: &VariableCoverage| {
        Json::Object(vec![
            ("site", site(variable.site)),
            ("reads", Json::Number(variable.reads)),
            ("writes", Json::Number(variable.writes)),
            ("covered", Json::Number(variable.covered)),
            ("total", Json::Fraction(variable.total)),
        ])
    };
    Json::Object(vec![
        ("by", Json::text(by)),
        ("covered", Json::Number(*covered)),
        ("total", Json::Fraction(*total)),
        ("variables", Json::list(variables.iter().map(variable))),
    ])
}

pub(crate) fn patterns_json(patterns: &PatternSearch) -> Json {
    let PatternSearch {
        generated,
        filtered,
        by_core,
        solved,
        unsat,
        unknown,
        left_out,
        asked,
        told,
        duplicates,
        exhibited,
        blocked,
        missed,
        is_done,
    } = *patterns;
    Json::Object(vec![
        ("generated", Json::Number(generated)),
        ("filtered", Json::list(filtered.into_iter().map(Json::Number))),
        ("by_core", Json::Number(by_core)),
        ("solved", Json::Number(solved)),
        ("unsat", Json::Number(unsat)),
        ("unknown", Json::Number(unknown)),
        ("left_out", Json::Number(left_out)),
        ("asked", Json::Number(asked)),
        ("told", Json::Number(told)),
        ("duplicates", Json::Number(duplicates)),
        ("exhibited", Json::Number(exhibited)),
        ("blocked", Json::Number(blocked)),
        ("missed", Json::Number(missed)),
        ("is_done", Json::Bool(is_done)),
    ])
}
