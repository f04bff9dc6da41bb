//! What all synchronisation objects have in common: they are memory.
//!
//! An operation is an atomic read of the object's first byte, and initialising or destroying it is a write. So both race
//! with operations that nothing orders, and an operation on freed memory is found. A destroyed object is marked until
//! something else is written to its memory.

use std::ffi::c_void;

use raddle_core::{Action, Effect, ObjectId, Site};
use raddle_engine::Initial;

use crate::hooks::plain::{self, Access};
use crate::run::state;
use crate::variables::Use;

/// The first eight bytes of an object that was destroyed.
const DESTROYED: u64 = 0xDE57_0C0D_0BAD_10C5;

/// Returns the engine's object for the one at an address, which an operation is about to use.
pub(super) fn object(
    place: *mut c_void,
    used_as: Use,
    initial: impl FnOnce() -> Initial,
    site: Site,
) -> ObjectId {
    plain::access(place.addr(), 1, Access::Synchronise, site.key());
    check_alive(place, used_as, site);
    state().object(place.addr(), used_as, initial, site)
}

/// Performs an operation on the object at an address. Another thread may have destroyed or freed it before the calling
/// thread has its turn.
pub(super) fn act(
    place: *mut c_void,
    used_as: Use,
    initial: impl FnOnce() -> Initial,
    action: Action,
    site: Site,
) -> Effect {
    let object = object(place, used_as, initial, site);
    let effect = state().act(object, action, site);
    state().check_access(place.addr(), 1, site.key());
    check_alive(place, used_as, site);
    effect
}

/// An object is initialised at an address.
pub(super) fn initialise(place: *mut c_void, pc: usize) {
    plain::access(place.addr(), 1, Access::Write, pc);
}

/// The next operation at an address is on another object.
pub(super) fn forget(place: *mut c_void, used_as: Use) {
    state().variables.borrow_mut().forget(place.addr(), used_as);
}

/// The object at an address ends.
pub(super) fn destroy(place: *mut c_void, used_as: Use, pc: usize) {
    plain::access(place.addr(), 1, Access::Write, pc);
    forget(place, used_as);
    // SAFETY: all objects that can be destroyed have at least eight bytes, and the program has given this one up.
    unsafe { place.cast::<u64>().write_unaligned(DESTROYED) };
}

/// Ends the run with a failure of the calling thread at an address of its code.
pub(super) fn fail(message: &str, pc: usize) -> ! {
    state().fail(message.to_owned(), Some(format!("{pc:#x}")))
}

/// Ends the run if the object at an address was destroyed.
pub(super) fn check_alive(place: *mut c_void, used_as: Use, site: Site) {
    let name = match used_as {
        Use::Mutex => "mutex",
        Use::Condvar => "condition variable",
        Use::RwLock => "reader-writer lock",
        Use::Barrier => "barrier",
        Use::Semaphore => "semaphore",
        // These cannot be destroyed.
        Use::Once
        | Use::Spin
        | Use::Variable
        | Use::Group
        | Use::Raced
        | Use::Alarm
        | Use::Signals => return,
    };
    // SAFETY: the program passed an object, and the kinds above have at least eight bytes.
    if unsafe { place.cast::<u64>().read_unaligned() } == DESTROYED {
        fail(&format!("a thread uses a {name} that was destroyed"), site.key());
    }
}
