//! Measures raddle: the tables of the papers, and comparisons with Loom, Shuttle and Z3.
//!
//! `table NAME` measures a table and prints it as aligned text or as JSON. `all` measures every table and writes
//! them to `docs/results`.

#![forbid(unsafe_code)]

mod all;
mod bpor;
mod child;
mod compat;
mod dev_profile;
mod drive;
mod engines;
mod exhaustive;
mod first_bug;
mod graphs;
mod index;
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
mod progress;
mod rc11_cost;
mod sample;
mod sampling_speed;
mod speed;
mod statistics;
mod table;
mod tables;
mod text;
mod verdict;
mod workloads;
mod wsq_figures;
#[cfg(test)]
mod z3;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use raddle_programs::Form;
use raddle_programs::run::{self, Request};
use raddle_programs::weak::{self, Instance};

use crate::plot::Plot;
use crate::table::Size;

#[derive(Parser)]
#[command(name = "raddle-evaluation", about = "Measures raddle and other tools", version)]
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
    /// Measure and print a table; it names missed targets, the exit status does not
    Table {
        /// Which table
        name: tables::Name,
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
    /// Measure all tables and write them, with their plots, to a folder. A call that is interrupted is resumed
    /// by the next one: it skips the tables that are written already
    All {
        /// Only these tables
        names: Vec<tables::Name>,
        /// The folder
        #[arg(long, value_name = "FOLDER", default_value = "docs/results")]
        into: PathBuf,
        /// Measure less, for a first impression
        #[arg(long)]
        quick: bool,
        /// Measure also what an interrupted call has written
        #[arg(long)]
        anew: bool,
    },
    /// Write the index of the tables in a folder, with their verdicts on published results
    Index {
        /// The folder
        #[arg(long, value_name = "FOLDER", default_value = "docs/results")]
        into: PathBuf,
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

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("raddle-evaluation: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> Result<ExitCode, String> {
    match command {
        Command::List => print(&(run::list() + &weak::run::list()))?,
        Command::Run { program, strategy, runs, seed, fixed, size } => {
            let form = if fixed { Form::Fixed } else { Form::Bugged };
            if let Some(program) = weak::find(&program) {
                let tries = size.unwrap_or(program.tries.usual);
                let instance = Instance { form, tries, extra_stores: 0 };
                let request = weak::run::Request { strategy, runs, seed, instance };
                let report = weak::run::run(program, request)?;
                print(&format!("{}\n", raddle::text(&report)))?;
                let Some(failure) = report.failure() else { return Ok(ExitCode::SUCCESS) };
                if !program.failure.is(&failure.finding) {
                    let word = program.failure.word();
                    eprintln!("not the known bug of {}, a {word}", program.name);
                }
                return Ok(ExitCode::FAILURE);
            }
            let program = raddle_programs::find(&program)?;
            let size = size.unwrap_or(program.size.usual);
            let report = run::run(program, Request { strategy, runs, seed, form, size })?;
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
            let (table, drawn) = name.measure(size, command_line())?;
            if let Some(folder) = plots {
                draw(&folder, &drawn)?;
            }
            print(&if json { format!("{:#}\n", table.to_json()) } else { text::render(&table) })?;
        }
        Command::All { names, into, quick, anew } => {
            let size = if quick { Size::Quick } else { Size::Full };
            let start = if anew { all::Start::Anew } else { all::Start::Resume };
            all::measure(&names, &into, size, start)?;
        }
        Command::Index { into } => index::write(&into)?,
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

/// Returns the command that repeats this one.
fn command_line() -> String {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    command(&arguments)
}

/// Returns the command with these arguments, as called in the folder of raddle's workspace.
fn command(arguments: &[String]) -> String {
    let features = if cfg!(feature = "rivals") { "" } else { " --no-default-features" };
    let arguments = arguments.join(" ");
    format!("cargo run --release --manifest-path evaluation/Cargo.toml{features} -- {arguments}")
}
