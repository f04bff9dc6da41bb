//! Looks that a thread repeats while it waits in a loop: after a pause, with the same result, and with no change of its own
//! in between.
//!
//! For choosers that count what threads do. Nothing is claimed from it.

use alloc::vec::Vec;

use raddle_core::{Effect, Event, ObjectId, Site};

/// The looks that are remembered for a thread.
const MAX_LOOKS: usize = 16;

/// What the threads of a run have looked at since they last changed something.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repeats {
    /// By thread.
    looks: Vec<Vec<Look>>,
}

#[derive(Clone, Debug)]
struct Look {
    place: (Site, ObjectId, Effect),
    /// Whether the thread has paused since.
    has_paused: bool,
}

impl Repeats {
    /// Forgets a run.
    pub(crate) fn clear(&mut self) {
        self.looks.iter_mut().for_each(Vec::clear);
    }

    /// Notes an event. Returns whether it repeats a look after a pause.
    pub(crate) fn note(&mut self, event: &Event) -> bool {
        let thread = event.id.thread.index();
        if self.looks.len() <= thread {
            self.looks.resize(thread + 1, Vec::new());
        }
        let looks = &mut self.looks[thread];
        if event.op.object() == ObjectId::NONE {
            if event.op.has_yielded(event.effect) {
                looks.iter_mut().for_each(|look| look.has_paused = true);
            }
            return false;
        }
        if event.access().changes() {
            looks.clear();
            return false;
        }
        if event.site == Site::UNKNOWN {
            // It may be any place, not the same again.
            return false;
        }
        let place = (event.site, event.op.object(), event.effect);
        match looks.iter_mut().find(|look| look.place == place) {
            Some(look) => core::mem::take(&mut look.has_paused),
            None => {
                if looks.len() == MAX_LOOKS {
                    looks.clear();
                }
                looks.push(Look { place, has_paused: false });
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use raddle_core::{Action, AtomicOp, EventId, Op, Order, PauseOp, ThreadId};

    use super::*;

    fn event(op: Op, value: u64) -> Event {
        let id = EventId { thread: ThreadId(1), index: 0 };
        Event { id, op, effect: Effect::Value(value), site: Site::caller() }
    }

    /// Returns which of these repeat a look: a load that returns a value, a store, or a pause.
    fn repeated(steps: &str) -> Vec<bool> {
        let on = |op| Op::new(ObjectId(1), Action::Atomic(op));
        let mut repeats = Repeats::default();
        let event_of = |step: char| match step {
            'S' => event(on(AtomicOp::Store { order: Order::SeqCst, value: 1 }), 0),
            'P' => event(Op::new(ObjectId::NONE, Action::Pause(PauseOp::Spin)), 0),
            value => {
                let value = u64::from(value.to_digit(10).expect("a value"));
                event(on(AtomicOp::Load { order: Order::SeqCst }), value)
            }
        };
        steps.chars().map(|step| repeats.note(&event_of(step))).collect()
    }

    #[test]
    fn looks_are_repeated_after_a_pause_only() {
        let repeats = |steps, at: &[usize]| {
            let expected: Vec<usize> = repeated(steps)
                .into_iter()
                .enumerate()
                .filter_map(|(at, is_repeated)| is_repeated.then_some(at))
                .collect();
            assert_eq!(expected, at, "{steps}");
        };
        repeats("0P0P0P1", &[2, 4]);
        repeats("000", &[]);
        repeats("0S0P0", &[4]);
        repeats("0P1P0", &[4]);
        repeats("0PS0", &[]);
    }
}
