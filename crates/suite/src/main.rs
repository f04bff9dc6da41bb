//! Benchmark programs and tables of raddle.
//!
//! `raddle-suite table NAME` measures, then prints a table as aligned text or as JSON.

#![forbid(unsafe_code)]

mod bpor;
mod child;
mod compat;
mod dev_profile;
mod engines;
mod exhaustive;
mod first_bug;
mod interleave;
mod litmus;
mod measure;
mod methods;
mod micro;
mod parallel;
mod pcr;
mod pct3;
mod pctwm;
mod plot;
mod pos3;
mod pos_fig2;
mod programs;
mod progress;
mod rc11_cost;
mod run_program;
mod run_weak;
mod sample;
mod sampling_speed;
mod speed;
mod statistics;
mod table;
mod text;
mod workloads;
mod wsq_figures;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::pctwm::Which;
use crate::plot::Plot;
use crate::programs::Form;
use crate::programs::weak::Instance;
use crate::run_program::Request;
use crate::table::Size;

#[derive(Parser)]
#[command(name = "raddle-suite", about = "Benchmark programs and tables of raddle", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the programs with known bugs
    List,
    /// Run one of them; the exit status is 1 if it fails, 0 if not
    Run {
        /// Which program, see `list`
        program: String,
        /// How executions are chosen
        #[arg(long, default_value = "random")]
        strategy: raddle::Strategy,
        /// How many executions at most
        #[arg(long, default_value_t = 10_000)]
        runs: u64,
        /// Where all randomness comes from
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// The form without the bug
        #[arg(long)]
        fixed: bool,
        /// How large it is, see `list`
        #[arg(long)]
        size: Option<u32>,
    },
    /// Measure and print a table; a missed target is told in it, not by the exit status
    Table {
        /// Which table
        name: TableName,
        /// Print JSON instead of aligned text
        #[arg(long)]
        json: bool,
        /// Measure less, for a first impression
        #[arg(long)]
        quick: bool,
        /// Write the table's plots, if it has any, as SVG into this folder
        #[arg(long, value_name = "FOLDER")]
        plots: Option<PathBuf>,
    },
    /// Run every litmus test of weak memory under RC11 to the end, and print expected and found; the exit
    /// status is 1 if something differs
    Litmus,
    /// Serve measurements of one engine on standard input and output
    #[command(hide = true)]
    Measure { engine: String, strategy: String, workload: String },
    /// Serve exhaustive searches by one engine on standard input and output
    #[command(hide = true)]
    Search { engine: String, strategy: String, program: String },
    /// Ask a solver about one execution, and tell what that took
    #[command(hide = true)]
    SolveTrace { accesses: usize },
}

#[derive(Clone, Copy, ValueEnum)]
enum TableName {
    /// Time per execution beside Shuttle's and Loom's
    Speed,
    /// Exhaustive search to the end, beside Loom's and Shuttle's
    Exhaustive,
    /// Bounded partial order reduction: coverage against runs and time, and time to known bugs
    Bpor,
    /// Pattern constraint reduction: schedules and time to the first failure, beside MAPTest
    #[value(name = "pcr-4")]
    Pcr4,
    /// The same: failing executions in a fixed time
    #[value(name = "pcr-5")]
    Pcr5,
    /// The same beside MCR: schedules, constraints and time
    #[value(name = "pcr-6")]
    Pcr6,
    /// How fast strategies cover memory-access patterns
    #[value(name = "pcr-fig6")]
    PcrFig6,
    /// The same on the short programs of SCTBench, beside samplers
    #[value(name = "pcr-sctbench")]
    PcrSctBench,
    /// What coverage and solving cost
    #[value(name = "pcr-cost")]
    PcrCost,
    /// PCTWM, table 1: events and communication events
    #[value(name = "pctwm-1")]
    Pctwm1,
    /// PCTWM, table 2: hit rates by depth
    #[value(name = "pctwm-2")]
    Pctwm2,
    /// PCTWM, table 3: hit rates by history depth
    #[value(name = "pctwm-3")]
    Pctwm3,
    /// PCTWM, figure 5: the best hit rates of C11Tester, PCT and PCTWM
    #[value(name = "pctwm-fig5")]
    PctwmFig5,
    /// PCTWM, figure 6: hit rates with more relaxed stores
    #[value(name = "pctwm-fig6")]
    PctwmFig6,
    /// Random walk under RC11 beside the same under sequential consistency
    #[value(name = "rc11-cost")]
    Rc11Cost,
    /// Litmus tests searched to the end, beside Loom
    LitmusSpeed,
    /// The running example of the POS paper, whose probabilities are known
    PosFig2,
    /// Coverage of the partial orders of small programs, beside the POS paper's
    #[value(name = "pos-1")]
    Pos1,
    /// The same, half of the accesses being reads
    #[value(name = "pos-2")]
    Pos2,
    /// Bug hit ratios on SCTBench, beside the POS paper's
    #[value(name = "pos-3")]
    Pos3,
    /// Bug hit ratios on the PCT paper's programs and examples, beside its bounds
    #[value(name = "pct-3")]
    Pct3,
    /// A work-stealing queue with more stealers and items
    PctFig9,
    /// The same beside a stress test
    PctFig10,
    /// The same: which pairs of events are covered
    PctFig11,
    /// Schedules to the first failure, over SCTBench
    FirstBug,
    /// The same for the one bug that takes about a million
    Safestack,
    /// Time per step of samplers beside random walk's
    SamplingSpeed,
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("raddle-suite: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> Result<ExitCode, String> {
    match command {
        Command::List => print(&(run_program::list() + &run_weak::list()))?,
        Command::Run { program, strategy, runs, seed, fixed, size } => {
            let form = if fixed { Form::Fixed } else { Form::Bugged };
            if let Some(program) = programs::weak::find(&program) {
                let tries = size.unwrap_or(program.tries.usual);
                let instance = Instance { form, tries, extra_stores: 0 };
                let request = run_weak::Request { strategy, runs, seed, instance };
                let report = run_weak::run(program, request)?;
                print(&format!("{}\n", raddle::text(&report)))?;
                let Some(failure) = report.failure() else { return Ok(ExitCode::SUCCESS) };
                if !program.failure.is(&failure.finding) {
                    let word = program.failure.word();
                    eprintln!("not the known bug of {}, a {word}", program.name);
                }
                return Ok(ExitCode::FAILURE);
            }
            let program = programs::find(&program)?;
            let size = size.unwrap_or(program.size.usual);
            let report = run_program::run(program, Request { strategy, runs, seed, form, size })?;
            print(&format!("{}\n", raddle::text(&report)))?;
            if let Some(failure) = report.failure() {
                if !program.failure.is(&failure.finding) {
                    eprintln!(
                        "not the known bug of {}, a {}",
                        program.name,
                        program.failure.word()
                    );
                }
                return Ok(ExitCode::FAILURE);
            }
        }
        Command::Table { name, json, quick, plots } => {
            let size = if quick { Size::Quick } else { Size::Full };
            let (table, drawn) = match name {
                TableName::Speed => (speed::table(size, command_line())?, Vec::new()),
                TableName::Exhaustive => (exhaustive::table(size, command_line())?, Vec::new()),
                TableName::Pctwm1 => (pctwm::table(Which::One, size, command_line()), Vec::new()),
                TableName::Pctwm2 => (pctwm::table(Which::Two, size, command_line()), Vec::new()),
                TableName::Pctwm3 => (pctwm::table(Which::Three, size, command_line()), Vec::new()),
                TableName::PctwmFig5 => {
                    (pctwm::table(Which::Figure5, size, command_line()), Vec::new())
                }
                TableName::PctwmFig6 => {
                    (pctwm::table(Which::Figure6, size, command_line()), Vec::new())
                }
                TableName::Rc11Cost => (rc11_cost::table(size, command_line())?, Vec::new()),
                TableName::LitmusSpeed => (litmus::speed::table(size, command_line())?, Vec::new()),
                TableName::Bpor => bpor::table(size, command_line())?,
                TableName::Pcr4 => (pcr::first_bugs(size, command_line())?, Vec::new()),
                TableName::Pcr5 => (pcr::failing_runs(size, command_line())?, Vec::new()),
                TableName::Pcr6 => (pcr::beside_mcr(size, command_line())?, Vec::new()),
                TableName::PcrCost => (pcr::costs(size, command_line())?, Vec::new()),
                TableName::PcrSctBench => (pcr::sctbench(size, command_line())?, Vec::new()),
                TableName::PcrFig6 => pcr::coverages(size, command_line())?,
                TableName::PosFig2 => (pos_fig2::table(size, command_line())?, Vec::new()),
                TableName::Pos1 => (micro::writes(size, command_line())?, Vec::new()),
                TableName::Pos2 => (micro::half_reads(size, command_line())?, Vec::new()),
                TableName::Pos3 => (pos3::table(size, command_line())?, Vec::new()),
                TableName::Pct3 => (pct3::table(size, command_line())?, Vec::new()),
                TableName::PctFig9 => wsq_figures::threads_and_items(size, command_line())?,
                TableName::PctFig10 => wsq_figures::against_stress(size, command_line())?,
                TableName::PctFig11 => wsq_figures::event_pairs(size, command_line())?,
                TableName::FirstBug => (first_bug::table(size, command_line())?, Vec::new()),
                TableName::Safestack => (first_bug::safestack(size, command_line())?, Vec::new()),
                TableName::SamplingSpeed => {
                    (sampling_speed::table(size, command_line())?, Vec::new())
                }
            };
            if let Some(folder) = plots {
                draw(&folder, &drawn)?;
            }
            print(&if json { format!("{:#}\n", table.to_json()) } else { text::render(&table) })?;
        }
        Command::Litmus => {
            let (text, is_equal) = litmus::table()?;
            print(&text)?;
            return Ok(if is_equal { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        Command::Measure { engine, strategy, workload } => {
            let prepared = engines::prepare(&engine, &strategy, &workload)?;
            measure::serve(prepared, std::io::stdin().lock(), std::io::stdout().lock())?;
        }
        Command::Search { engine, strategy, program } => {
            let prepared = exhaustive::prepare(&engine, &strategy, &program)?;
            exhaustive::search::serve(prepared, std::io::stdin().lock(), std::io::stdout().lock())?;
        }
        Command::SolveTrace { accesses } => println!("{}", pcr::cost::solve_trace(accesses)?),
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the plots on which there is something to see.
fn draw(folder: &Path, plots: &[Plot]) -> Result<(), String> {
    let failed = |path: &Path, error| format!("cannot write {}: {error}", path.display());
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for plot in plots.iter().filter(|plot| !plot.is_empty()) {
        let path = folder.join(format!("{}.svg", plot.name));
        std::fs::write(&path, plot.to_svg()).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

fn print(text: &str) -> Result<(), String> {
    let written = std::io::stdout().write_all(text.as_bytes());
    written.map_err(|error| format!("cannot print: {error}"))
}

/// The command that repeats this one anywhere.
fn command_line() -> String {
    let features = if cfg!(feature = "rivals") { "" } else { " --no-default-features" };
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    format!("cargo run --release -p raddle-suite{features} -- {}", arguments.join(" "))
}
