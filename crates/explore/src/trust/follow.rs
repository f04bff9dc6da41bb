//! Leads a run through the events of an item.

use raddle_core::{
    Access, Choice, Chooser, Event, EventId, IdleRounds, Needs, Op, Pick, Point, ThreadId, Threads,
};

use super::{Step, is_ordered};
use crate::Refusal;

/// What an access to an atomic variable was offered.
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
    /// The operations of the script that have not run, last first. Choices of numbers are not among them.
    turns: Vec<EventId>,
    /// By thread: the choices of the script that have not been made, last first.
    answers: Vec<Vec<(u32, Choice)>>,
    /// The event under way.
    current: Option<EventId>,
    /// What the script says of the event under way.
    answer: Option<Choice>,
    /// By thread: the number of its events among the first `counted` ones.
    counts: Vec<u32>,
    counted: usize,
    /// The store that the event under way reads or comes after by the script, unless a point was asked.
    expected: Option<EventId>,
    /// Whether the event under way reads or becomes the newest store. It does unless a point said otherwise.
    is_newest: bool,
    /// By object: the newest store or update.
    newest: Vec<EventId>,
    /// The accesses with several options or taken stores that are not in the script, and the store that is tried at all
    /// places; in the order in which they were performed.
    offers: Vec<(EventId, Offer)>,
    /// The number of offers that were taken out.
    passed: usize,
    moved: Option<EventId>,
    /// Whether the run could not follow the script.
    pub(super) is_lost: bool,
    pub(super) refusal: Option<Refusal>,
}

impl Follow {
    /// Begins a run. `moved` is the store of the script whose places are asked for.
    pub(super) fn begin(&mut self, script: &[Step], moved: Option<EventId>) {
        self.turns.clear();
        self.answers.iter_mut().for_each(Vec::clear);
        for step in script.iter().rev() {
            if !matches!(step.choice, Choice::Value(_)) {
                self.turns.push(step.event);
            }
            let thread = step.event.thread.index();
            if self.answers.len() <= thread {
                self.answers.resize_with(thread + 1, Vec::new);
            }
            self.answers[thread].push((step.event.index, step.choice));
        }
        self.current = None;
        self.answer = None;
        self.counts.clear();
        self.counted = 0;
        self.expected = None;
        self.newest.clear();
        self.offers.clear();
        self.passed = 0;
        self.moved = moved;
        self.is_lost = false;
        self.refusal = None;
    }

    /// Returns what `event` was offered. Has to be called in the order of the events.
    pub(super) fn offer(&mut self, event: EventId) -> Offer {
        match self.offers.get_mut(self.passed) {
            Some((offered, offer)) if *offered == event => {
                self.passed += 1;
                std::mem::take(offer)
            }
            Some(_) | None => Offer::default(),
        }
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
            if is_ordered(&event.op) && self.is_newest {
                self.note_newest(event);
            }
        }
        self.counted = past.len();
    }

    /// Takes note of an operation that read or became the newest store. The run is lost if the script says otherwise: no
    /// point was asked, because there was one option.
    fn note_newest(&mut self, event: &Event) {
        let object = event.op.object().index();
        if self.newest.len() <= object {
            self.newest.resize(object + 1, EventId::INITIAL);
        }
        let newest = &mut self.newest[object];
        if self.expected.take().is_some_and(|store| store != *newest) {
            self.is_lost = true;
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
        self.expected = None;
        let op = |thread: ThreadId| -> &Op { &threads.pending[thread.index()].op };
        let unobserved = threads.enabled.iter().position(|&thread| !is_ordered(op(thread)));
        let option = unobserved.or_else(|| match self.turns.pop() {
            Some(event) => threads.enabled.iter().position(|&thread| self.next_of(thread) == event),
            None => (0..threads.enabled.len()).min_by_key(|&option| threads.enabled[option]),
        });
        let Some(option) = option else { return self.lose() };
        let current = self.next_of(threads.enabled[option]);
        self.current = Some(current);
        self.answer = self.answers.get_mut(current.thread.index()).and_then(|answers| {
            let is_next = answers.last().is_some_and(|next| next.0 == current.index);
            if is_next { answers.pop().map(|next| next.1) } else { None }
        });
        if let Some(Choice::Source(store) | Choice::Place(store)) = self.answer {
            self.expected = Some(store);
        }
        Pick::Take(option)
    }

    fn lose(&mut self) -> Pick {
        self.is_lost = true;
        Pick::Abandon
    }

    fn current(&self) -> EventId {
        self.current.expect("raddle invariant broken: a choice before any event")
    }

    /// Returns the offer of the event under way, if it is asked for.
    fn offer_now(&mut self) -> Option<&mut Offer> {
        let current = self.current();
        if self.answer.is_some() && self.moved != Some(current) {
            return None;
        }
        if self.offers.last().is_none_or(|offer| offer.0 != current) {
            self.offers.push((current, Offer::default()));
        }
        self.offers.last_mut().map(|offer| &mut offer.1)
    }
}

impl Chooser for Follow {
    fn needs(&self) -> Needs {
        Needs { taken: true, idle_rounds: IdleRounds::Cut, ..Needs::default() }
    }

    fn taken(&mut self, stores: &[EventId]) {
        if stores.is_empty() {
            return;
        }
        if let Some(offer) = self.offer_now() {
            offer.taken = stores.to_vec();
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
                if let Some(offer) = self.offer_now() {
                    offer.options = options.to_vec();
                }
                options.len() - 1
            }
        };
        let Some(wanted) = self.answer else { return Pick::Take(newest) };
        self.expected = None;
        match at.option(wanted) {
            Some(option) => {
                self.is_newest = option == newest;
                Pick::Take(option)
            }
            None => self.lose(),
        }
    }
}
