//! The settings of a check.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use raddle_core::{Chooser, MemoryModel};
use raddle_explore::{Custom, Explain, Explorer, Leaks, OnStepLimit, Strategy};
use raddle_results::Accesses;
use raddle_runtime::SpawnHook;

use crate::origin::Origin;
use crate::settings::{Granularity, Panics, SettingError, Show, Sometimes, settings_markdown};

mod native;
mod run;

pub use native::NativeSettings;
pub(crate) use run::failures_mut;

/// The maximum of [`Config::threads`].
const MAX_THREADS: usize = 1024;

/// The default of [`Config::watchdog`] in [`Config::check`].
const DEFAULT_WATCHDOG: Duration = Duration::from_secs(10);

/// How long a run may go without a scheduling point.
#[derive(Copy, Clone, Debug)]
enum Watchdog {
    /// [`DEFAULT_WATCHDOG`] in [`Config::check`], except for a replay. Otherwise there is no limit.
    Default,
    /// The given time, or no limit.
    Set(Option<Duration>),
}

/// The settings of a check. Its methods [`check`](Config::check) and [`run`](Config::run) run the check.
///
/// Each setting has a method of its name, except those that only the environment changes.
///
#[doc = settings_markdown!()]
///
/// Variables of the environment override the program. They are read when the first check of a process
/// begins; later changes have no effect. A variable that begins with `RADDLE_` and is not in the table is an
/// error.
///
/// Ctrl-C ends [`check`](Config::check), which then reports what it has found so far.
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
    name: Option<CheckName>,
    strategy: Result<StrategyArgument, SettingError>,
    memory: MemoryModel,
    runs: u64,
    time: Option<Duration>,
    total_time: Option<Duration>,
    seed: u64,
    threads: usize,
    max_steps: usize,
    on_step_limit: OnStepLimit,
    granularity: Granularity,
    races: bool,
    read_twice: bool,
    keep_going: bool,
    panics: Panics,
    spurious: u32,
    leaks: Leaks,
    sometimes: Sometimes,
    /// `None` means true if the strategy is `auto`.
    lock_order: Option<bool>,
    stack_size: usize,
    watchdog: Watchdog,
    ordered_polls: bool,
    /// For the drop-ins.
    pub(crate) on_spawn: Option<SpawnHook>,
    hidden_state: bool,
    explain: Explain,
    explore_trivial: bool,
    replay: Option<String>,
    remember: bool,
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
    /// Returns the default settings.
    pub fn new() -> Config {
        Config {
            name: None,
            strategy: Ok(Strategy::default().into()),
            memory: MemoryModel::Sc,
            runs: 10_000,
            time: Some(Duration::from_secs(10)),
            total_time: None,
            seed: 0,
            threads: 1,
            max_steps: 1_000_000,
            on_step_limit: OnStepLimit::Fail,
            granularity: Granularity::Sync,
            races: true,
            read_twice: true,
            keep_going: false,
            panics: Panics::Fail,
            spurious: 0,
            leaks: Leaks::Note,
            sometimes: Sometimes::Note,
            lock_order: None,
            stack_size: 256 * 1024,
            watchdog: Watchdog::Default,
            ordered_polls: true,
            on_spawn: None,
            hidden_state: true,
            explain: Explain::Quick,
            explore_trivial: false,
            replay: None,
            remember: false,
            coverage: None,
            report: None,
            progress: Show::Auto,
            color: Show::Auto,
        }
    }

    /// Sets the name of the check. Its replay tokens contain a hash of the name, and are refused by checks of
    /// other names. The default is the name of the test, or the source file of the call if there is no test.
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Config {
        self.name = Some(CheckName { text: name.into(), origin: None });
        self
    }

    /// Sets the name of the check to that of a test.
    pub(crate) fn origin(mut self, name: String, origin: Origin) -> Config {
        self.name = Some(CheckName { text: name.into(), origin: Some(origin) });
        self
    }

    /// Sets how executions are chosen: a [`Strategy`], or its word such as `"pct:3"`. A word that is not a
    /// strategy is an error when the check starts.
    pub fn strategy<S>(mut self, strategy: S) -> Config
    where
        S: TryInto<StrategyArgument>,
        S::Error: Into<SettingError>,
    {
        self.strategy = strategy.try_into().map_err(Into::into);
        self
    }

    /// Samples executions with a [`Chooser`] of your own, in place of a strategy. `make` makes a new chooser
    /// for every execution, from a seed. The same seed must give the same choices.
    ///
    /// ```
    /// use raddle::strategy::{Chooser, Event, Pick, Point};
    ///
    /// /// Takes the last option of every point.
    /// struct Last;
    ///
    /// impl Chooser for Last {
    ///     fn choose(&mut self, at: &Point<'_>, _past: &[Event]) -> Pick {
    ///         Pick::Take(at.options() - 1)
    ///     }
    /// }
    ///
    /// let report = raddle::Config::new().runs(1).chooser(|_seed| Last).run(|| {
    ///     assert_eq!(raddle::choose(10), 9);
    /// });
    /// assert!(report.failure().is_none());
    /// assert_eq!(report.strategy, "Last");
    /// ```
    pub fn chooser<C, F>(mut self, make: F) -> Config
    where
        C: Chooser + 'static,
        F: Fn(u64) -> C + Send + Sync + 'static,
    {
        self.strategy = Ok(Custom::chooser(make).into());
        self
    }

    /// Explores with an [`Explorer`] of your own, in place of a strategy. `make` makes it, from the seed of
    /// the check. `examples/own_strategy.rs` has one.
    pub fn explorer<E, F>(mut self, make: F) -> Config
    where
        E: Explorer + 'static,
        F: Fn(u64) -> E + Send + Sync + 'static,
    {
        self.strategy = Ok(Custom::explorer(make).into());
        self
    }

    /// Sets which stores a load may read: the newest one ([`Memory::Sc`](crate::Memory::Sc), the default), or
    /// every one that Rust's memory orderings allow, except load buffering
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

    /// Sets the maximum number of executions.
    pub fn runs(mut self, runs: u64) -> Config {
        self.runs = runs;
        self
    }

    /// Sets the maximum time of the check.
    pub fn time(mut self, time: Duration) -> Config {
        self.time = Some(time);
        self
    }

    /// Removes the limit of [`time`](Config::time).
    pub fn unlimited_time(mut self) -> Config {
        self.time = None;
        self
    }

    /// Sets the maximum time of all checks of the process.
    pub(crate) fn total_time(mut self, time: Duration) -> Config {
        self.total_time = Some(time);
        self
    }

    /// Sets the seed of all random choices. The same seed gives the same executions.
    pub fn seed(mut self, seed: u64) -> Config {
        self.seed = seed;
        self
    }

    /// Sets the number of OS threads that search or sample. The strategies `dpor`, `random`, `pos` and its
    /// variants, and `rapos` use more than one. All others use one, `auto` included. So do checks under RC11,
    /// with [`keep_going`](Config::keep_going) or with [`coverage`](Config::coverage).
    ///
    /// The result is the same as on one OS thread: the same classes, and the same failure. To report the same
    /// failure, a search is repeated on one OS thread up to that failure, within the budget. Sampling repeats
    /// only a small part.
    ///
    /// The program runs on several OS threads at once, so executions must not share objects. An execution
    /// that uses a static while another execution uses it fails, and the report says so.
    pub fn threads(mut self, threads: usize) -> Config {
        self.threads = threads;
        self
    }

    /// Sets the maximum number of steps of an execution.
    pub fn max_steps(mut self, max_steps: usize) -> Config {
        self.max_steps = max_steps;
        self
    }

    /// Sets whether an execution that exceeds [`max_steps`](Config::max_steps) fails or is discarded.
    pub fn on_step_limit(mut self, on_step_limit: OnStepLimit) -> Config {
        self.on_step_limit = on_step_limit;
        self
    }

    /// Sets which operations are scheduling points.
    pub fn granularity(mut self, granularity: Granularity) -> Config {
        self.granularity = granularity;
        self
    }

    /// Sets whether it is a failure that a thread reads an [`RwLock`](crate::sync::RwLock) twice at once, if another
    /// thread may wait to write it. The lock of `std` may let the writer go first, and both threads then wait forever.
    ///
    /// ```
    /// use raddle::sync::{Arc, RwLock};
    /// use raddle::{Config, Finding, thread};
    ///
    /// let program = || {
    ///     let lock = Arc::new(RwLock::new(7));
    ///     let writer = thread::spawn({
    ///         let lock = lock.clone();
    ///         move || *lock.write().unwrap() = 8
    ///     });
    ///     let first = lock.read().unwrap();
    ///     assert_eq!(*first, *lock.read().unwrap());
    ///     drop(first);
    ///     writer.join().unwrap();
    /// };
    /// let report = Config::new().run(program);
    /// assert!(matches!(report.failure().unwrap().finding, Finding::ReadTwice { .. }));
    /// assert!(Config::new().read_twice(false).run(program).failure().is_none());
    /// ```
    pub fn read_twice(mut self, read_twice: bool) -> Config {
        self.read_twice = read_twice;
        self
    }

    /// Sets whether data races on [`cell`](crate::cell)s are failures.
    pub fn races(mut self, races: bool) -> Config {
        self.races = races;
        self
    }

    /// Sets whether the check continues after a failure and counts the executions that fail, by cause. For
    /// strategies that sample; `auto` then samples.
    ///
    /// ```
    /// let report = raddle::Config::new().runs(1_000).keep_going(true).run(|| {
    ///     let number = raddle::choose(10);
    ///     assert!(number != 7, "seven");
    ///     assert!(number < 8, "{number} is too many");
    /// });
    /// let failures = report.failures.as_ref().expect("failures are counted");
    /// assert_eq!((failures.runs, failures.causes.len()), (1_000, 2));
    /// assert!(failures.interval.0 < 0.3 && 0.3 < failures.interval.1);
    /// ```
    pub fn keep_going(mut self, keep_going: bool) -> Config {
        self.keep_going = keep_going;
        self
    }

    /// Sets whether a panic that leaves a spawned thread is a failure or the result of `join`.
    pub fn panics(mut self, panics: Panics) -> Config {
        self.panics = panics;
        self
    }

    /// Sets how many spurious wake-ups and failures each thread may have in an execution: returns from
    /// [`Condvar::wait`](crate::sync::Condvar::wait) or [`park`](crate::thread::park) without a notification,
    /// and failures of `compare_exchange_weak` although the values are equal. The strategy chooses when they
    /// happen. A correct program tolerates all of them.
    ///
    /// ```
    /// use raddle::{Config, thread};
    ///
    /// let program = || {
    ///     let parked = thread::spawn(thread::park); // should check a condition in a loop
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

    /// Sets whether leaks are ignored, noted in the report (for some of the executions), or failures. A leak
    /// is a thread that is blocked forever after main has ended, or a lock that its thread held when it ended.
    ///
    /// With [`Leaks::Fail`](crate::Leaks::Fail), and [`Alloc`](crate::Alloc) as the allocator of the program,
    /// memory that is never freed is a leak too if it contains objects of [`sync`](crate::sync) or
    /// [`cell`](crate::cell), such as `Arc`s that refer to one another.
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

    /// Sets whether a condition of [`sometimes!`](crate::sometimes) that never held is noted or fails the check.
    ///
    /// ```
    /// use raddle::{Config, Sometimes};
    ///
    /// let program = || raddle::sometimes!(raddle::choose(3) == 3, "draws three");
    /// assert!(!Config::new().run(program).has_failed());
    /// assert!(Config::new().sometimes(Sometimes::Fail).run(program).has_failed());
    /// ```
    pub fn sometimes(mut self, sometimes: Sometimes) -> Config {
        self.sometimes = sometimes;
        self
    }

    /// Sets whether executions that pass are searched for locks that threads take in different orders. If
    /// raddle can construct an execution in which these threads deadlock, that execution is the failure.
    /// Otherwise the report has a warning.
    ///
    /// By default only the strategy `auto` does this, so that other strategies find only what they find by
    /// themselves.
    pub fn lock_order(mut self, lock_order: bool) -> Config {
        self.lock_order = Some(lock_order);
        self
    }

    /// Sets the size of each thread's stack, in bytes.
    pub fn stack_size(mut self, stack_size: usize) -> Config {
        self.stack_size = stack_size;
        self
    }

    /// Sets how long a run may go without a scheduling point. A run that exceeds it is blocked outside raddle's
    /// control, for example in a lock of `std`, and cannot be ended. The process prints where the thread is,
    /// and exits. `None` means no limit.
    ///
    /// The default is ten seconds in [`check`](Config::check), except for a replay, and no limit in
    /// [`run`](Config::run).
    ///
    /// The watchdog needs the signal SIGURG. It does nothing on systems without signals and in programs that
    /// handle this signal.
    pub fn watchdog(mut self, limit: impl Into<Option<Duration>>) -> Config {
        self.watchdog = Watchdog::Set(limit.into());
        self
    }

    /// Sets whether the order of polls of futures matters. By default it does: futures may share channels and locks of
    /// other crates, which raddle does not see, so a search tries all orders of polls. If your futures share nothing but
    /// objects of raddle, set this to false, and searches need fewer executions.
    ///
    /// ```
    /// use raddle::future::{block_on, spawn};
    ///
    /// let executions = |ordered_polls| {
    ///     let config = raddle::Config::new().strategy("dpor").ordered_polls(ordered_polls);
    ///     config.run(|| {
    ///         drop(spawn(async {}));
    ///         block_on(async {});
    ///     })
    ///     .executions
    /// };
    /// assert!(executions(false) < executions(true));
    /// ```
    pub fn ordered_polls(mut self, ordered_polls: bool) -> Config {
        self.ordered_polls = ordered_polls;
        self
    }

    /// Sets whether a search that finds no failure repeats some of its executions in other orders before it
    /// reports that all executions pass. The orders differ only in steps that do not affect each other, so the
    /// result should be the same. If it is not, threads share something that raddle does not see, such as an
    /// atomic of `std`. The report then says so and claims nothing.
    pub fn hidden_state(mut self, hidden_state: bool) -> Config {
        self.hidden_state = hidden_state;
        self
    }

    /// Sets how much raddle does to explain a failure. It looks for a smaller execution that fails in the same way.
    /// The report has a token of the smaller one, and in JSON one of the execution that was found.
    ///
    /// The executions needed are counted apart. They have a time limit of their own: two seconds, or with
    /// [`Explain::Full`] a minute. A replay is explained only with [`Explain::Full`].
    pub fn explain(mut self, explain: Explain) -> Config {
        self.explain = explain;
        self
    }

    /// Sets whether all runs are made although the first shows that the program has only one execution. For
    /// measurements.
    pub fn explore_trivial(mut self, explore_trivial: bool) -> Config {
        self.explore_trivial = explore_trivial;
        self
    }

    /// Makes the report count the memory-access patterns that were seen (MAP-coverage), and how many there
    /// are, in total and for each shared variable. The strategies `pcr` and `mcr` always count them.
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
    /// let coverage = report.coverage.as_ref().unwrap();
    /// // The load before the store, and after it.
    /// assert_eq!(coverage.covered, 2);
    /// ```
    pub fn coverage(mut self, accesses: Accesses) -> Config {
        self.coverage = Some(accesses);
        self
    }

    /// Replays the execution of this token instead of exploring. The token comes from a report of the same
    /// check, see [`Failure::token`](crate::Failure::token). The variable `RADDLE_REPLAY` does the same.
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

    /// Sets whether failing executions are kept in `target/raddle` and tried first by the next check of the same
    /// name, before the strategy chooses others. An execution that does not fail any more is forgotten.
    ///
    /// `#[raddle::test]` sets this.
    pub fn remember(mut self, remember: bool) -> Config {
        self.remember = remember;
        self
    }

    /// Sets the folder to which the report is written.
    pub(crate) fn report(mut self, folder: PathBuf) -> Config {
        self.report = Some(folder);
        self
    }

    /// Sets whether the check shows its progress.
    pub(crate) fn progress(mut self, progress: Show) -> Config {
        self.progress = progress;
        self
    }

    /// Sets whether the printed report has colours.
    pub(crate) fn color(mut self, color: Show) -> Config {
        self.color = color;
        self
    }
}

/// The name of a check.
#[derive(Clone, Debug)]
struct CheckName {
    text: Cow<'static, str>,
    /// Where the test of this name is. `None` if the program gave another name.
    origin: Option<Origin>,
}

/// The argument of [`Config::strategy`]: a [`Strategy`] or its word.
#[derive(Clone, Debug)]
pub struct StrategyArgument {
    strategy: Strategy,
    /// An algorithm of the user's own, in place of `strategy`.
    custom: Option<Custom>,
}

impl From<Strategy> for StrategyArgument {
    fn from(strategy: Strategy) -> StrategyArgument {
        StrategyArgument { strategy, custom: None }
    }
}

impl From<Custom> for StrategyArgument {
    fn from(custom: Custom) -> StrategyArgument {
        StrategyArgument { strategy: Strategy::default(), custom: Some(custom) }
    }
}

impl TryFrom<&str> for StrategyArgument {
    type Error = SettingError;

    fn try_from(word: &str) -> Result<StrategyArgument, SettingError> {
        Ok(word.parse::<Strategy>()?.into())
    }
}
