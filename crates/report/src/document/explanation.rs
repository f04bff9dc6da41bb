//! Explanations, with their steps in words.

use super::repair::repair;
use super::stack::released_at;
use raddle_analysis::Words;
use raddle_core::ObjectId;
use raddle_results as results;
use raddle_results::document::{CauseEvent, Causes, Explanation, OrderedPair};

pub(super) fn explanation(known: &results::Explanation, words: &Words<'_>) -> Explanation {
    let results::Explanation {
        shrunk,
        causes: found,
        no_causes,
        repairs,
        no_repairs,
        executions,
        cut_off,
        ..
    } = known;
    Explanation {
        shrunk: shrunk.clone(),
        causes: found.as_ref().map(|found| causes(found, words)),
        no_causes: *no_causes,
        repairs: repairs.iter().map(|found| repair(found, words)).collect(),
        no_repairs: *no_repairs,
        executions: *executions,
        cut_off: *cut_off,
    }
}

fn causes(causes: &results::Causes, words: &Words<'_>) -> Causes {
    let results::Causes { orderings, certificate } = causes;
    let pair = |pair: &results::OrderedPair| OrderedPair {
        before: event(&pair.before, words),
        after: event(&pair.after, words),
    };
    let orderings = orderings.iter().map(pair).collect();
    Causes { orderings, certificate: certificate.clone() }
}

pub(super) fn event(event: &results::CauseEvent, words: &Words<'_>) -> CauseEvent {
    let object = event.op.object();
    let released =
        event.position.and_then(|at| released_at(words.trace(), &words.trace().events[at]));
    CauseEvent {
        thread: event.thread.0,
        object: (object != ObjectId::NONE).then_some(object.0),
        text: words.announced(event.op),
        site: released.unwrap_or_else(|| event.site.into()),
        nth: event.nth,
        step: event.position.map(|position| position as u64 + 1),
    }
}
