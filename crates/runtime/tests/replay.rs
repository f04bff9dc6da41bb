//! The same choices give the same trace on the interpreter and on both back ends, and again when the recorded schedule or
//! its token is replayed.
#![cfg(all(unix, target_arch = "x86_64"))]

use std::cell::RefCell;
use std::rc::Rc;

use raddle_core::{Choices, Chooser, Event, MemoryModel, Pick, Point, Trace};
use raddle_engine::{Substrate, ThreadIds, TimeLimit};
use raddle_explore::Replay;
use raddle_results::Token;
use raddle_runtime::{Native, Portable};
use raddle_strategy::{Pct, Pos, Random, Rng, RoundRobin, Sampler};
use raddle_testkit::{Coroutines, Interpreter, Program, Shape, engine, for_all, run_once, scaled};

/// The number of schedules for each program.
const SCHEDULES: u64 = 20;

/// The interpreter and the two back ends.
#[derive(Default)]
struct Substrates {
    interpreter: Interpreter,
    native: Coroutines<Native>,
    portable: Coroutines<Portable>,
}

impl Substrates {
    /// Runs `program` on each substrate with the choices of a sampler. The traces must be equal.
    fn sample<C: Sampler + Clone>(
        &mut self,
        program: &Program,
        mut sampler: C,
        seed: u64,
    ) -> Result<Trace, String> {
        sampler.begin(seed);
        let trace = run_once(&mut self.interpreter, program, vec![], sampler.clone().choices());
        let native = run_once(&mut self.native, program, vec![], sampler.clone().choices());
        same("interpreter and native", &trace, &native)?;
        let portable = run_once(&mut self.portable, program, vec![], sampler.choices());
        same("interpreter and portable", &trace, &portable)?;
        Ok(trace)
    }

    /// Replays `trace` on each substrate, with its schedule and its token. The traces must be equal to `trace`.
    fn replay(&mut self, program: &Program, trace: &Trace) -> Result<(), String> {
        let token = Token::new("a program", &trace.threads, trace.schedule());
        let read = Token::parse(&token.to_string()).map_err(|error| error.to_string())?;
        if read != token {
            return Err(format!("{token:?} was read back as {read:?}"));
        }
        let ids =
            || ThreadIds::of_recorded(&read.threads).expect("the threads of a run are consistent");
        let interpreted = replay(&mut self.interpreter, program, ids(), trace);
        same("a run and its replay", trace, &interpreted)?;
        let native = replay(&mut self.native, program, ids(), trace);
        same("a run and its replay on native", trace, &native)?;
        let portable = replay(&mut self.portable, program, ids(), trace);
        same("a run and its replay on portable", trace, &portable)
    }
}

fn replay<S: Substrate>(
    substrate: &mut S,
    program: &S::Program,
    thread_ids: ThreadIds,
    trace: &Trace,
) -> Trace {
    let (memory, schedule) = (MemoryModel::Sc, trace.schedule());
    let replay = Replay { memory, thread_ids, schedule, max_steps: 10_000 };
    replay.run(substrate, program)
}

fn same(what: &str, first: &Trace, second: &Trace) -> Result<(), String> {
    if first == second {
        return Ok(());
    }
    let (first, second) = (format!("{first:#?}"), format!("{second:#?}"));
    let lines = first.lines().zip(second.lines()).enumerate();
    let different: Vec<_> = lines.filter(|(_, (a, b))| a != b).collect();
    Err(format!("{what} differ, in lines {different:?} of\n{first}"))
}

#[test]
fn random_schedules_give_equal_traces_and_replay() {
    let mut substrates = Substrates::default();
    let mut schedules = 0;
    for_all(1, scaled(10_000) / SCHEDULES, &Shape::large(), |program, rng| {
        for _ in 0..SCHEDULES {
            let seed = rng.bits();
            let trace = substrates.sample(program, Random::default(), seed)?;
            substrates.replay(program, &trace)?;
            schedules += 1;
        }
        Ok(())
    });
    println!("{schedules} schedules");
}

/// PCT without leases.
#[derive(Clone)]
struct WithoutLeases(Pct);

impl Chooser for WithoutLeases {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        match self.0.choose(at, past) {
            Pick::Run { option, .. } => Pick::Take(option),
            other => other,
        }
    }
}

#[test]
fn leases_do_not_change_traces() {
    let mut substrates = Substrates::default();
    for_all(2, scaled(5_000) / SCHEDULES, &Shape::large(), |program, rng| {
        for depth in 1..=SCHEDULES as u32 {
            let mut pct = Pct::with_steps(depth % 5 + 1, 30);
            let seed = rng.bits();
            let trace = substrates.sample(program, pct.clone(), seed)?;
            pct.begin(seed);
            let mut chooser = WithoutLeases(pct);
            let choices = Choices::Chooser(&mut chooser);
            let unleased = run_once(&mut substrates.interpreter, program, vec![], choices);
            same("with and without leases", &trace, &unleased)?;
            substrates.replay(program, &trace)?;
        }
        let trace = substrates.sample(program, RoundRobin, 0)?;
        substrates.replay(program, &trace)
    });
}

/// A time limit that is never reached, checked after random numbers of steps.
struct Patient(RefCell<Rng>);

impl TimeLimit for Patient {
    fn steps_to_next_check(&self) -> Option<usize> {
        Some(1 + self.0.borrow_mut().below(5))
    }
}

#[test]
fn checks_of_the_time_limit_do_not_change_traces() {
    let mut substrates = Substrates::default();
    for_all(3, scaled(2_000) / SCHEDULES, &Shape::large(), |program, rng| {
        for _ in 0..SCHEDULES / 4 {
            let samplers: [Box<dyn Sampler>; 4] = [
                Box::new(Random::default()),
                Box::new(Pct::with_steps(3, 30)),
                Box::new(Pos::default()),
                Box::new(RoundRobin),
            ];
            for mut sampler in samplers {
                let seed = rng.bits();
                sampler.begin(seed);
                let interpreter = &mut substrates.interpreter;
                let unchecked = run_once(interpreter, program, vec![], sampler.choices());
                sampler.begin(seed);
                let mut engine = engine();
                let patient = Patient(RefCell::new(Rng::new(rng.bits())));
                engine.set_time_limit(Some(Rc::new(patient)));
                substrates.native.execute(&mut engine, sampler.choices(), program);
                same("without and with a time limit", &unchecked, engine.trace())?;
                // A prefix is followed in the same way.
                *engine.prefix_mut() = unchecked.schedule();
                sampler.begin(seed);
                substrates.native.execute(&mut engine, sampler.choices(), program);
                same("a run and its repetition", &unchecked, engine.trace())?;
            }
        }
        Ok(())
    });
}
