//! Suspected races and frees, settled by stacks.
//!
//! `std::sync::Arc` orders its last drop after all earlier ones, but its drops are no operations. So a suspicion about an
//! object that such a drop ends is cleared: if the end, and for a race the later access too, is inside
//! `Arc::drop_slow`. A stack costs more than many runs. So it is taken in a replay only, and the lines of what was
//! cleared are remembered.

use raddle_analysis::{Lines, Racing, Suspect, race_except, suspect};
use raddle_core::{End, Moment, ObjectId, PlainAccess, Site, Stack, Trace};
use raddle_results::{Finding, Freed};

use super::Check;
use super::stacks::use_of;
use crate::Replay;

/// The lines of suspicions that were cleared.
#[derive(Clone, Debug, Default)]
pub(super) struct Cleared(Vec<Lines>);

impl Cleared {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn merge(&mut self, other: &Cleared) {
        other.0.iter().for_each(|lines| self.add(*lines));
    }

    fn add(&mut self, lines: Lines) {
        if !self.0.contains(&lines) {
            self.0.push(lines);
        }
    }
}

impl Check<'_> {
    /// Returns the use of freed memory, or else the data race, that a run shows, if any.
    pub(super) fn wrong_access(&mut self, trace: &Trace, cleared: &mut Cleared) -> Option<Finding> {
        let freed = self.freed(trace, cleared);
        if freed.is_some() || !self.settings.races {
            return freed;
        }
        self.race(trace, cleared)
    }

    /// Returns the use of freed memory that a run shows, if any.
    pub(super) fn freed(&mut self, trace: &Trace, cleared: &mut Cleared) -> Option<Finding> {
        if trace.ends.is_empty() && trace.late_use.is_none() {
            return None;
        }
        loop {
            let Suspect { end, access, is_end, is_late, lines } =
                suspect(trace, &|lines| cleared.0.contains(lines))?;
            let stacks = self.stacks(trace, end.object);
            let of_end = stack_of_end(&stacks, &end);
            if !is_late && of_end.is_some_and(|stack| stack.in_arc) {
                cleared.add(lines);
                continue;
            }
            let text = |stack: Option<&Stack>| stack.map(|stack| stack.text.clone());
            let first = Freed { end, stack: text(of_end) };
            let later = stacks.iter().rev().find(|stack| {
                stack.thread == access.thread
                    && stack.after == access.after
                    && stack.moment == if is_end { Moment::End } else { Moment::Access }
            });
            let later = later.filter(|later| !is_end || stacks.first() != Some(later));
            let stack =
                text(later.or_else(|| if is_end { None } else { recorded(trace, &access) }));
            return Some(if is_end {
                let end = End { object: end.object, thread: access.thread, after: access.after };
                Finding::FreedTwice { first, second: Freed { end, stack } }
            } else {
                Finding::UseAfterFree { freed: first, access, is_late, stack }
            });
        }
    }

    /// Returns the first data race of a run, if there is one.
    fn race(&mut self, trace: &Trace, cleared: &mut Cleared) -> Option<Finding> {
        loop {
            let is_cleared = |race: &Racing| cleared.0.contains(&lines(trace, race));
            let (first, second) = race_except(trace, is_cleared)?;
            let end = trace.ends.iter().find(|end| end.object == second.object);
            if end.is_some_and(|end| self.is_in_arc(trace, end, &second)) {
                cleared.add(lines(trace, &(first, second)));
                continue;
            }
            return Some(Finding::Race { first, second });
        }
    }

    /// Returns whether an access and the end of its object are in the last drop of an `Arc`.
    fn is_in_arc(&mut self, trace: &Trace, end: &End, access: &PlainAccess) -> bool {
        let stacks = self.stacks(trace, end.object);
        let is_access = |stack: &&Stack| {
            stack.moment == Moment::Access
                && stack.thread == access.thread
                && stack.after == access.after
        };
        stack_of_end(&stacks, end).is_some_and(|stack| stack.in_arc)
            && stacks.iter().rfind(is_access).is_some_and(|stack| stack.in_arc)
    }

    /// Replays a run, and returns the stacks at the accesses and ends of `object`. Empty if the run cannot be replayed.
    fn stacks(&mut self, trace: &Trace, object: ObjectId) -> Vec<Stack> {
        let replay = Replay::of(trace, self.settings.memory, self.settings.max_steps);
        replay.look_watching(self.executor, object, |second| second.stacks().to_vec())
    }
}

/// Returns the stack at a use that is a step, if the run recorded it.
fn recorded<'a>(trace: &'a Trace, access: &PlainAccess) -> Option<&'a Stack> {
    let event = use_of(trace, access)?;
    let moment = Moment::Announcement(event.id.index);
    let mut stacks = trace.stacks().iter();
    stacks.find(|stack| stack.thread == access.thread && stack.moment == moment)
}

fn stack_of_end<'a>(stacks: &'a [Stack], end: &End) -> Option<&'a Stack> {
    let is_it = |stack: &&Stack| {
        stack.moment == Moment::End && (stack.thread, stack.after) == (end.thread, end.after)
    };
    stacks.iter().find(is_it)
}

/// Returns the lines that identify a race in other runs.
fn lines(trace: &Trace, (first, second): &Racing) -> Lines {
    let info = trace.objects.get(first.object.index());
    [info.map_or(Site::UNKNOWN, |info| info.site), first.site, second.site]
}
