//! One check: runs plans until something is found or there is no reason to go on.

use std::time::Duration;

use raddle_core::{
    Choice, Effect, Ending, Event, Failure, Finding, Report, ThreadInfo, Token, TokenError, Trace,
    Verdict, token,
};
use raddle_engine::{Engine, Family, Sc, Stuck, Substrate};
use raddle_strategy::{Pct, Random, RoundRobin};

use crate::{Classes, Dfs, Dpor, Explorer, Repeat, Strategy, replay, waits};

/// What a check is to do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name of the check.
    pub name: String,
    /// How executions are chosen.
    pub strategy: Strategy,
    /// Where all randomness comes from.
    pub seed: u64,
    /// How many runs to make at most.
    pub runs: u64,
    /// How many events a run may have.
    pub max_steps: usize,
    /// What to do with a run that has more.
    pub on_step_limit: OnStepLimit,
    /// Whether to make all runs although the first shows that there is only one execution.
    pub explore_trivial: bool,
}

/// What a run that reaches the step limit is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum OnStepLimit {
    /// A failure.
    Fail,
    /// Set aside and counted.
    Discard,
}

/// How much time a check may take, by a clock that the caller keeps.
pub trait Budget {
    /// Time since the check began.
    fn elapsed(&self) -> Duration;

    /// How long it may take.
    fn limit(&self) -> Option<Duration>;
}

/// What stands for the strategy in the report on a replay.
const REPLAY: &str = "replay";

/// Fingerprints kept before the number of classes is estimated.
const CLASS_LIMIT: usize = 1 << 16;

/// The clock is asked after about this many steps, so that short runs do not pay for it.
const STEPS_PER_LOOK: u64 = 4096;
/// What a run costs besides its steps, in steps.
const STEPS_PER_RUN: u64 = 8;

/// A check under way.
pub struct Session<'a, S: Substrate> {
    substrate: &'a mut S,
    program: &'a S::Program,
    settings: &'a Settings,
    budget: &'a dyn Budget,
}

/// What a session has seen so far.
struct Tally {
    executions: u64,
    steps: u64,
    choices: u64,
    classes: Classes,
    discarded: u64,
    threads: u32,
}

impl<'a, S: Substrate> Session<'a, S> {
    /// A check of `program` on `substrate`.
    pub fn new(
        substrate: &'a mut S,
        program: &'a S::Program,
        settings: &'a Settings,
        budget: &'a dyn Budget,
    ) -> Session<'a, S> {
        Session { substrate, program, settings, budget }
    }

    /// Explores with the strategy of the settings.
    pub fn run(self) -> Report {
        let seed = self.settings.seed;
        match self.settings.strategy {
            Strategy::Random => self.explore(Repeat::new(Random::default(), seed)),
            Strategy::RoundRobin => self.explore(Repeat::new(RoundRobin, seed)),
            Strategy::Pct { depth } => self.explore(Repeat::new(Pct::new(depth), seed)),
            Strategy::Dfs => self.explore(Dfs::default()),
            Strategy::Dpor => self.explore(Dpor::default()),
        }
    }

    /// Replays one execution.
    pub fn replay(self, word: &str) -> Result<Report, ReplayError> {
        let token = Token::parse(word).map_err(ReplayError::Token)?;
        if token.check != token::name_hash(&self.settings.name) {
            return Err(ReplayError::Foreign { name: self.settings.name.clone() });
        }
        let family = Family::with(&token.threads).ok_or(ReplayError::Token(TokenError::Damaged))?;
        let recorded = token.schedule.len();
        let threads = token.schedule.iter().filter(|choice| matches!(choice, Choice::Thread(_)));
        let max_steps = self.settings.max_steps.max(threads.count());
        let trace = replay(self.substrate, self.program, family, token.schedule, max_steps)
            .map_err(ReplayError::Stuck)?;
        if let Ending::Diverged(_) | Ending::Abandoned = trace.ending {
            return Err(ReplayError::Diverged { trace: Box::new(trace) });
        }
        let finding = self.finding(&trace);
        if finding.is_none() && trace.schedule().len() < recorded {
            return Err(ReplayError::Diverged { trace: Box::new(trace) });
        }
        let mut tally = Tally::new();
        tally.add(&trace, 0);
        let verdict = match finding {
            None => Verdict::Sampled,
            Some(finding) => Verdict::Failed(Box::new(Failure {
                finding,
                execution: 1,
                token: word.to_owned(),
                trace,
                reproduced: true,
            })),
        };
        Ok(Report { strategy: REPLAY.to_owned(), ..self.report(tally, verdict) })
    }

    /// Explores with any explorer.
    pub fn explore<E: Explorer>(mut self, mut explorer: E) -> Report {
        let chooser = explorer.chooser();
        let max_steps = self.settings.max_steps;
        let mut engine = Engine::new(Sc, Family::default(), chooser, max_steps);
        let mut tally = Tally::new();
        let mut until_look: u64 = 0;
        let verdict = loop {
            if !explorer.next(engine.plan_mut()) {
                break if tally.is_trivial() {
                    Verdict::NothingToExplore
                } else {
                    Verdict::Exhausted
                };
            }
            let cleared = self.substrate.execute(&mut engine, self.program);
            let run = tally.executions;
            let threads = engine.max_alive();
            let (trace, plan) = engine.trace_and_plan_mut();
            tally.add(trace, threads);
            explorer.learn(run, trace, plan);
            if trace.ending == Ending::StepLimit
                && self.settings.on_step_limit == OnStepLimit::Discard
            {
                tally.discarded += 1;
            } else if trace.ending != Ending::Finished {
                if let Some(finding) = self.finding(trace) {
                    let trace = trace.clone();
                    let reproduced = cleared.is_ok() && self.confirm(&trace);
                    break self.failed(finding, run, trace, reproduced);
                }
            }
            if let Err(stuck) = cleared {
                let trace = trace.clone();
                break self.failed(stuck_finding(stuck), run, trace, false);
            }
            if run == 0 {
                let trace = trace.clone();
                if let Some(finding) = self.differs_from_itself(&trace) {
                    break self.failed(finding, run, trace, false);
                }
                if tally.is_trivial() && !self.settings.explore_trivial {
                    break Verdict::NothingToExplore;
                }
            }
            if tally.executions == self.runs() {
                break Verdict::Sampled;
            }
            let cost = engine.trace().events.len() as u64 + STEPS_PER_RUN;
            match until_look.checked_sub(cost) {
                Some(left) => until_look = left,
                None if self.out_of_time() => break Verdict::Sampled,
                None => until_look = STEPS_PER_LOOK,
            }
        };
        self.report(tally, verdict)
    }

    /// How many runs to make at most; round-robin has only one to offer.
    fn runs(&self) -> u64 {
        if self.settings.strategy == Strategy::RoundRobin { 1 } else { self.settings.runs }
    }

    fn out_of_time(&self) -> bool {
        self.budget.limit().is_some_and(|limit| self.budget.elapsed() >= limit)
    }

    /// What is wrong with a run, if anything.
    fn finding(&self, trace: &Trace) -> Option<Finding> {
        match &trace.ending {
            Ending::Finished | Ending::Abandoned => None,
            // Choices are prescribed because an earlier run made them.
            Ending::Diverged(divergence) => Some(Finding::Nondeterminism {
                at: trace.events.len(),
                first: format!("{} was possible", choice(divergence.expected)),
                second: "it was not".into(),
            }),
            Ending::Panicked(panic) => Some(Finding::Panic(panic.clone())),
            Ending::Deadlock => Some(Finding::Deadlock(waits(trace))),
            Ending::StepLimit => Some(Finding::StepLimit { steps: self.settings.max_steps as u64 }),
        }
    }

    fn failed(&self, finding: Finding, run: u64, trace: Trace, reproduced: bool) -> Verdict {
        let token = Token::new(&self.settings.name, &trace.threads, trace.schedule()).to_string();
        Verdict::Failed(Box::new(Failure { finding, execution: run + 1, trace, token, reproduced }))
    }

    /// Whether the choices of a failing run lead to the same failure again.
    fn confirm(&mut self, trace: &Trace) -> bool {
        self.again(trace).is_ok_and(|second| {
            second.ending == trace.ending && trace.first_difference(&second).is_none()
        })
    }

    /// Runs a second time what was just run, and tells if something else came of it.
    fn differs_from_itself(&mut self, trace: &Trace) -> Option<Finding> {
        let second = match self.again(trace) {
            Ok(second) => second,
            Err(stuck) => return Some(stuck_finding(stuck)),
        };
        let at = trace.first_difference(&second)?;
        Some(Finding::Nondeterminism {
            at,
            first: describe(trace.events.get(at), trace),
            second: describe(second.events.get(at), &second),
        })
    }

    fn again(&mut self, trace: &Trace) -> Result<Trace, Stuck> {
        let family = family_of(&trace.threads);
        replay(self.substrate, self.program, family, trace.schedule(), self.settings.max_steps)
    }

    fn report(&self, tally: Tally, verdict: Verdict) -> Report {
        Report {
            name: self.settings.name.clone(),
            strategy: self.settings.strategy.to_string(),
            seed: self.settings.seed,
            verdict,
            executions: tally.executions,
            steps: tally.steps,
            classes: tally.classes.count(),
            classes_exact: tally.classes.is_exact(),
            discarded: tally.discarded,
            elapsed: self.budget.elapsed(),
            threads: tally.threads,
        }
    }
}

/// Why a replay did not take place.
#[derive(Debug)]
pub enum ReplayError {
    /// The word is no token.
    Token(TokenError),
    /// The token belongs to another check.
    Foreign {
        /// The name of this check.
        name: String,
    },
    /// The program does not do what it did when the token was made.
    Diverged {
        /// How far it got.
        trace: Box<Trace>,
    },
    /// A thread could not be cleared away.
    Stuck(Stuck),
}

impl std::fmt::Display for ReplayError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReplayError::Token(error) => error.fmt(f),
            ReplayError::Foreign { name } => write!(
                f,
                "this replay token was not made by the check `{name}`; set RADDLE_REPLAY only for \
                 the check that printed it"
            ),
            ReplayError::Diverged { trace } => {
                let step = trace.events.len() + 1;
                match &trace.ending {
                    Ending::Diverged(divergence) => write!(
                        f,
                        "the program left the recorded schedule at step {step}, where {} was \
                         chosen and cannot be any more; it has changed since the token was made, \
                         or is not deterministic",
                        choice(divergence.expected)
                    ),
                    Ending::Finished => write!(
                        f,
                        "the program ended after {} steps, before the end of the recorded \
                         schedule; it has changed since the token was made, or is not deterministic",
                        trace.events.len()
                    ),
                    Ending::Deadlock
                    | Ending::Panicked(_)
                    | Ending::StepLimit
                    | Ending::Abandoned => write!(
                        f,
                        "the program went on after the recorded schedule, at step {step}; it has \
                         changed since the token was made, or is not deterministic"
                    ),
                }
            }
            ReplayError::Stuck(stuck) => write!(
                f,
                "{} could not be cleared away after its run: it waits in a destructor at {}",
                stuck.thread, stuck.site
            ),
        }
    }
}

impl std::error::Error for ReplayError {}

impl Tally {
    fn new() -> Tally {
        Tally {
            executions: 0,
            steps: 0,
            choices: 0,
            classes: Classes::new(CLASS_LIMIT),
            discarded: 0,
            threads: 0,
        }
    }

    /// Whether there was never anything to choose.
    fn is_trivial(&self) -> bool {
        self.choices == 0 && self.threads <= 1
    }

    #[inline]
    fn add(&mut self, trace: &Trace, threads: u32) {
        self.executions += 1;
        self.steps += trace.events.len() as u64;
        self.choices += trace.choices;
        self.classes.insert(trace.fingerprint);
        self.threads = self.threads.max(threads);
    }
}

/// The ids the threads of a recorded run had.
fn family_of(threads: &[ThreadInfo]) -> Family {
    Family::with(&threads[1..]).expect("raddle invariant broken: a trace's threads contradict")
}

fn stuck_finding(stuck: Stuck) -> Finding {
    Finding::Stuck { thread: stuck.thread, site: stuck.site }
}

fn describe(event: Option<&Event>, trace: &Trace) -> String {
    let Some(event) = event else { return ended(&trace.ending) };
    let (thread, site, action) = (event.id.thread, event.site, event.op.action());
    match event.effect {
        Effect::None => format!("{thread} at {site}: {action:?}"),
        effect => format!("{thread} at {site}: {action:?}, which gave {effect:?}"),
    }
}

fn ended(ending: &Ending) -> String {
    match ending {
        Ending::Finished => "the execution had ended".into(),
        Ending::Deadlock => "no thread could go on".into(),
        Ending::Panicked(panic) => {
            let place = panic.place.as_deref().unwrap_or("an unknown place");
            format!("{} had panicked at {place}: {}", panic.thread, panic.message)
        }
        Ending::StepLimit => "the execution had reached the step limit".into(),
        Ending::Abandoned => "the execution went on".into(),
        Ending::Diverged(divergence) => {
            format!("the same choice, {}, was not possible", choice(divergence.expected))
        }
    }
}

fn choice(choice: Choice) -> String {
    match choice {
        Choice::Thread(thread) => format!("a step of {thread}"),
        Choice::Source(source) => {
            format!("reading event {} of {}", source.index + 1, source.thread)
        }
        Choice::Value(value) => format!("the value {value}"),
    }
}
