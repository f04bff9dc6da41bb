//! Operations with a given site, for destructors, which have no caller to show.

use raddle_core::{Action, ObjectId, Op, Rmw, Site};
use raddle_runtime::port::{self, Kind};

use super::{AtomicUsize, Ordering, translate, word_of};

/// [`fence`](super::fence) at `site`.
pub(in crate::sync) fn fence_at(order: Ordering, site: Site) {
    if !port::active() {
        return std::sync::atomic::fence(order);
    }
    let op = Op::new(ObjectId::NONE, Action::Fence(translate(order)));
    port::submit(Kind::Any, op, site);
}

impl AtomicUsize {
    /// [`swap`](AtomicUsize::swap) at `site`.
    pub(in crate::sync) fn swap_at(&self, value: usize, order: Ordering, site: Site) -> usize {
        match self.read_modify_write(
            const { Self::rmw(Rmw::Swap) },
            Self::to_bits(value),
            order,
            site,
        ) {
            Some(effect) => Self::from_bits(word_of(effect)),
            None => self.inner.swap(value, order),
        }
    }

    /// [`fetch_add`](AtomicUsize::fetch_add) at `site`.
    pub(crate) fn fetch_add_at(&self, value: usize, order: Ordering, site: Site) -> usize {
        match self.read_modify_write(
            const { Self::rmw(Rmw::Add) },
            Self::to_bits(value),
            order,
            site,
        ) {
            Some(effect) => Self::from_bits(word_of(effect)),
            None => self.inner.fetch_add(value, order),
        }
    }

    /// [`fetch_sub`](AtomicUsize::fetch_sub) at `site`.
    pub(in crate::sync) fn fetch_sub_at(&self, value: usize, order: Ordering, site: Site) -> usize {
        match self.read_modify_write(
            const { Self::rmw(Rmw::Sub) },
            Self::to_bits(value),
            order,
            site,
        ) {
            Some(effect) => Self::from_bits(word_of(effect)),
            None => self.inner.fetch_sub(value, order),
        }
    }

    /// Notes that the variable counts the references to `bytes` of memory.
    pub(in crate::sync) fn own(&self, bytes: usize, site: Site) {
        port::own(&self.name, || Some(self.begin()), bytes, site);
    }

    /// Notes that the memory whose references the variable counts is not used any more.
    pub(in crate::sync) fn disown(&self) {
        port::disown(&self.name);
    }

    /// Returns the newest value. This is not an operation of the program, whose behaviour must not depend on it.
    pub(in crate::sync) fn newest(&self) -> usize {
        match self.name.known() {
            Some(object) => Self::from_bits(port::newest(object)),
            None => self.inner.load(Ordering::Relaxed),
        }
    }
}
