//! Objects that become known to a run, and accesses to plain memory.

use alloc::string::String;
use alloc::vec::Vec;

use raddle_core::{
    Allocation, End, Ending, LateUse, ObjectId, ObjectInfo, ObjectKind, Panic, PlainAccess, Site,
    ThreadId,
};

use super::table::grow;
use super::{Engine, Slot};
use crate::Memory;
use crate::object::{Initial, Object};
use crate::objects::Parker;

impl<M: Memory> Engine<M> {
    /// Declares an object at its first announcement, by `by` at `site`.
    pub fn declare(&mut self, by: ThreadId, initial: Initial, site: Site) -> ObjectId {
        let name = self.next_event(by);
        let number = initial.number();
        let info = ObjectInfo { kind: initial.kind(), initial: number, identity: 0, name, site };
        let id = self.add_object(info);
        let slot = &mut self.objects[id.index()];
        slot.object.become_new(initial);
        if let Initial::RwLock = initial {
            self.has_rwlocks = true;
        }
        if let Initial::Atomic(..) = initial {
            self.memory.declare(&mut slot.location, number);
        }
        id
    }

    /// Records an access of `by` to a plain variable that is no scheduling point.
    pub fn touch(&mut self, by: ThreadId, object: ObjectId, writes: bool, site: Site) {
        if !self.state.is_over() {
            let after = self.trace.events.len();
            self.trace.plain.push(PlainAccess { thread: by, after, object, writes, site });
        }
    }

    /// Records an access to a plain variable that may be older than others that were recorded.
    #[cold]
    pub fn touched(&mut self, access: PlainAccess) {
        let place = self.trace.plain.partition_point(|known| known.after <= access.after);
        self.trace.plain.insert(place, access);
    }

    /// Records the end of an object by `by`.
    pub fn ended(&mut self, by: ThreadId, object: ObjectId) {
        let after = self.trace.events.len();
        self.trace.ends.push(End { object, thread: by, after });
    }

    /// Records the end of an object by `by` after the first `after` events. The object was not used before.
    #[cold]
    pub fn ended_earlier(&mut self, by: ThreadId, object: ObjectId, after: usize) {
        self.trace.ends.push(End { object, thread: by, after });
    }

    /// Ends the run because `by` uses an object after its end, at `site`, or ends it again.
    #[cold]
    pub fn fail_by_late_use(&mut self, by: ThreadId, object: ObjectId, ends: bool, site: Site) {
        let after = self.trace.events.len();
        let access = PlainAccess { thread: by, after, object, writes: ends, site };
        self.trace.late_use = Some(LateUse { access, ends });
        let message = if ends { "an object was freed twice" } else { "use after free" };
        let panic = Panic { thread: by, message: message.into(), place: None, backtrace: None };
        // The thread does not unwind, so the run cannot be led further.
        self.end_with(Ending::Panicked(panic));
    }

    /// Records, after the run, that the memory of `object` was freed twice, by these threads after these numbers of
    /// events. `None` if no object was found in the memory. Returns the object that stands for the memory.
    #[cold]
    pub fn freed_twice(
        &mut self,
        object: Option<ObjectId>,
        first: (ThreadId, usize),
        second: (ThreadId, usize),
    ) -> ObjectId {
        self.swap_whole_trace();
        let object = object.unwrap_or_else(|| self.declare(first.0, Initial::Cell, Site::UNKNOWN));
        self.trace.ends.push(End { object, thread: first.0, after: first.1 });
        let (thread, after) = second;
        let access = PlainAccess { thread, after, object, writes: true, site: Site::UNKNOWN };
        if self.trace.late_use.is_none() {
            self.trace.late_use = Some(LateUse { access, ends: true });
        }
        self.swap_whole_trace();
        object
    }

    /// Records, after the run, the names that the program gave to threads and objects.
    #[cold]
    pub fn record_names(
        &mut self,
        threads: Vec<(ThreadId, String)>,
        objects: Vec<(ObjectId, String)>,
    ) {
        let is_there = |id| self.trace.threads.iter().any(|thread| thread.id == id);
        self.trace.thread_names = threads.into_iter().filter(|name| is_there(name.0)).collect();
        self.trace.object_names = objects;
    }

    /// Asks for the stacks at accesses and ends of `object` in the next runs, until asked for another.
    pub fn watch(&mut self, object: ObjectId) {
        self.watched = object;
    }

    /// Returns whether the stacks at accesses and ends of `object` are asked for.
    #[inline(always)]
    pub fn is_watched(&self, object: ObjectId) -> bool {
        self.watched == object
    }

    /// Returns whether the stacks at accesses and ends of an object are asked for.
    pub fn watches(&self) -> bool {
        self.watched != ObjectId::NONE
    }

    /// Records who made an object that was just declared: as a plain write by its creator, before all that followed.
    #[cold]
    pub fn created(&mut self, creation: Allocation) {
        let Allocation { object, thread, after, .. } = creation;
        let place = self.trace.plain.partition_point(|access| access.after < after);
        let write = PlainAccess { thread, after, object, writes: true, site: Site::UNKNOWN };
        self.trace.plain.insert(place, write);
    }

    /// Records the memory that was not freed by the end of the run.
    #[cold]
    pub fn left(&mut self, unfreed: Vec<Allocation>) {
        self.whole_trace_mut().unfreed = unfreed;
    }

    /// Sets what identifies an object across runs; not zero.
    pub fn identify(&mut self, object: ObjectId, identity: u64) {
        self.trace.objects[object.index()].identity = identity;
    }

    /// Returns the park token of `thread`, about to be used by `by`.
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

    /// Adds an object to the run. The caller sets its state.
    #[inline]
    pub(super) fn add_object(&mut self, info: ObjectInfo) -> ObjectId {
        let id = ObjectId(self.trace.objects.len() as u32);
        self.trace.objects.push(info);
        if self.objects.len() <= id.index() {
            let room = (id.index() + 1).next_power_of_two();
            grow(&mut self.objects, room, Slot::default);
        }
        self.objects[id.index()].renew();
        id
    }
}
