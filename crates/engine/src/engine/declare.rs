//! Objects as they become known to a run.

use alloc::vec::Vec;

use raddle_core::fingerprint::History;
use raddle_core::{
    Chooser, Creation, ObjectId, ObjectInfo, ObjectKind, PlainAccess, Site, ThreadId,
};

use super::{Engine, NO_WAITER, News, Slot, append};
use crate::Memory;
use crate::object::{Initial, Object};
use crate::objects::{Life, Parker};

impl<M: Memory, C: Chooser> Engine<M, C> {
    /// Names an object at its first announcement, by `by` at `site`.
    pub fn declare(&mut self, by: ThreadId, initial: Initial, site: Site) -> ObjectId {
        let name = self.next_event(by);
        let number = initial.number();
        let info = ObjectInfo { kind: initial.kind(), initial: number, identity: 0, name, site };
        let id = self.add_object(info);
        let slot = &mut self.objects[id.index()];
        slot.object.become_new(initial);
        if let Initial::Atomic(..) = initial {
            self.memory.declare(&mut slot.location, number);
        }
        id
    }

    /// Notes an access to a plain variable by the running thread, which is no scheduling point.
    pub fn touch(&mut self, by: ThreadId, object: ObjectId, writes: bool, site: Site) {
        if !self.over {
            self.unusual = true;
            let after = self.trace.events.len();
            self.trace.plain.push(PlainAccess { thread: by, after, object, writes, site });
        }
    }

    /// Tells who made an object that was just declared: as a write by its creator, before all that comes
    /// after.
    #[cold]
    pub fn created(&mut self, creation: Creation) {
        self.unusual = true;
        let Creation { object, thread, after, .. } = creation;
        let place = self.trace.plain.partition_point(|access| access.after < after);
        let write = PlainAccess { thread, after, object, writes: true, site: Site::UNKNOWN };
        self.trace.plain.insert(place, write);
    }

    /// Tells what nobody has freed, after the run.
    #[cold]
    pub fn left(&mut self, unfreed: Vec<Creation>) {
        self.unusual = true;
        self.trace.unfreed = unfreed;
    }

    /// Tells what identifies an object across runs; not zero.
    pub fn identify(&mut self, object: ObjectId, identity: u64) {
        self.trace.objects[object.index()].identity = identity;
    }

    /// The thread that `by` is about to spawn, and its object for the announcement.
    #[inline(always)]
    pub fn declare_child(&mut self, by: ThreadId, site: Site) -> (ThreadId, ObjectId) {
        let name = self.next_event(by);
        let parent = &mut self.threads[by.index()];
        let position = parent.children;
        parent.children += 1;
        let child = match self.family.child(by, position) {
            Some(child) => child,
            None => self.meet_child(by, position),
        };
        if self.threads.len() <= child.index() {
            self.make_room(child);
        }
        let life = ObjectId(self.trace.objects.len() as u32);
        let state = &mut self.threads[child.index()];
        state.life = life;
        self.trace.threads.push(state.info);
        let kind = ObjectKind::Thread(child);
        // Put together where it stays, and not copied from elsewhere.
        self.trace.objects.push(ObjectInfo { kind, initial: 0, identity: 0, name, site });
        if self.objects.len() <= life.index() {
            self.make_room_for_objects();
        }
        let slot = &mut self.objects[life.index()];
        slot.renew();
        slot.object.become_life(Life::Unborn);
        (child, life)
    }

    /// The object that tells whether `thread` has ended.
    #[inline(always)]
    pub fn life(&self, thread: ThreadId) -> ObjectId {
        self.threads[thread.index()].life
    }

    /// The park token of `thread`, about to be used by `by`.
    pub fn parker(&mut self, thread: ThreadId, by: ThreadId, site: Site) -> ObjectId {
        let known = self.threads[thread.index()].parker;
        if known != ObjectId::NONE {
            return known;
        }
        let name = self.next_event(by);
        let info =
            ObjectInfo { kind: ObjectKind::Parker(thread), initial: 0, identity: 0, name, site };
        let parker = self.add_object(info);
        self.objects[parker.index()].object = Object::Parker(Parker::default());
        self.threads[thread.index()].parker = parker;
        parker
    }

    /// A place for an object; whoever asked puts it there.
    #[inline]
    pub(super) fn add_object(&mut self, info: ObjectInfo) -> ObjectId {
        let id = ObjectId(self.trace.objects.len() as u32);
        self.trace.objects.push(info);
        if self.objects.len() <= id.index() {
            self.make_room_for_objects();
        }
        self.objects[id.index()].renew();
        id
    }

    /// Places for as many more objects as there are, so that a run with many does not copy them for each.
    #[cold]
    fn make_room_for_objects(&mut self) {
        let new = Slot {
            object: Object::Variable,
            first_waiter: NO_WAITER,
            history: History::default(),
            time: 0,
            news: News::Known,
            location: M::Location::default(),
        };
        let more = self.objects.len().max(1);
        append(&mut self.objects, core::iter::repeat_n(new, more));
    }
}
