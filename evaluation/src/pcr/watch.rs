//! Searches that do not stop at failures, with every run shown.

use raddle::Granularity;
use raddle_core::Trace;
use raddle_engine::Sc;
use raddle_explore::{Explorer, Mcr, Pcr, Repeat};
use raddle_programs::Program;
use raddle_strategy::{Pct, Pos, Random, Surw};

use crate::drive::{self, Driver};

/// The strategies that are compared, by their words.
pub(super) const WORDS: [&str; 6] = ["pcr", "mcr", "random", "pos-star", "pct:3", "surw"];

/// Runs `program` under the strategy of this word until `each` returns false or nothing is left.
pub(super) fn watch(
    word: &str,
    seed: u64,
    program: &(dyn Fn() + Sync + 'static),
    each: &mut dyn FnMut(&Trace) -> bool,
) -> Result<(), String> {
    match word {
        "pcr" => follow(Pcr::new(seed), program, each),
        "mcr" => follow(Mcr::new(seed), program, each),
        "random" => follow(Repeat::new(Random::default(), seed), program, each),
        "pos-star" => follow(Repeat::new(Pos::default(), seed), program, each),
        "pct:3" => follow(Repeat::new(Pct::new(3), seed), program, each),
        "surw" => follow(Repeat::new(Surw::default(), seed), program, each),
        _ => return Err(format!("`{word}` is not among those that are compared")),
    }
    Ok(())
}

/// Runs `program` under an explorer until `each` returns false or nothing is left.
pub(crate) fn follow(
    explorer: impl Explorer,
    program: &(dyn Fn() + Sync + 'static),
    each: &mut dyn FnMut(&Trace) -> bool,
) {
    let runtime = || drive::runtime("evaluation", Granularity::All);
    let mut driver = Driver::new(runtime(), Sc, explorer, Program::MAX_STEPS);
    while driver.run(program) {
        driver.learn();
        if !each(driver.trace()) {
            break;
        }
    }
}
