//! The memory-access patterns seen, and the work of a search for them.

use raddle_results::document::Coverage;
use raddle_results::{Accesses, PatternSearch};

use crate::number::{about, count, thousands};

/// Returns the patterns of all variables together.
pub(crate) fn sentence(coverage: &Coverage) -> String {
    let Coverage { by, covered, total, variables } = coverage;
    let by = match by {
        Accesses::BySite => "accesses by line",
        Accesses::ByEvent => "accesses by event",
    };
    if variables.is_empty() {
        return "memory-access patterns: none, no shared variable is written".into();
    }
    format!(
        "memory-access patterns: {} covered of at most {} ({by}), {}",
        thousands(*covered),
        at_most(*total),
        count(variables.len() as u64, "shared variable", "shared variables")
    )
}

/// Returns an upper estimate as a whole number, unless it is too large for that.
pub(crate) fn at_most(total: f64) -> String {
    if total < 1e15 { thousands(total as u64) } else { about(total) }
}

/// Returns the work of a search for patterns.
pub(crate) fn searched(patterns: &PatternSearch) -> Vec<String> {
    let mut first = format!(
        "solver: {} patterns composed, {} filtered out, {} solved, {} impossible",
        thousands(patterns.generated),
        thousands(patterns.filtered.iter().sum()),
        thousands(patterns.solved),
        thousands(patterns.unsat + patterns.by_core),
    );
    if patterns.unknown + patterns.left_out > 0 {
        first += &format!(", {} given up", thousands(patterns.unknown + patterns.left_out));
    }
    let mut lines = vec![first];
    if patterns.missed > 0 {
        lines.push(format!(
            "{} not followed: something that raddle does not see decides",
            count(patterns.missed, "planned order was", "planned orders were")
        ));
    }
    if patterns.is_done {
        lines.push(
            "nothing is left to try: all other orders of what was seen are covered, filtered out, or \
             impossible"
                .into(),
        );
    }
    lines
}
