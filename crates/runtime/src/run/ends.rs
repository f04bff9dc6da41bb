//! The ends of objects, uses after them, and stacks at both.
//!
//! An end is no event: only the last holder of a reference ends an object, so that an end could not change places with a
//! use. What is wrong follows from the class of the run, see `raddle_analysis::freed`.

use std::alloc::Layout;
use std::cell::Cell;

use raddle_core::{Description, Moment, ObjectId, Site, Stack, ThreadId};
use raddle_engine::{Initial, Memory};

use super::Run;
use crate::stack_text::stack_text;
use crate::{Backend, panics, port};

/// An object that ended before the run used it.
pub(crate) struct UnusedEnd {
    address: usize,
    thread: ThreadId,
    after: usize,
    made: Site,
    /// The stack, if the run records stacks.
    stack: Option<String>,
}

/// Where the object whose stacks are recorded was when the run first used it.
#[derive(Default)]
pub(crate) struct WatchedPlace {
    address: Cell<Option<usize>>,
    /// Whether the place was in an `Arc` whose memory was freed.
    was_in_arc: Cell<bool>,
}

impl WatchedPlace {
    pub(crate) fn clear(&self) {
        self.address.set(None);
        self.was_in_arc.set(false);
    }
}

impl<B: Backend, M: Memory> Run<'_, '_, B, M> {
    /// Records the end of an object. Returns whether later uses are to be found.
    pub(super) fn end_object(&self, object: Option<ObjectId>, address: usize, made: Site) -> bool {
        if self.state().is_over() {
            return false;
        }
        if !self.pool.flags.heap {
            self.pool.ended_places.borrow_mut().push((address, object));
        }
        let me = self.me();
        let (threads, after) = self
            .with_engine(|engine, _| (engine.trace().threads.len(), engine.trace().events.len()));
        // All other threads have ended, and everything that they did happened before.
        if me == ThreadId::MAIN && self.joined.get() + 1 == threads {
            return object.is_some();
        }
        port::unobserved(|| match object {
            Some(object) => self.record_end(me, object, address),
            None => {
                self.record_unused_end(UnusedEnd { address, thread: me, after, made, stack: None })
            }
        });
        true
    }

    /// Records the end of an object that the run did not use. It becomes known to the run if it is used later.
    #[cold]
    fn record_unused_end(&self, mut end: UnusedEnd) {
        if self.with_engine(|engine, _| engine.watches()) {
            end.stack = Some(stack_text());
        }
        self.pool.data.get().unused_ends.borrow_mut().push(end);
    }

    /// Records the end of an object by `me`.
    #[cold]
    fn record_end(&self, me: ThreadId, object: ObjectId, address: usize) {
        let is_watched = self.with_engine(|engine, _| {
            engine.ended(me, object);
            engine.is_watched(object)
        });
        if is_watched {
            let of_arc = self.may_be_of_arc(address);
            self.record_stack_of(object, Moment::End, 0, of_arc);
        }
    }

    #[inline(always)]
    pub(super) fn is_watched(&self, object: ObjectId) -> bool {
        self.with_engine(|engine, _| engine.is_watched(object))
    }

    /// Notes where an object is that was just declared, if its stacks are recorded.
    pub(super) fn note_place(&self, object: ObjectId, address: usize) {
        if self.is_watched(object) {
            self.pool.data.get().watched.address.set(Some(address));
        }
    }

    /// Notes whether a block that is about to be freed is an `Arc` that contained the watched object.
    pub(super) fn note_free(&self, block: usize, layout: Layout) {
        let watched = &self.pool.data.get().watched;
        let is_inside = |address: usize| (block..block + layout.size()).contains(&address);
        if let Some(address) = watched.address.get().filter(|&address| is_inside(address)) {
            let has_counts = address - block >= size_of::<Counts>()
                && layout.align() >= align_of::<Counts>()
                && read_counts(block) == [0; 2];
            watched.was_in_arc.set(has_counts);
        }
    }

    /// Returns whether an `Arc` may order the end of the watched object, which is now at `address`: the object was moved
    /// out of the last `Arc`, or is replaced inside of it by `Arc::get_mut`. Without `raddle::Alloc` it is not known what
    /// the object was moved out of, or is in.
    fn may_be_of_arc(&self, address: usize) -> bool {
        let data = self.pool.data.get();
        let Some(first) = data.watched.address.get() else { return false };
        if first != address {
            return data.watched.was_in_arc.get() || !self.pool.flags.heap;
        }
        let has_counts = |block: usize| {
            address - block >= size_of::<Counts>()
                && std::ptr::without_provenance::<Counts>(block).is_aligned()
                && read_counts(block) == [1; 2]
        };
        data.heap.block_of(address).is_some_and(has_counts)
    }

    /// Ends the run because the calling thread uses an object after its end. Returns only if the run is over already, or
    /// if the thread unwinds.
    #[cold]
    pub(super) fn fail_by_late_use(
        &self,
        object: Option<ObjectId>,
        address: usize,
        ends: bool,
        site: Site,
    ) {
        if self.state().is_over() {
            return;
        }
        let me = self.me();
        let object = object.unwrap_or_else(|| self.declare_ended(address, site));
        if self.is_watched(object) {
            self.record_stack(object, if ends { Moment::End } else { Moment::Access }, 0);
        }
        self.with_engine(|engine, _| engine.fail_by_late_use(me, object, ends, site));
        self.late_user.set(Some(me));
        self.leave(me);
        if !std::thread::panicking() {
            panics::tear_down();
        }
    }

    /// Declares an object that ended before the run used it, and records its end.
    fn declare_ended(&self, address: usize, site: Site) -> ObjectId {
        let me = self.me();
        let ends = self.pool.data.get().unused_ends.borrow();
        let known = ends.iter().rev().find(|end| end.address == address);
        let object = self.with_engine(|engine, _| {
            let object = engine.declare(me, Initial::Cell, site);
            if let Some(&UnusedEnd { thread, after, .. }) = known {
                engine.ended_earlier(thread, object, after);
            }
            object
        });
        let Some(end) = known else { return object };
        if port::records() {
            let known = Description { object, made: end.made, type_name: "" };
            port::unobserved(|| self.with_engine(|engine, _| engine.describe(known)));
        }
        if let Some(text) = end.stack.clone().filter(|_| self.is_watched(object)) {
            self.add_stack_of_end(object, end.thread, end.after, text);
        }
        object
    }

    /// Records the stack of the calling thread at an access to `object`, before the last `own` events.
    #[cold]
    pub(super) fn record_stack(&self, object: ObjectId, moment: Moment, own: usize) {
        self.record_stack_of(object, moment, own, false);
    }

    /// Records a stack. `of_arc` is whether an `Arc` may order the end of the object.
    #[cold]
    fn record_stack_of(&self, object: ObjectId, moment: Moment, own: usize, of_arc: bool) {
        let text = port::unobserved(stack_text);
        let events = self.with_engine(|engine, _| engine.trace().events.len());
        let (after, in_arc) = (events.saturating_sub(own), of_arc || is_in_arc(&text));
        let stack = Stack { object, thread: self.me(), after, moment, in_arc, text };
        self.with_engine(|engine, _| engine.record_stack(stack));
    }

    /// Records the stack of `thread` when it ended `object`, after the first `after` events.
    #[cold]
    pub(super) fn add_stack_of_end(
        &self,
        object: ObjectId,
        thread: ThreadId,
        after: usize,
        text: String,
    ) {
        let in_arc = is_in_arc(&text);
        let stack = Stack { object, thread, after, moment: Moment::End, in_arc, text };
        self.with_engine(|engine, _| engine.record_stack(stack));
    }
}

/// Returns whether a stack is inside the last drop of a `std::sync::Arc`, other than the one inside raddle's counted
/// `Arc`, whose counts are operations. Returns true if the stack has no names, so that this cannot be excluded.
fn is_in_arc(stack: &str) -> bool {
    let is_place = |line: &&str| !line.trim_start().starts_with("at ");
    let frames: Vec<&str> = stack.lines().filter(is_place).collect();
    let is_drop_slow = |frame: &str| {
        frame.contains("drop_slow") && (frame.contains("Arc<") || frame.contains("sync::Arc"))
    };
    let is_glue = |frame: &&&str| {
        let function = frame.split_once(": ").map_or("", |(_, function)| function);
        let function = function.trim_start_matches('<');
        ["core::", "alloc::", "std::"].iter().any(|library| function.starts_with(library))
    };
    let drops = frames.iter().enumerate().filter(|(_, frame)| is_drop_slow(frame));
    let mut callers = drops.map(|(at, _)| frames[at..].iter().find(|frame| !is_glue(frame)));
    !frames.iter().any(|frame| frame.contains("::"))
        || callers.any(|caller| !caller.is_some_and(|caller| caller.contains("sync::counted")))
}

/// The counts of strong and weak references. An `Arc` of the standard library begins with them, before its content.
type Counts = [usize; 2];

/// Reads the beginning of a block that is not freed yet and has room for the counts of an `Arc`. In an `Arc` both counts are
/// zero when it is about to be freed, and one while there is a single reference.
fn read_counts(block: usize) -> Counts {
    let counts: *const Counts = std::ptr::with_exposed_provenance(block);
    // SAFETY: the block has not been freed yet, is aligned, and large enough. Whatever is in it are some bytes: the
    // read is volatile, so that nothing is assumed of them.
    unsafe { counts.read_volatile() }
}

#[cfg(test)]
mod tests {
    use super::is_in_arc;

    const DROP: &str = "  1: core::ptr::drop_in_place<raddle::cell::UnsafeCell<u32>>\n  2: alloc::sync::Arc<T,A>::drop_slow\n  \
        3: <alloc::sync::Arc<T,A> as core::ops::drop::Drop>::drop\n             at /rustc/sync.rs:1:1\n";

    #[test]
    fn the_caller_decides_whose_drop_it_is() {
        let of_std = format!("{DROP}  4: queue::main\n  5: core::ops::function::FnOnce::call_once");
        let counted = format!(
            "{DROP}  4: raddle::sync::counted::release::Release<T>::finish\n  5: queue::main"
        );
        let both = format!("{counted}\n  6: alloc::sync::Arc<T,A>::drop_slow\n  7: queue::main");
        let neither = "  1: queue::free\n  2: queue::main";
        assert!(
            is_in_arc(&of_std) && !is_in_arc(&counted) && is_in_arc(&both) && !is_in_arc(neither)
        );
        assert!(is_in_arc("  1: <unknown>"), "no names");
    }
}
