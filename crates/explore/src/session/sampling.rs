//! Sampling on several OS threads, with the same result as on one.
//!
//! Runs are given out in pieces, whose size does not depend on the number of workers. A run depends on the
//! seed and its number alone: only samplers with [independent runs](Sampler::independent_runs) are shared
//! out. The counts of the pieces are merged in their order, up to the first with a failure; that piece is
//! repeated on one OS thread, so that all counts are as if there had been no other.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use raddle_results::{Failure, Progress, Report, Verdict};
use raddle_strategy::Sampler;

use super::report::Details;
use super::run_loop::{Limits, Stop};
use super::tally::Tally;
use super::{Budget, Check, Elapsed, WithExecutor};
use crate::executor::Executor;
use crate::{Refusal, Repeat};

/// The runs of the first piece, which is made before the others begin.
const FIRST_PIECE_RUNS: u64 = 64;
/// The runs of every other piece.
const PIECE_RUNS: u64 = 1024;

/// Returns the runs of a piece.
fn runs_of(piece: u64, max_runs: u64) -> Range<u64> {
    let begin =
        |piece: u64| if piece == 0 { 0 } else { FIRST_PIECE_RUNS + (piece - 1) * PIECE_RUNS };
    begin(piece).min(max_runs)..begin(piece + 1).min(max_runs)
}

impl Check<'_> {
    /// Samples on as many OS threads as the settings say.
    pub(super) fn sample_together(&mut self, others: &WithExecutor<'_>) -> Result<Report, Refusal> {
        let limits = Limits::of(self.settings);
        let (tally, stop) = self.piece(runs_of(0, limits.runs), &limits);
        let board = Board::new(limits.runs, tally);
        if !matches!(stop, Stop::OutOfBudget) || board.is_done() || self.is_out_of_time(&limits) {
            let verdict = stop.verdict(&Repeat::new(self.sampler(), self.settings.seed))?;
            return self.sampled(board.into_state().merged, verdict);
        }
        let (settings, budget, loops) = (self.settings, self.budget, self.loops.clone());
        let work_on = |executor: &mut dyn Executor| {
            let quiet = Quiet(budget);
            let mut check =
                Check { loops: loops.clone(), ..Check::new(executor, settings, &quiet) };
            while let Some(piece) = board.next() {
                let (tally, stop) = check.piece(runs_of(piece, limits.runs), &limits);
                let is_sound = !matches!(stop, Stop::Failed(_));
                budget.on_progress(&board.put(piece, tally, stop));
                // A substrate on which a run failed may not be usable any more.
                if !is_sound {
                    break;
                }
            }
        };
        let work = || others(&mut |executor| work_on(executor));
        thread::scope(|scope| {
            // If the system has no more OS threads, fewer work. This one waits: its substrate has to be
            // usable when a failure is repeated.
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
            let others: Vec<_> = (0..settings.workers.count.get()).map_while(spawn).collect();
            for other in others {
                other.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
        });
        let mut state = board.into_state();
        let Some((piece, failure)) = state.failure.take() else {
            state.merge_the_rest();
            return self.sampled(state.merged, Verdict::Sampled);
        };
        let (tally, stop) = self.piece(runs_of(piece, limits.runs), &limits);
        state.merged.merge(&tally);
        let failure = match stop {
            Stop::Failed(failure) => failure,
            // The failure comes from executions that share something.
            Stop::Done | Stop::Trivial | Stop::OutOfBudget | Stop::Enough | Stop::Refused(_) => {
                Box::new(Failure { reproduced: false, ..*failure })
            }
        };
        self.sampled(state.merged, Verdict::Failed(failure))
    }

    /// Makes the runs with these numbers, and returns the counts of these alone.
    fn piece(&mut self, runs: Range<u64>, limits: &Limits) -> (Tally, Stop) {
        let mut explorer = Repeat::starting_at(self.sampler(), self.settings.seed, runs.start);
        let mut tally = Tally { executions: runs.start, ..Tally::new(None) };
        let limits = Limits { runs: runs.end, ..limits.clone() };
        let stop = self.run_explorer(&mut explorer, &mut tally, &limits);
        tally.executions -= runs.start;
        (tally, stop)
    }

    fn sampler(&self) -> Box<dyn Sampler> {
        self.settings.sampler().expect("raddle invariant broken: only samplers are shared out")
    }

    fn sampled(&mut self, tally: Tally, verdict: Verdict) -> Result<Report, Refusal> {
        self.report(tally, verdict, Details { independent_runs: true, ..Details::default() })
    }
}

/// The pieces that are to be made, and the counts of those that were.
struct Board {
    /// The most runs.
    runs: u64,
    state: Mutex<State>,
}

struct State {
    /// The next piece to begin.
    next: u64,
    /// The counts of all pieces before `done`.
    merged: Tally,
    done: u64,
    /// The counts of pieces after that.
    waiting: BTreeMap<u64, Tally>,
    /// The first piece with a failure, and the failure.
    failure: Option<(u64, Box<Failure>)>,
    /// Whether no further piece begins.
    is_over: bool,
}

impl Board {
    /// Makes a board after the first piece.
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

    /// Returns whether there is no further piece.
    fn is_done(&self) -> bool {
        runs_of(self.state().next, self.runs).is_empty()
    }

    /// Returns the next piece to make. `None` if there is none.
    fn next(&self) -> Option<u64> {
        let mut state = self.state();
        let piece = state.next;
        if state.is_over || runs_of(piece, self.runs).is_empty() {
            return None;
        }
        state.next += 1;
        Some(piece)
    }

    /// Adds the counts of a piece, and returns the progress of all.
    fn put(&self, piece: u64, tally: Tally, stop: Stop) -> Progress {
        let mut state = self.state();
        let runs = runs_of(piece, self.runs);
        let is_whole =
            tally.executions == runs.end - runs.start && tally.incomplete.out_of_time == 0;
        if let Stop::Failed(failure) = stop {
            state.is_over = true;
            if state.failure.as_ref().is_none_or(|known| piece < known.0) {
                state.failure = Some((piece, failure));
            }
        } else {
            // A piece is cut short if the time is up.
            state.is_over |= !is_whole;
            state.waiting.insert(piece, tally);
        }
        state.merge();
        let (executions, classes) = (state.merged.executions, state.merged.classes.count());
        Progress { executions, classes, total: None }
    }
}

impl State {
    /// Merges pieces as long as none is missing.
    fn merge(&mut self) {
        while let Some(tally) = self.waiting.remove(&self.done) {
            self.merged.merge(&tally);
            self.done += 1;
        }
    }

    /// Merges all pieces.
    fn merge_the_rest(&mut self) {
        for tally in std::mem::take(&mut self.waiting).values() {
            self.merged.merge(tally);
        }
    }
}

/// The budget of one worker, which shows no progress.
struct Quiet<'a>(&'a dyn Budget);

impl Budget for Quiet<'_> {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn limit(&self) -> Option<Duration> {
        self.0.limit()
    }

    fn first_limit(&self) -> Option<Duration> {
        self.0.first_limit()
    }

    fn clock(&self) -> Option<Elapsed> {
        self.0.clock()
    }
}
