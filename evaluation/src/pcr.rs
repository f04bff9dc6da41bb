//! The evaluation of pattern constraint reduction (Zhao et al., TSE 2023): tables 4, 5 and 6, and figure 6;
//! and PCR on SCTBench.
//!
//! The paper's programs are V1 to V20, each with the test that can show its bug, as in the paper. MAPTest, the
//! paper's baseline, runs that test under random schedules; what it does otherwise, making tests, has a
//! column of its own.

use crate::interleave::begin_measuring;
use crate::plot::Plot;
use crate::progress::progress;
use crate::table::{Row, Size, Table};

pub(crate) mod cost;
mod coverage;
mod failing;
mod first_bug;
mod maptest;
mod sctbench;
mod verdicts;
pub(crate) mod watch;

/// How often each figure is measured, with another seed each time, as in the paper.
const SEEDS: u64 = 10;

/// Table 4: schedules and time to the first failure, beside MAPTest and raddle's samplers.
pub(crate) fn first_bugs(size: Size, command: String) -> Result<Table, String> {
    let legend = [
        "schedules to the first failure, means of ten seeds; paper: its means of ten",
        "pcr_ms: CPU time to the first failure, with its replay; paper_ms: on another machine, in Java",
        "reduction: of PCR's schedules beside MAPTest's, as in the paper; p: Wilcoxon's signed-rank test of the ten seeds",
        "speedup: MAPTest's CPU time over PCR's, here; slow: if each schedule also took the paper's time of a schedule, \
         its milliseconds over its schedules of MAPTest",
        "maptest: the same test under random schedules; generated: tests made by MAPTest's rule, one schedule each",
        "> some seeds did not fail within 10,000 schedules",
        "programs: V1 to V20, written from their descriptions; see `list`",
    ];
    let mut table = made("pcr-4", size, command, first_bug::table_4, &legend)?;
    table.verdicts.push(verdicts::first_bugs(&table));
    Ok(table)
}

/// Table 5: failing executions in a fixed time.
pub(crate) fn failing_runs(size: Size, command: String) -> Result<Table, String> {
    let legend = [
        "failing executions, and how many different ones, within the time of a search",
        "paper: failing traces in ten seconds, means of ten",
        "seconds: full 1, quick 0.05, of one seed; a search that has nothing left to try ends before",
        "rows `at equal effort`, means of ten seeds: schedules: after which PCR has nothing left to try; pcr: failing \
         classes among them; maptest: among as many random schedules; ten_s: random schedules that take ten seconds in \
         the paper (its milliseconds over its schedules of Table 4); maptest_ten_s: failing classes among them",
        "rows `by failure`: executions have the same failure if the thread that failed passed the same places and read the \
         same; random: of 10,000 schedules (quick 200); mcr, pcr, without_2 (PCR without rule 2, means of ten seeds each): \
         until nothing is left; all: different ones found by any of them",
    ];
    let mut table = made("pcr-5", size, command, failing::table_5, &legend)?;
    table.verdicts.push(verdicts::failing(&table));
    Ok(table)
}

/// Table 6: schedules, constraints and time to the first failure, beside MCR.
pub(crate) fn beside_mcr(size: Size, command: String) -> Result<Table, String> {
    let legend = [
        "to the first failure, means of ten seeds; constraints: questions to a solver that were answered",
        "paper: means of ten; its times are of Java programs on another machine",
    ];
    let mut table = made("pcr-6", size, command, first_bug::table_6, &legend)?;
    table.verdicts.push(verdicts::beside_mcr(&table));
    Ok(table)
}

/// Figure 6: memory-access patterns covered by the number of executions; the plots also show it over time.
pub(crate) fn coverages(size: Size, command: String) -> Result<(Table, Vec<Plot>), String> {
    let mut plots = Vec::new();
    let legend = [
        "memory-access patterns (accesses one by one) by the number of executions, means of three seeds",
        "pcr and mcr may end before: their last figure stands",
        "plots: over executions, and over the CPU time of a strategy with its executions",
        "all: different patterns seen by any of them",
    ];
    let measure = |size| coverage::figure_6(size, &mut plots);
    let mut table = made("pcr-fig6", size, command, measure, &legend)?;
    table.verdicts.push(verdicts::coverage(&table));
    Ok((table, plots))
}

/// The short programs of SCTBench: schedules to the first failure, or what was covered, beside samplers.
pub(crate) fn sctbench(size: Size, command: String) -> Result<Table, String> {
    sctbench::table(size, command)
}

/// What coverage and solving cost.
pub(crate) fn costs(size: Size, command: String) -> Result<Table, String> {
    let legend = [
        "coverage: CPU time per step under `random`, without and with coverage by line; median of paired ratios",
        "trace-N: questions about one trace of some N events, answered by a solver, each in a process of its own",
        "told: events, edges and literals that the solver was told; memory: the most in use beyond the run's, for each",
        "memory is linear in the length of the trace: for longer traces at most 1.25 times that of trace-1250",
        "workloads as in the table `speed`",
    ];
    made("pcr-cost", size, command, cost::table, &legend)
}

fn made(
    name: &'static str,
    size: Size,
    command: String,
    measure: impl FnOnce(Size) -> Result<Vec<Row>, String>,
    legend: &[&str],
) -> Result<Table, String> {
    begin_measuring()?;
    let rows = measure(size)?;
    progress("");
    let legend = legend.iter().map(|&line| line.to_owned()).collect();
    Ok(Table { name, size, command, rows, legend, verdicts: Vec::new() })
}
