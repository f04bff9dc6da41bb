//! Objects of accesses to memory: which object an access is an operation on, by the layout of the check.

use std::ptr;

use raddle_core::{MemoryModel, ObjectId, Scalar, Site};
use raddle_engine::Initial;

use crate::heap;
use crate::layout::{Change, Part, Place};
use crate::run::{Outcome, State, refuse};
use crate::variables::Use;

/// The object of an access.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Located {
    pub(crate) object: ObjectId,
    /// Whether other accesses to the object are to other bytes, so that its value is not one number.
    pub(crate) is_mixed: bool,
    /// The number of the bytes among those that form one object.
    pub(crate) part: u8,
}

/// Tags of objects: the size of accesses, and this bit if the object is an atomic variable. Zero if accesses have to
/// look into the layout.
const ATOMIC: u8 = 0x80;
const LOOK: u8 = 0;

/// Returns the size of a variable in bytes.
pub(crate) const fn bytes(scalar: Scalar) -> usize {
    scalar.bits().div_ceil(8) as usize
}

impl State {
    /// Returns the object of an atomic access to `size` bytes. `now` reads their value.
    #[inline]
    pub(crate) fn atomic(
        &self,
        address: usize,
        size: usize,
        scalar: Scalar,
        now: impl Fn() -> u64,
        site: Site,
    ) -> Located {
        match self.variables.borrow().get(address, Use::Variable) {
            Some((object, tag)) if tag == size as u8 | ATOMIC => {
                return Located { object, is_mixed: false, part: 0 };
            }
            Some(_) | None => {}
        }
        self.locate(address, size, Some(scalar), &now, site)
    }

    /// Returns the object of a plain access to bytes that [`pieces`](State::pieces) returned.
    pub(crate) fn plain(&self, address: usize, size: usize, site: Site) -> ObjectId {
        match self.variables.borrow().get(address, Use::Variable) {
            Some((object, tag)) if tag & !ATOMIC == size as u8 => return object,
            Some(_) | None => {}
        }
        let now = || read(address, size.min(8));
        self.locate(address, size, None, &now, site).object
    }

    /// Returns a plain access in pieces, each of which is an access to one object: first address and size.
    pub(crate) fn pieces(&self, address: usize, size: usize) -> Vec<(usize, usize)> {
        if size <= 16
            && let Some((_, tag)) = self.variables.borrow().get(address, Use::Variable)
            && tag & !ATOMIC == size as u8
        {
            return vec![(address, size)];
        }
        let place = self.place(address);
        let pieces = self.layout.borrow().parts(place, size);
        let absolute = |(first, end): (usize, usize)| (first - place.1 + address, end - first);
        if size <= 16 && pieces.iter().all(|&(first, end)| self.is_unknown(place, first, end)) {
            // Nothing is known of these bytes.
            return vec![(address, size)];
        }
        pieces.into_iter().map(absolute).collect()
    }

    fn is_unknown(&self, place: Place, first: usize, end: usize) -> bool {
        !self.layout.borrow().knows((place.0, first), end - first)
    }

    #[cold]
    fn locate(
        &self,
        address: usize,
        size: usize,
        scalar: Option<Scalar>,
        now: &dyn Fn() -> u64,
        site: Site,
    ) -> Located {
        let place = self.place(address);
        let (part, change) = self.layout.borrow_mut().part(place, size, scalar);
        let first = address - (place.1 - part.first.1);
        let (group, number) = self.layout.borrow().group(part.first);
        let (key, used_as) = if part.is_grouped {
            (group.0.rotate_left(20) ^ group.1, Use::Group)
        } else {
            (first, Use::Variable)
        };
        let known = self.variables.borrow().get(key, used_as);
        match change {
            Change::None => {}
            Change::Known if known.is_none() => {}
            Change::Known | Change::Overlap => self.begin_anew(),
        }
        let is_mixed = part.is_mixed || part.is_grouped;
        if is_mixed && scalar.is_some() && self.memory.get() == MemoryModel::Rc11 {
            refuse(&format!(
                "the program accesses the memory at {address:#x} by atomic operations of different sizes, or waits for \
                 it together with other memory, which raddle models under sequential consistency only"
            ));
        }
        if is_mixed {
            self.needs_no_values();
        }
        let object = known.map(|(object, _)| object).unwrap_or_else(|| {
            let initial = match part.scalar {
                Some(scalar) => Initial::Atomic(scalar, initial(&part, first, address, now)),
                None => Initial::Cell,
            };
            let identity = if part.is_grouped { 0 } else { first };
            self.declare_as(key, used_as, identity, initial, LOOK, site)
        });
        if !is_mixed {
            let kind = if part.scalar.is_some() { ATOMIC } else { 0 };
            let tag = if part.size <= 16 { part.size as u8 | kind } else { LOOK };
            self.variables.borrow_mut().set(first, Use::Variable, object, tag);
        }
        Located { object, is_mixed, part: number }
    }

    /// Ends the run: the check begins anew with what is known of the layout now.
    pub(crate) fn begin_anew(&self) -> ! {
        *self.outcome.borrow_mut() = Outcome::NeedsLayout;
        self.end_process(0)
    }

    /// Returns what an address is in every run.
    pub(crate) fn place(&self, address: usize) -> Place {
        if heap::contains(address)
            && let Some(block) = self.heap.borrow().block(address)
        {
            return (block.origin, address - block.first);
        }
        (0, address)
    }
}

/// Returns the initial value of a variable: what the access sees, if it is an access to all of it.
fn initial(part: &Part, first: usize, address: usize, now: &dyn Fn() -> u64) -> u64 {
    let size = part.scalar.map_or(0, bytes);
    if first == address && size == part.size { now() } else { read(first, part.size.min(8)) }
}

/// Returns what memory holds.
pub(crate) fn read(address: usize, size: usize) -> u64 {
    let place = ptr::with_exposed_provenance::<u8>(address);
    (0..size).rev().fold(0, |value, byte| {
        // SAFETY: the program accesses these bytes.
        let place = unsafe { place.add(byte) };
        // SAFETY: as above; one OS thread runs.
        value << 8 | u64::from(unsafe { place.read_volatile() })
    })
}
