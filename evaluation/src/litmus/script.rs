//! A litmus test made ready to be run: the names of its variables are known, and what an execution saw
//! needs no memory of its own. Otherwise the shortest tests would mostly measure that.

use std::sync::atomic::{AtomicBool, Ordering};

use raddle_testkit::litmus::{Code, Instruction};

/// Reads of one thread at most.
const READS: usize = 4;
/// Reads of all threads at most.
const ALL_READS: usize = 8;
const VARIABLES: usize = 4;
/// Threads at most.
pub(super) const THREADS: usize = 6;

/// A test, ready to be run.
pub(crate) struct Script {
    pub(super) code: Code,
    pub(super) variables: Vec<char>,
    /// What each thread does, with the place of the variable, if it is about one.
    pub(super) threads: Vec<Vec<(Instruction, usize)>>,
    /// The outcome that is asked for.
    wanted: Wanted,
    /// Whether an execution had it, since the last call of [`Script::look`].
    seen: AtomicBool,
}

impl Script {
    /// `outcome` as [`Outcome::matches`](raddle_testkit::litmus::Outcome::matches) reads it.
    ///
    /// It lives as long as the process, so that no thread has to count who refers to it. There are not many.
    pub(crate) fn new(code: Code, outcome: &str) -> Result<&'static Script, String> {
        let variables = code.variables();
        let reads = code.threads.iter().map(|thread| reads_in(thread));
        let (most, all) = (reads.clone().max().unwrap_or(0), reads.sum::<usize>());
        let is_small = most <= READS && all <= ALL_READS && variables.len() <= VARIABLES;
        if !is_small || code.threads.len() > THREADS {
            return Err(format!("{code}: too large for a litmus test"));
        }
        let place = |instruction: &Instruction| {
            (*instruction, instruction.variable().map_or(0, |name| place(&variables, name)))
        };
        let threads = code.threads.iter().map(|thread| thread.iter().map(place).collect());
        let threads = threads.collect();
        let wanted = Wanted::new(&variables, outcome)?;
        let seen = AtomicBool::new(false);
        Ok(Box::leak(Box::new(Script { code, variables, threads, wanted, seen })))
    }

    /// Begins to look for the outcome.
    pub(super) fn look(&self) {
        self.seen.store(false, Ordering::Relaxed);
    }

    /// Looks at what an execution saw.
    pub(super) fn look_at(&self, record: &Record) {
        if record.is(&self.wanted) {
            self.seen.store(true, Ordering::Relaxed);
        }
    }

    /// Whether an execution had the outcome.
    pub(super) fn has_seen(&self) -> bool {
        self.seen.load(Ordering::Relaxed)
    }
}

/// Where a variable is.
fn place(variables: &[char], name: char) -> usize {
    let place = variables.iter().position(|&known| known == name);
    place.expect("raddle invariant broken: all variables are known")
}

/// What an outcome has to be like.
struct Wanted {
    /// Which reads read what.
    read: Vec<(usize, u8)>,
    /// Which variables hold what in the end.
    last: Vec<(usize, u8)>,
}

impl Wanted {
    fn new(variables: &[char], text: &str) -> Result<Wanted, String> {
        let number = |word: &str| {
            word.parse::<u8>().map_err(|_| format!("`{word}` in `{text}` is no small number"))
        };
        let mut wanted = Wanted { read: Vec::new(), last: Vec::new() };
        let mut reads = 0..ALL_READS;
        for word in text.split_whitespace() {
            match word.split_once('=') {
                Some((variable, value)) => {
                    let variable = variable.chars().next().unwrap_or(' ');
                    wanted.last.push((place(variables, variable), number(value)?));
                }
                None => {
                    let place = reads.next().ok_or_else(|| format!("too many reads: `{text}`"))?;
                    if word != "_" {
                        wanted.read.push((place, number(word)?));
                    }
                }
            }
        }
        Ok(wanted)
    }
}

/// Litmus tests store small numbers.
fn small(value: u64) -> u8 {
    u8::try_from(value).expect("raddle invariant broken: a large number in a litmus test")
}

fn reads_in(thread: &[Instruction]) -> usize {
    thread.iter().filter(|instruction| instruction.reads()).count()
}

/// What a thread read.
#[derive(Clone, Copy, Default)]
pub(super) struct Reads {
    values: [u8; READS],
    count: usize,
}

impl Reads {
    pub(super) fn push(&mut self, value: u64) {
        self.values[self.count] = small(value);
        self.count += 1;
    }

    pub(super) fn last(&self) -> Option<u64> {
        self.values[..self.count].last().map(|&value| u64::from(value))
    }
}

/// What an execution saw.
#[derive(Clone, Copy, Default)]
pub(super) struct Record {
    /// Thread by thread; `None` for what was not executed.
    read: [Option<u8>; ALL_READS],
    /// In the end, by place of the variable.
    last: [u8; VARIABLES],
}

impl Record {
    /// Takes down what the thread number `thread` read.
    pub(super) fn take(&mut self, script: &Script, thread: usize, reads: Reads) {
        let threads = &script.code.threads;
        let before: usize = threads[..thread].iter().map(|earlier| reads_in(earlier)).sum();
        for (slot, value) in self.read[before..].iter_mut().zip(&reads.values[..reads.count]) {
            *slot = Some(*value);
        }
    }

    fn is(&self, wanted: &Wanted) -> bool {
        wanted.read.iter().all(|&(place, value)| self.read[place] == Some(value))
            && wanted.last.iter().all(|&(place, value)| self.last[place] == value)
    }

    pub(super) fn end_with(&mut self, place: usize, value: u64) {
        self.last[place] = small(value);
    }
}
