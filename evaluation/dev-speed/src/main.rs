//! Serves `measure ENGINE STRATEGY WORKLOAD` in the dev profile, from the sources of the evaluation.

#[path = "../../src/measure.rs"]
mod measure;
#[path = "../../src/engines/raddle.rs"]
mod raddle_engine;
#[cfg(feature = "rivals")]
#[path = "../../src/engines/shuttle.rs"]
mod shuttle_engine;
#[path = "../../src/workloads.rs"]
mod workloads;

use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dev-speed: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    if !cfg!(debug_assertions) {
        return Err("this is the dev profile's measurement, and no dev build".to_owned());
    }
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    let prepared = match words[..] {
        ["measure", "raddle", strategy, workload] => raddle_engine::prepare(strategy, workload)?,
        #[cfg(feature = "rivals")]
        ["measure", "shuttle", strategy, workload] => shuttle_engine::prepare(strategy, workload)?,
        _ => return Err("usage: dev-speed measure raddle|shuttle STRATEGY WORKLOAD".to_owned()),
    };
    measure::serve(prepared, std::io::stdin().lock(), std::io::stdout().lock())
}
