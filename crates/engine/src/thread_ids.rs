//! Thread ids, assigned by spawn path.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Debug;

use raddle_core::fingerprint::Name;
use raddle_core::{ThreadId, ThreadInfo};

/// The ids of threads, by parent and position among the parent's children.
///
/// The ids are kept for a whole session. A thread has the same id in every run, even if several threads spawn
/// concurrently.
#[derive(Clone, Debug)]
pub struct ThreadIds {
    main: Entry,
    /// All other threads, by id.
    others: Vec<Entry>,
    /// Whether all threads are children of main, with ids in the order of their positions.
    is_flat: bool,
    register: Option<Arc<dyn Register>>,
}

/// Ids shared by several [`ThreadIds`], so that a thread has the same id in all of them.
pub trait Register: Debug + Send + Sync {
    /// Returns the child at `position` of `parent`. Registers it if it is new.
    fn child(&self, parent: ThreadId, position: u32) -> ThreadId;

    /// Returns the parent and position of a registered thread.
    fn info(&self, thread: ThreadId) -> ThreadInfo;
}

#[derive(Clone, Debug)]
struct Entry {
    info: ThreadInfo,
    /// The name of the thread's first event in fingerprints.
    first_event: Name,
    /// Ids of the children known so far, by position.
    children: Vec<Option<ThreadId>>,
}

impl Default for ThreadIds {
    fn default() -> ThreadIds {
        let info = ThreadInfo { id: ThreadId::MAIN, parent: ThreadId::MAIN, position: 0 };
        let main = Entry { info, first_event: Name::MAIN, children: Vec::new() };
        ThreadIds { main, others: Vec::new(), is_flat: true, register: None }
    }
}

impl ThreadIds {
    /// Returns ids under which the threads of a recorded run keep their ids.
    ///
    /// Returns `None` if the list is inconsistent or names too many threads.
    pub fn of_recorded(threads: &[ThreadInfo]) -> Option<ThreadIds> {
        let mut ids = ThreadIds::default();
        if threads.iter().zip(1..).all(|(thread, id)| thread.id.0 == id && is_flat(thread)) {
            // Newly assigned ids are the same.
            return Some(ids);
        }
        let mut sorted: Vec<_> = threads.to_vec();
        sorted.sort_by_key(|thread| thread.id);
        // A malformed list must not exhaust memory.
        const MAX_THREADS: u32 = 1 << 22;
        let places: u64 = sorted.iter().map(|thread| u64::from(thread.position)).sum();
        if sorted.iter().any(|thread| thread.id.0 > MAX_THREADS) || places > u64::from(MAX_THREADS)
        {
            return None;
        }
        for thread in sorted {
            // Ids that the recorded run did not use need an entry, too.
            while ids.count() < thread.id.index() {
                ids.add(ThreadInfo {
                    id: ThreadId(ids.count() as u32),
                    parent: ThreadId::MAIN,
                    position: u32::MAX,
                });
            }
            let known = ids.count();
            if thread.id.index() != known || thread.parent.index() >= known {
                return None;
            }
            ids.add(thread);
        }
        Some(ids)
    }

    /// Returns ids that are taken from `register` alone.
    pub fn registered(register: Arc<dyn Register>) -> ThreadIds {
        ThreadIds { register: Some(register), ..ThreadIds::default() }
    }

    /// Returns the child at `position` of `parent`, or `None` if it is not registered.
    #[inline]
    pub fn child(&self, parent: ThreadId, position: u32) -> Option<ThreadId> {
        match self.entry(parent).children.get(position as usize) {
            Some(&child) => child,
            None => None,
        }
    }

    /// Registers the child at `position` of `parent`, which is not registered yet.
    #[cold]
    pub fn register_child(&mut self, parent: ThreadId, position: u32) -> ThreadId {
        let new = ThreadId(self.count() as u32);
        let Some(register) = self.register.clone() else {
            return self.add(ThreadInfo { id: new, parent, position });
        };
        let child = register.child(parent, position);
        // Threads that only other users of the register have spawned come first.
        for id in new.0..=child.0 {
            self.add(register.info(ThreadId(id)));
        }
        child
    }

    /// Returns the parent and position of `thread`.
    #[inline]
    pub fn info(&self, thread: ThreadId) -> ThreadInfo {
        self.entry(thread).info
    }

    /// Returns the name of the first event of `thread` in fingerprints.
    #[inline]
    pub fn first_event(&self, thread: ThreadId) -> Name {
        self.entry(thread).first_event
    }

    /// Returns whether ids do not depend on the order in which threads were registered.
    #[inline(always)]
    pub(crate) fn is_flat(&self) -> bool {
        self.is_flat
    }

    /// Returns the number of registered threads, main included.
    pub fn count(&self) -> usize {
        1 + self.others.len()
    }

    /// Becomes equal to `other`. Keeps the allocated memory if `other` has no threads but main.
    pub(crate) fn become_like(&mut self, other: ThreadIds) {
        if other.count() > 1 || other.register.is_some() {
            *self = other;
        } else {
            self.others.clear();
            self.main.children.clear();
            (self.is_flat, self.register) = (true, None);
        }
    }

    /// Forgets all but the first `count` threads, unless the ids are shared.
    pub(crate) fn truncate(&mut self, count: usize) {
        if self.register.is_some() {
            return;
        }
        while self.count() > count {
            let Some(Entry { info, .. }) = self.others.pop() else { return };
            // A parent has a smaller id than its children.
            let children = &mut self.entry_mut(info.parent).children;
            if let Some(child) = children.get_mut(info.position as usize) {
                *child = None;
            }
        }
        self.is_flat = self.others.iter().all(|other| is_flat(&other.info));
    }

    #[inline]
    fn entry(&self, thread: ThreadId) -> &Entry {
        if thread.0 == ThreadId::MAIN.0 { &self.main } else { &self.others[thread.index() - 1] }
    }

    fn entry_mut(&mut self, thread: ThreadId) -> &mut Entry {
        match thread {
            ThreadId::MAIN => &mut self.main,
            other => &mut self.others[other.index() - 1],
        }
    }

    fn add(&mut self, info: ThreadInfo) -> ThreadId {
        self.is_flat &= is_flat(&info);
        let parent = self.entry_mut(info.parent);
        if info.position != u32::MAX {
            let position = info.position as usize;
            if parent.children.len() <= position {
                parent.children.resize(position + 1, None);
            }
            parent.children[position] = Some(info.id);
        }
        let first_event = parent.first_event.child(info.position);
        self.others.push(Entry { info, first_event, children: Vec::new() });
        info.id
    }
}

/// Returns whether a thread is a child of main and its id is its position plus one.
fn is_flat(info: &ThreadInfo) -> bool {
    info.parent == ThreadId::MAIN && info.id.0 == info.position.wrapping_add(1)
}
