//! What a run needs from an implementation of coroutines.

use std::io;

/// More threads than this in one run share the stacks of those that have ended.
pub(crate) const OWN_STACKS: usize = 1024;

/// Stands for the host where a thread is expected; a number no thread has.
pub(crate) const HOST: usize = usize::MAX;

/// What goes from coroutine to coroutine with the turn. It travels in a register where possible: whoever
/// goes on need not wait for anything to be read from its stack.
pub(crate) type Baton = *const ();

/// A pool of coroutines, one for each thread of the program, and the host that enters them.
///
/// Each coroutine runs the `entry` the pool was made with, which never returns: it leaves and is
/// entered again for its next piece of work. Threads are numbers from zero.
pub trait Backend: Sized + 'static {
    /// Whether a coroutine may switch to itself, and is quick to do so.
    const SWITCHES_TO_ITSELF: bool;

    /// A pool without coroutines, which will have stacks of at least this size.
    fn new(stack_size: usize, entry: fn() -> !) -> Self;

    /// A run begins: no thread has work. Thread 0 gets a coroutine.
    fn begin(&mut self) -> io::Result<()>;

    /// Whether `thread`, which is about to start, has a coroutine already.
    fn is_seated(&self, thread: usize) -> bool;

    /// Gives `thread`, which is about to start, a coroutine: the one it had in an earlier run, a new
    /// one, or, once there are many, that of a thread that has `ended`.
    fn seat(&mut self, thread: usize, ended: impl FnOnce() -> Option<usize>) -> io::Result<()>;

    /// Whether a coroutine touches this address when its stack overflows.
    fn guards(&self, address: usize) -> bool;

    /// From the host: continues `to`, and returns when some coroutine continues the host.
    ///
    /// # Safety
    /// `this` points to a pool, nobody holds a reference into it, `to` has a coroutine, and the
    /// caller is not itself running on one.
    unsafe fn enter(this: *mut Self, to: usize, baton: Baton);

    /// From the coroutine of `from`: continues `to`, or the host if that is all ones, and returns when somebody
    /// continues `from`: with the baton that was handed over then.
    ///
    /// # Safety
    /// `this` points to a pool, nobody holds a reference into it, the caller runs on the coroutine
    /// of `from`, and `to` has one too: another, unless it may [switch to
    /// itself](Backend::SWITCHES_TO_ITSELF).
    unsafe fn switch(this: *mut Self, from: usize, to: usize, baton: Baton) -> Baton;

    /// Whether the pool, none of whose threads has work, should be kept for the next check.
    fn is_worth_keeping(&self) -> bool {
        false
    }

    /// Gives the pool up without touching its stacks, because something on them cannot be dropped.
    fn abandon(self);
}
