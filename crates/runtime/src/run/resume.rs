//! Runs that are continued in the middle, with another view connected to the port.

use std::ptr::NonNull;

use raddle_engine::Memory;

use super::{Run, Watched};
use crate::Backend;
use crate::port::{Connection, Execution};

impl<B: Backend, M: Memory> Run<'_, '_, B, M> {
    /// Continues the run, if it is not over. From now on threads tell their local states.
    ///
    /// # Safety
    /// `watched`, a view of this run, can be used until the connection is dropped.
    #[cold]
    pub(super) unsafe fn resume(&self, watched: &Watched<'_>, connection: &Connection) {
        watched.take_frames();
        // SAFETY: promised by the caller.
        unsafe { connection.exchange(without_lifetime(watched)) };
        let turn = self.with_engine(|engine, choices| engine.resume(choices));
        if let Some(thread) = turn.thread() {
            self.enter(thread);
        }
    }
}

/// Returns a pointer to a run or a view of it.
pub(super) fn without_lifetime<'r>(run: &'r (dyn Execution + 'r)) -> NonNull<dyn Execution> {
    // SAFETY: only the lifetime of a pointer is changed, and every use of that needs a promise of its own.
    unsafe {
        std::mem::transmute::<NonNull<dyn Execution + 'r>, NonNull<dyn Execution>>(NonNull::from(
            run,
        ))
    }
}
