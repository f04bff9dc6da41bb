//! Several strategies in turn, and what each of them did.

use raddle_core::MemoryModel;
use raddle_engine::{Rc11, Substrate};
use raddle_results::{Phase, PhaseEnd, Report};
use raddle_strategy::{Delay, Member, Pct, Pctwm, Portfolio, Pos, Random, Rapos, Surw, Urw};

use super::{Limits, Session, Stop, Tally};
use crate::{Explorer, Refusal, Repeat, Strategy};

impl<S: Substrate> Session<'_, S> {
    /// Lets each strategy choose an execution, one after the other.
    pub(super) fn portfolio(mut self, strategies: &[Strategy]) -> Result<Report, Refusal> {
        let only_weak = strategies.iter().copied().find(|strategy| strategy.needs_weak_memory());
        if let (Some(strategy), MemoryModel::Sc) = (only_weak, self.settings.memory) {
            return Err(Refusal::OnlyWeak { strategy });
        }
        let members: Option<Vec<Member>> = strategies.iter().map(member).collect();
        let members = members.filter(|members| !members.is_empty());
        let Some(members) = members else { return Err(Refusal::NotAPortfolio) };
        let mut tally = Tally::new(self.settings);
        let limits = Limits::of(self.settings);
        let mut explorer = Repeat::new(Portfolio::new(members), self.settings.seed);
        let stop = match self.settings.memory {
            MemoryModel::Sc => self.go(&mut explorer, &mut tally, &limits, &mut |_| false),
            MemoryModel::Rc11 => {
                self.go_in::<Rc11, _>(&mut explorer, &mut tally, &limits, &mut |_| false)
            }
        };
        let sampler = explorer.sampler();
        let finder = match &stop {
            Stop::Failed(failure) => Some(self.settings.strategy.part(failure.execution - 1)),
            Stop::Done | Stop::Trivial | Stop::OutOfBudget | Stop::Enough | Stop::Refused(_) => {
                None
            }
        };
        let phases = strategies.iter().zip(sampler.runs()).enumerate();
        let phases = phases.map(|(position, (strategy, executions))| Phase {
            strategy: strategy.to_string(),
            executions,
            failing: tally.census.of_part(position),
            end: if finder == Some(position) { PhaseEnd::Failed } else { PhaseEnd::OutOfBudget },
        });
        let phases = phases.collect();
        let guarantees = explorer.guarantees();
        let unseen = if sampler.draws_alike() { tally.unseen() } else { None };
        let verdict = stop.verdict(&explorer)?;
        Ok(Report { phases, guarantees, unseen, ..self.report(tally, verdict) })
    }
}

/// The sampler that a strategy stands for, if it is one that samples.
pub(super) fn member(strategy: &Strategy) -> Option<Member> {
    Some(match strategy {
        Strategy::Random => Member::Random(Random::default()),
        Strategy::Pct { depth } => Member::Pct(Pct::new(*depth)),
        Strategy::PctWithin { depth, steps } => {
            Member::Pct(Pct::with_steps(*depth, *steps as usize))
        }
        Strategy::PctDrawn => Member::Pct(Pct::drawn()),
        Strategy::Pctwm { depth, history, events } => Member::Pctwm(match events {
            None => Pctwm::new(*depth, *history),
            Some(events) => Pctwm::with_events(*depth, *history, *events as usize),
        }),
        // Whatever is not about threads is random anyway.
        Strategy::C11Random => Member::Random(Random::default()),
        Strategy::PctWeak { depth } => Member::Pct(Pct::new(*depth)),
        Strategy::BasicPos => Member::Pos(Pos::basic()),
        Strategy::Pos => Member::Pos(Pos::plain()),
        Strategy::PosStar => Member::Pos(Pos::default()),
        Strategy::Rapos => Member::Rapos(Rapos::default()),
        Strategy::Urw => Member::Urw(Urw::default()),
        Strategy::Surw => Member::Surw(Surw::default()),
        Strategy::Delay { delays } => Member::Delay(Delay::new(*delays)),
        Strategy::RoundRobin
        | Strategy::Portfolio(_)
        | Strategy::Dfs
        | Strategy::DfsWithin(_)
        | Strategy::DfsDelay { .. }
        | Strategy::Dpor
        | Strategy::DporClassic
        | Strategy::Bpor(_)
        | Strategy::BporPlain(_)
        | Strategy::BporUpTo(_)
        | Strategy::Pcr
        | Strategy::Mcr
        | Strategy::Auto => return None,
    })
}
