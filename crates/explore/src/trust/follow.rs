//! Leads a run through the events of an item.

use std::collections::HashMap;

use raddle_core::{
    Access, Choice, Chooser, Event, EventId, IdleRounds, Needs, ObjectId, Op, Pick, Point,
    ThreadId, Threads,
};

use super::Step;
use crate::Refusal;

/// What an access was offered.
#[derive(Clone, Debug, Default)]
pub(super) struct Offer {
    /// The stores it may read or come right after. Empty if there is only one.
    pub(super) options: Vec<EventId>,
    /// The stores it could read if no other read-modify-write had read them.
    pub(super) taken: Vec<EventId>,
}

/// Follows a script, then runs the smallest thread with the newest stores.
///
/// Operations whose time no other thread can observe come first, in the script or not.
#[derive(Debug, Default)]
pub(super) struct Follow {
    /// The accesses of the script that have not run, last first.
    turns: Vec<EventId>,
    answers: HashMap<EventId, Choice>,
    /// The event under way.
    current: Option<EventId>,
    /// By thread: the number of its events among the first `counted` ones.
    counts: Vec<u32>,
    counted: usize,
    /// Whether the event under way reads or becomes the newest store. It does unless a point said otherwise.
    is_newest: bool,
    /// By object: the newest store.
    newest: HashMap<ObjectId, EventId>,
    pub(super) offers: HashMap<EventId, Offer>,
    /// Whether the run could not follow the script.
    pub(super) is_lost: bool,
    pub(super) refusal: Option<Refusal>,
}

impl Follow {
    pub(super) fn begin(&mut self, script: &[Step]) {
        self.turns.clear();
        let is_access = |step: &&Step| !matches!(step.choice, Choice::Value(_));
        self.turns.extend(script.iter().rev().filter(is_access).map(|step| step.event));
        self.answers.clear();
        self.answers.extend(script.iter().map(|step| (step.event, step.choice)));
        self.current = None;
        self.counts.clear();
        self.counted = 0;
        self.newest.clear();
        self.offers.clear();
        self.is_lost = false;
        self.refusal = None;
    }

    /// Returns the id of the next event of `thread`.
    fn next_of(&self, thread: ThreadId) -> EventId {
        EventId { thread, index: self.counts.get(thread.index()).copied().unwrap_or(0) }
    }

    fn count(&mut self, past: &[Event]) {
        for event in &past[self.counted..] {
            let thread = event.id.thread.index();
            if self.counts.len() <= thread {
                self.counts.resize(thread + 1, 0);
            }
            self.counts[thread] += 1;
            if event.op.is_atomic() && self.is_newest {
                self.note_newest(event);
            }
        }
        self.counted = past.len();
    }

    /// Takes note of an access that read or became the newest store. The run is lost if the script says otherwise: no
    /// point was asked, because there was one option.
    fn note_newest(&mut self, event: &Event) {
        let newest = self.newest.entry(event.op.object()).or_insert(EventId::INITIAL);
        match self.answers.get(&event.id) {
            Some(&(Choice::Source(store) | Choice::Place(store))) if store != *newest => {
                self.is_lost = true;
            }
            Some(_) | None => {}
        }
        if event.access() == Access::Update {
            *newest = event.id;
        }
    }

    fn choose_thread(&mut self, threads: &Threads<'_>) -> Pick {
        if self.is_lost {
            return Pick::Abandon;
        }
        self.is_newest = true;
        let op = |thread: ThreadId| -> &Op { &threads.pending[thread.index()].op };
        let unobserved = threads.enabled.iter().position(|&thread| !op(thread).is_atomic());
        let option = unobserved.or_else(|| match self.turns.pop() {
            Some(event) => threads.enabled.iter().position(|&thread| self.next_of(thread) == event),
            None => (0..threads.enabled.len()).min_by_key(|&option| threads.enabled[option]),
        });
        let Some(option) = option else { return self.lose() };
        self.current = Some(self.next_of(threads.enabled[option]));
        Pick::Take(option)
    }

    fn lose(&mut self) -> Pick {
        self.is_lost = true;
        Pick::Abandon
    }

    fn current(&self) -> EventId {
        self.current.expect("raddle invariant broken: a choice before any event")
    }
}

impl Chooser for Follow {
    fn needs(&self) -> Needs {
        Needs { taken: true, idle_rounds: IdleRounds::Cut, ..Needs::default() }
    }

    fn taken(&mut self, stores: &[EventId]) {
        if !stores.is_empty() {
            let current = self.current();
            self.offers.entry(current).or_default().taken = stores.to_vec();
        }
    }

    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let newest = match at {
            Point::Thread(threads) => {
                self.count(past);
                return self.choose_thread(threads);
            }
            Point::Value { by, bound } => {
                self.refusal = Refusal::of_choice(by, *bound);
                if self.refusal.is_some() {
                    return Pick::Abandon;
                }
                0
            }
            Point::Source { options, .. } | Point::Place { options, .. } => {
                let current = self.current();
                self.offers.entry(current).or_default().options = options.to_vec();
                options.len() - 1
            }
        };
        let Some(&wanted) = self.answers.get(&self.current()) else { return Pick::Take(newest) };
        match (0..at.options()).find(|&option| at.choice(option) == wanted) {
            Some(option) => {
                self.is_newest = option == newest;
                Pick::Take(option)
            }
            None => self.lose(),
        }
    }
}
