//! The settings of a check.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use raddle_core::{Accesses, MemoryModel};
use raddle_explore::{Leaks, OnStepLimit, Strategy};

use crate::settings::{Granularity, Panics, SettingError, Show, settings_markdown};

mod run;

pub(crate) use run::failures_mut;

/// More OS threads than this would get in each other's way on any machine.
const MOST_THREADS: usize = 1024;

/// How long an execution may do nothing that can be seen, unless somebody says otherwise.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long an execution may do nothing that can be seen.
#[derive(Copy, Clone, Debug)]
enum Watchdog {
    /// [`PATIENCE`] for whoever wants a panic, not a report.
    ForChecks,
    /// As somebody said.
    Always(Option<Duration>),
}

/// The settings of a check, and what runs it.
///
/// Each setting has a method of its name, except those that only the environment changes.
///
#[doc = settings_markdown!()]
///
/// Variables of the environment override the program. They are read when the first check of a process
/// begins; later changes have no effect. A variable that begins with `RADDLE_` and is not in the table is an
/// error.
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
    name: Option<Cow<'static, str>>,
    strategy: Result<Strategy, SettingError>,
    memory: MemoryModel,
    runs: u64,
    time: Option<Duration>,
    seed: u64,
    threads: usize,
    max_steps: usize,
    on_step_limit: OnStepLimit,
    granularity: Granularity,
    races: bool,
    keep_going: bool,
    panics: Panics,
    spurious: u32,
    leaks: Leaks,
    /// `None`: with the strategy `auto` only.
    lock_order: Option<bool>,
    stack_size: usize,
    watchdog: Watchdog,
    explore_trivial: bool,
    replay: Option<String>,
    coverage: Option<Accesses>,
    report: Option<PathBuf>,
    progress: Show,
    color: Show,
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
            memory: MemoryModel::Sc,
            runs: 10_000,
            time: Some(Duration::from_secs(10)),
            seed: 0,
            threads: 1,
            max_steps: 1_000_000,
            on_step_limit: OnStepLimit::Fail,
            granularity: Granularity::Sync,
            races: true,
            keep_going: false,
            panics: Panics::Fail,
            spurious: 0,
            leaks: Leaks::Note,
            lock_order: None,
            stack_size: 256 * 1024,
            watchdog: Watchdog::ForChecks,
            explore_trivial: false,
            replay: None,
            coverage: None,
            report: None,
            progress: Show::Auto,
            color: Show::Auto,
        }
    }

    /// The name of the check, by which a replay token recognises it: a literal or a `String`. By default the
    /// name of the test, or else the source file of the call.
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Config {
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

    /// What threads may see of each other's stores: by default the newest
    /// ([`Memory::Sc`](crate::Memory::Sc)), or all that Rust's memory orderings allow but load buffering
    /// ([`Memory::Rc11`](crate::Memory::Rc11)).
    ///
    /// ```
    /// use raddle::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
    /// use raddle::{Config, Memory, thread};
    ///
    /// let report = Config::new().memory(Memory::Rc11).run(|| {
    ///     let (data, ready) = (AtomicU32::new(0), AtomicBool::new(false));
    ///     thread::scope(|scope| {
    ///         scope.spawn(|| {
    ///             data.store(1, Relaxed);
    ///             ready.store(true, Relaxed);
    ///         });
    ///         if ready.load(Relaxed) {
    ///             assert_eq!(data.load(Relaxed), 1);
    ///         }
    ///     });
    /// });
    /// assert!(report.failure().is_some());
    /// ```
    pub fn memory(mut self, memory: MemoryModel) -> Config {
        self.memory = memory;
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

    /// On how many OS threads to search or to sample. The strategies `dpor`, `random`, `pos` and its
    /// variants, and `rapos` use more than one; all others, `auto` among them, go on as if it were one, and so
    /// does a check under RC11, with [`keep_going`](Config::keep_going) or with [`coverage`](Config::coverage).
    ///
    /// The result is the same as on one: the same classes, and if an execution fails, the failure that
    /// one would report. For that a search is made again on one OS thread up to that failure, as far as the
    /// budget goes; of a sample only a small part.
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

    /// Whether to go on after a failure, and count how many executions fail, by cause. For strategies
    /// that sample; `auto` then samples.
    ///
    /// ```
    /// let report = raddle::Config::new().runs(1_000).keep_going(true).run(|| {
    ///     let number = raddle::choose(10);
    ///     assert!(number != 7, "seven");
    ///     assert!(number < 8, "{number} is too many");
    /// });
    /// let failures = report.failures.expect("this is what was asked for");
    /// assert_eq!((failures.runs, failures.causes.len()), (1_000, 2));
    /// assert!(failures.interval.0 < 0.3 && 0.3 < failures.interval.1);
    /// ```
    pub fn keep_going(mut self, keep_going: bool) -> Config {
        self.keep_going = keep_going;
        self
    }

    /// What a panic that leaves a spawned thread is: a failure, or what joining the thread gives.
    pub fn panics(mut self, panics: Panics) -> Config {
        self.panics = panics;
        self
    }

    /// How often in an execution each thread may come out of [`Condvar::wait`](crate::sync::Condvar::wait) or
    /// [`park`](crate::thread::park) without a reason, or see a `compare_exchange_weak` fail without one.
    /// Whether it does is a choice like any other. A program must be able to bear all of it.
    ///
    /// ```
    /// use raddle::{Config, thread};
    ///
    /// let program = || {
    ///     let parked = thread::spawn(thread::park); // should look whether there was a reason to go on
    ///     assert!(!parked.is_finished());
    ///     parked.thread().unpark();
    /// };
    /// assert!(Config::new().run(program).failure().is_none());
    /// assert!(Config::new().spurious(1).run(program).failure().is_some());
    /// ```
    pub fn spurious(mut self, times: u32) -> Config {
        self.spurious = times;
        self
    }

    /// What it is to leave something behind: a thread that waits for ever after main has ended, or a lock
    /// that its thread held when it ended. Nothing, a note in the report (for some of the executions), or
    /// a failure. If [`Alloc`](crate::Alloc) is the allocator of the program, to leave memory with objects
    /// of [`sync`](crate::sync) or [`cell`](crate::cell) in it behind, such as `Arc`s that refer to one
    /// another, is a failure then too.
    ///
    /// ```
    /// use raddle::{Config, Finding, Leaks, sync::Mutex};
    ///
    /// let forgetful = || std::mem::forget(Mutex::new(0).lock());
    /// let report = Config::new().leaks(Leaks::Fail).run(forgetful);
    /// assert!(matches!(report.failure().unwrap().finding, Finding::Leak(_)));
    /// ```
    pub fn leaks(mut self, leaks: Leaks) -> Config {
        self.leaks = leaks;
        self
    }

    /// Whether locks that threads take in different orders are looked for in executions that do not fail.
    /// If then an execution can be made in which they wait for one another, it is the failure; otherwise
    /// there is a warning in the report.
    ///
    /// By default only the strategy `auto` does so: any other is to find what it finds by itself.
    pub fn lock_order(mut self, lock_order: bool) -> Config {
        self.lock_order = Some(lock_order);
        self
    }

    /// Bytes of stack for each thread.
    pub fn stack_size(mut self, stack_size: usize) -> Config {
        self.stack_size = stack_size;
        self
    }

    /// How long an execution may do nothing that raddle can see. Then it is stuck outside raddle's
    /// control, for example in a lock of `std`, and cannot be ended: the process ends, and says where the
    /// thread is. By default [`check`](Config::check) waits for ten seconds, except for a replay, and
    /// [`run`](Config::run), like all with `None`, for ever. `RADDLE_WATCHDOG` goes before both; it can be `off`.
    ///
    /// It takes signals (SIGURG); where there are none, or the program handles this one, nothing is noticed.
    pub fn watchdog(mut self, patience: impl Into<Option<Duration>>) -> Config {
        self.watchdog = Watchdog::Always(patience.into());
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

    /// The folder to which the report is written.
    pub(crate) fn report(mut self, folder: PathBuf) -> Config {
        self.report = Some(folder);
        self
    }

    /// Whether to show progress.
    pub(crate) fn progress(mut self, progress: Show) -> Config {
        self.progress = progress;
        self
    }

    /// Whether to colour the report.
    pub(crate) fn color(mut self, color: Show) -> Config {
        self.color = color;
        self
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
