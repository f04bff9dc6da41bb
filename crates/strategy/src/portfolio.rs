//! Several samplers in turn, a run each.
//!
//! Promise: whatever its members promise, each for its share of the runs. Where one strategy is blind
//! another may see, and a factor of as many runs is all that it costs.

use alloc::vec::Vec;

use raddle_core::{Chooser, Event, Guarantee, Pick, Point, ThreadId, Trace};

use crate::{Delay, Pct, Pctwm, Pos, Random, Rapos, Sampler, Surw, Urw, mix};

/// A sampler that can take turns with others.
#[derive(Clone, Debug)]
pub enum Member {
    /// Random walk.
    Random(Random),
    /// Probabilistic concurrency testing.
    Pct(Pct),
    /// Probabilistic concurrency testing for weak memory.
    Pctwm(Pctwm),
    /// Partial order sampling.
    Pos(Pos),
    /// Partial order sampling by batches.
    Rapos(Rapos),
    /// Uniform random walk.
    Urw(Urw),
    /// Selectively uniform random walk.
    Surw(Surw),
    /// Random delays.
    Delay(Delay),
}

/// Calls the same method of whichever sampler it is.
macro_rules! each {
    ($member:expr, $sampler:ident => $call:expr) => {
        match $member {
            Member::Random($sampler) => $call,
            Member::Pct($sampler) => $call,
            Member::Pctwm($sampler) => $call,
            Member::Pos($sampler) => $call,
            Member::Rapos($sampler) => $call,
            Member::Urw($sampler) => $call,
            Member::Surw($sampler) => $call,
            Member::Delay($sampler) => $call,
        }
    };
}

impl Member {
    /// Whether all its runs are drawn alike.
    fn draws_alike(&self) -> bool {
        fn alike<S: Sampler>(_: &S) -> bool {
            S::DRAWS_ALIKE
        }
        each!(self, sampler => alike(sampler))
    }
}

/// The samplers, and whose turn it is.
#[derive(Clone, Debug)]
pub struct Portfolio {
    /// With how many runs each has made.
    members: Vec<(Member, u64)>,
    turn: usize,
}

impl Portfolio {
    /// Takes these in turn; there must be at least one.
    pub fn new(members: Vec<Member>) -> Portfolio {
        assert!(!members.is_empty(), "a portfolio has at least one strategy");
        let turn = members.len() - 1;
        Portfolio { members: members.into_iter().map(|member| (member, 0)).collect(), turn }
    }

    /// How many runs each has made, in the order given.
    pub fn runs(&self) -> impl Iterator<Item = u64> + '_ {
        self.members.iter().map(|(_, runs)| *runs)
    }

    /// Which of them made the last run.
    pub fn last(&self) -> usize {
        self.turn
    }

    /// Whether all runs of every member are drawn alike.
    pub fn draws_alike(&self) -> bool {
        self.members.iter().all(|(member, _)| member.draws_alike())
    }
}

impl Chooser for Portfolio {
    const WATCHES_CHANGES: bool = true;
    const GRANTS_LEASES: bool = true;

    #[inline]
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        each!(&mut self.members[self.turn].0, sampler => sampler.choose(at, past))
    }

    #[inline]
    fn interrupts(&mut self, thread: ThreadId) -> bool {
        each!(&mut self.members[self.turn].0, sampler => sampler.interrupts(thread))
    }
}

impl Sampler for Portfolio {
    fn begin(&mut self, seed: u64) {
        self.turn = (self.turn + 1) % self.members.len();
        let (member, runs) = &mut self.members[self.turn];
        *runs += 1;
        each!(member, sampler => sampler.begin(mix(seed, self.turn as u64)));
    }

    fn learn(&mut self, trace: &Trace) {
        each!(&mut self.members[self.turn].0, sampler => sampler.learn(trace));
    }

    fn guarantees(&self) -> Vec<Guarantee> {
        let each = |(member, _): &(Member, u64)| each!(member, sampler => sampler.guarantees());
        self.members.iter().flat_map(each).collect()
    }
}
