//! Sampling on several OS threads, with the result that one would have had.
//!
//! Runs are given out in pieces, whose size does not depend on how many work on them. A run depends on the
//! seed and its number alone: that goes for samplers that [draw alike](Sampler::DRAWS_ALIKE), which are the
//! only ones to be shared out. What was seen in the pieces is put together in their order, up to the first
//! with a failure; that one is made again on one OS thread, so that all counts are as if there had been no
//! other.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use raddle_engine::Substrate;
use raddle_results::{Failure, Progress, Report, Verdict};
use raddle_strategy::Sampler;

use super::{Budget, Limits, Session, Stop, Tally};
use crate::{Refusal, Repeat};

/// The runs of the first piece, which is made before the others begin.
const FIRST: u64 = 64;
/// The runs of every other.
const PIECE: u64 = 1024;

/// The runs of a piece.
fn runs_of(piece: u64, most: u64) -> Range<u64> {
    let begin = |piece: u64| if piece == 0 { 0 } else { FIRST + (piece - 1) * PIECE };
    begin(piece).min(most)..begin(piece + 1).min(most)
}

impl<S: Substrate> Session<'_, S>
where
    S::Program: Sync,
{
    /// Samples on as many OS threads as the settings say.
    pub(super) fn sample_together<C: Sampler + Clone + Send + Sync>(
        mut self,
        sampler: C,
        make: &(dyn Fn() -> S + Sync),
    ) -> Result<Report, Refusal> {
        let limits = Limits::of(self.settings);
        let explorer = Repeat::new(sampler.clone(), self.settings.seed);
        let (tally, stop) = self.piece(&sampler, runs_of(0, limits.runs), &limits);
        let board = Board::new(limits.runs, tally);
        if !matches!(stop, Stop::OutOfBudget) || board.is_done() || self.out_of_time(&limits) {
            let state = board.into_state();
            let verdict = stop.verdict(&explorer)?;
            return Ok(self.sampled(state.merged, verdict));
        }
        let (program, settings, budget) = (self.program, self.settings, self.budget);
        let work_on = |substrate: &mut S| {
            let quiet = Quiet(budget);
            let mut session = Session::new(substrate, program, settings, &quiet);
            while let Some(piece) = board.next() {
                let (tally, stop) = session.piece(&sampler, runs_of(piece, limits.runs), &limits);
                let is_sound = !matches!(stop, Stop::Failed(_));
                budget.hear(&board.put(piece, tally, stop));
                // A substrate that found something may be of no use any more.
                if !is_sound {
                    break;
                }
            }
        };
        let work = || work_on(&mut make());
        thread::scope(|scope| {
            // Where no more OS threads are to be had, fewer do. This one waits: its substrate is to be
            // whole when a failure has to be had again.
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
            let others: Vec<_> = (0..settings.workers.count.get()).map_while(spawn).collect();
            for other in others {
                other.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
        });
        let mut state = board.into_state();
        let Some((piece, failure)) = state.failure.take() else {
            state.merge_the_rest();
            return Ok(self.sampled(state.merged, Verdict::Sampled));
        };
        let (tally, stop) = self.piece(&sampler, runs_of(piece, limits.runs), &limits);
        state.merged.merge(&tally);
        let failure = match stop {
            Stop::Failed(failure) => failure,
            // It comes of executions that share something.
            Stop::Done | Stop::Trivial | Stop::OutOfBudget | Stop::Enough | Stop::Refused(_) => {
                Box::new(Failure { reproduced: false, ..*failure })
            }
        };
        Ok(self.sampled(state.merged, Verdict::Failed(failure)))
    }

    /// Makes the runs with these numbers, and what was seen in them alone.
    fn piece<C: Sampler + Clone>(
        &mut self,
        sampler: &C,
        runs: Range<u64>,
        limits: &Limits,
    ) -> (Tally, Stop) {
        let mut explorer = Repeat::from(sampler.clone(), self.settings.seed, runs.start);
        let mut tally = Tally { executions: runs.start, ..Tally::new(self.settings) };
        let limits = Limits { runs: runs.end, ..limits.clone() };
        let stop = self.go(&mut explorer, &mut tally, &limits, &mut |_| false);
        tally.executions -= runs.start;
        (tally, stop)
    }

    fn sampled(&self, tally: Tally, verdict: Verdict) -> Report {
        let unseen = tally.unseen();
        Report { unseen, ..self.report(tally, verdict) }
    }
}

/// What is to be done, and what was.
struct Board {
    /// How many runs there are at most.
    runs: u64,
    state: Mutex<State>,
}

struct State {
    /// The next piece that nobody has begun.
    next: u64,
    /// What was seen in all pieces before `done`.
    merged: Tally,
    done: u64,
    /// What was seen in pieces after that.
    waiting: BTreeMap<u64, Tally>,
    /// The first piece with a failure, and that.
    failure: Option<(u64, Box<Failure>)>,
    /// Whether no further piece is to be begun.
    is_over: bool,
}

impl Board {
    /// After the first piece.
    fn new(runs: u64, merged: Tally) -> Board {
        let (waiting, failure) = (BTreeMap::new(), None);
        let state = State { next: 1, merged, done: 1, waiting, failure, is_over: false };
        Board { runs, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn into_state(self) -> State {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is no further piece.
    fn is_done(&self) -> bool {
        runs_of(self.state().next, self.runs).is_empty()
    }

    /// A piece that nobody has begun.
    fn next(&self) -> Option<u64> {
        let mut state = self.state();
        let piece = state.next;
        if state.is_over || runs_of(piece, self.runs).is_empty() {
            return None;
        }
        state.next += 1;
        Some(piece)
    }

    /// A piece has ended. How far all have come.
    fn put(&self, piece: u64, tally: Tally, stop: Stop) -> Progress {
        let mut state = self.state();
        let runs = runs_of(piece, self.runs);
        let is_whole = tally.executions == runs.end - runs.start;
        if let Stop::Failed(failure) = stop {
            state.is_over = true;
            if state.failure.as_ref().is_none_or(|known| piece < known.0) {
                state.failure = Some((piece, failure));
            }
        } else {
            // Otherwise the time is up.
            state.is_over |= !is_whole;
            state.waiting.insert(piece, tally);
        }
        state.merge();
        let (executions, classes) = (state.merged.executions, state.merged.classes.count());
        Progress { executions, classes, total: None }
    }
}

impl State {
    /// Puts together what follows on each other.
    fn merge(&mut self) {
        while let Some(tally) = self.waiting.remove(&self.done) {
            self.merged.merge(&tally);
            self.done += 1;
        }
    }

    /// Puts together what there is.
    fn merge_the_rest(&mut self) {
        for tally in std::mem::take(&mut self.waiting).values() {
            self.merged.merge(tally);
        }
    }
}

/// The budget of one of several, who need not tell how far it has come.
struct Quiet<'a>(&'a dyn Budget);

impl Budget for Quiet<'_> {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn limit(&self) -> Option<Duration> {
        self.0.limit()
    }
}
