//! Several samplers in turn, one run each.
//!
//! Promise: those of the members, each for its share of the runs. A bug that one algorithm cannot reach
//! may be in reach of another, at the price of a factor: the number of members.

use alloc::boxed::Box;
use alloc::vec::Vec;

use raddle_core::{Choices, Guarantee, Trace, mix};

use crate::Sampler;

/// Samplers that take turns.
pub struct Portfolio {
    members: Vec<Member>,
    /// The member that makes the current run.
    turn: usize,
}

struct Member {
    sampler: Box<dyn Sampler>,
    /// The number of runs made.
    runs: u64,
}

impl Portfolio {
    /// Makes a portfolio that takes `samplers` in turn.
    ///
    /// Panics if there are none.
    pub fn new(samplers: Vec<Box<dyn Sampler>>) -> Portfolio {
        assert!(!samplers.is_empty(), "a portfolio has at least one sampler");
        let members = samplers.into_iter().map(|sampler| Member { sampler, runs: 0 });
        let members: Vec<Member> = members.collect();
        Portfolio { turn: members.len() - 1, members }
    }

    /// Returns the number of runs that each member has made, in the order given.
    pub fn runs(&self) -> impl Iterator<Item = u64> + '_ {
        self.members.iter().map(|member| member.runs)
    }
}

impl Sampler for Portfolio {
    fn begin(&mut self, seed: u64) {
        self.turn = (self.turn + 1) % self.members.len();
        let member = &mut self.members[self.turn];
        member.runs += 1;
        member.sampler.begin(mix(seed, self.turn as u64));
    }

    fn choices(&mut self) -> Choices<'_> {
        self.members[self.turn].sampler.choices()
    }

    fn learn(&mut self, trace: &Trace) {
        self.members[self.turn].sampler.learn(trace);
    }

    fn guarantees(&self) -> Vec<Guarantee> {
        self.members.iter().flat_map(|member| member.sampler.guarantees()).collect()
    }

    fn independent_runs(&self) -> bool {
        self.members.iter().all(|member| member.sampler.independent_runs())
    }
}
