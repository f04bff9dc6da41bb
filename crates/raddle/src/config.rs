//! The settings of a check.

use std::num::NonZeroUsize;
use std::panic::Location;
use std::time::{Duration, Instant};

use raddle_core::{Accesses, Progress, Report, Verdict};
use raddle_explore::{Budget, OnStepLimit, Session, Settings, Strategy, Workers};
use raddle_runtime::interrupt::Watch;
use raddle_runtime::{Options, Runtime};

use crate::done::{Done, Target};
use crate::environment::{Environment, SettingError};
use crate::files::{self, Folder};
use crate::live::Live;

/// Which operations are scheduling points.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Granularity {
    /// Synchronisation and atomics.
    #[default]
    Sync,
    /// Accesses to [`cell::Shared`](crate::cell::Shared) too.
    All,
}

/// More OS threads than this would get in each other's way on any machine.
const MOST_THREADS: usize = 1024;

/// The settings of a check, and what runs it.
///
/// | setting | default | environment |
/// | --- | --- | --- |
/// | [`strategy`](Config::strategy) | `auto` | `RADDLE_STRATEGY` |
/// | [`runs`](Config::runs) | 10,000 | `RADDLE_RUNS` |
/// | [`time`](Config::time) | 10 s | `RADDLE_TIME` (such as `500ms`, `10s`, `2m`) |
/// | [`seed`](Config::seed) | 0 | `RADDLE_SEED` |
/// | [`threads`](Config::threads) | 1 | `RADDLE_THREADS` |
/// | [`max_steps`](Config::max_steps) | 1,000,000 | |
/// | [`on_step_limit`](Config::on_step_limit) | fail | |
/// | [`granularity`](Config::granularity) | synchronisation | |
/// | [`races`](Config::races) | failures | |
/// | [`stack_size`](Config::stack_size) | 256 KiB | |
/// | [`coverage`](Config::coverage) | not told | |
///
/// The environment goes before the program. `RADDLE_REPLAY` holds a token from a report and replays
/// that one execution. `RADDLE_REPORT` names a folder to which every check writes its report as JSON and
/// as a page for a browser, in files named after the check. `RADDLE_COLOR` is `always`, `never` or `auto`,
/// which means on a terminal, unless `NO_COLOR` is set. `RADDLE_PROGRESS` is `always`, `never` or `auto`: whether
/// a check says how far it has come while it runs, by default on a terminal if it is not one of several tests.
///
/// Ctrl-C ends [`check`](Config::check) with what it has found out so far.
///
/// ```
/// use raddle::sync::{Arc, Mutex};
///
/// let report = raddle::Config::new().strategy("dfs").run(|| {
///     let total = Arc::new(Mutex::new(0));
///     let other = {
///         let total = total.clone();
///         raddle::thread::spawn(move || *total.lock().unwrap() += 1)
///     };
///     *total.lock().unwrap() += 1;
///     other.join().unwrap();
///     assert_eq!(*total.lock().unwrap(), 2);
/// });
/// assert!(report.failure().is_none());
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Config {
    name: Option<String>,
    strategy: Result<Strategy, SettingError>,
    runs: u64,
    time: Option<Duration>,
    seed: u64,
    threads: usize,
    max_steps: usize,
    on_step_limit: OnStepLimit,
    granularity: Granularity,
    races: bool,
    stack_size: usize,
    explore_trivial: bool,
    replay: Option<String>,
    coverage: Option<Accesses>,
}

impl Default for Config {
    fn default() -> Config {
        Config::new()
    }
}

impl Config {
    /// The default settings.
    pub fn new() -> Config {
        Config {
            name: None,
            strategy: Ok(Strategy::default()),
            runs: 10_000,
            time: Some(Duration::from_secs(10)),
            seed: 0,
            threads: 1,
            max_steps: 1_000_000,
            on_step_limit: OnStepLimit::Fail,
            granularity: Granularity::Sync,
            races: true,
            stack_size: 256 * 1024,
            explore_trivial: false,
            replay: None,
            coverage: None,
        }
    }

    /// The name of the check, by which a replay token recognises it. By default the name of the
    /// test, or else the source file of the call.
    pub fn name(mut self, name: impl Into<String>) -> Config {
        self.name = Some(name.into());
        self
    }

    /// How executions are chosen: a [`Strategy`] or its word, such as `"pct:3"`. A word that names
    /// none is an error when the check starts.
    pub fn strategy<S>(mut self, strategy: S) -> Config
    where
        S: TryInto<StrategyArgument>,
        S::Error: Into<SettingError>,
    {
        self.strategy = strategy.try_into().map(|argument| argument.0).map_err(Into::into);
        self
    }

    /// How many executions to try at most.
    pub fn runs(mut self, runs: u64) -> Config {
        self.runs = runs;
        self
    }

    /// How long to go on at most.
    pub fn time(mut self, time: Duration) -> Config {
        self.time = Some(time);
        self
    }

    /// Go on until the runs are made, however long that takes.
    pub fn unlimited_time(mut self) -> Config {
        self.time = None;
        self
    }

    /// Where all randomness comes from: the same seed gives the same executions.
    pub fn seed(mut self, seed: u64) -> Config {
        self.seed = seed;
        self
    }

    /// On how many OS threads to search. Only the strategy `dpor` uses more than one; all others go
    /// on as if it were one.
    ///
    /// The result is the same as on one: the same classes, and if an execution fails, the failure that
    /// a search on one would report. For that the search is made again on one OS thread up to that
    /// failure, as far as the budget goes.
    ///
    /// The program runs on several OS threads at once, so it must not share objects between
    /// executions: an execution that uses a static while another one does fails and says so.
    pub fn threads(mut self, threads: usize) -> Config {
        self.threads = threads;
        self
    }

    /// How many operations one execution may have.
    pub fn max_steps(mut self, max_steps: usize) -> Config {
        self.max_steps = max_steps;
        self
    }

    /// What an execution with more operations is: a failure, or set aside.
    pub fn on_step_limit(mut self, on_step_limit: OnStepLimit) -> Config {
        self.on_step_limit = on_step_limit;
        self
    }

    /// Which operations are scheduling points.
    pub fn granularity(mut self, granularity: Granularity) -> Config {
        self.granularity = granularity;
        self
    }

    /// Whether data races on [`cell`](crate::cell)s are failures.
    pub fn races(mut self, races: bool) -> Config {
        self.races = races;
        self
    }

    /// Bytes of stack for each thread.
    pub fn stack_size(mut self, stack_size: usize) -> Config {
        self.stack_size = stack_size;
        self
    }

    /// Make all runs although the first shows that there is only one execution. For measuring.
    pub fn explore_trivial(mut self, explore_trivial: bool) -> Config {
        self.explore_trivial = explore_trivial;
        self
    }

    /// Tell in the report which memory-access patterns were seen (MAP-coverage), of how many, for all and
    /// for each shared variable. The strategies `pcr` and `mcr` tell it in any case.
    ///
    /// ```
    /// use raddle::sync::Arc;
    /// use raddle::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let report = raddle::Config::new().coverage(raddle::Accesses::BySite).run(|| {
    ///     let hits = Arc::new(AtomicU32::new(0));
    ///     let other = hits.clone();
    ///     let thread = raddle::thread::spawn(move || other.store(1, Ordering::SeqCst));
    ///     hits.load(Ordering::SeqCst);
    ///     thread.join().unwrap();
    /// });
    /// let coverage = report.coverage.unwrap();
    /// // The load before the store, and after it.
    /// assert_eq!(coverage.covered, 2);
    /// ```
    pub fn coverage(mut self, accesses: Accesses) -> Config {
        self.coverage = Some(accesses);
        self
    }

    /// Replays one execution instead of exploring: the one whose token this is. The token comes from
    /// a report on the same check, see [`Failure::token`](crate::Failure::token); `RADDLE_REPLAY` does
    /// the same from outside.
    ///
    /// ```
    /// let program = || assert!(raddle::choose(10) != 7, "seven");
    /// let found = raddle::Config::new().run(program);
    /// let token = &found.failure().expect("one of ten").token;
    ///
    /// let again = raddle::Config::new().replay(token).run(program);
    /// assert_eq!(again.failure().unwrap().finding, found.failure().unwrap().finding);
    /// ```
    pub fn replay(mut self, token: impl Into<String>) -> Config {
        self.replay = Some(token.into());
        self
    }

    /// Runs the check and prints the result; panics if an execution fails.
    ///
    /// # Panics
    /// With the report if an execution fails, and with an explanation if a setting makes no sense.
    #[track_caller]
    pub fn check<F>(self, program: F)
    where
        F: Fn() + Send + Sync + 'static,
    {
        let watch = Watch::new();
        let name = self.name_at(Location::caller());
        let done = match self.go(name, &program_of(program), Some(&watch)) {
            Ok(done) => done,
            Err(error) => panic!("raddle: {error}"),
        };
        if watch.is_interrupted() {
            done.say(&format!("raddle: interrupted; so far:\n{}\n", done.text(Target::Terminal)));
            watch.leave();
        }
        drop(watch);
        let text = done.text(Target::Panic);
        if done.report.failure().is_none() {
            return println!("{}", done.text(Target::Terminal));
        }
        if !done.is_coloured() {
            panic!("{text}");
        }
        // Colours are for the reader; whoever looks at the panic, such as `#[should_panic]`, gets the
        // text without.
        eprintln!("{}", done.text(Target::Terminal));
        std::panic::resume_unwind(Box::new(text));
    }

    /// Runs the check and returns the result, whatever it is.
    ///
    /// # Panics
    /// If a setting makes no sense; see [`try_run`](Config::try_run).
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

    /// Runs the check and returns the result, or what is wrong with the settings.
    #[track_caller]
    pub fn try_run<F>(self, program: F) -> Result<Report, SettingError>
    where
        F: Fn() + Send + Sync + 'static,
    {
        let name = self.name_at(Location::caller());
        Ok(self.go(name, &program_of(program), None)?.report)
    }

    fn name_at(&self, caller: &Location<'_>) -> String {
        self.name.clone().unwrap_or_else(|| default_name(caller))
    }

    /// Runs the check, which ends early if `watch` sees an interruption.
    fn go(
        self,
        name: String,
        program: &(dyn Fn() + Sync + 'static),
        watch: Option<&Watch>,
    ) -> Result<Done, SettingError> {
        let environment = Environment::read()?;
        let threads = environment.threads.unwrap_or(self.threads);
        let threads = NonZeroUsize::new(threads).filter(|threads| threads.get() <= MOST_THREADS);
        let threads = threads.ok_or_else(|| {
            SettingError::new(format!(
                "a search takes at least one and at most {MOST_THREADS} OS threads, best as many as \
                 there are processors (`Config::threads`, RADDLE_THREADS)"
            ))
        })?;
        let folder = environment.report.as_deref().map(Folder::new).transpose()?;
        let settings = Settings {
            name: name.clone(),
            strategy: environment.strategy.map_or(self.strategy, Ok)?,
            seed: environment.seed.unwrap_or(self.seed),
            runs: environment.runs.unwrap_or(self.runs),
            max_steps: self.max_steps,
            on_step_limit: self.on_step_limit,
            races: self.races,
            plain_points: self.granularity == Granularity::All,
            explore_trivial: self.explore_trivial,
            workers: Workers::new(threads),
            coverage: self.coverage,
        };
        if settings.runs == 0 {
            return Err(SettingError::new(
                "zero runs check nothing; ask for at least one (`Config::runs`, RADDLE_RUNS)",
            ));
        }
        if settings.max_steps == 0 {
            return Err(SettingError::new(
                "a limit of zero steps allows no execution; see `Config::max_steps`",
            ));
        }
        if self.stack_size < 16 * 1024 {
            return Err(SettingError::new(
                "a stack below 16 KiB cannot hold a thread; see `Config::stack_size`",
            ));
        }
        let plain_accesses = match self.granularity {
            Granularity::Sync => false,
            Granularity::All => true,
        };
        let options = Options { stack_size: self.stack_size, name, plain_accesses };
        let make = || Runtime::<raddle_runtime::Default>::new(options.clone());
        let mut runtime = make();
        let limit = environment.time.map_or(self.time, Some);
        let live = Live::new(&settings.name, environment.progress);
        let clock = Clock { start: Instant::now(), limit, watch, live };
        let session = Session::new(&mut runtime, program, &settings, &clock);
        let mut report = match environment.replay.or(self.replay) {
            Some(word) => session.replay(&files::read_token(&word)?)?,
            None => session.run_with(&make)?,
        };
        if let Verdict::Failed(failure) = &mut report.verdict {
            let trace = &mut failure.trace;
            let is_there = |id| trace.threads.iter().any(|thread| thread.id == id);
            let names = runtime.thread_names();
            trace.thread_names = names.into_iter().filter(|name| is_there(name.0)).collect();
        }
        files::shorten_token(&mut report, folder.as_ref());
        let page = folder.and_then(|folder| match folder.write(&report) {
            Ok(page) => Some(page),
            Err(error) => {
                eprintln!("raddle: RADDLE_REPORT: the report could not be written: {error}");
                None
            }
        });
        Ok(Done { report, page, colour: environment.colour })
    }
}

/// What [`Config::strategy`] takes; made from a [`Strategy`] or its word.
#[derive(Copy, Clone, Debug)]
pub struct StrategyArgument(Strategy);

impl From<Strategy> for StrategyArgument {
    fn from(strategy: Strategy) -> StrategyArgument {
        StrategyArgument(strategy)
    }
}

impl TryFrom<&str> for StrategyArgument {
    type Error = SettingError;

    fn try_from(word: &str) -> Result<StrategyArgument, SettingError> {
        Ok(StrategyArgument(word.parse::<Strategy>()?))
    }
}

/// Test harnesses name the OS thread after the test.
fn default_name(caller: &Location<'_>) -> String {
    match std::thread::current().name() {
        Some(name) if name != "main" => name.to_owned(),
        Some(_) | None => caller.file().to_owned(),
    }
}

/// `program` as the main thread of a run does it.
fn program_of<F: Fn() + Sync + 'static>(program: F) -> impl Fn() + Sync + 'static {
    move || {
        let _ending = crate::thread::Ending;
        program();
    }
}

struct Clock<'a> {
    start: Instant,
    limit: Option<Duration>,
    watch: Option<&'a Watch>,
    live: Live,
}

impl Budget for Clock<'_> {
    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn limit(&self) -> Option<Duration> {
        if self.watch.is_some_and(Watch::is_interrupted) {
            Some(Duration::ZERO)
        } else {
            self.limit
        }
    }

    fn hear(&self, progress: &Progress) {
        self.live.hear(progress, self.elapsed());
    }
}
