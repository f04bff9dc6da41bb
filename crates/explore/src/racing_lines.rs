//! The lines of a program that race, found by a few random runs.

use raddle_analysis::for_each_race;
use raddle_core::Site;
use raddle_engine::{Engine, Sc, Substrate};
use raddle_strategy::Random;

use crate::{Explorer, Repeat};

/// The number of runs.
const TRIALS: u64 = 50;

/// Returns the lines of `program` that race in one of a few runs, each once. Deterministic.
pub fn racing_lines<S: Substrate>(
    substrate: &mut S,
    program: &S::Program,
    max_steps: usize,
) -> Vec<Site> {
    let mut lines = Vec::new();
    let mut trials = Repeat::new(Random::default(), 0);
    let mut engine = Engine::new(Sc, trials.thread_ids(), max_steps);
    for trial in 0..TRIALS {
        trials.next(engine.prefix_mut());
        substrate.execute(&mut engine, trials.choices(), program);
        trials.learn(trial, engine.trace());
        let _ = for_each_race(engine.trace(), |(first, second)| {
            for line in [first.site, second.site] {
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
            Ok(())
        });
    }
    lines
}
