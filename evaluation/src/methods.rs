//! The samplers that tables compare, by the names they have there.

use raddle_strategy::{Delay, Pct, Pos, Random, Rapos, Surw, Urw};

use crate::compat::{Priorities, Walk};
use crate::sample::{Sample, Subject, Until};

/// A way to sample executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// Random walk by Maple's rules.
    MapleWalk,
    /// PCT by Maple's rules, for bugs of this depth.
    MaplePct(u32),
    /// raddle's own, as users have them.
    Random,
    Pct(u32),
    PctDrawn,
    BasicPos,
    Pos,
    PosStar,
    Rapos,
    Urw,
    Surw,
    Delay(u32),
    /// POS*, SURW and PCT-3 in turn.
    Portfolio,
}

impl Method {
    /// raddle's samplers that the tables of the POS paper do not have.
    pub(crate) fn others() -> [Method; 9] {
        [
            Method::Random,
            Method::PctDrawn,
            Method::BasicPos,
            Method::Pos,
            Method::Rapos,
            Method::Urw,
            Method::Surw,
            Method::Delay(2),
            Method::Portfolio,
        ]
    }

    /// What a table calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Method::MapleWalk => "RW",
            Method::MaplePct(2) => "PCT-2",
            Method::MaplePct(3) => "PCT-3",
            Method::MaplePct(4) => "PCT-4",
            Method::MaplePct(5) => "PCT-5",
            Method::MaplePct(_) => "PCT-20",
            Method::Random => "random",
            Method::Pct(1) => "pct:1",
            Method::Pct(2) => "pct:2",
            Method::Pct(3) => "pct:3",
            Method::Pct(_) => "pct:d",
            Method::PctDrawn => "pct",
            Method::BasicPos => "basic-pos",
            Method::Pos => "pos",
            Method::PosStar => "POS",
            Method::Rapos => "rapos",
            Method::Urw => "urw",
            Method::Surw => "surw",
            Method::Delay(_) => "delay",
            Method::Portfolio => "portfolio",
        }
    }

    /// Makes up to `runs` runs. Maple's PCT takes `[n, k]` as known.
    pub(crate) fn sample(
        self,
        subject: Subject,
        [threads, steps]: [usize; 2],
        runs: u64,
        seed: u64,
        until: Until,
    ) -> Sample {
        match self {
            Method::MapleWalk => subject.sample(Walk::new(), runs, seed, until),
            Method::MaplePct(depth) => {
                let sampler = Priorities::new(depth as usize, threads, steps);
                subject.sample(sampler, runs, seed, until)
            }
            Method::Random => subject.sample(Random::default(), runs, seed, until),
            Method::Pct(depth) => subject.sample(Pct::new(depth), runs, seed, until),
            Method::PctDrawn => subject.sample(Pct::drawn(), runs, seed, until),
            Method::BasicPos => subject.sample(Pos::basic(), runs, seed, until),
            Method::Pos => subject.sample(Pos::plain(), runs, seed, until),
            Method::PosStar => subject.sample(Pos::default(), runs, seed, until),
            Method::Rapos => subject.sample(Rapos::default(), runs, seed, until),
            Method::Urw => subject.sample(Urw::default(), runs, seed, until),
            Method::Surw => subject.sample(Surw::default(), runs, seed, until),
            Method::Delay(delays) => subject.sample(Delay::new(delays), runs, seed, until),
            Method::Portfolio => {
                let members = [Method::PosStar, Method::Surw, Method::Pct(3)];
                let share = runs.div_ceil(members.len() as u64);
                let samples = members
                    .map(|member| member.sample(subject, [threads, steps], share, seed, until));
                Sample::in_turn(&samples)
            }
        }
    }
}
