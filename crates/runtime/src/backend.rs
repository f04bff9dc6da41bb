//! What a run needs from an implementation of coroutines.

use std::io;

/// More threads than this in one run share the stacks of those that have ended.
pub(crate) const OWN_STACKS: usize = 1024;

/// A pool of coroutines, one for each thread of the program, and the host that enters them.
///
/// Each coroutine runs the `entry` the pool was made with, which never returns: it leaves and is
/// entered again for its next piece of work. Threads are numbers from zero.
pub trait Backend: Sized + 'static {
    /// Whether [`stack_end`](Backend::stack_end) is known.
    const HAS_STACK_ENDS: bool = false;

    /// Makes a pool without coroutines. Its coroutines will have stacks of at least this size.
    fn new(stack_size: usize, entry: fn() -> !) -> Self;

    /// Begins a run: no thread has work. Thread 0 gets a coroutine.
    fn begin(&mut self) -> io::Result<()>;

    /// Gives `thread`, which is about to start, a coroutine: the one it had in an earlier run, a new one, or, once there
    /// are many, that of a thread that has `ended`.
    fn assign_stack(
        &mut self,
        thread: usize,
        ended: impl FnOnce() -> Option<usize>,
    ) -> io::Result<()>;

    /// Returns whether a coroutine touches this address when its stack overflows.
    fn is_stack_guard(&self, address: usize) -> bool;

    /// Returns the end of the stack that this stack pointer is of, where its first function began. `None` if unknown.
    fn stack_end(&self, pointer: usize) -> Option<usize> {
        let _ = pointer;
        None
    }

    /// From the host: continues `to`, and returns when a coroutine continues the host. `run` is passed to `to`.
    ///
    /// # Safety
    /// `this` points to a pool, no reference into it exists, `to` has a coroutine, and the caller is not itself running on
    /// one.
    unsafe fn enter<R>(this: *mut Self, to: usize, run: *const R);

    /// From the coroutine of `from`: continues `to`, or the host if that is `None`, and returns when `from` is continued.
    ///
    /// `run` is passed to the side that is continued. Returns what the side passed that continued `from`, or `run`: the
    /// same, because all sides pass their run. The returned pointer is in a register, so what follows does not wait for
    /// the new stack. That pays 7 % of the mean of a–f in `table speed`.
    ///
    /// # Safety
    /// `this` points to a pool, no reference into it exists, the caller runs on the coroutine of `from`, `to` has another
    /// one, and `run` is what every other call passes from the host's call of [`enter`](Backend::enter) until that returns.
    unsafe fn switch<R>(this: *mut Self, from: usize, to: Option<usize>, run: *const R)
    -> *const R;

    /// Returns whether the pool, none of whose threads has work, should be kept for the next check.
    fn is_worth_keeping(&self) -> bool {
        false
    }

    /// Gives up the coroutine of `thread`, which does not run, with all that is on its stack. The stack is neither used
    /// again nor freed.
    fn leak(&mut self, thread: usize);
}
