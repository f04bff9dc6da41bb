//! What the figures say of the paper's tables 4, 5 and 6 and of figure 6.

use crate::index;
use crate::table::Table;
use crate::verdict::{Judged, Verdict};

/// The classes V1 to V20.
fn programs(table: &Table) -> impl Iterator<Item = &str> {
    table.rows.iter().map(|row| row.name.as_str()).filter(|name| {
        let number = name.strip_prefix('v').and_then(|rest| rest.split('-').next());
        number.is_some_and(|number| number.parse::<u32>().is_ok()) && !name.contains(' ')
    })
}

/// How many classes have less in one column than in another.
fn less(table: &Table, one: &str, other: &str) -> usize {
    let figure = |row: &str, cell: &str| table.figure(row, cell).unwrap_or(f64::NAN);
    programs(table).filter(|row| figure(row, one) < figure(row, other)).count()
}

/// Table 4.
pub(super) fn first_bugs(table: &Table) -> Judged {
    let figure = |row: &str, cell: &str| table.figure(row, cell).unwrap_or(f64::NAN);
    let above =
        |cell: &str, least: f64| programs(table).filter(|row| figure(row, cell) > least).count();
    let fewer = less(table, "pcr", "maptest");
    let mean = figure("mean", "pcr");
    let significant = programs(table).filter(|row| figure(row, "p") < 0.05).count();
    let (fast, slow) = (above("speedup", 0.0), above("slow", 0.0));
    let reason = format!(
        "fewer schedules than MAPTest on {fewer} of 20 classes (paper 18; significant on {significant}), mean {mean:.2} \
         (4.07); in time {slow} of 20 (paper 18) if a schedule takes as long as in the paper, {fast} at raddle's speed, \
         where solving costs more than schedules; the column CIP has no counterpart"
    );
    let holds = fewer >= 17 && mean <= 4.5 && slow >= 17;
    Judged::new(index::PCR_TABLE_4, Verdict::Reproduced, holds, reason)
}

/// Table 5: explained if PCR, when nothing is left, has found every failure that MCR and random schedules find.
pub(super) fn failing(table: &Table) -> Judged {
    let figure = |row: &str, kind: &str, cell: &str| {
        table.figure(&format!("{row} {kind}"), cell).unwrap_or(f64::NAN)
    };
    let count = |one: &str, other: &str| {
        let equal = |row: &str, cell: &str| figure(row, "at equal effort", cell);
        programs(table).filter(|row| equal(row, one) > equal(row, other)).count()
    };
    let fast = less(table, "maptest_classes", "pcr_classes");
    let equal = count("pcr", "maptest");
    let ten_seconds = count("pcr", "maptest_ten_s");
    let dry =
        programs(table).map(|row| figure(row, "at equal effort", "schedules")).fold(0.0, f64::max);
    let all = |cell: &str| {
        let found = |row: &&str| {
            let failures = |cell: &str| figure(row, "by failure", cell);
            failures(cell) >= failures("all") - 1e-9
        };
        programs(table).filter(found).count()
    };
    let (pcr, mcr, random) = (all("pcr"), all("mcr"), all("random"));
    let reason = format!(
        "PCR finds more failing classes than MAPTest on {equal} of 20 in equally many schedules, on {ten_seconds} in the \
         schedules that take ten seconds in the paper (19 to 412 ms each), on {fast} in a second of raddle's speed. It ends \
         after {dry:.0} schedules at most because no failure is left: on {pcr} of 20 it has then found, with each of ten \
         seeds, all failures that MCR ({mcr} of 20), 10,000 random schedules ({random} of 20) or PCR without the rule on \
         covered patterns find; random schedules go on with other orders of accesses that the thread which fails does not \
         notice, and which count as traces in the paper"
    );
    Judged::new(index::PCR_TABLE_5, Verdict::Explained, equal >= 18 && pcr == 20, reason)
}

/// Table 6.
pub(super) fn beside_mcr(table: &Table) -> Judged {
    let schedules = less(table, "pcr", "mcr");
    let constraints = less(table, "pcr_solved", "mcr_solved");
    let time = less(table, "pcr_ms", "mcr_ms");
    let reason = format!(
        "PCR needs fewer schedules than MCR on {schedules} of 20 (paper 9), fewer constraints on {constraints} (10), less \
         time on {time} (10)"
    );
    let holds = schedules >= 9 && constraints >= 9 && time >= 9;
    Judged::new(index::PCR_TABLE_6, Verdict::Reproduced, holds, reason)
}

/// Figure 6.
pub(super) fn coverage(table: &Table) -> Judged {
    let sooner = less(table, "maptest@16", "pcr@16");
    let figure = |row: &str, cell: &str| table.figure(row, cell).unwrap_or(f64::NAN);
    let shares = programs(table).map(|row| figure(row, "pcr") / figure(row, "all"));
    let least = shares.fold(1.0, f64::min);
    let not_less = 20 - less(table, "pcr", "maptest");
    let reason = format!(
        "after 16 executions PCR covers more patterns than MAPTest on {sooner} of 20 classes; at the end at least \
         {:.0} % of all that were seen, and no fewer than MAPTest on {not_less}",
        100.0 * least
    );
    let holds = sooner >= 18 && least >= 0.9;
    Judged::new(index::PCR_FIG_6, Verdict::Reproduced, holds, reason)
}
