//! Thread ids by spawn path.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Debug;

use raddle_core::fingerprint::Name;
use raddle_core::{ThreadId, ThreadInfo};

/// Which thread is whose how-many-eth child.
///
/// Kept for a whole session, so that a thread has the same id in every run even where two threads
/// spawn concurrently.
#[derive(Clone, Debug)]
pub struct Family {
    main: Member,
    /// All others, by their ids.
    others: Vec<Member>,
    /// Whether all are children of main, with ids in their order.
    is_flat: bool,
    register: Option<Arc<dyn Register>>,
}

/// What several families have in common, so that a thread has the same id in all of them.
pub trait Register: Debug + Send + Sync {
    /// The child at `position` of `parent`; a new one if nobody has asked for it yet.
    fn child(&self, parent: ThreadId, position: u32) -> ThreadId;

    /// What is known of a thread that somebody has asked for.
    fn info(&self, thread: ThreadId) -> ThreadInfo;
}

#[derive(Clone, Debug)]
struct Member {
    info: ThreadInfo,
    /// The name of its first event.
    first_event: Name,
    /// Ids of the children known so far, by position.
    children: Vec<Option<ThreadId>>,
}

impl Default for Family {
    fn default() -> Family {
        let info = ThreadInfo { id: ThreadId::MAIN, parent: ThreadId::MAIN, position: 0 };
        let main = Member { info, first_event: Name::MAIN, children: Vec::new() };
        Family { main, others: Vec::new(), is_flat: true, register: None }
    }
}

impl Family {
    /// A family in which the given threads, of a recorded run, have the ids they had there.
    ///
    /// `None` if the list contradicts itself, or speaks of more threads than anybody can run.
    pub fn with(threads: &[ThreadInfo]) -> Option<Family> {
        let mut family = Family::default();
        if threads.iter().zip(1..).all(|(thread, id)| thread.id.0 == id && is_flat(thread)) {
            // They get these ids anyway.
            return Some(family);
        }
        let mut sorted: Vec<_> = threads.to_vec();
        sorted.sort_by_key(|thread| thread.id);
        // A forged list must not exhaust memory.
        const MOST: u32 = 1 << 22;
        let places: u64 = sorted.iter().map(|thread| u64::from(thread.position)).sum();
        if sorted.iter().any(|thread| thread.id.0 > MOST) || places > u64::from(MOST) {
            return None;
        }
        for thread in sorted {
            // Ids a recorded run did not use still need a place.
            while family.size() < thread.id.index() {
                family.add(ThreadInfo {
                    id: ThreadId(family.size() as u32),
                    parent: ThreadId::MAIN,
                    position: u32::MAX,
                });
            }
            let known = family.size();
            if thread.id.index() != known || thread.parent.index() >= known {
                return None;
            }
            family.add(thread);
        }
        Some(family)
    }

    /// A family whose threads have the ids that `register` says. Nobody adds to it by other means.
    pub fn registered(register: Arc<dyn Register>) -> Family {
        Family { register: Some(register), ..Family::default() }
    }

    /// The child at `position` of `parent`, if it is known.
    #[inline]
    pub fn child(&self, parent: ThreadId, position: u32) -> Option<ThreadId> {
        // Without calls, where nothing is optimised.
        let (children, position) = (self.member(parent).children.as_slice(), position as usize);
        if position < children.len() { children[position] } else { None }
    }

    /// The child at `position` of `parent`, which is not known.
    #[cold]
    pub fn new_child(&mut self, parent: ThreadId, position: u32) -> ThreadId {
        let new = ThreadId(self.size() as u32);
        let Some(register) = self.register.clone() else {
            return self.add(ThreadInfo { id: new, parent, position });
        };
        let child = register.child(parent, position);
        // Those that only others have met so far come first.
        for id in new.0..=child.0 {
            self.add(register.info(ThreadId(id)));
        }
        child
    }

    /// What is known of `thread`.
    #[inline]
    pub fn info(&self, thread: ThreadId) -> ThreadInfo {
        self.member(thread).info
    }

    /// The name of `thread`'s first event.
    #[inline]
    pub fn first_event(&self, thread: ThreadId) -> Name {
        self.member(thread).first_event
    }

    /// Whether a thread has the id here that it has in any family, whoever was met first.
    #[inline(always)]
    pub(crate) fn is_flat(&self) -> bool {
        self.is_flat
    }

    /// How many threads are known.
    pub fn size(&self) -> usize {
        1 + self.others.len()
    }

    /// Becomes what `other` is, in the same memory if nothing is known there.
    pub(crate) fn become_like(&mut self, other: Family) {
        if other.size() > 1 || other.register.is_some() {
            *self = other;
        } else {
            self.others.clear();
            self.main.children.clear();
            (self.is_flat, self.register) = (true, None);
        }
    }

    #[inline]
    fn member(&self, thread: ThreadId) -> &Member {
        if thread.0 == ThreadId::MAIN.0 { &self.main } else { &self.others[thread.index() - 1] }
    }

    fn add(&mut self, info: ThreadInfo) -> ThreadId {
        self.is_flat &= is_flat(&info);
        let parent = match info.parent {
            ThreadId::MAIN => &mut self.main,
            parent => &mut self.others[parent.index() - 1],
        };
        if info.position != u32::MAX {
            let position = info.position as usize;
            if parent.children.len() <= position {
                parent.children.resize(position + 1, None);
            }
            parent.children[position] = Some(info.id);
        }
        let first_event = parent.first_event.child(info.position);
        self.others.push(Member { info, first_event, children: Vec::new() });
        info.id
    }
}

/// Whether it is a child of main, and has the id that goes with its position.
fn is_flat(info: &ThreadInfo) -> bool {
    info.parent == ThreadId::MAIN && info.id.0 == info.position.wrapping_add(1)
}
