//! Shrinking: edits of the blocks of a failing run, each tried by a lenient replay.
//!
//! Promise: the result fails in the same way, and none of the edits makes it smaller, unless the budget ended. It need
//! not be the smallest; [`fewest`](super::fewest()) may show that its preemptions are.

use raddle_core::{Choices, EventId, Schedule, Trace};
use raddle_results::RunSize;

use super::blocks::{Answers, Block, answers_of, blocks_of};
use super::wishes::Wishes;
use super::{Outcome, Trials};

/// Runs with more blocks than this first lose many blocks at once.
const MANY_BLOCKS: usize = 32;

/// A failing run and its size.
#[derive(Clone, Debug)]
pub(crate) struct SmallRun {
    pub(crate) trace: Trace,
    pub(crate) size: RunSize,
}

/// Makes failing runs smaller.
pub(crate) struct Shrinker<'t> {
    trials: &'t mut dyn Trials,
    best: SmallRun,
    blocks: Vec<Block>,
    answers: Answers,
    is_out_of_budget: bool,
}

/// An edit of a list of blocks, at one of its places.
#[derive(Copy, Clone)]
enum Edit {
    /// Cuts the list off before the block.
    Cut,
    /// Moves the next block of the same thread up to the block.
    PullUp,
    /// Moves the block down to just before the next one of the same thread.
    PushDown,
    Drop,
    /// Exchanges the block with the next one.
    Swap,
}

impl Edit {
    const ALL: [Edit; 5] = [Edit::Cut, Edit::PullUp, Edit::PushDown, Edit::Drop, Edit::Swap];
}

/// Returns the lists of blocks that one edit makes, those with edits of the last blocks first.
pub(super) fn neighbours(blocks: &[Block]) -> impl Iterator<Item = Vec<Block>> + '_ {
    let places = (0..blocks.len()).rev();
    places.flat_map(move |place| {
        Edit::ALL.into_iter().filter_map(move |edit| edit.apply(blocks, place))
    })
}

impl<'t> Shrinker<'t> {
    /// Begins with a failing run. Returns `None` if a lenient replay of it does not fail in the same way.
    pub(crate) fn new(trials: &'t mut dyn Trials, found: &Trace) -> Option<Shrinker<'t>> {
        let (blocks, answers) = (blocks_of(found), answers_of(found));
        let mut is_out_of_budget = false;
        let best = attempt(trials, blocks.clone(), &answers, &mut is_out_of_budget)?;
        let (blocks, answers) = (blocks_of(&best.trace), answers_of(&best.trace));
        Some(Shrinker { trials, best, blocks, answers, is_out_of_budget })
    }

    /// Returns the smallest run so far.
    pub(crate) fn best(&self) -> &SmallRun {
        &self.best
    }

    /// Edits the run until nothing helps or the budget ends.
    pub(crate) fn shrink(mut self) -> SmallRun {
        let mut is_smaller = true;
        while is_smaller && !self.is_out_of_budget {
            is_smaller = self.drop_many();
            for edit in Edit::ALL {
                is_smaller |= self.edit_everywhere(edit);
            }
            is_smaller |= self.drop_answers();
        }
        self.best
    }

    /// Tries one edit at every place. Returns whether the run became smaller.
    fn edit_everywhere(&mut self, edit: Edit) -> bool {
        let (mut is_smaller, mut place) = (false, 0);
        while place < self.blocks.len() && !self.is_out_of_budget {
            let edited = edit.apply(&self.blocks, place);
            if edited.is_some_and(|edited| self.accepts(edited)) {
                // Another block may have come to this place.
                is_smaller = true;
            } else {
                place += 1;
            }
        }
        is_smaller
    }

    /// Drops many blocks at once from long runs. Returns whether the run became smaller.
    fn drop_many(&mut self) -> bool {
        let (mut is_smaller, mut many) = (false, self.blocks.len() / 2);
        while many >= MANY_BLOCKS / 4 && self.blocks.len() > MANY_BLOCKS && !self.is_out_of_budget {
            let mut place = 0;
            while place < self.blocks.len() && !self.is_out_of_budget {
                let mut edited = self.blocks.clone();
                edited.drain(place..self.blocks.len().min(place + many));
                if self.accepts(edited) {
                    is_smaller = true;
                } else {
                    place += many;
                }
            }
            many /= 2;
        }
        is_smaller
    }

    /// Replaces unusual choices by the usual ones. Returns whether the run became smaller.
    fn drop_answers(&mut self) -> bool {
        let mut events: Vec<EventId> = self.answers.keys().copied().collect();
        events.sort_unstable_by_key(|event| (event.thread, event.index));
        let mut is_smaller = false;
        for event in events {
            let mut fewer = self.answers.clone();
            if fewer.remove(&event).is_some() && !self.is_out_of_budget {
                is_smaller |= self.accepts_with(self.blocks.clone(), &fewer);
            }
        }
        is_smaller
    }

    fn accepts(&mut self, blocks: Vec<Block>) -> bool {
        let answers = std::mem::take(&mut self.answers);
        let is_accepted = self.accepts_with(blocks, &answers);
        if !is_accepted {
            self.answers = answers;
        }
        is_accepted
    }

    /// Takes the run with these wishes if it fails in the same way and is smaller.
    fn accepts_with(&mut self, blocks: Vec<Block>, answers: &Answers) -> bool {
        let tried = attempt(self.trials, blocks, answers, &mut self.is_out_of_budget);
        let Some(tried) = tried.filter(|tried| tried.size < self.best.size) else { return false };
        self.blocks = blocks_of(&tried.trace);
        self.answers = answers_of(&tried.trace);
        self.best = tried;
        true
    }
}

impl Edit {
    /// Returns the edited list. `None` if the edit has no meaning at this place.
    fn apply(self, blocks: &[Block], place: usize) -> Option<Vec<Block>> {
        let mut edited = blocks.to_vec();
        let next_of_same = || {
            let same = |block: &Block| block.thread == blocks[place].thread;
            blocks[place + 1..].iter().position(same).map(|distance| place + 1 + distance)
        };
        match self {
            Edit::Cut => edited.truncate(place),
            Edit::PullUp => {
                let block = edited.remove(next_of_same()?);
                edited.insert(place + 1, block);
            }
            Edit::PushDown => {
                let next = next_of_same()?;
                let block = edited.remove(place);
                edited.insert(next - 1, block);
            }
            Edit::Drop => drop(edited.remove(place)),
            Edit::Swap => {
                if place + 1 == blocks.len() {
                    return None;
                }
                edited.swap(place, place + 1);
            }
        }
        Some(edited)
    }
}

/// Makes the run with these wishes. Returns `None` if it does not fail in the same way, or if the budget is used up.
fn attempt(
    trials: &mut dyn Trials,
    blocks: Vec<Block>,
    answers: &Answers,
    is_out_of_budget: &mut bool,
) -> Option<SmallRun> {
    let mut wishes = Box::new(Wishes::new(blocks, answers));
    let outcome = trials.run(&Schedule::new(), Choices::Chooser(&mut *wishes));
    *is_out_of_budget |= outcome.is_none();
    if outcome != Some(Outcome::Same) {
        return None;
    }
    let trace = trials.trace().clone();
    let size = RunSize {
        preemptions: wishes.preemptions(),
        blocks: blocks_of(&trace).len() as u32,
        unusual_choices: wishes.unusual_choices(),
        steps: trace.events.len() as u64,
    };
    Some(SmallRun { trace, size })
}
