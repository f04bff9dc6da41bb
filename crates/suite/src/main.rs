//! Benchmark programs of raddle.

#![forbid(unsafe_code)]

mod engines;
mod measure;
mod workloads;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "raddle-suite", about = "Benchmark programs and tables of raddle", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve measurements of one engine on standard input and output
    #[command(hide = true)]
    Measure { engine: String, strategy: String, workload: String },
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
        Command::Measure { engine, strategy, workload } => {
            let prepared = engines::prepare(&engine, &strategy, &workload)?;
            measure::serve(prepared, std::io::stdin().lock(), std::io::stdout().lock())
        }
    }
}
