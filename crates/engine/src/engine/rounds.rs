//! What the threads of a run have looked at since they last changed something.

use alloc::vec::Vec;

use raddle_core::{Action, Event, ObjectId, Op, Site, ThreadId};

/// A thread that looks at more than this without a change is not in a loop that is recognised.
const MAX_LOOKS: usize = 256;

/// The looks of all threads. A *look* is an event that changes neither its object nor, by what it returns alone, the
/// number of rounds that its thread has to go: a load, a failed attempt, a fence, a pause.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// By [`ThreadId`]. All are empty unless a thread has looked at something.
    threads: Vec<Thread>,
    /// Whether a thread has looked at something.
    has_looks: bool,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    /// The local state at the pending announcement, if it is known.
    frame: Option<u64>,
    /// Since the last change by the thread, or since it read the clock.
    looks: Vec<Look>,
    /// Whether the thread has read the clock since its last change.
    has_read_clock: bool,
    /// The first look of the round in which the thread waits, if it does.
    asleep: Option<usize>,
}

/// What a thread has done since it last changed something.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SinceChange {
    /// Nothing.
    Nothing,
    /// It has looked at something.
    Looked,
    /// It has been at the place where it is now. Its local state is needed.
    WasHere,
}

/// An event that changed nothing.
#[derive(Clone, Debug)]
pub(super) struct Look {
    /// The local state of the thread when it announced the event, if it is known.
    frame: Option<u64>,
    pub(super) event: Event,
    /// Whether another thread has changed the object since.
    pub(super) is_stale: bool,
}

impl Rounds {
    /// Forgets everything. Keeps the allocated memory.
    pub(super) fn clear(&mut self) {
        if !core::mem::take(&mut self.has_looks) {
            return;
        }
        for thread in &mut self.threads {
            thread.frame = None;
            thread.looks.clear();
            thread.has_read_clock = false;
            thread.asleep = None;
        }
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, Thread::default());
        }
        &mut self.threads[thread.index()]
    }

    /// Adds an event of its thread that changed nothing.
    pub(super) fn add_look(&mut self, event: Event) {
        self.has_looks = true;
        let thread = self.thread(event.id.thread);
        if thread.looks.len() >= MAX_LOOKS {
            thread.looks.drain(..MAX_LOOKS / 2);
        }
        let frame = thread.frame.take();
        thread.looks.push(Look { frame, event, is_stale: false });
    }

    /// Notes that `thread` has changed something.
    #[inline]
    pub(super) fn end_round(&mut self, thread: ThreadId) {
        if !self.has_looks {
            return;
        }
        let thread = self.thread(thread);
        thread.frame = None;
        thread.looks.clear();
        thread.has_read_clock = false;
    }

    /// Notes that `thread` reads the clock. Returns whether it has done so before and has since only looked at something,
    /// without a wait that may time out.
    pub(super) fn read_clock(&mut self, thread: ThreadId) -> bool {
        let thread = self.thread(thread);
        // A wait that times out is explored with both results.
        let is_timed_wait = |look: &Look| match look.event.op.action() {
            Action::Channel(_)
            | Action::Condvar(_)
            | Action::Park(_)
            | Action::Semaphore(_)
            | Action::Futex(_) => true,
            Action::Thread(_)
            | Action::Atomic(_)
            | Action::Cell(_)
            | Action::Mutex(_)
            | Action::RwLock(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => false,
        };
        let looks = &thread.looks;
        let is_in_loop = thread.has_read_clock && !looks.is_empty();
        let is_in_loop = is_in_loop && !looks.iter().any(is_timed_wait);
        thread.has_read_clock = true;
        thread.frame = None;
        thread.looks.clear();
        is_in_loop
    }

    /// Notes that `by` has changed an object. Returns the threads that wait in a round that looks at it.
    #[inline]
    pub(super) fn change(&mut self, by: ThreadId, object: ObjectId) -> Vec<ThreadId> {
        if self.has_looks { self.change_looks(by, object) } else { Vec::new() }
    }

    fn change_looks(&mut self, by: ThreadId, object: ObjectId) -> Vec<ThreadId> {
        let mut woken = Vec::new();
        for (id, thread) in self.threads.iter_mut().enumerate() {
            if id == by.index() {
                continue;
            }
            let from = thread.asleep.unwrap_or(usize::MAX);
            let mut looks = thread.looks.iter_mut().enumerate();
            let mut is_woken = false;
            for (position, look) in looks.by_ref() {
                if look.event.op.object() == object {
                    look.is_stale = true;
                    is_woken |= position >= from;
                }
            }
            if is_woken {
                woken.push(ThreadId(id as u32));
            }
        }
        woken
    }

    /// Returns what `thread`, which is about to announce an operation, has done since it last changed something.
    pub(super) fn since_change(&mut self, thread: ThreadId, op: Op, site: Site) -> SinceChange {
        if !self.has_looks {
            return SinceChange::Nothing;
        }
        let looks = &self.thread(thread).looks;
        let object = op.object();
        let is_same = |look: &Look| look.event.site == site && look.event.op.object() == object;
        let is_alone = |look: &Look| look.event.op.object() == ObjectId::NONE;
        match looks.iter().rposition(is_same) {
            // The words of a stack repeat earlier at loads than at pauses.
            Some(last) if object != ObjectId::NONE || looks[last..].iter().all(is_alone) => {
                SinceChange::WasHere
            }
            Some(_) => SinceChange::Looked,
            None if looks.is_empty() => SinceChange::Nothing,
            None => SinceChange::Looked,
        }
    }

    /// Notes the local state in which `thread` announces an operation. Returns the first look of the shortest round that
    /// leads from this state to itself, if there is one.
    pub(super) fn announce(&mut self, thread: ThreadId, frame: u64) -> Option<usize> {
        let thread = self.thread(thread);
        thread.frame = Some(frame);
        thread.looks.iter().rposition(|look| look.frame == Some(frame))
    }

    /// Returns the looks of `thread` from the one at `from` on.
    pub(super) fn looks(&self, thread: ThreadId, from: usize) -> &[Look] {
        &self.threads[thread.index()].looks[from..]
    }

    /// Lets `thread` wait in the round that begins with its look at `from`.
    pub(super) fn put_to_sleep(&mut self, thread: ThreadId, from: usize) {
        self.thread(thread).asleep = Some(from);
    }

    /// Lets `thread` go on. Returns `false` if it does not wait.
    pub(super) fn wake(&mut self, thread: ThreadId) -> bool {
        self.threads.get_mut(thread.index()).is_some_and(|thread| thread.asleep.take().is_some())
    }

    /// Returns the threads that wait, each with the looks of its round.
    pub(super) fn sleepers(&self) -> impl Iterator<Item = (ThreadId, &[Look])> {
        self.threads.iter().enumerate().filter_map(|(id, thread)| {
            let from = thread.asleep?;
            Some((ThreadId(id as u32), &thread.looks[from..]))
        })
    }
}
