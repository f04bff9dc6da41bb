//! Benchmark programs and tables of raddle.
//!
//! `raddle-suite table NAME` measures, then prints a table as aligned text or as JSON.

#![forbid(unsafe_code)]

mod child;
mod dev_profile;
mod engines;
mod interleave;
mod measure;
mod speed;
mod table;
mod text;
mod workloads;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::table::Size;

#[derive(Parser)]
#[command(name = "raddle-suite", about = "Benchmark programs and tables of raddle", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
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
    },
    /// Serve measurements of one engine on standard input and output
    #[command(hide = true)]
    Measure { engine: String, strategy: String, workload: String },
}

#[derive(Clone, Copy, ValueEnum)]
enum TableName {
    /// Time per execution beside Shuttle's and Loom's
    Speed,
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("raddle-suite: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> Result<(), String> {
    match command {
        Command::Table { name, json, quick } => {
            let size = if quick { Size::Quick } else { Size::Full };
            let table = match name {
                TableName::Speed => speed::table(size, command_line())?,
            };
            let text = if json { format!("{:#}\n", table.to_json()) } else { text::render(&table) };
            let written = std::io::stdout().write_all(text.as_bytes());
            written.map_err(|error| format!("cannot print: {error}"))
        }
        Command::Measure { engine, strategy, workload } => {
            let prepared = engines::prepare(&engine, &strategy, &workload)?;
            measure::serve(prepared, std::io::stdin().lock(), std::io::stdout().lock())
        }
    }
}

/// The command that repeats this one anywhere.
fn command_line() -> String {
    let features = if cfg!(feature = "rivals") { "" } else { " --no-default-features" };
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    format!("cargo run --release -p raddle-suite{features} -- {}", arguments.join(" "))
}
