//! Where the `std` mirror meets the run it is part of.
//!
//! One thread-local holds the run. Outside a run [`active`] is false, and nothing else may be called unless its
//! documentation says so.

use std::any::Any;
use std::cell::Cell;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{Ordering, compiler_fence};

use raddle_core::{Action, CellOp, Effect, NoteKind, ObjectId, Op, Site, ThreadId};
use raddle_engine::Initial;
pub use raddle_engine::Kind;

use crate::{Body, panics};

mod execution;
mod heap;
mod name;

pub(crate) use execution::{BodyResult, Execution, ExitSwitch, PlainAccess, RunFlags};
pub(crate) use heap::restore_after_run;
pub use heap::{allocated, freed, unobserved};
pub use name::{Name, NameCopy, take_met_shared};

struct Port {
    /// The number of the run; zero outside a run.
    number: Cell<u64>,
    /// The run. Invariant: it can be used while `number` is not zero.
    run: Cell<Option<NonNull<dyn Execution>>>,
    flags: Cell<RunFlags>,
    /// Whether memory that is allocated now is raddle's own.
    is_unobserved: Cell<bool>,
    /// The type of the object that is declared, if the run records it.
    type_name: Cell<&'static str>,
}

thread_local! {
    static PORT: Port = const {
        Port {
            number: Cell::new(0),
            run: Cell::new(None),
            flags: Cell::new(RunFlags::NONE),
            is_unobserved: Cell::new(false),
            type_name: Cell::new(""),
        }
    };
}

/// The run the caller is part of.
#[inline(always)]
fn run() -> &'static dyn Execution {
    let run = PORT.with(|port| if port.number.get() == 0 { None } else { port.run.get() });
    let Some(run) = run else { outside() };
    // SAFETY: `connect` was promised that the run can be used until `disconnect`, which sets the number to zero. The
    // reference does not leave the functions of this module and its callers in a run, which end before that.
    unsafe { run.as_ref() }
}

#[cold]
fn outside() -> ! {
    panic!("raddle invariant broken: an operation was announced outside a run")
}

/// Returns whether the caller is part of a run.
#[inline(always)]
pub fn active() -> bool {
    run_number() != 0
}

/// Returns the number of the run the caller is part of, or zero. Numbers are far apart, see [`Name`].
#[inline(always)]
pub fn run_number() -> u64 {
    PORT.with(|port| port.number.get())
}

#[inline(always)]
fn flags() -> RunFlags {
    PORT.with(|port| port.flags.get())
}

/// Announces `op` on the object called `name`, waits for its turn, performs it, and returns its effect. Returns `None`
/// outside a run.
///
/// `op` must be of this kind; its object is ignored. An object new to the run is declared as `initial` says, where `None`
/// means that code outside the run has hold of it.
///
/// # Panics
/// If another check, running at the same time, or code outside uses the object.
#[inline(always)]
pub fn operate(
    kind: Kind,
    name: &Name,
    initial: impl FnOnce() -> Option<Initial>,
    op: Op,
    site: Site,
) -> Option<Effect> {
    // The value of an atomic variable is the engine's, and the one outside is never written.
    let object = object(name, !matches!(kind, Kind::Atomic), initial, site)?;
    Some(submit(kind, op.on(object), site))
}

/// Announces `op`, which is of this kind, waits for its turn, performs it, and returns its effect.
#[inline(always)]
pub fn submit(kind: Kind, op: Op, site: Site) -> Effect {
    let run = run();
    let [head, first, second] = op.into_words();
    match kind {
        Kind::Any => run.operate(head, first, second, site),
        Kind::Atomic => run.operate_atomic(head, first, second, site),
        Kind::Lock => {
            run.lock(op.object(), site);
            Effect::None
        }
        Kind::Unlock => {
            run.unlock(op.object(), site);
            Effect::None
        }
    }
}

/// Returns the object called `name` in the current run, declaring it if it is new to the run; `None` outside a run.
#[inline(always)]
fn object(
    name: &Name,
    is_owner: bool,
    initial: impl FnOnce() -> Option<Initial>,
    site: Site,
) -> Option<ObjectId> {
    if let Some(object) = name.known() {
        return Some(object);
    }
    if !active() {
        return None;
    }
    Some(name.declare(is_owner, initial, site))
}

/// Notes an access to the plain variable called `name`: a scheduling point if plain accesses are announced, otherwise
/// only recorded. `first` is called if the variable is new to the run. Returns the variable. Returns `None`, with no side
/// effect, outside a run.
///
/// # Panics
/// If another check, running at the same time, uses the variable.
pub fn touch(name: &Name, first: impl FnOnce(), writes: bool, site: Site) -> Option<ObjectId> {
    let initial = || {
        first();
        Some(Initial::Cell)
    };
    let object = object(name, true, initial, site)?;
    touch_again(object, writes, site);
    Some(object)
}

/// Notes another access to a plain variable of the run, as [`touch`].
pub fn touch_again(object: ObjectId, writes: bool, site: Site) {
    let is_point = match flags().plain {
        PlainAccess::Recorded => false,
        PlainAccess::Point => true,
        PlainAccess::PointIfRacy => run().is_racy(site),
    };
    if is_point {
        let op = if writes { CellOp::Write } else { CellOp::Read };
        submit(Kind::Any, Op::new(object, Action::Cell(op)), site);
        run().touched(object);
    } else {
        run().touch(object, writes, site);
    }
}

/// Notes an access to the atomic variable called `name` that is not atomic, and returns the variable's newest value. It is
/// no scheduling point. Returns `None`, with no side effect, outside a run.
///
/// # Panics
/// As [`operate`].
pub fn touch_atomic(
    name: &Name,
    initial: impl FnOnce() -> Initial,
    writes: bool,
    site: Site,
) -> Option<u64> {
    let object = object(name, false, || Some(initial()), site)?;
    run().touch(object, writes, site);
    Some(run().newest(object))
}

/// Notes that the object called `name` owns `bytes` of memory until [`disown`]. If it still does at the end of the run,
/// that is a leak. Does nothing outside a run.
pub fn own(name: &Name, initial: impl FnOnce() -> Option<Initial>, bytes: usize, site: Site) {
    if let Some(object) = object(name, true, initial, site) {
        unobserved(|| run().own(object, bytes));
    }
}

/// Notes that the object called `name` owns no memory any more. Does nothing outside the run of [`own`].
pub fn disown(name: &Name) {
    if let Some(object) = name.known() {
        run().disown(object);
    }
}

/// Returns the number of steps of the run so far.
pub fn step_count() -> usize {
    run().steps()
}

/// Notes the type of the object whose declaration is under way, if the run records it.
#[cold]
pub fn declares<T: ?Sized>() {
    if flags().records {
        PORT.with(|port| port.type_name.set(std::any::type_name::<T>()));
    }
}

/// Returns the type of the object whose declaration is under way. Empty if it was not noted.
pub(crate) fn take_type_name() -> &'static str {
    PORT.with(|port| port.type_name.replace(""))
}

/// Returns whether the run is one of many that fail on purpose.
pub(crate) fn is_trial() -> bool {
    flags().is_trial
}

/// Returns whether the run records names, notes and output. Returns false outside a run.
#[inline]
pub fn records() -> bool {
    active() && flags().records
}

/// Records a line of the calling thread, if the run [`records`] lines.
#[cold]
pub fn note(kind: NoteKind, text: String, site: Site) {
    if records() {
        run().note(kind, text, site);
    }
}

/// Returns the calling thread of the program under test.
pub fn thread() -> ThreadId {
    run().thread()
}

/// Returns whether the next operation of the calling thread fails spuriously: a wait ends, a weak exchange fails. That is
/// a choice of the run, made as often as the settings allow. Returns false outside a run.
#[inline(always)]
pub fn spurious(site: Site) -> bool {
    active() && flags().spurious && run().choose_spurious(site)
}

/// Returns whether the order in which futures are polled matters. Returns false outside a run.
pub fn ordered_polls() -> bool {
    active() && flags().ordered_polls
}

/// Gives the object called `name` a name for reports, if the run [`records`] names. Does nothing outside a run.
///
/// # Panics
/// As [`operate`].
pub fn name_object(
    name: &Name,
    initial: impl FnOnce() -> Option<Initial>,
    given: &str,
    site: Site,
) {
    if let Some(object) = object(name, true, initial, site) {
        if flags().records {
            run().name_object(object, given);
        }
    }
}

/// Gives the calling thread a name for reports.
pub fn name_thread(given: &str) {
    if flags().records {
        run().name_thread(given);
    }
}

/// Notes that the calling thread has begun to panic. Returns that thread.
pub(crate) fn panicked() -> ThreadId {
    run().panicked()
}

/// Returns whether the run is over, and the calling thread is unwound. Returns false outside a run.
pub fn is_over() -> bool {
    active() && run().is_over()
}

/// Does not let the calling thread continue, because it joins a thread that was unwound after the end of the run and has
/// no result.
pub fn stay_stuck() -> ! {
    assert!(is_over(), "raddle invariant broken: a thread that was joined has no result");
    run().stay_stuck()
}

/// Returns the newest value of an atomic variable.
pub fn newest(object: ObjectId) -> u64 {
    run().newest(object)
}

/// Returns the object that tells whether `thread` has ended.
pub fn life(thread: ThreadId) -> ObjectId {
    run().life(thread)
}

/// Returns the park token of `thread`.
pub fn parker(thread: ThreadId, site: Site) -> ObjectId {
    run().parker(thread, site)
}

/// Starts a thread.
#[inline(always)]
pub fn spawn(body: Arc<dyn Body>, site: Site) -> ThreadId {
    run().spawn(body, site)
}

/// Stops the calling thread: it goes no further in this run. Does nothing outside a run and after the end of one.
#[cold]
pub fn stop(site: Site) {
    if active() {
        run().stop(site);
    }
}

/// Waits until `thread` has ended.
#[inline(always)]
pub fn join(thread: ThreadId, site: Site) {
    run().join(thread, site);
}

/// Returns the payload of the panic that ended `thread`, to the first caller.
pub fn take_panic(thread: ThreadId) -> Option<Box<dyn Any + Send>> {
    run().take_panic(thread)
}

/// Returns the calling thread's virtual time in nanoseconds.
pub fn time() -> u64 {
    run().time()
}

/// Lets virtual time pass for the calling thread.
pub fn advance(nanos: u64) {
    run().advance(nanos);
}

/// Returns what the mirror keeps for the calling thread, if anything.
pub fn thread_state() -> Option<Rc<dyn Any>> {
    run().thread_state()
}

/// Returns whether the run is not over, and [`thread_state`] is `None` for all its threads.
#[inline(always)]
pub fn has_no_state() -> bool {
    run().has_no_state()
}

/// Keeps `state` for the calling thread, or nothing any more.
pub fn set_thread_state(state: Option<Rc<dyn Any>>) {
    run().set_thread_state(state);
}

/// Returns the token that replays the run up to here.
pub(crate) fn token() -> String {
    run().token()
}

/// Returns the words that replay the run up to here: a command, if it is known.
pub(crate) fn replay_line() -> String {
    format!("RADDLE_REPLAY={}{}", token(), run().check().1)
}

/// Returns the name of the check, inside a run. May be called in a signal handler.
#[cfg(unix)]
pub(crate) fn check_name() -> &'static str {
    run().check().0
}

/// Returns the number of steps of the run, or `None` outside a run. May be called in a signal handler.
#[cfg(unix)]
pub(crate) fn steps() -> Option<usize> {
    active().then(|| run().steps())
}

/// Describes where the calling thread is.
#[cfg(unix)]
pub(crate) fn last_seen() -> String {
    if !active() {
        return "nowhere".to_owned();
    }
    let step = run().steps() + 1;
    match run().last_site() {
        Some(site) => format!("in step {step}, after {site}"),
        None => format!("in step {step}, at its beginning"),
    }
}

/// Returns whether a coroutine of the run touches this address when its stack overflows; false outside a run.
#[cfg(unix)]
pub(crate) fn is_stack_guard(address: usize) -> bool {
    active() && run().is_stack_guard(address)
}

/// Unwinds the calling thread, because the destructor of a thread-local value panicked with `payload`. That is a failure
/// of the run, whatever panics otherwise are.
pub fn fail_in_thread_local(payload: Box<dyn Any + Send>) -> ! {
    if is_over() {
        // raddle has begun the panic.
        std::panic::resume_unwind(payload);
    }
    panics::resume_from_thread_local(payload)
}

/// Runs the body of the calling thread.
pub(crate) fn run_body() {
    run().run_body();
}

/// Ends the calling thread, whose body has ended. Returns the switch with which its coroutine continues.
pub(crate) fn finish(result: BodyResult) -> ExitSwitch {
    run().finish(result)
}

/// Connects a run to the code it runs, until the connection is dropped.
///
/// # Safety
/// `run` can be used until then.
pub(crate) unsafe fn connect(
    run: NonNull<dyn Execution>,
    number: u64,
    flags: RunFlags,
) -> Connection {
    assert!(!active(), "raddle: a check was started inside another; checks do not nest");
    PORT.with(|port| {
        port.run.set(Some(run));
        port.flags.set(flags);
        // The number last, for a signal handler that comes in between.
        compiler_fence(Ordering::SeqCst);
        port.number.set(number);
    });
    Connection
}

/// Ends with the run.
pub(crate) struct Connection;

impl Connection {
    /// Connects another view of the same run.
    ///
    /// # Safety
    /// `run` can be used until the connection is dropped.
    #[cold]
    pub(crate) unsafe fn exchange(&self, run: NonNull<dyn Execution>) {
        PORT.with(|port| port.run.set(Some(run)));
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        PORT.with(|port| {
            // The number first, for a signal handler that comes in between.
            port.number.set(0);
            compiler_fence(Ordering::SeqCst);
            port.run.set(None);
        });
    }
}
