//! Plain shared memory.

use std::sync::{Mutex, PoisonError};

use raddle_core::{Action, CellOp, Op, Site};
use raddle_engine::Initial;
use raddle_runtime::port::{self, Kind, Name};

/// A plain shared variable, for modelling programs that access memory without synchronisation.
///
/// Its accesses are scheduling points under [`Granularity::All`](crate::Granularity::All).
///
/// ```
/// let x = raddle::cell::Shared::new(1);
/// x.set(x.get() + 1);
/// assert_eq!(x.get(), 2);
/// ```
#[derive(Debug, Default)]
pub struct Shared<T> {
    name: Name,
    /// Never contended inside a run; outside one it keeps the accesses whole.
    value: Mutex<T>,
}

impl<T: Copy> Shared<T> {
    /// A variable that holds `value`.
    pub const fn new(value: T) -> Shared<T> {
        Shared { name: Name::new(), value: Mutex::new(value) }
    }

    /// Reads it.
    #[track_caller]
    pub fn get(&self) -> T {
        self.announce(CellOp::Read, Site::caller());
        *self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes it.
    #[track_caller]
    pub fn set(&self, value: T) {
        self.announce(CellOp::Write, Site::caller());
        *self.value.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }

    fn announce(&self, op: CellOp, site: Site) {
        if port::announces_plain_accesses() {
            let make = |object| Op::new(object, Action::Cell(op));
            port::operate(Kind::Any, &self.name, || Some(Initial::Cell), make, site);
        }
    }
}
