//! Settings that are one word of a few.

use raddle_core::MemoryModel;
use raddle_explore::Leaks;
use raddle_results::Accesses;

/// Which operations are scheduling points.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Granularity {
    /// Synchronisation and atomics.
    #[default]
    Sync,
    /// Accesses to [`cell`](crate::cell)s too, on lines that race: a few executions are made beforehand to
    /// see which do. Makes sense where races are not failures, see
    /// [`Config::races`](crate::Config::races).
    Racy,
    /// All accesses to cells too.
    All,
}

/// What a panic that leaves a spawned thread is.
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
    /// A failure: the execution ends there.
    #[default]
    Fail,
    /// What joining the thread gives, as in `std`: `join` returns `Err`, a scope panics with it, locks are
    /// poisoned for the others. A panic of a thread that nobody joins is still a failure.
    Join,
}

/// A setting that is one of a few words.
pub(crate) trait Word: Sized + Copy + 'static {
    /// Each word and what it means.
    const WORDS: &'static [(&'static str, Self)];

    /// What a word means.
    fn parse(word: &str) -> Option<Self> {
        find(Self::WORDS, word)
    }

    /// The words, to tell somebody who used another.
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

impl Word for Leaks {
    const WORDS: &'static [(&'static str, Leaks)] =
        &[("ignore", Leaks::Ignore), ("note", Leaks::Note), ("fail", Leaks::Fail)];
}

impl Word for MemoryModel {
    const WORDS: &'static [(&'static str, MemoryModel)] =
        &[("sc", MemoryModel::Sc), ("rc11", MemoryModel::Rc11)];
}

impl Word for Accesses {
    const WORDS: &'static [(&'static str, Accesses)] =
        &[("site", Accesses::BySite), ("event", Accesses::ByEvent)];
}

/// What a word means, for a compiler to find out.
pub(crate) const fn find<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    let mut index = 0;
    while index < words.len() {
        if same(words[index].0.as_bytes(), word.as_bytes()) {
            return Some(words[index].1);
        }
        index += 1;
    }
    None
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut index = 0;
    while index < a.len() {
        if a[index] != b[index] {
            return false;
        }
        index += 1;
    }
    true
}
