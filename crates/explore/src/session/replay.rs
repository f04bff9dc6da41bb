//! Replaying the execution of a token.

use raddle_core::{Choice, Ending, ObjectId, Special, Trace};
use raddle_engine::ThreadIds;
use raddle_results::{Failure, Report, Token, TokenError, Verdict, token};

use super::report::Details;
use super::tally::Tally;
use super::{Check, ReplayError};
use crate::{Explain, Replay};

/// The words in place of the strategy's in the report on a replay, and on one of an execution that was kept.
pub(super) const REPLAY: &str = "replay";
pub(super) const KEPT: &str = "kept";

impl Check<'_> {
    /// Replays the execution of a token, and explains its failure. `strategy` is the word in place of the strategy's.
    pub(super) fn replay(
        &mut self,
        word: &str,
        explain: Explain,
        strategy: &'static str,
    ) -> Result<Report, ReplayError> {
        let token = Token::parse(word).map_err(ReplayError::Token)?;
        if token.check != token::name_hash(&self.settings.name) {
            return Err(ReplayError::Foreign { name: self.settings.name.to_string() });
        }
        let thread_ids = ThreadIds::of_recorded(&token.threads);
        let thread_ids = thread_ids.ok_or(ReplayError::Token(TokenError::Damaged))?;
        let recorded = token.schedule.len();
        let steps = token.schedule.iter().filter(|choice| matches!(choice, Choice::Thread(_)));
        let replay = Replay {
            memory: self.settings.memory,
            thread_ids,
            max_steps: self.settings.max_steps.max(steps.count()),
            schedule: token.schedule,
        };
        let special = Special { records: true, ..Special::default() };
        let trace = replay.look_special(self.executor, special, ObjectId::NONE, Trace::clone);
        if let Ending::Diverged(_) | Ending::Abandoned = trace.ending {
            return Err(ReplayError::Diverged { trace: Box::new(trace) });
        }
        let mut tally = Tally::new(self.settings.coverage);
        let finding = self.finding(&trace, &mut tally.cleared);
        if finding.is_none() && trace.schedule().len() < recorded {
            return Err(ReplayError::Diverged { trace: Box::new(trace) });
        }
        tally.add(&trace, trace.max_live_threads());
        let mut verdict = match finding {
            None => Verdict::Sampled,
            Some(finding) => Verdict::Failed(Box::new(Failure {
                finding,
                execution: 1,
                token: word.to_owned(),
                trace,
                reproduced: true,
                beyond_bound: false,
                explanation: None,
                unexplained: None,
            })),
        };
        if let (Verdict::Failed(failure), Explain::Quick | Explain::Full) = (&mut verdict, explain)
        {
            self.explain(explain, failure, &mut tally);
        }
        let details = Details { strategy: Some(strategy.into()), ..Details::default() };
        Ok(self.build_report(tally, verdict, details))
    }
}
