//! A search that goes on after failures, with every run shown.

use raddle_core::Trace;
use raddle_engine::{Engine, Sc, Substrate};
use raddle_explore::{Explorer, Mcr, Pcr, Repeat};
use raddle_runtime::{Options, Runtime};
use raddle_strategy::{Pct, Pos, Random, Surw};

use crate::programs::Program;

/// The strategies that are compared, by their words.
pub(super) const WORDS: [&str; 6] = ["pcr", "mcr", "random", "pos-star", "pct:3", "surw"];

/// Runs `program` as the strategy of this word says until `each` says false, or nothing is left.
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
        _ => Err(format!("`{word}` is not among those that are compared")),
    }
}

fn follow(
    mut explorer: impl Explorer,
    program: &(dyn Fn() + Sync + 'static),
    each: &mut dyn FnMut(&Trace) -> bool,
) -> Result<(), String> {
    let options = Options { plain_accesses: true, ..Options::default() };
    let mut runtime = Runtime::<raddle_runtime::Default>::new("suite", &options);
    let mut engine = Engine::new(Sc, explorer.family(), explorer.chooser(), Program::MAX_STEPS);
    let mut run = 0;
    while explorer.next(engine.plan_mut()) {
        runtime.execute(&mut engine, program).map_err(|_| "a thread could not be cleared away")?;
        let (trace, plan) = engine.trace_and_plan_mut();
        explorer.learn(run, trace, plan);
        run += 1;
        if !each(trace) {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use raddle_explore::Rules;
    use raddle_testkit::z3::{self, Recorded};

    use super::*;
    use crate::programs::Form;
    use crate::programs::pcr::SUBJECTS;

    #[test]
    fn about_runs_of_the_twenty_z3_says_the_same() {
        if !z3::is_there() {
            return;
        }
        for subject in &SUBJECTS {
            let program = subject.program.closure(Form::Bugged, subject.program.size.usual);
            let mut runs = 3;
            let mut each = |_: &Trace| {
                runs -= 1;
                runs > 0
            };
            follow(Pcr::<Recorded>::with_solver(1, Rules::ALL), &program, &mut each).unwrap();
            let agreed = z3::compare(&z3::transcripts());
            let agreed = agreed.unwrap_or_else(|at| panic!("{} {at:?}", subject.program.name));
            println!("{}: {agreed:?}", subject.program.name);
            assert!(agreed.possible > 0, "{}: nothing was asked", subject.program.name);
        }
    }
}
