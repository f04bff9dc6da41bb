//! Where the `std` mirror meets the run it is part of.
//!
//! One thread-local holds it. Outside a run [`active`] is false and nothing else may be called.

use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{Ordering, compiler_fence};

use raddle_core::{
    Action, CellOp, ChannelOp, CondvarOp, Effect, MutexOp, ObjectId, Op, Site, ThreadId,
};
use raddle_engine::Initial;

use crate::blocks::Blocks;
use crate::{Body, bare};

mod entries;
mod heap;
mod here;
mod inside;
mod lives;
mod name;
mod unwinding;

pub(crate) use entries::{Caught, Entries, Operand, Parting, Plain, Pulse, Submit, Ways};
use entries::{OUTSIDE, outside};
pub use heap::{allocated, freed};
pub(crate) use heap::{keep, unnoted};
pub use inside::{Inside, inside};
pub(crate) use lives::{Joined, spawned};
pub use name::Name;
pub use unwinding::{Unwinding, has_unwound, unwinding, unwinding_in_run};
pub(crate) use unwinding::{panicked, unwinds};

/// Kinds of operations that are announced in ways of their own, because they are frequent.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Any operation.
    Any,
    /// One on an atomic variable.
    Atomic,
    /// One on an atomic variable that [adds](Op::adds).
    Add,
    /// Waiting for a mutex and taking it.
    Lock,
    /// Giving a mutex back.
    Unlock,
    /// Notifying the waiters of a condition variable.
    Notify,
    /// Coming to wait for a condition variable.
    Enqueue,
    /// Waiting for a notification, without a limit, and taking it.
    Consume,
    /// Putting a message into a channel, after waiting for room.
    Send,
    /// Putting a message into a channel without a bound.
    Post,
    /// Taking a message out of a channel, after waiting for one.
    Receive,
    /// Another one on a channel.
    Channel,
}

impl Kind {
    /// Whether only the first of its words is not zero.
    #[inline(always)]
    pub(crate) const fn is_bare(self) -> bool {
        match self {
            Kind::Any | Kind::Atomic | Kind::Add | Kind::Channel => false,
            Kind::Lock
            | Kind::Unlock
            | Kind::Notify
            | Kind::Enqueue
            | Kind::Consume
            | Kind::Send
            | Kind::Post
            | Kind::Receive => true,
        }
    }

    /// The kind of an operation.
    #[inline(always)]
    pub const fn of(op: Op) -> Kind {
        match op.action() {
            Action::Atomic(_) if op.adds() => Kind::Add,
            Action::Atomic(_) => Kind::Atomic,
            Action::Mutex(MutexOp::Lock) => Kind::Lock,
            Action::Mutex(MutexOp::Unlock) => Kind::Unlock,
            Action::Condvar(CondvarOp::NotifyOne | CondvarOp::NotifyAll) => Kind::Notify,
            Action::Condvar(CondvarOp::Enqueue) => Kind::Enqueue,
            Action::Condvar(CondvarOp::Consume { timed: false }) => Kind::Consume,
            Action::Channel(ChannelOp::Send) => Kind::Send,
            Action::Channel(ChannelOp::Receive { timed: false }) => Kind::Receive,
            Action::Channel(_) => Kind::Channel,
            Action::Mutex(MutexOp::TryLock)
            | Action::Condvar(CondvarOp::Consume { timed: true })
            | Action::Thread(_)
            | Action::Cell(_)
            | Action::RwLock(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => Kind::Any,
        }
    }
}

pub(crate) struct Port {
    /// Zero outside a run; unique to the run inside one.
    epoch: Cell<u64>,
    /// The run's state, behind types that the entries know.
    run: Cell<*const ()>,
    /// What may be called with it: outside a run, what says that there is none.
    entries: Cell<&'static Entries>,
    /// The run's engine, likewise: the next choice has to wait for one pointer less.
    engine: Cell<*mut ()>,
    ways: Cell<Ways>,
    /// Whether what is allocated now is raddle's own.
    is_noting: Cell<bool>,
    /// For how many threads of the run the mirror keeps something.
    endowed: Cell<u32>,
    blocks: Blocks,
}

thread_local! {
    static PORT: Port = const {
        Port {
            epoch: Cell::new(0),
            run: Cell::new(std::ptr::null()),
            entries: Cell::new(&OUTSIDE),
            engine: Cell::new(std::ptr::null_mut()),
            ways: Cell::new(Ways {
                plain: Plain::Noted,
                spurious: false,
                heap: false,
                unwound: false,
            }),
            is_noting: Cell::new(false),
            endowed: Cell::new(0),
            blocks: Blocks::new(),
        }
    };
}

/// The port of the calling OS thread.
#[inline(always)]
fn port() -> &'static Port {
    const { assert!(!std::mem::needs_drop::<Port>()) };
    let port = here::address();
    // SAFETY: a thread-local that needs no destructor is there as long as its OS thread. The
    // reference does not leave it: it is used up within the functions of this module.
    unsafe { bare::follow!(port as Port) }
}

/// Whether the caller is part of a run.
#[inline(always)]
pub fn active() -> bool {
    let port = port();
    bare::get!(port.epoch: u64) != 0
}

/// The number of the run the caller is part of, or zero. Numbers are far apart, see [`Name`].
#[inline(always)]
pub fn run_number() -> u64 {
    let port = port();
    bare::get!(port.epoch: u64)
}

/// The blocks of memory that are kept for threads to come.
#[inline(always)]
pub(crate) fn blocks() -> &'static Blocks {
    &port().blocks
}

/// What the run under way connected.
#[inline(always)]
pub(crate) fn run() -> *const () {
    let port = port();
    bare::get!(port.run: *const ())
}

/// Announces this operation of this kind on the object called `name`, whatever object it was made for, waits
/// for its turn, and tells what came of it. `None` outside a run.
///
/// An object new to the run is declared as `initial` says, where `None` means that somebody outside
/// the run has hold of it.
///
/// # Panics
/// If another check, running at the same time, or somebody outside uses the object.
#[inline(always)]
pub fn operate(
    kind: Kind,
    name: &Name,
    initial: impl FnOnce() -> Option<Initial> + Copy,
    op: Op,
    site: Site,
) -> Option<Effect> {
    let port = port();
    let known = name.in_run(bare::get!(port.epoch: u64));
    if known < name::NONE {
        return Some(port.submit(kind, ObjectId(known as u32), &op, site));
    }
    if port.epoch.get() == 0 {
        return None;
    }
    // The value of an atomic variable is the engine's, and what is there outside is never written.
    let owns = !matches!(kind, Kind::Atomic | Kind::Add);
    let object = name.declare(owns, initial, site);
    Some(port.submit(kind, object, &op, site))
}

/// As [`operate`], where nothing is to be told of what came of it. False outside a run.
#[inline(always)]
pub fn act(
    kind: Kind,
    name: &Name,
    initial: impl FnOnce() -> Option<Initial>,
    op: Op,
    site: Site,
) -> bool {
    let port = port();
    let known = name.in_run(bare::get!(port.epoch: u64));
    if known < name::NONE {
        port.submit(kind, ObjectId(known as u32), &op, site);
        return true;
    }
    if port.epoch.get() == 0 {
        return false;
    }
    let object = name.declare(true, initial, site);
    port.submit(kind, object, &op, site);
    true
}

/// Notes an access to the plain variable called `name`: a scheduling point if plain accesses are
/// announced, otherwise only for the record. `first` is called if the variable is new to the run. False
/// outside a run, where nothing is done.
///
/// # Panics
/// If another check, running at the same time, uses the variable.
pub fn touch(name: &Name, first: impl FnOnce(), writes: bool, site: Site) -> bool {
    let port = port();
    let initial = || {
        first();
        Some(Initial::Cell)
    };
    let known = name.in_run(bare::get!(port.epoch: u64));
    let object = if known < name::NONE {
        ObjectId(known as u32)
    } else if port.epoch.get() == 0 {
        return false;
    } else {
        name.declare(true, initial, site)
    };
    let is_point = match port.ways.get().plain {
        Plain::Noted => false,
        Plain::Point => true,
        Plain::PointIfRacy => {
            let (run, entries) = port.get();
            // SAFETY: both were set together by `connect`, for a run that has not ended.
            unsafe { (entries.is_racy)(run, site) }
        }
    };
    if is_point {
        let op = if writes { CellOp::Write } else { CellOp::Read };
        port.submit(Kind::Any, object, &Op::new(object, Action::Cell(op)), site);
    } else {
        let (run, entries) = port.get();
        // SAFETY: both were set together by `connect`, for a run that has not ended.
        unsafe { (entries.touch)(run, object, writes, site) }
    }
    true
}

/// Announces an operation of this kind, waits for its turn, and tells what came of it.
#[inline(always)]
pub fn submit(kind: Kind, op: Op, site: Site) -> Effect {
    port().submit(kind, op.object(), &op, site)
}

/// The calling thread of the program under test.
pub fn thread() -> ThreadId {
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.thread)(run) }
}

/// Whether what the calling thread is about to do is to go wrong without a reason: a wait ends, a weak
/// exchange fails. That is chosen, so often as the settings allow; never outside a run.
#[inline(always)]
pub fn spurious(site: Site) -> bool {
    let port = port();
    if port.epoch.get() == 0 || !port.ways.get().spurious {
        return false;
    }
    let (run, entries) = port.get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.spurious)(run, site) }
}

/// Calls the object `name` so in reports. Nothing outside a run.
///
/// # Panics
/// As [`operate`].
pub fn call_object(
    name: &Name,
    initial: impl FnOnce() -> Option<Initial>,
    called: &str,
    site: Site,
) {
    let port = port();
    let known = name.in_run(bare::get!(port.epoch: u64));
    let object = if known < name::NONE {
        ObjectId(known as u32)
    } else if port.epoch.get() == 0 {
        return;
    } else {
        name.declare(true, initial, site)
    };
    let (run, entries) = port.get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.call_object)(run, object, called) }
}

/// The newest value of an atomic variable.
pub fn newest(object: ObjectId) -> u64 {
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.newest)(run, object) }
}

/// The object that tells whether `thread` has ended.
#[inline]
pub fn life(thread: ThreadId) -> ObjectId {
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.life)(run, thread) }
}

/// Waits until `thread` has ended.
#[inline(always)]
pub fn join(thread: ThreadId, site: Site) {
    port().join(thread, site);
}

/// The park token of `thread`.
pub fn parker(thread: ThreadId, site: Site) -> ObjectId {
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.parker)(run, thread, site) }
}

/// The calling thread's virtual time in nanoseconds.
pub fn time() -> u64 {
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.time)(run) }
}

/// Lets virtual time pass for the calling thread.
pub fn advance(nanos: u64) {
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.advance)(run, nanos) }
}

/// What the mirror keeps for the calling thread, if anything.
pub fn belongings() -> Option<Rc<dyn Any>> {
    if port().endowed.get() == 0 {
        return None;
    }
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.belongings)(run) }
}

/// Whether the mirror keeps anything for any thread of the run.
#[inline(always)]
pub fn has_belongings() -> bool {
    let port = port();
    bare::get!(port.endowed: u32) != 0
}

/// Keeps something for the calling thread, which must have nothing yet.
pub fn endow(belongings: Rc<dyn Any>) {
    let port = port();
    port.endowed.set(port.endowed.get() + 1);
    let (run, entries) = port.get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.endow)(run, Some(belongings)) }
}

/// Forgets what was kept for the calling thread, which must have something.
pub fn disinherit() {
    let port = port();
    port.endowed.set(port.endowed.get() - 1);
    let (run, entries) = port.get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.endow)(run, None) }
}

/// A thread that got stuck takes its belongings with it.
pub(crate) fn nobody_has_belongings() {
    port().endowed.set(0);
}

/// Starts a thread.
#[inline(always)]
pub fn spawn(body: Body, site: Site) -> ThreadId {
    port().spawn(body, site)
}

/// Notes what the program calls the calling thread, for the report.
pub fn call_thread(name: &str) {
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.call_thread)(run, name) }
}

/// The word that replays the run up to here.
pub(crate) fn token() -> String {
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.token)(run) }
}

/// How many steps the run has made, if there is one. May be called in a signal handler.
#[cfg(unix)]
pub(crate) fn steps() -> Option<usize> {
    let (run, entries) = port().get();
    // SAFETY: `entries` change last when a run begins, and first and alone when it ends: if they are those of
    // a run, then `run` is there. Nothing is changed.
    unsafe { (entries.pulse)(run) }.map(|pulse| pulse.steps)
}

/// Where the calling thread is, in words.
#[cfg(unix)]
pub(crate) fn last_seen() -> String {
    let (run, entries) = port().get();
    // SAFETY: as above.
    match unsafe { (entries.pulse)(run) } {
        Some(Pulse { steps, last: Some(site) }) => format!("in step {}, after {site}", steps + 1),
        Some(Pulse { steps, last: None }) => format!("in step {}, at its beginning", steps + 1),
        None => "nowhere".to_owned(),
    }
}

/// What a thread that has ended panicked with, for the first who asks.
pub fn take_panic(thread: ThreadId) -> Option<Box<dyn Any + Send>> {
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.take_panic)(run, thread) }
}

/// Whether a coroutine of the run touches this address when its stack overflows; never outside a run.
#[cfg(unix)]
pub(crate) fn guards(address: usize) -> bool {
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.guards)(run, address) }
}

/// Runs the body of the calling thread.
#[inline(always)]
pub(crate) fn work() {
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.work)(run) }
}

/// It is the turn of the calling thread, whose exit is announced, or the run is over.
#[inline(always)]
pub(crate) fn exit() -> Parting {
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.exit)(run) }
}

/// Tells that the body of the calling thread has ended.
#[inline(always)]
pub(crate) fn finish(result: Caught) -> Parting {
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.finish)(run, result) }
}

/// Makes a run reachable for the code it runs.
///
/// # Safety
/// `run` is what `entries` take, until [`disconnect`].
#[inline(always)]
pub(crate) unsafe fn connect(
    run: *const (),
    engine: *mut (),
    entries: &'static Entries,
    epoch: u64,
    ways: Ways,
) {
    let port = port();
    if port.epoch.get() != 0 {
        nested();
    }
    port.epoch.set(epoch);
    port.run.set(run);
    port.engine.set(engine);
    port.ways.set(ways);
    // The entries last, for a signal handler that comes in between.
    compiler_fence(Ordering::SeqCst);
    port.entries.set(entries);
}

#[cold]
fn nested() -> ! {
    panic!("a raddle check was started inside another; checks do not nest")
}

/// Ends what [`connect`] began.
#[inline(always)]
pub(crate) fn disconnect() {
    let port = port();
    // The entries first, likewise.
    port.entries.set(&OUTSIDE);
    compiler_fence(Ordering::SeqCst);
    port.epoch.set(0);
}

impl Port {
    /// Submits the same operation on `object`.
    #[inline(always)]
    fn submit(&self, kind: Kind, object: ObjectId, op: &Op, site: Site) -> Effect {
        let run = bare::get!(self.run: *const ());
        let submit = bare::get!(self.entries: &'static Entries).submit[kind as usize];
        let engine = bare::get!(self.engine: *mut ());
        // Where nothing is optimised, to ask is more than to tell.
        if cfg!(debug_assertions) || !kind.is_bare() {
            // SAFETY: all were set together by `connect`, for a run that has not ended.
            return unsafe {
                submit(
                    run,
                    op.head_on(object),
                    Operand { word: op.first() },
                    engine,
                    site,
                    Operand { word: op.second() },
                )
            };
        }
        let none = Operand { none: () };
        // SAFETY: likewise.
        unsafe { submit(run, op.head_on(object), none, engine, site, none) }
    }

    #[inline(always)]
    fn get(&self) -> (*const (), &'static Entries) {
        (bare::get!(self.run: *const ()), bare::get!(self.entries: &'static Entries))
    }
}
