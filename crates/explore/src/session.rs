//! One check: runs plans until something is found or there is no reason to go on.

use std::borrow::Cow;
use std::time::Duration;

use raddle_analysis::{cause, leak, race, waits};
use raddle_core::{Choice, Ending, MemoryModel, Schedule, ThreadInfo, Trace};
use raddle_engine::{Engine, Family, Memory, Rc11, Sc, Stuck, Substrate};
use raddle_results::{
    Accesses, Failure, Finding, Progress, Report, Token, TokenError, Verdict, token,
};
use raddle_strategy::{Delay, Pct, Pos, Random, Rapos, RoundRobin, Surw, Urw};

use crate::replay::follow;
use crate::shelf;
use crate::{
    Bound, BoundedDfs, Bpor, Covered, Dfs, Dpor, Explorer, Limit, Mcr, Pcr, Reduction, Refusal,
    Repeat, Strategy,
};

mod auto;
mod census;
mod deepen;
mod inspect;
mod oddities;
mod parallel;
mod portfolio;
mod sampling;
mod tally;
mod weak;
mod words;

pub use oddities::{Leaks, Oddities};
pub use parallel::Workers;
use tally::Tally;
pub use words::ReplayError;
use words::{choice, describe, possible, refused};

/// What a check is to do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name of the check.
    pub name: Cow<'static, str>,
    /// How executions are chosen.
    pub strategy: Strategy,
    /// What threads may see of each other's stores.
    pub memory: MemoryModel,
    /// Where all randomness comes from.
    pub seed: u64,
    /// How many runs to make at most.
    pub runs: u64,
    /// How many events a run may have.
    pub max_steps: usize,
    /// What to do with a run that has more.
    pub on_step_limit: OnStepLimit,
    /// Whether data races are failures.
    pub races: bool,
    /// Whether accesses to plain variables are scheduling points, and so among the events.
    pub plain_points: bool,
    /// Whether to go on after a failure, for strategies that sample, and count how many there are.
    pub keep_going: bool,
    /// What else to look for.
    pub oddities: Oddities,
    /// Whether to make all runs although the first shows that there is only one execution.
    pub explore_trivial: bool,
    /// On how many OS threads to search, for strategies that can; see [`Session::run_with`].
    pub workers: Workers,
    /// Whether to tell which memory-access patterns were seen, and what tells accesses apart.
    pub coverage: Option<Accesses>,
}

impl Settings {
    /// The usual settings.
    pub fn new(name: impl Into<Cow<'static, str>>, strategy: Strategy) -> Settings {
        Settings {
            name: name.into(),
            strategy,
            memory: MemoryModel::Sc,
            seed: 0,
            runs: 10_000,
            max_steps: 1_000_000,
            on_step_limit: OnStepLimit::Fail,
            races: true,
            plain_points: false,
            keep_going: false,
            oddities: Oddities::default(),
            explore_trivial: false,
            workers: Workers::ONE,
            coverage: None,
        }
    }
}

/// What a run that reaches the step limit is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum OnStepLimit {
    /// A failure.
    Fail,
    /// Set aside and counted.
    Discard,
}

/// How much time a check may take, by a clock that the caller keeps. Whoever keeps it is also told how
/// far the check has come.
pub trait Budget: Sync {
    /// Time since the check began.
    fn elapsed(&self) -> Duration;

    /// How long it may take.
    fn limit(&self) -> Option<Duration>;

    /// Hears how far the check has come, whenever it looks at the clock after more than one run.
    fn hear(&self, progress: &Progress) {
        let _ = progress;
    }
}

/// What stands for the strategy in the report on a replay.
const REPLAY: &str = "replay";

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

    /// Explores with the strategy of the settings, on this OS thread.
    pub fn run(self) -> Result<Report, Refusal> {
        let Settings { strategy, seed, keep_going, .. } = *self.settings;
        if keep_going && !strategy.can_keep_going() {
            return Err(Refusal::CannotKeepGoing { strategy });
        }
        match self.settings.memory {
            MemoryModel::Sc => {}
            MemoryModel::Rc11 => return self.run_weak(),
        }
        match strategy {
            Strategy::Random => self.explore(Repeat::new(Random::default(), seed)),
            Strategy::RoundRobin => self.explore(Repeat::new(RoundRobin, seed)),
            Strategy::Pct { depth } => self.explore(Repeat::new(Pct::new(depth), seed)),
            Strategy::PctWithin { depth, steps } => {
                self.explore(Repeat::new(Pct::with_steps(depth, steps as usize), seed))
            }
            Strategy::PctDrawn => self.explore(Repeat::new(Pct::drawn(), seed)),
            strategy
            @ (Strategy::Pctwm { .. } | Strategy::C11Random | Strategy::PctWeak { .. }) => {
                Err(Refusal::OnlyWeak { strategy })
            }
            Strategy::BasicPos => self.explore(Repeat::new(Pos::basic(), seed)),
            Strategy::Pos => self.explore(Repeat::new(Pos::plain(), seed)),
            Strategy::PosStar => self.explore(Repeat::new(Pos::default(), seed)),
            Strategy::Rapos => self.explore(Repeat::new(Rapos::default(), seed)),
            Strategy::Urw => self.explore(Repeat::new(Urw::default(), seed)),
            Strategy::Surw => self.explore(Repeat::new(Surw::default(), seed)),
            Strategy::Delay { delays } => self.explore(Repeat::new(Delay::new(delays), seed)),
            Strategy::Portfolio(members) => self.portfolio(members),
            Strategy::Dfs => self.explore(Dfs::default()),
            Strategy::DfsWithin(Bound { preemptions: Some(most), lead: None }) => {
                self.explore(BoundedDfs::new(Limit::Preemptions(most)))
            }
            Strategy::DfsWithin(bound) => self.explore(Bpor::new(bound, Reduction::None)),
            Strategy::DfsDelay { delays } => self.explore(BoundedDfs::new(Limit::Delays(delays))),
            Strategy::Dpor => self.explore(Dpor::default()),
            Strategy::DporClassic => self.explore(Bpor::new(Bound::NONE, Reduction::Optimised)),
            Strategy::Bpor(bound) => self.explore(Bpor::new(bound, Reduction::Optimised)),
            Strategy::BporPlain(bound) => self.explore(Bpor::new(bound, Reduction::Plain)),
            Strategy::BporUpTo(bound) => self.deepen(bound),
            Strategy::Pcr => self.explore(Pcr::new(seed)),
            Strategy::Mcr => self.explore(Mcr::new(seed)),
            Strategy::Auto => self.auto(),
        }
    }

    /// Replays one execution.
    pub fn replay(mut self, word: &str) -> Result<Report, ReplayError> {
        let token = Token::parse(word).map_err(ReplayError::Token)?;
        if token.check != token::name_hash(&self.settings.name) {
            return Err(ReplayError::Foreign { name: self.settings.name.to_string() });
        }
        let family = Family::with(&token.threads).ok_or(ReplayError::Token(TokenError::Damaged))?;
        let recorded = token.schedule.len();
        let threads = token.schedule.iter().filter(|choice| matches!(choice, Choice::Thread(_)));
        let max_steps = self.settings.max_steps.max(threads.count());
        let prescribe = |prefix: &mut Schedule| *prefix = token.schedule;
        let trace = self.follow(family, prescribe, max_steps, Trace::clone);
        let trace = trace.map_err(ReplayError::Stuck)?;
        if let Ending::Diverged(_) | Ending::Abandoned = trace.ending {
            return Err(ReplayError::Diverged { trace: Box::new(trace) });
        }
        let finding = self.finding(&trace);
        if finding.is_none() && trace.schedule().len() < recorded {
            return Err(ReplayError::Diverged { trace: Box::new(trace) });
        }
        let mut tally = Tally::new(self.settings);
        tally.add(&trace, trace.most_alive());
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
        Ok(Report { strategy: REPLAY.into(), ..self.report(tally, verdict) })
    }

    /// Explores with any explorer.
    pub fn explore<E: Explorer>(mut self, mut explorer: E) -> Result<Report, Refusal> {
        let mut tally = Tally::new(self.settings);
        let limits = Limits::of(self.settings);
        let stop = self.go(&mut explorer, &mut tally, &limits, &mut |_| false);
        let verdict = stop.verdict(&explorer)?;
        let (search, patterns) = (explorer.search(), explorer.patterns().map(Box::new));
        let guarantees = explorer.guarantees();
        let unseen = if explorer.draws_alike() { tally.unseen() } else { None };
        Ok(Report { search, patterns, guarantees, unseen, ..self.report(tally, verdict) })
    }

    /// Runs what `explorer` says until something is found or there is no reason to go on. `is_enough`
    /// is asked now and then, and says so by true.
    fn go<E: Explorer>(
        &mut self,
        explorer: &mut E,
        tally: &mut Tally,
        limits: &Limits,
        is_enough: &mut dyn FnMut(&Pace) -> bool,
    ) -> Stop {
        self.go_in::<Sc, E>(explorer, tally, limits, is_enough)
    }

    /// As [`go`](Session::go), under any memory model.
    fn go_in<M: Memory + Default + 'static, E: Explorer>(
        &mut self,
        explorer: &mut E,
        tally: &mut Tally,
        limits: &Limits,
        is_enough: &mut dyn FnMut(&Pace) -> bool,
    ) -> Stop {
        let mut engine = shelf::engine::<M, E::Then>(
            explorer.family(),
            limits.max_steps,
            || explorer.chooser(),
            |used| explorer.renew(used),
        );
        let stop = self.drive(&mut engine, explorer, tally, limits, is_enough);
        explorer.finish(engine.plan_mut());
        if !matches!(stop, Stop::Failed(_)) {
            // Otherwise its last run may never have come to an end.
            shelf::put(engine);
        }
        match (stop, tally.census.first()) {
            (stop @ (Stop::Failed(_) | Stop::Refused(_)), _) | (stop, None) => stop,
            (_, Some(first)) => Stop::Failed(Box::new(first.clone())),
        }
    }

    fn drive<M: Memory, E: Explorer>(
        &mut self,
        engine: &mut Engine<M, E::Then>,
        explorer: &mut E,
        tally: &mut Tally,
        limits: &Limits,
        is_enough: &mut dyn FnMut(&Pace) -> bool,
    ) -> Stop {
        let first = tally.executions;
        let mut next_inspection = 0;
        let mut until_look: u64 = 0;
        loop {
            if !engine.repeats() {
                if explorer.draws_alike() {
                    // A run is to depend on nothing that happened before it.
                    engine.forget_threads();
                }
                if !explorer.next(engine.plan_mut()) {
                    return if tally.is_trivial() { Stop::Trivial } else { Stop::Done };
                }
            }
            let cleared = self.substrate.execute(engine, self.program);
            let run = tally.executions;
            if engine.repeats() {
                if let Some(stop) = self.differs(engine.earlier(), engine.trace(), cleared) {
                    return stop;
                }
                if tally.is_trivial() && !self.settings.explore_trivial {
                    return Stop::Trivial;
                }
                engine.go_on();
            } else {
                let threads = engine.max_alive();
                let closely = run >= next_inspection || !engine.was_ordinary() || cleared.is_err();
                let (trace, plan) = engine.trace_and_plan_mut();
                if closely {
                    tally.add(trace, threads);
                } else {
                    tally.add_ordinary(trace, threads);
                }
                explorer.learn(run - first, trace, plan);
                if closely {
                    next_inspection = self.next_inspection(run, tally, limits);
                    if let Some(stop) =
                        self.inspect(run, run - first, trace, cleared, tally, limits)
                    {
                        return stop;
                    }
                }
                if let Some(refusal) = explorer.refusal() {
                    return Stop::Refused(refusal);
                }
                if closely && run == 0 {
                    engine.repeat();
                    continue;
                }
            }
            if tally.executions >= limits.runs {
                return Stop::OutOfBudget;
            }
            let cost = engine.trace().events.count() as u64 + STEPS_PER_RUN;
            match until_look.checked_sub(cost) {
                Some(left) if !E::PLANS_LONG => until_look = left,
                _ if self.out_of_time(limits) => return Stop::OutOfBudget,
                _ => {
                    until_look = STEPS_PER_LOOK;
                    let search = explorer.search();
                    let estimate = search.and_then(|search| search.estimate);
                    if tally.executions > 1 {
                        self.budget.hear(&Progress {
                            executions: tally.executions,
                            classes: tally.classes.count(),
                            // An estimate is of the runs of one explorer.
                            total: estimate.map(|estimate| first as f64 + estimate),
                        });
                    }
                    let executions = tally.executions - first;
                    if is_enough(&Pace { executions, estimate }) {
                        return Stop::Enough;
                    }
                }
            }
        }
    }

    fn out_of_time(&self, limits: &Limits) -> bool {
        let limit = [self.budget.limit(), limits.time].into_iter().flatten().min();
        limit.is_some_and(|limit| self.budget.elapsed() >= limit)
    }

    /// What is wrong with a run, if anything.
    fn finding(&self, trace: &Trace) -> Option<Finding> {
        match &trace.ending {
            Ending::Finished => {
                let race = if self.settings.races { race(trace) } else { None };
                let fails = self.settings.oddities.leaks == Leaks::Fail;
                race.or_else(|| leak(trace).filter(|_| fails).map(Finding::Leak))
            }
            Ending::Abandoned => None,
            // Choices are prescribed because an earlier run made them.
            Ending::Diverged(divergence) => Some(Finding::Nondeterminism {
                at: trace.events.len(),
                first: format!("{} was possible", choice(divergence.expected)),
                second: possible(trace),
            }),
            Ending::Panicked(panic) => Some(Finding::Panic(panic.clone())),
            Ending::Deadlock => Some(Finding::Deadlock(waits(trace))),
            Ending::StepLimit => Some(Finding::StepLimit { steps: self.settings.max_steps as u64 }),
        }
    }

    fn failed(&self, finding: Finding, run: u64, trace: Trace, reproduced: bool) -> Stop {
        Stop::Failed(Box::new(self.failure(finding, run, trace, reproduced)))
    }

    fn failure(&self, finding: Finding, run: u64, trace: Trace, reproduced: bool) -> Failure {
        let token = Token::new(&self.settings.name, &trace.threads, trace.schedule()).to_string();
        Failure { finding, execution: run + 1, trace, token, reproduced }
    }

    /// Whether the choices of a failing run lead to the same failure again.
    fn confirm(&mut self, trace: &Trace) -> bool {
        let is_same = |second: &Trace| {
            second.ending == trace.ending && trace.first_difference(second).is_none()
        };
        let prescribe = |prefix: &mut Schedule| trace.add_schedule(prefix);
        let max_steps = self.settings.max_steps;
        let second = self.follow(family_of(&trace.threads), prescribe, max_steps, is_same);
        second.is_ok_and(|is_same| is_same)
    }

    /// What is wrong if a run, made a second time, was another or did not come to an end.
    fn differs(&self, trace: &Trace, second: &Trace, cleared: Result<(), Stuck>) -> Option<Stop> {
        if let Err(stuck) = cleared {
            return Some(self.failed(stuck_finding(stuck), 0, trace.clone(), false));
        }
        let at = trace.first_difference(second)?;
        if let Some(refused) = refused(second) {
            return Some(self.failed(refused, 1, second.clone(), true));
        }
        let finding = Finding::Nondeterminism {
            at,
            first: describe(trace.events.get(at), trace),
            second: describe(second.events.get(at), second),
        };
        Some(self.failed(finding, 0, trace.clone(), false))
    }

    /// Runs the program as prescribed.
    fn follow<R>(
        &mut self,
        family: Family,
        prescribe: impl FnOnce(&mut Schedule),
        max_steps: usize,
        look: impl FnOnce(&Trace) -> R,
    ) -> Result<R, Stuck> {
        let (substrate, program) = (&mut *self.substrate, self.program);
        let follow = match self.settings.memory {
            MemoryModel::Sc => follow::<Sc, S, R>,
            MemoryModel::Rc11 => follow::<Rc11, S, R>,
        };
        follow(substrate, program, family, prescribe, max_steps, look)
    }

    fn report(&self, tally: Tally, verdict: Verdict) -> Report {
        Report {
            name: self.settings.name.clone(),
            strategy: self.settings.strategy.word(),
            memory: self.settings.memory,
            seed: self.settings.seed,
            verdict,
            executions: tally.executions,
            steps: tally.steps,
            classes: tally.classes.count(),
            classes_exact: tally.classes.is_exact(),
            discarded: tally.discarded,
            elapsed: self.budget.elapsed(),
            threads: tally.threads,
            phases: Vec::new(),
            search: None,
            coverage: tally.coverage.map(|coverage| Box::new(coverage.report())),
            patterns: None,
            guarantees: Vec::new(),
            unseen: None,
            failures: self
                .settings
                .keep_going
                .then(|| Box::new(tally.census.sum(tally.executions - tally.discarded))),
            warnings: tally.warnings.into_vec(),
        }
    }
}

/// How far a part of a check may go.
#[derive(Clone, Debug)]
struct Limits {
    /// How many runs the whole check may have made after it.
    runs: u64,
    /// How much time the whole check may have taken after it.
    time: Option<Duration>,
    max_steps: usize,
    on_step_limit: OnStepLimit,
}

impl Limits {
    fn of(settings: &Settings) -> Limits {
        // Round-robin has only one run to offer.
        let runs = if settings.strategy == Strategy::RoundRobin { 1 } else { settings.runs };
        let Settings { max_steps, on_step_limit, .. } = *settings;
        Limits { runs, time: None, max_steps, on_step_limit }
    }
}

/// How far a part of a check has come.
#[derive(Copy, Clone, Debug)]
struct Pace {
    executions: u64,
    /// How many it will be.
    estimate: Option<f64>,
}

/// Why a part of a check ended.
#[derive(Debug)]
enum Stop {
    /// The explorer has no run left.
    Done,
    /// There is only one execution.
    Trivial,
    /// Its limits were reached.
    OutOfBudget,
    /// It was told so.
    Enough,
    /// A failure.
    Failed(Box<Failure>),
    /// The explorer cannot go on.
    Refused(Refusal),
}

impl Stop {
    /// What it means for a check with one part.
    fn verdict<E: Explorer>(self, explorer: &E) -> Result<Verdict, Refusal> {
        let is_done = matches!(self, Stop::Done);
        Ok(match self {
            Stop::Done | Stop::OutOfBudget | Stop::Enough => match explorer.covered(is_done) {
                Covered::Everything => Verdict::Exhausted,
                Covered::Within(bounds) => Verdict::Bounded(bounds),
                Covered::Nothing => Verdict::Sampled,
            },
            Stop::Trivial => Verdict::NothingToExplore,
            Stop::Failed(failure) => Verdict::Failed(failure),
            Stop::Refused(refusal) => return Err(refusal),
        })
    }
}

/// The ids the threads of a recorded run had.
fn family_of(threads: &[ThreadInfo]) -> Family {
    Family::with(&threads[1..]).expect("raddle invariant broken: a trace's threads contradict")
}

fn stuck_finding(stuck: Stuck) -> Finding {
    Finding::Stuck { thread: stuck.thread, site: stuck.site }
}
