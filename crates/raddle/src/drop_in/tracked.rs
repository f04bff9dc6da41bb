//! Memory that an execution has to free.

use std::mem::ManuallyDrop;

use raddle_core::Site;
use raddle_engine::Initial;
use raddle_runtime::port::{self, Name};

/// Something that is a leak if the execution does not drop it, see [`Leaks::Fail`](crate::Leaks::Fail).
#[derive(Debug)]
pub struct Tracked {
    /// An object of raddle's own: only its memory counts.
    name: ManuallyDrop<Name>,
}

impl Tracked {
    /// Begins to track `bytes` of memory that are called `what` in reports. Does nothing outside of executions.
    #[track_caller]
    pub fn new(what: &str, bytes: usize) -> Tracked {
        let (name, site) = (ManuallyDrop::new(Name::new()), Site::caller());
        port::name_object(&name, || Some(Initial::Cell), what, site);
        port::own(&name, || Some(Initial::Cell), bytes, site);
        Tracked { name }
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        port::disown(&self.name);
    }
}
