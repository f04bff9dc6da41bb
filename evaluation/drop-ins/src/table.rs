//! The table.

use std::time::Duration;

use crate::crates::Crate;
use crate::run::{Coverage, Outcome};

/// The head of the table.
pub(crate) const HEAD: &str = "\
| crate | tests | pass | exhaustive · bounded · sampled | executions | time | Loom: pass · stopped | executions | time | executions ≤ Loom's | time, geometric mean of Loom's / raddle's |
| --- | ---: | ---: | --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |";

/// Returns the row of a crate: the outcomes of its tests on raddle and on Loom.
pub(crate) fn row(of: &Crate, results: &[(Outcome, Outcome)]) -> String {
    let (raddle, loom): (Vec<&Outcome>, Vec<&Outcome>) =
        results.iter().map(|(raddle, loom)| (raddle, loom)).unzip();
    let covers =
        |coverage| raddle.iter().filter(|outcome| outcome.coverage == Some(coverage)).count();
    // Only tests that both finish can be compared.
    let both = results.iter().filter(|(raddle, loom)| {
        raddle.passes && loom.passes && raddle.coverage > Some(Coverage::Sampled)
    });
    let both: Vec<_> = both.collect();
    // Loom 0.5 does not say how many executions it made.
    let counted = both.iter().filter_map(|(raddle, loom)| raddle.executions.zip(loom.executions));
    let counted: Vec<(u64, u64)> = counted.collect();
    let fewer = counted.iter().filter(|(raddle, loom)| raddle <= loom).count();
    let ratios = both
        .iter()
        .map(|(raddle, loom)| (loom.time.as_secs_f64() / raddle.time.as_secs_f64()).ln());
    let mean = (ratios.sum::<f64>() / both.len().max(1) as f64).exp();
    format!(
        "| {} {} | {} | {} | {} · {} · {} | {} | {} | {} · {} | {} | {} | {} of {} | {mean:.1} |",
        of.name,
        of.version,
        results.len(),
        passes(&raddle),
        covers(Coverage::Exhaustive),
        covers(Coverage::Bounded),
        covers(Coverage::Sampled),
        executions(&raddle),
        time(&raddle),
        passes(&loom),
        loom.iter().filter(|outcome| outcome.is_cut_off).count(),
        executions(&loom),
        time(&loom),
        fewer,
        counted.len(),
    )
}

fn passes(outcomes: &[&Outcome]) -> usize {
    outcomes.iter().filter(|outcome| outcome.passes).count()
}

fn executions(outcomes: &[&Outcome]) -> u64 {
    outcomes.iter().filter_map(|outcome| outcome.executions).sum()
}

fn time(outcomes: &[&Outcome]) -> String {
    let sum: Duration = outcomes.iter().map(|outcome| outcome.time).sum();
    format!("{:.2} s", sum.as_secs_f64())
}
