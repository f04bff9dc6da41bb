//! Runs a check.

use std::num::NonZeroUsize;
use std::panic::Location;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use raddle_core::Site;
use raddle_explore::{
    Budget, Elapsed, Session, Settings, Strategy, Warnings, Workers, racing_lines,
};
use raddle_results::{self as results, Failure, Progress, Verdict};
use raddle_runtime::interrupt::{self, Watch};
use raddle_runtime::{Options, Rerun, Runtime, port, replay_guard};

use super::{CheckName, Config, DEFAULT_WATCHDOG, MAX_THREADS, StrategyArgument, Watchdog};
use crate::alloc::Alloc;
use crate::conditions::Conditions;
use crate::done::{Done, Target, write_to_stderr};
use crate::environment::Environment;
use crate::files::{self, Folder};
use crate::live::Live;
use crate::origin;
use crate::remembered::Remembered;
use crate::report::Report;
use crate::settings::{Granularity, Panics, SettingError, Sometimes};
use crate::turn::Turn;

/// A check may take one of this many parts of the time that is left for all checks.
const SHARES: u32 = 10;

impl Config {
    /// Runs the check and prints the result.
    ///
    /// # Panics
    /// Panics with the report if an execution fails, and with an explanation if a setting cannot be used.
    #[track_caller]
    pub fn check<F>(self, program: F)
    where
        F: Fn() + Send + Sync + 'static,
    {
        if let Err(error) = self.check_at(Location::caller(), program) {
            panic!("raddle: {error}");
        }
    }

    /// [`check`](Config::check), called at `caller`. Returns the report if no execution fails, and the error if a setting
    /// cannot be used.
    pub(crate) fn check_at<F>(
        self,
        caller: &'static Location<'static>,
        program: F,
    ) -> Result<Report, SettingError>
    where
        F: Fn() + Send + Sync + 'static,
    {
        let watch = Watch::new();
        let conditions = Conditions::new();
        let program = program_of(program, &conditions);
        let done = match self.run_watched(caller, &program, &conditions, Some(&watch)) {
            Ok(done) => done,
            Err(_) if watch.is_interrupted() => {
                write_to_stderr("raddle: interrupted in the first execution\n");
                watch.leave();
            }
            Err(error) => return Err(error),
        };
        if watch.is_interrupted() {
            write_to_stderr(&format!(
                "raddle: interrupted; so far:\n{}\n",
                done.text(Target::Terminal)
            ));
            watch.leave();
        }
        drop(watch);
        let text = done.text(Target::Panic);
        if !done.report.has_failed() {
            println!("{}", done.text(Target::Terminal));
            return Ok(done.report);
        }
        if !done.is_coloured() {
            panic!("{text}");
        }
        // The panic has no colours, so that `#[should_panic]` can search its text.
        eprintln!("{}", done.text(Target::Terminal));
        std::panic::resume_unwind(Box::new(text));
    }

    /// Runs the check and returns its report.
    ///
    /// # Panics
    /// Panics if a setting cannot be used; see [`try_run`](Config::try_run).
    #[track_caller]
    pub fn run<F>(self, program: F) -> Report
    where
        F: Fn() + Send + Sync + 'static,
    {
        match self.try_run(program) {
            Ok(report) => report,
            Err(error) => panic!("raddle: {error}"),
        }
    }

    /// Runs the check and returns its report, or an error if a setting cannot be used.
    #[track_caller]
    pub fn try_run<F>(self, program: F) -> Result<Report, SettingError>
    where
        F: Fn() + Send + Sync + 'static,
    {
        let conditions = Conditions::new();
        let program = program_of(program, &conditions);
        Ok(self.run_watched(Location::caller(), &program, &conditions, None)?.report)
    }

    /// Runs the check. It ends early if `watch` sees an interruption.
    fn run_watched(
        self,
        caller: &'static Location<'static>,
        program: &(dyn Fn() + Sync + 'static),
        conditions: &Conditions,
        watch: Option<&Watch>,
    ) -> Result<Done, SettingError> {
        let config = Environment::get()?.apply(self)?;
        let threads =
            NonZeroUsize::new(config.threads).filter(|threads| threads.get() <= MAX_THREADS);
        let threads = threads.ok_or_else(|| {
            SettingError::new(format!(
                "a check uses at least one and at most {MAX_THREADS} OS threads, ideally one for each \
                 processor (`Config::threads`, RADDLE_THREADS)"
            ))
        })?;
        let folder = config.report.as_deref().map(Folder::new).transpose()?;
        let StrategyArgument { strategy, custom } = config.strategy?;
        let is_auto = custom.is_none() && strategy == Strategy::default();
        let settings = Settings {
            name: match &config.name {
                Some(name) => name.text.clone(),
                None => default_name(caller).into(),
            },
            strategy,
            custom,
            memory: config.memory,
            seed: config.seed,
            runs: config.runs,
            max_steps: config.max_steps,
            on_step_limit: config.on_step_limit,
            races: config.races,
            read_twice: config.read_twice,
            keep_going: config.keep_going,
            plain_points: config.granularity != Granularity::Sync,
            warnings: Warnings {
                leaks: config.leaks,
                lock_order: config.lock_order.unwrap_or(is_auto),
            },
            hidden_state: config.hidden_state,
            explain: config.explain,
            explore_trivial: config.explore_trivial,
            workers: Workers::new(threads),
            coverage: config.coverage,
        };
        if settings.runs == 0 {
            return Err(SettingError::new(
                "zero runs check nothing; set at least one (`Config::runs`, RADDLE_RUNS)",
            ));
        }
        if settings.max_steps == 0 {
            return Err(SettingError::new(
                "a limit of zero steps allows no execution; set at least one (`Config::max_steps`)",
            ));
        }
        if config.stack_size < 16 * 1024 {
            return Err(SettingError::new(
                "a stack below 16 KiB is too small for a thread; set at least 16_384 \
                 (`Config::stack_size`)",
            ));
        }
        let is_replay = config.replay.is_some();
        let mut options = Options {
            stack_size: config.stack_size,
            plain_accesses: config.granularity == Granularity::All,
            racy: Vec::new(),
            spurious: config.spurious,
            ordered_polls: config.ordered_polls,
            on_spawn: config.on_spawn,
            heap: Alloc::is_used(),
            joinable_panics: config.panics == Panics::Join,
            unwinds_failing_runs: false,
            rerun: Rerun::default(),
            patience: match config.watchdog {
                // A replay may run in a debugger.
                Watchdog::Default => watch.filter(|_| !is_replay).map(|_| DEFAULT_WATCHDOG),
                Watchdog::Set(limit) => limit,
            },
        };
        if config.granularity == Granularity::Racy {
            options.racy = racy_lines(&settings, &options, program);
        }
        options.rerun = rerun(config.name.as_ref(), &settings.name, caller.file());
        let make = || Runtime::<raddle_runtime::Default>::new(&settings.name, &options);
        let remembered = (config.remember && !is_replay && !config.keep_going)
            .then(|| Remembered::of(&settings.name))
            .flatten();
        let attempt = |_turn: Turn| -> Result<results::Report, SettingError> {
            let mut runtime = make();
            let total = config.total_time.map(share_of);
            let limit = [config.time, total].into_iter().flatten().min();
            let live = Live::new(&settings.name, config.progress);
            let (start, first_limit) = (Instant::now(), config.time);
            let clock = Clock { start, limit, first_limit, watch, live };
            let mut again =
                |token: &str| Session::new(&mut runtime, program, &settings, &clock).repeat(token);
            let known = remembered.iter().find_map(|remembered| remembered.fails_again(&mut again));
            Ok(match (&config.replay, known) {
                (Some(word), _) => {
                    replay_guard::replayed();
                    let token = files::read_token(word)?;
                    Session::new(&mut runtime, program, &settings, &clock).replay(&token)?
                }
                (None, Some(report)) => report,
                (None, None) => {
                    Session::new(&mut runtime, program, &settings, &clock).run_with(&make)?
                }
            })
        };
        port::take_met_shared();
        let mut report = attempt(Turn::beside_others());
        if port::take_met_shared() {
            report = attempt(Turn::alone());
        }
        let mut report = report?;
        if let (Some(remembered), Some(failure)) = (&remembered, report.failure()) {
            if failure.reproduced {
                remembered.add(&failure.token);
            }
        }
        report.conditions = conditions.list();
        report.conditions_required = config.sometimes == Sometimes::Fail;
        report.rerun = report.failure().and_then(|_| options.rerun.command());
        files::shorten_tokens(&mut report, folder.as_ref());
        let page = folder.and_then(|folder| match folder.write(&report) {
            Ok(page) => Some(page),
            Err(error) => {
                eprintln!("raddle: RADDLE_REPORT: the report could not be written: {error}");
                None
            }
        });
        Ok(Done { report: Report::new(report), page, color: config.color })
    }
}

/// Returns the command that runs a check again. `name` is the name that was given to it, and `known_as` the one it has.
fn rerun(name: Option<&CheckName>, known_as: &str, caller: &'static str) -> Rerun {
    let known_as: Arc<str> = known_as.into();
    match name.map(|name| name.origin) {
        Some(Some(origin)) => Rerun::new(move || origin.command(&known_as)),
        Some(None) => Rerun::default(),
        None => Rerun::new(move || origin::command_of_process(&known_as, caller)),
    }
}

/// Returns the time that a check may take if all checks of the process together may take `total`.
fn share_of(total: Duration) -> Duration {
    static FIRST_CHECK: OnceLock<Instant> = OnceLock::new();
    let elapsed = FIRST_CHECK.get_or_init(Instant::now).elapsed();
    total.saturating_sub(elapsed) / SHARES
}

/// The reported failure, and one failure of each cause.
pub(crate) fn failures_mut(report: &mut results::Report) -> impl Iterator<Item = &mut Failure> {
    let reported = match &mut report.verdict {
        Verdict::Failed(failure) => Some(&mut **failure),
        Verdict::Exhausted | Verdict::Bounded(_) | Verdict::Sampled | Verdict::NothingToExplore => {
            None
        }
        _ => raddle_results::new_variant(),
    };
    let causes = report.failures.iter_mut().flat_map(|failures| &mut failures.causes);
    reported.into_iter().chain(causes.map(|cause| &mut cause.failure))
}

/// Finds source lines of `program` that race by running a few executions. The result is deterministic.
fn racy_lines(
    settings: &Settings,
    options: &Options,
    program: &(dyn Fn() + Sync + 'static),
) -> Vec<Site> {
    let mut known = Vec::new();
    loop {
        let options = Options { racy: known.clone(), ..options.clone() };
        let mut runtime = Runtime::<raddle_runtime::Default>::new(&settings.name, &options);
        // With more scheduling points, more lines can race.
        let found = racing_lines(&mut runtime, program, settings.max_steps);
        let before = known.len();
        known.extend(found.into_iter().filter(|line| !known.contains(line)).collect::<Vec<_>>());
        if known.len() == before {
            return known;
        }
    }
}

/// The name of the test, which test harnesses give to the OS thread, or the caller's source file.
fn default_name(caller: &'static Location<'static>) -> String {
    match std::thread::current().name() {
        Some(name) if name != "main" => name.to_owned(),
        Some(_) | None => caller.file().to_owned(),
    }
}

/// Wraps `program` to be the main thread of a run of a check with these conditions.
fn program_of<F: Fn() + Sync + 'static>(
    program: F,
    conditions: &Arc<Conditions>,
) -> impl Fn() + Sync + 'static {
    let conditions = conditions.clone();
    move || {
        conditions.enter();
        crate::thread::run_body(&program)
    }
}

struct Clock<'a> {
    start: Instant,
    limit: Option<Duration>,
    /// The limit of the first execution: the time of this check alone, also if all checks together have less.
    first_limit: Option<Duration>,
    watch: Option<&'a Watch>,
    live: Live<'a>,
}

impl Clock<'_> {
    fn is_interrupted(&self) -> bool {
        self.watch.is_some_and(Watch::is_interrupted)
    }
}

impl Budget for Clock<'_> {
    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn limit(&self) -> Option<Duration> {
        if self.is_interrupted() { Some(Duration::ZERO) } else { self.limit }
    }

    fn first_limit(&self) -> Option<Duration> {
        if self.is_interrupted() { Some(Duration::ZERO) } else { self.first_limit }
    }

    fn clock(&self) -> Option<Elapsed> {
        let (start, is_watched) = (self.start, self.watch.is_some());
        Some(Rc::new(move || {
            let is_interrupted = is_watched && interrupt::is_interrupted();
            if is_interrupted { Duration::MAX } else { start.elapsed() }
        }))
    }

    fn on_progress(&self, progress: &Progress) {
        self.live.on_progress(progress, self.elapsed());
    }
}
