//! The list of events of a run, which is written at every step and kept from run to run.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;
use core::sync::atomic::{Ordering, compiler_fence};

use crate::{Action, Effect, Event, EventId, ObjectId, Op, PauseOp, Site, ThreadId};

/// Events in order; otherwise a slice.
///
/// Not a vector: where nothing is optimised, to push onto one is four calls and two copies of an event.
#[derive(Default)]
pub struct Events {
    /// Those from `count` on are left over, or blank.
    slots: Box<[Event]>,
    count: usize,
}

/// Stands where nothing has happened yet.
const BLANK: Event = Event {
    id: EventId { thread: ThreadId::MAIN, index: 0 },
    op: Op::new(ObjectId::NONE, Action::Pause(PauseOp::Yield)),
    effect: Effect::None,
    site: Site::UNKNOWN,
};

impl Events {
    /// No events, and room for some.
    pub fn with_room(room: usize) -> Events {
        Events { slots: vec![BLANK; room].into_boxed_slice(), count: 0 }
    }

    /// How many events there are; as that of the slice, which need not be made for it.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many events fit in before memory is asked for.
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// How many more fit in before memory is asked for.
    #[inline(always)]
    pub fn room(&self) -> usize {
        self.slots.len() - self.count
    }

    /// Whether none does.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.count >= self.slots.len()
    }

    /// Adds an event, put together where it stays.
    #[inline(always)]
    pub fn add(&mut self, id: EventId, op: &Op, effect: Effect, site: Site) {
        let count = self.count;
        if count >= self.slots.len() {
            return self.grow(Event { id, op: *op, effect, site });
        }
        let slot = &mut self.slots[count];
        *slot = Event { id, op: *op, effect, site };
        self.count = count + 1;
    }

    /// Forgets all events.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds an event after making room.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, event: Event) {
        // A signal handler that looks at the list meanwhile, as a watchdog's does, finds it empty.
        let count = core::mem::take(&mut self.count);
        compiler_fence(Ordering::SeqCst);
        let mut slots = core::mem::take(&mut self.slots).into_vec();
        slots.push(event);
        slots.resize(slots.capacity(), BLANK);
        self.slots = slots.into_boxed_slice();
        compiler_fence(Ordering::SeqCst);
        self.count = count + 1;
    }
}

impl From<Vec<Event>> for Events {
    fn from(events: Vec<Event>) -> Events {
        Events { count: events.len(), slots: events.into_boxed_slice() }
    }
}

impl Deref for Events {
    type Target = [Event];

    #[inline]
    fn deref(&self) -> &[Event] {
        &self.slots[..self.count]
    }
}

impl<'a> IntoIterator for &'a Events {
    type Item = &'a Event;
    type IntoIter = core::slice::Iter<'a, Event>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Clone for Events {
    fn clone(&self) -> Events {
        Events { slots: Box::from(&**self), count: self.count }
    }
}

impl PartialEq for Events {
    fn eq(&self, other: &Events) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_was_added_however_often_it_grows() {
        let mut events = Events::with_room(1);
        for round in 0..3 {
            for index in 0..100 {
                let id = EventId { thread: ThreadId(round), index };
                events.add(id, &BLANK.op, Effect::Value(u64::from(index)), Site::UNKNOWN);
                assert_eq!(events.count(), events.len());
                assert_eq!(events.is_full(), events.room() == 0);
            }
            let copy = events.clone();
            assert_eq!((events.len(), copy.room()), (100, 0));
            assert_eq!(events, copy);
            for (index, event) in (0..).zip(&copy) {
                assert_eq!(event.id, EventId { thread: ThreadId(round), index });
                assert_eq!(event.effect, Effect::Value(u64::from(index)));
            }
            events.clear();
            assert!(events.is_empty() && events != copy);
        }
    }
}
