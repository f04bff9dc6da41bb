//! Settings that are one of a few words.

use raddle_core::MemoryModel;
use raddle_explore::{Explain, Leaks, OnStepLimit};
use raddle_results::Accesses;

use super::parse;

/// Which operations are scheduling points.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Granularity {
    /// Synchronisation and atomics.
    #[default]
    Sync,
    /// Accesses to [`cell`](crate::cell)s too, on source lines that race. A few executions before the
    /// check find these lines. Useful if races are not failures, see
    /// [`Config::races`](crate::Config::races).
    Racy,
    /// All accesses to cells too.
    All,
}

/// The result of a panic that leaves a spawned thread.
///
/// ```
/// use raddle::{Config, Panics, thread};
///
/// let program = || assert!(thread::spawn(|| panic!("on purpose")).join().is_err());
/// assert!(Config::new().run(program).failure().is_some());
/// assert!(Config::new().panics(Panics::Join).run(program).failure().is_none());
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Panics {
    /// The execution fails and ends.
    #[default]
    Fail,
    /// Joining the thread gives the panic, as in `std`: `join` returns `Err`, a scope panics with it, and
    /// locks are poisoned. A panic of a thread that is never joined is still a failure.
    Join,
}

/// What a condition of [`sometimes!`](crate::sometimes) is that never held.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Sometimes {
    /// It is noted in the report.
    #[default]
    Note,
    /// The check fails.
    Fail,
}

/// Whether to show something.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Show {
    /// Wherever the output goes.
    Always,
    Never,
    /// If the output is a terminal.
    Auto,
}

/// A setting that is one of a few words.
pub(crate) trait Word: Sized + Copy + 'static {
    /// Each word with its value.
    const WORDS: &'static [(&'static str, Self)];

    /// Returns `None` if `word` is not one of the words.
    fn parse(word: &str) -> Option<Self> {
        parse::word(Self::WORDS, word)
    }

    /// The words as in `sync, racy or all`.
    fn list() -> String {
        let words: Vec<&str> = Self::WORDS.iter().map(|known| known.0).collect();
        match words.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            Some(_) | None => words.concat(),
        }
    }
}

impl Word for Granularity {
    const WORDS: &'static [(&'static str, Granularity)] =
        &[("sync", Granularity::Sync), ("racy", Granularity::Racy), ("all", Granularity::All)];
}

impl Word for Panics {
    const WORDS: &'static [(&'static str, Panics)] =
        &[("fail", Panics::Fail), ("join", Panics::Join)];
}

impl Word for Sometimes {
    const WORDS: &'static [(&'static str, Sometimes)] =
        &[("note", Sometimes::Note), ("fail", Sometimes::Fail)];
}

impl Word for Show {
    const WORDS: &'static [(&'static str, Show)] =
        &[("always", Show::Always), ("never", Show::Never), ("auto", Show::Auto)];
}

impl Word for Leaks {
    const WORDS: &'static [(&'static str, Leaks)] =
        &[("ignore", Leaks::Ignore), ("note", Leaks::Note), ("fail", Leaks::Fail)];
}

impl Word for Explain {
    const WORDS: &'static [(&'static str, Explain)] =
        &[("off", Explain::Off), ("quick", Explain::Quick), ("full", Explain::Full)];
}

impl Word for OnStepLimit {
    const WORDS: &'static [(&'static str, OnStepLimit)] =
        &[("fail", OnStepLimit::Fail), ("discard", OnStepLimit::Discard)];
}

impl Word for MemoryModel {
    const WORDS: &'static [(&'static str, MemoryModel)] =
        &[("sc", MemoryModel::Sc), ("rc11", MemoryModel::Rc11)];
}

impl Word for Accesses {
    const WORDS: &'static [(&'static str, Accesses)] =
        &[("site", Accesses::BySite), ("event", Accesses::ByEvent)];
}
