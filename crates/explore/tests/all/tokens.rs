//! A failure's token reproduces the failure in a new session, even if threads spawn threads concurrently and their ids
//! depend on earlier runs.

use std::collections::BTreeMap;
use std::time::Duration;

use raddle_core::{Action, PauseOp, Question, Trace};
use raddle_explore::{Budget, Session, Settings};
use raddle_results::{Finding, Report};
use raddle_testkit::{Interpreter, Kind, Program, Shape, Step, for_all, scaled};

const STRATEGIES: [&str; 8] = [
    "random",
    "pct:3",
    "pos-star",
    "rapos",
    "surw",
    "delay:3",
    "portfolio:pct+urw+basic-pos",
    "dfs",
];

/// A budget without a time limit.
pub(crate) struct NoTime;

impl Budget for NoTime {
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn limit(&self) -> Option<Duration> {
        None
    }
}

fn settings(strategy: &str, seed: u64) -> Settings {
    Settings {
        seed,
        runs: 100,
        max_steps: 1000,
        races: false,
        plain_points: true,
        ..Settings::new("a program", strategy.parse().expect("a strategy"))
    }
}

fn run(program: &Program, settings: &Settings) -> Report {
    Session::new(&mut Interpreter, program, settings, &NoTime)
        .run()
        .expect("the strategy accepts the program")
}

/// Replays the failure of `report`, and checks that the failure is the same.
fn replay(program: &Program, settings: &Settings, report: &Report) -> Result<(), String> {
    let failure = report.failure().expect("only failures are replayed");
    if !failure.reproduced {
        return Err(format!("not reproduced: {:#?}", failure.finding));
    }
    let mut interpreter = Interpreter;
    let session = Session::new(&mut interpreter, program, settings, &NoTime);
    let again = session.replay(&failure.token).map_err(|error| error.to_string())?;
    let again = again.failure().ok_or("the replay does not fail")?;
    let same = again.finding == failure.finding
        && again.trace.fingerprint == failure.trace.fingerprint
        && again.trace.events == failure.trace.events
        && again.trace.ending == failure.trace.ending;
    if same { Ok(()) } else { Err(format!("{:#?}\n{:#?}", failure.trace, again.trace)) }
}

#[test]
fn tokens_reproduce_the_failure() {
    let mut kinds = Kind::ALL.to_vec();
    kinds.retain(|&kind| kind != Kind::Cell);
    let shape = Shape { kinds, kinds_at_once: 3, scripts: 6, pieces: 3, panics: 12 };
    let mut nested = 0;
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    for_all(6, scaled(1500), &shape, |program, rng| {
        for strategy in STRATEGIES {
            let settings = settings(strategy, rng.bits());
            let report = run(program, &settings);
            let Some(failure) = report.failure() else { continue };
            let what = match failure.finding {
                Finding::Panic(_) => "panic",
                Finding::Deadlock(_) => "deadlock",
                Finding::ReadTwice { .. } => "read twice",
                _ => return Err(format!("{:?}", failure.finding)),
            };
            *found.entry(what).or_default() += 1;
            nested += u64::from(ids_are_out_of_order(&failure.trace));
            replay(program, &settings, &report)?;
        }
        Ok(())
    });
    println!("{found:?}, {nested} with ids out of order");
    assert!(found.len() >= 2 && nested > 0, "{found:?}, {nested}");
}

/// Returns whether the threads of a run have other ids than in a new session.
fn ids_are_out_of_order(trace: &Trace) -> bool {
    trace.threads.iter().enumerate().any(|(position, thread)| thread.id.index() != position)
}

#[test]
fn a_run_that_exceeds_the_step_limit_is_replayed() {
    for op in
        [Action::Pause(PauseOp::Yield), Action::Choose { bound: 2, question: Question::Number }]
    {
        let long = vec![Step::Alone(op); 20_000];
        let program = Program { objects: vec![], scripts: vec![vec![Step::Spawn(1)], long] };
        let settings = settings("random", 1);
        let report = run(&program, &settings);
        let finding = report.failure().map(|failure| &failure.finding);
        assert_eq!(finding, Some(&Finding::StepLimit { steps: 1000 }));
        if let Err(error) = replay(&program, &settings, &report) {
            panic!("{op:?}: {error}");
        }
    }
}
