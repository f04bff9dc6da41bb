//! Where the `std` mirror meets the run it is part of.
//!
//! One thread-local holds it. Outside a run [`active`] is false and nothing else may be called.

use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use raddle_core::{Effect, ObjectId, Op, Site, ThreadId};
use raddle_engine::Initial;

use crate::epoch;

/// The body of a spawned thread.
pub trait Body: Send + Sync {
    /// Runs it; called once.
    fn run(&self);
}

/// What a run offers, without its types.
#[derive(Copy, Clone)]
pub(crate) struct Entries {
    pub(crate) submit: unsafe fn(*const (), Op, Site) -> Effect,
    pub(crate) declare: unsafe fn(*const (), Initial, Site) -> ObjectId,
    pub(crate) newest: unsafe fn(*const (), ObjectId) -> u64,
    pub(crate) life: unsafe fn(*const (), ThreadId) -> ObjectId,
    pub(crate) parker: unsafe fn(*const (), ThreadId, Site) -> ObjectId,
    pub(crate) time: unsafe fn(*const ()) -> u64,
    pub(crate) spawn: unsafe fn(*const (), Arc<dyn Body>, Site) -> ThreadId,
    pub(crate) work: unsafe fn(*const ()),
    pub(crate) finish: unsafe fn(*const (), Result<(), Box<dyn Any + Send>>),
    pub(crate) token: unsafe fn(*const ()) -> String,
}

pub(crate) struct Port {
    /// Zero outside a run; unique to the run inside one.
    epoch: Cell<u64>,
    thread: Cell<ThreadId>,
    /// The run's state, behind the types that `entries` know.
    run: Cell<*const ()>,
    entries: Cell<Option<&'static Entries>>,
    plain_accesses: Cell<bool>,
}

thread_local! {
    static PORT: Port = const {
        Port {
            epoch: Cell::new(0),
            thread: Cell::new(ThreadId::MAIN),
            run: Cell::new(std::ptr::null()),
            entries: Cell::new(None),
            plain_accesses: Cell::new(false),
        }
    };
}

/// Whether the caller is part of a run.
#[inline]
pub fn active() -> bool {
    PORT.with(|port| port.epoch.get() != 0)
}

/// The number of the run the caller is part of, or zero.
#[inline]
pub fn run_number() -> u64 {
    PORT.with(|port| port.epoch.get())
}

/// Whether accesses to plain shared variables are to be announced.
#[inline]
pub fn announces_plain_accesses() -> bool {
    PORT.with(|port| port.epoch.get() != 0 && port.plain_accesses.get())
}

/// The calling thread of the program under test.
#[inline]
pub fn thread() -> ThreadId {
    PORT.with(|port| port.thread.get())
}

/// Announces an operation, waits for its turn, and tells what came of it.
#[inline]
pub fn submit(op: Op, site: Site) -> Effect {
    PORT.with(|port| {
        let (run, entries) = port.get();
        // SAFETY: both were set together by `connect`, for a run that has not ended.
        unsafe { (entries.submit)(run, op, site) }
    })
}

/// The newest value of an atomic variable.
pub fn newest(object: ObjectId) -> u64 {
    PORT.with(|port| {
        let (run, entries) = port.get();
        // SAFETY: both were set together by `connect`, for a run that has not ended.
        unsafe { (entries.newest)(run, object) }
    })
}

/// The object that tells whether `thread` has ended.
pub fn life(thread: ThreadId) -> ObjectId {
    PORT.with(|port| {
        let (run, entries) = port.get();
        // SAFETY: both were set together by `connect`, for a run that has not ended.
        unsafe { (entries.life)(run, thread) }
    })
}

/// The park token of `thread`.
pub fn parker(thread: ThreadId, site: Site) -> ObjectId {
    PORT.with(|port| {
        let (run, entries) = port.get();
        // SAFETY: both were set together by `connect`, for a run that has not ended.
        unsafe { (entries.parker)(run, thread, site) }
    })
}

/// The calling thread's virtual time in nanoseconds.
pub fn time() -> u64 {
    PORT.with(|port| {
        let (run, entries) = port.get();
        // SAFETY: both were set together by `connect`, for a run that has not ended.
        unsafe { (entries.time)(run) }
    })
}

/// Starts a thread.
pub fn spawn(body: Arc<dyn Body>, site: Site) -> ThreadId {
    PORT.with(|port| {
        let (run, entries) = port.get();
        // SAFETY: both were set together by `connect`, for a run that has not ended.
        unsafe { (entries.spawn)(run, body, site) }
    })
}

/// The word that replays the run up to here.
pub(crate) fn token() -> String {
    PORT.with(|port| {
        let (run, entries) = port.get();
        // SAFETY: both were set together by `connect`, for a run that has not ended.
        unsafe { (entries.token)(run) }
    })
}

/// Runs the body of the calling thread.
pub(crate) fn work() {
    PORT.with(|port| {
        let (run, entries) = port.get();
        // SAFETY: both were set together by `connect`, for a run that has not ended.
        unsafe { (entries.work)(run) }
    });
}

/// Tells that the body of the calling thread has ended. Returns when there is other work.
pub(crate) fn finish(result: Result<(), Box<dyn Any + Send>>) {
    PORT.with(|port| {
        let (run, entries) = port.get();
        // SAFETY: both were set together by `connect`, for a run that has not ended.
        unsafe { (entries.finish)(run, result) }
    });
}

/// Makes a run reachable for the code it runs.
///
/// # Safety
/// `run` is what `entries` take, until [`disconnect`].
pub(crate) unsafe fn connect(
    run: *const (),
    entries: &'static Entries,
    epoch: u64,
    plain_accesses: bool,
) {
    PORT.with(|port| {
        assert!(
            port.epoch.get() == 0,
            "a raddle check was started inside another; checks do not nest"
        );
        port.epoch.set(epoch);
        port.run.set(run);
        port.entries.set(Some(entries));
        port.plain_accesses.set(plain_accesses);
        port.thread.set(ThreadId::MAIN);
    });
}

/// Ends what [`connect`] began.
pub(crate) fn disconnect() {
    PORT.with(|port| port.epoch.set(0));
}

/// The thread whose turn it is.
#[inline]
pub(crate) fn set_thread(thread: ThreadId) {
    PORT.with(|port| port.thread.set(thread));
}

impl Port {
    #[inline]
    fn get(&self) -> (*const (), &'static Entries) {
        match self.entries.get() {
            Some(entries) if self.epoch.get() != 0 => (self.run.get(), entries),
            Some(_) | None => outside(),
        }
    }
}

#[cold]
fn outside() -> ! {
    panic!("raddle invariant broken: an operation was announced outside a run")
}

/// The name an object goes by in the current run, kept inside the object itself.
///
/// `const fn new` cannot tell anybody of a new object, so it is declared when it is first used in a
/// run, and again in the next.
#[derive(Debug, Default)]
pub struct Name(AtomicU64);

/// Object numbers take this many bits of a [`Name`], the run the others.
const OBJECT_BITS: u32 = 24;

impl Name {
    /// The name of an object not used in any run yet.
    pub const fn new() -> Name {
        Name(AtomicU64::new(0))
    }

    /// The object in the current run; declared as `initial` says if it is new to it, where `None`
    /// means that somebody outside the run has hold of it.
    ///
    /// # Panics
    /// If another check, running at the same time, or somebody outside uses the object.
    #[inline]
    pub fn get(&self, initial: impl FnOnce() -> Option<Initial>, site: Site) -> ObjectId {
        let known = self.0.load(Ordering::Relaxed);
        PORT.with(|port| {
            if known >> OBJECT_BITS == port.epoch.get() {
                number(known)
            } else {
                self.claim(known, port, site);
                let (run, entries) = port.get();
                let Some(initial) = initial() else {
                    self.forget();
                    shared(site)
                };
                // SAFETY: both were set together by `connect`, for a run that has not ended.
                let object = unsafe { (entries.declare)(run, initial, site) };
                assert!(object.0 < 1 << OBJECT_BITS, "more than 16 million objects in one run");
                let name = port.epoch.get() << OBJECT_BITS | u64::from(object.0);
                self.0.store(name, Ordering::Relaxed);
                object
            }
        })
    }

    /// The object in the current run, if it was used in it.
    #[inline]
    pub fn known(&self) -> Option<ObjectId> {
        let known = self.0.load(Ordering::Relaxed);
        let here = run_number();
        (here != 0 && known >> OBJECT_BITS == here).then_some(number(known))
    }

    /// Makes the object new to the current run again.
    pub fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// To be called outside a run, by whoever has just taken hold of the object there.
    ///
    /// # Panics
    /// If a check on another OS thread uses the object.
    #[inline]
    pub fn assert_outside(&self, site: Site) {
        // Pairs with `claim`: of a run and an outsider that meet, at least one sees the other.
        let known = self.0.load(Ordering::SeqCst);
        if known != 0 && epoch::is_foreign(known >> OBJECT_BITS, 0) {
            shared(site)
        }
    }

    /// Marks the object as used by the current run, before `get` looks at its state.
    #[cold]
    fn claim(&self, known: u64, port: &Port, site: Site) {
        let mine = port.epoch.get();
        let foreign = known != 0 && epoch::is_foreign(known >> OBJECT_BITS, mine);
        let claimed = !foreign
            && self
                .0
                .compare_exchange(known, mine << OBJECT_BITS, Ordering::SeqCst, Ordering::SeqCst)
                .is_ok();
        if !claimed {
            shared(site)
        }
    }
}

fn number(name: u64) -> ObjectId {
    ObjectId(name as u32 & ((1 << OBJECT_BITS) - 1))
}

#[cold]
fn shared(site: Site) -> ! {
    panic!(
        "raddle: the object used at {site} is in use on another OS thread at the same time, by \
         another check or outside of any. A static can be used by one check at a time: run these tests one after \
         the other (`cargo test -- --test-threads=1`), or give each its own object."
    )
}
