//! Lists the programs whose bug is a memory ordering, and runs one of them under one strategy.

use std::fmt::Write;

use raddle::{Config, Report, Strategy};

use super::{Instance, Origin, PROGRAMS, Program, Published};

/// The maximum number of steps of an execution: more than any execution has with the default number of tries.
const MAX_STEPS: usize = 20_000;

/// Returns the programs as aligned text, with the published figures of those of the PCTWM paper.
pub fn list() -> String {
    let mut text = format!(
        "\n{:<20}{:<9}{:<19}{:<7}{:<7}{:>7}  {:<14}about\n",
        "name", "origin", "failure", "model", "space", "threads", "tries"
    );
    let mut published = format!(
        "\n{:<20}{:>4}{:>7}{:>3}   {:<30}  % at h = 1, 2, 3, 4 (d)\n",
        "PCTWM's figures", "k", "k_com", "d", "% at d, d+1, d+2 (best h)"
    );
    for program in PROGRAMS {
        let origin = match &program.origin {
            Origin::Pctwm(figures) => {
                published += &row(program.name, figures);
                "pctwm"
            }
            Origin::Classic => "classic",
        };
        let _ = writeln!(
            text,
            "{:<20}{origin:<9}{:<19}{:<7}{:<7}{:>7}  {:<14}{}",
            program.name,
            program.failure.word(),
            program.model.word(),
            program.space.word(),
            program.threads,
            format!("{} ({}–{})", program.tries.usual, program.tries.least, program.tries.most),
            program.about,
        );
    }
    text + &published
}

fn row(name: &str, figures: &Published) -> String {
    let Published { events, communication, depth, by_depth, by_history } = figures;
    let by_depth = by_depth.map(|(rate, history)| format!("{rate} ({history})")).join(", ");
    let (at, rates) = by_history;
    let rates = rates.map(|rate| rate.to_string()).join(", ");
    format!("{name:<20}{events:>4}{communication:>7}{depth:>3}   {by_depth:<30}  {rates} ({at})\n")
}

/// How to run a program.
#[derive(Clone, Copy)]
pub struct Request {
    /// How executions are chosen.
    pub strategy: Strategy,
    /// The largest number of executions.
    pub runs: u64,
    /// The seed of all randomness.
    pub seed: u64,
    /// The variant of the program.
    pub instance: Instance,
}

/// Runs a program until it fails or all executions are done.
///
/// # Errors
/// Returns an error if the program does not have this number of tries, or the strategy refuses it.
pub fn run(program: &'static Program, request: Request) -> Result<Report, String> {
    let Request { strategy, runs, seed, instance } = request;
    let (least, most) = (program.tries.least, program.tries.most);
    if !(least..=most).contains(&instance.tries) {
        return Err(format!("{}: the size counts tries, from {least} to {most}", program.name));
    }
    config(program.name, strategy, runs)
        .seed(seed)
        .try_run(program.closure(instance))
        .map_err(|error| error.to_string())
}

fn config(name: &str, strategy: Strategy, runs: u64) -> Config {
    let config = Config::new().name(name.to_owned()).strategy(strategy).runs(runs);
    config.unlimited_time().max_steps(MAX_STEPS)
}

#[cfg(test)]
mod tests;
