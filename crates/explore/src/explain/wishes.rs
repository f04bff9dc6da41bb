//! Lenient replay: a run that follows wishes where it can.
//!
//! At each thread point the first wish whose thread is enabled is granted; the others stay for later. If there is none,
//! the running thread continues unless it yielded, and then the next one by id. So such a run never diverges, whatever
//! the program does, and every edit of a schedule is a run.

use raddle_core::{Chooser, Event, EventId, Pick, Point, ThreadId, Threads};

use super::blocks::{Answers, Block};

/// The chooser of one run.
pub(super) struct Wishes<'a> {
    /// The wishes. The steps of a block become fewer as they are granted.
    blocks: Vec<Block>,
    /// All blocks before this one are granted.
    first: usize,
    answers: &'a Answers,
    /// By thread: the number of its events so far.
    counts: Vec<u32>,
    /// The number of events that `counts` has.
    counted: usize,
    preemptions: u32,
    unusual_choices: u32,
}

impl<'a> Wishes<'a> {
    pub(super) fn new(blocks: Vec<Block>, answers: &'a Answers) -> Wishes<'a> {
        Wishes {
            blocks,
            first: 0,
            answers,
            counts: Vec::new(),
            counted: 0,
            preemptions: 0,
            unusual_choices: 0,
        }
    }

    /// Returns how often the run switched away from a thread that could have continued.
    pub(super) fn preemptions(&self) -> u32 {
        self.preemptions
    }

    /// Returns how often the run did not take the newest store, or zero.
    pub(super) fn unusual_choices(&self) -> u32 {
        self.unusual_choices
    }

    fn choose_thread(&mut self, threads: &Threads<'_>, past: &[Event]) -> usize {
        let option = |thread: ThreadId| threads.enabled.iter().position(|&next| next == thread);
        let current = running(past).and_then(option);
        let granted = self.grant(&option);
        let taken = granted.or(current).unwrap_or_else(|| next_by_id(threads, past));
        self.preemptions += u32::from(current.is_some_and(|current| current != taken));
        taken
    }

    /// Grants the first wish whose thread has an option.
    fn grant(&mut self, option: &impl Fn(ThreadId) -> Option<usize>) -> Option<usize> {
        while self.blocks.get(self.first).is_some_and(|block| block.steps == 0) {
            self.first += 1;
        }
        let open = self.blocks[self.first..].iter_mut().filter(|block| block.steps > 0);
        let mut found = open.filter_map(|block| Some((option(block.thread)?, block)));
        let (option, block) = found.next()?;
        block.steps -= 1;
        Some(option)
    }

    /// Returns the id of the event that `thread` is about to perform.
    fn coming(&mut self, thread: ThreadId, past: &[Event]) -> EventId {
        for event in &past[self.counted..] {
            let index = event.id.thread.index();
            if self.counts.len() <= index {
                self.counts.resize(index + 1, 0);
            }
            self.counts[index] += 1;
        }
        self.counted = past.len();
        EventId { thread, index: self.counts.get(thread.index()).copied().unwrap_or(0) }
    }
}

impl Chooser for Wishes<'_> {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let (by, usual) = match at {
            Point::Thread(threads) => return Pick::Take(self.choose_thread(threads, past)),
            Point::Source { by, options } | Point::Place { by, options } => (by, options.len() - 1),
            Point::Value { by, .. } => (by, 0),
        };
        let wished = self.answers.get(&self.coming(by.thread, past));
        let taken = wished.and_then(|&choice| at.option(choice)).unwrap_or(usual);
        self.unusual_choices += u32::from(taken != usual);
        Pick::Take(taken)
    }
}

/// Returns the thread that runs on unless another is chosen: the last one, unless it yielded.
pub(super) fn running(past: &[Event]) -> Option<ThreadId> {
    past.last().filter(|last| !last.op.has_yielded(last.effect)).map(|last| last.id.thread)
}

/// Returns the option of the enabled thread that comes next by id.
pub(super) fn next_by_id(threads: &Threads<'_>, past: &[Event]) -> usize {
    let from = past.last().map_or(0, |last| last.id.thread.0.wrapping_add(1));
    let options = threads.enabled.iter().enumerate();
    let next = options.min_by_key(|(_, thread)| thread.0.wrapping_sub(from));
    next.expect("raddle invariant broken: a point without options").0
}
