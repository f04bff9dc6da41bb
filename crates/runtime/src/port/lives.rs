//! Spawns and joins, as the mirror asks for them.
//!
//! What may unwind is a second call, see [`Visit`](crate::way_back::Visit).

use std::mem::transmute;
use std::panic::Location;

use raddle_core::{Site, ThreadId};

use super::Port;
use crate::body::HandedOver;
use crate::way_back::visit;
use crate::{Body, Fate};

/// What came of a spawn, beside the number of the child: nothing, if it has started.
pub(crate) mod spawned {
    /// It was declared, no more: the rest takes the longer way.
    pub(crate) const UNUSUALLY: u64 = 1 << 32;
    /// The run was over before it started.
    pub(crate) const TOO_LATE: u64 = 2 << 32;
    /// It has started, and then the run was over.
    pub(crate) const AND_OVER: u64 = 3 << 32;
}

/// How a join went.
#[derive(Copy, Clone, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Joined {
    /// As most.
    AsMost,
    /// Nothing was announced yet.
    Unusually,
    /// It was announced, and then the run was over or a thread unwinding.
    Interrupted,
    /// Performing it ended the run.
    AndOver,
}

impl Port {
    /// Starts a thread.
    #[inline(always)]
    pub(super) fn spawn(&self, body: Body, site: Site) -> ThreadId {
        let (run, entries) = self.get();
        let parts = body.into_parts();
        let fate = parts.fate as *const Fate as *const ();
        // SAFETY: `connect` set both together, for a run that has not ended. These are parts of a body.
        let word = unsafe { visit(entries.spawn, run, parts.data.as_ptr(), fate, address(site)) };
        if word >> 32 == 0 {
            return ThreadId(word as u32);
        }
        self.spawn_otherwise(word, parts, site)
    }

    #[cold]
    fn spawn_otherwise(&self, word: u64, parts: HandedOver, site: Site) -> ThreadId {
        let (run, entries) = self.get();
        let child = ThreadId(word as u32);
        let body = || Body::from_parts(parts);
        match word & !u64::from(u32::MAX) {
            // SAFETY: as above.
            spawned::UNUSUALLY => unsafe { (entries.spawn_unusually)(run, child, body(), site) },
            spawned::TOO_LATE => {
                let _given_up = body();
                // SAFETY: as above.
                unsafe { (entries.refuse_spawn)(run, child, site) }
            }
            spawned::AND_OVER => {
                // SAFETY: as above.
                unsafe { (entries.refuse_spawn)(run, child, site) }
            }
            _ => unreachable!("raddle invariant broken: a spawn that ends otherwise"),
        }
    }

    /// Waits until `thread` has ended.
    #[inline(always)]
    pub(super) fn join(&self, thread: ThreadId, site: Site) {
        let (run, entries) = self.get();
        let number = thread.0 as usize as *const ();
        // SAFETY: `connect` set both together, for a run that has not ended.
        let how = unsafe { visit(entries.join, run, number, number, address(site)) };
        if how != Joined::AsMost as u64 {
            self.join_otherwise(how, thread, site);
        }
    }

    #[cold]
    fn join_otherwise(&self, how: u64, thread: ThreadId, site: Site) {
        let (run, entries) = self.get();
        let all = [Joined::AsMost, Joined::Unusually, Joined::Interrupted, Joined::AndOver];
        // SAFETY: as above.
        unsafe { (entries.join_otherwise)(run, all[how as usize], thread, site) }
    }
}

/// Where the site is, or null if it is unknown.
#[inline(always)]
fn address(site: Site) -> *const () {
    // SAFETY: a reference is an address, and none is null.
    unsafe { transmute::<Option<&Location<'_>>, *const ()>(site.location()) }
}
