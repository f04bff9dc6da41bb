//! What a run needs from an implementation of coroutines.

use std::io;
use std::ops::Range;

/// A pool of coroutines, numbered from zero, and the host that enters them.
///
/// Each coroutine runs the `entry` the pool was made with, which never returns: it leaves and is
/// entered again for its next piece of work.
pub trait Backend: Sized {
    /// An empty pool whose coroutines will have stacks of at least this size.
    fn new(stack_size: usize, entry: fn() -> !) -> Self;

    /// How many coroutines there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a coroutine that has not started.
    fn grow(&mut self) -> io::Result<()>;

    /// The addresses that a coroutine touches when its stack overflows.
    fn guard(&self, coroutine: usize) -> Range<usize>;

    /// From the host: continues `to`, and returns when some coroutine leaves.
    ///
    /// # Safety
    /// `this` points to a pool, nobody holds a reference into it, and the caller is not itself
    /// running on a coroutine of it.
    unsafe fn enter(this: *mut Self, to: usize);

    /// From coroutine `from`: continues `to`, and returns when somebody continues `from`.
    ///
    /// # Safety
    /// `this` points to a pool, nobody holds a reference into it, the caller runs on `from`, and
    /// `to` is another coroutine of the pool.
    unsafe fn switch(this: *mut Self, from: usize, to: usize);

    /// From coroutine `from`: continues the host, and returns when somebody continues `from`.
    ///
    /// # Safety
    /// `this` points to a pool, nobody holds a reference into it, and the caller runs on `from`.
    unsafe fn leave(this: *mut Self, from: usize);

    /// Gives the pool up without touching its stacks, because something on them cannot be dropped.
    fn abandon(self);
}
