//! Random testing as C11Tester does it (Luo and Demsky, ASPLOS 2021): stores that do not synchronise with what
//! comes before them take effect at once.
//!
//! A relaxed or release store, and the start and the end of a thread, is performed as soon as it is announced, before
//! any other thread is chosen. All other choices are uniform. An experiment: what does that do to hit rates?

use raddle_core::{
    Action, AtomicOp, Choices, Chooser, Event, Op, Order, Pick, Point, ThreadOp, Threads,
};
use raddle_strategy::{Rng, Sampler};

/// The sampler.
#[derive(Clone, Debug)]
pub(super) struct Eager {
    rng: Rng,
}

impl Default for Eager {
    fn default() -> Eager {
        Eager { rng: Rng::new(0) }
    }
}

impl Sampler for Eager {
    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }
}

impl Chooser for Eager {
    fn choose(&mut self, at: &Point<'_>, _past: &[Event]) -> Pick {
        let eager = match at {
            Point::Thread(threads) => first_eager(threads),
            Point::Source { .. } | Point::Place { .. } | Point::Value { .. } => None,
        };
        Pick::Take(eager.unwrap_or_else(|| self.rng.below(at.options())))
    }
}

/// Returns the first enabled thread, in the order of threads, whose operation is performed at once.
fn first_eager(threads: &Threads<'_>) -> Option<usize> {
    let options = threads.enabled.iter().enumerate();
    let eager = options.filter(|(_, thread)| is_eager(threads.pending[thread.index()].op));
    eager.min_by_key(|(_, thread)| thread.index()).map(|(option, _)| option)
}

fn is_eager(op: Op) -> bool {
    let (relaxed, release) = (Order::Relaxed, Order::Release);
    let action = op.action();
    matches!(action, Action::Thread(ThreadOp::Spawn | ThreadOp::Exit))
        || matches!(action, Action::Atomic(AtomicOp::Store { order, .. }) if order == relaxed || order == release)
}
