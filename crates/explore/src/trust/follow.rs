//! Leads a run through the events of an item.

use raddle_core::{
    Access, Choice, Chooser, Event, EventId, IdleRounds, Needs, Op, Pick, Point, ThreadId, Threads,
};

use super::graph::Part;
use super::{Ends, Item, Step, comes, is_ordered};
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
    /// The object of the event under way.
    object: usize,
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
    ends: Ends,
    /// The readers for which writers wait.
    awaited: Vec<Awaited>,
    /// Whether the run was given up because all enabled operations are readers that have to come after a writer.
    pub(super) is_stuck: bool,
    pub(super) refusal: Option<Refusal>,
}

/// A reader for which a writer waits. See [`readers`](super::readers).
#[derive(Copy, Clone, Debug)]
struct Awaited {
    reader: EventId,
    source: EventId,
    /// The lock, once the reader has come.
    object: Option<usize>,
}

impl Follow {
    /// Begins a run.
    pub(super) fn begin(&mut self, item: &Item) {
        self.turns.clear();
        self.answers.iter_mut().for_each(Vec::clear);
        for step in item.script.iter().rev() {
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
        self.newest.clear();
        self.offers.clear();
        self.passed = 0;
        self.moved = item.moved;
        self.ends = item.ends;
        self.is_stuck = false;
        self.refusal = None;
        self.awaited.clear();
        for half in &item.added {
            let Part::Wait(reader) = half.part else { continue };
            let step = item.script.iter().find(|step| step.event == reader);
            if let Some(&Step { choice: Choice::Source(source), .. }) = step {
                self.awaited.push(Awaited { reader, source, object: None });
            }
        }
    }

    /// Returns whether a reader has to come after a writer that waits for another reader.
    fn has_to_wait(&self, op: &Op, thread: ThreadId) -> bool {
        let object = op.object().index();
        !self.awaited.is_empty()
            && comes(op)
            && self.awaited.iter().any(|awaited| {
                awaited.object == Some(object)
                    && thread < awaited.reader.thread
                    && self.newest.get(object).copied().unwrap_or(EventId::INITIAL)
                        == awaited.source
            })
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
            for awaited in self.awaited.iter_mut().filter(|awaited| awaited.reader == event.id) {
                awaited.object = Some(event.op.object().index());
            }
            if is_ordered(&event.op, self.ends) && self.is_newest {
                self.note_newest(event);
            }
        }
        self.counted = past.len();
    }

    /// Takes note of an operation that read or became the newest store.
    fn note_newest(&mut self, event: &Event) {
        if event.access() == Access::Update {
            let object = event.op.object().index();
            if self.newest.len() <= object {
                self.newest.resize(object + 1, EventId::INITIAL);
            }
            self.newest[object] = event.id;
        }
    }

    /// Returns whether the script lets the event under way, read or come right after the newest store.
    fn expects_newest(&self) -> bool {
        let newest = self.newest.get(self.object).copied().unwrap_or(EventId::INITIAL);
        match self.answer {
            Some(Choice::Source(store) | Choice::Place(store)) => store == newest,
            Some(Choice::Value(_) | Choice::Thread(_)) | None => true,
        }
    }

    fn choose_thread(&mut self, threads: &Threads<'_>) -> Pick {
        self.is_newest = true;
        let op = |thread: ThreadId| -> &Op { &threads.pending[thread.index()].op };
        let ends = self.ends;
        let unobserved = threads.enabled.iter().position(|&thread| !is_ordered(op(thread), ends));
        let option = unobserved.or_else(|| match self.turns.pop() {
            Some(event) => threads.enabled.iter().position(|&thread| self.next_of(thread) == event),
            None => {
                let options = 0..threads.enabled.len();
                let first = options
                    .filter(|&option| {
                        let thread = threads.enabled[option];
                        !self.has_to_wait(op(thread), thread)
                    })
                    .min_by_key(|&option| threads.enabled[option]);
                self.is_stuck = first.is_none();
                first
            }
        });
        let Some(option) = option else { return Pick::Abandon };
        let current = self.next_of(threads.enabled[option]);
        self.current = Some(current);
        self.answer = self.answers.get_mut(current.thread.index()).and_then(|answers| {
            let is_next = answers.last().is_some_and(|next| next.0 == current.index);
            if is_next { answers.pop().map(|next| next.1) } else { None }
        });
        let op = op(current.thread);
        self.object = op.object().index();
        // What an operation that is not on a variable finds is settled.
        if !op.is_atomic() && !self.expects_newest() {
            return Pick::Abandon;
        }
        Pick::Take(option)
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

    fn continues(&self, thread: ThreadId) -> bool {
        self.answers.get(thread.index()).is_some_and(|answers| !answers.is_empty())
    }

    fn accepts_newest(&self) -> bool {
        self.expects_newest()
    }

    fn asks_taken(&self) -> bool {
        self.answer.is_none()
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
        match at.option(wanted) {
            Some(option) => {
                self.is_newest = option == newest;
                Pick::Take(option)
            }
            None => Pick::Abandon,
        }
    }
}
