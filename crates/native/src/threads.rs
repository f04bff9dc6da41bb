//! A thread of the program, as long as it can be named.

use crate::coroutines::Context;
use crate::posix::signals::Signals;

/// A thread of the program.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) context: Context,
    /// The `pthread_t` that the program knows it by.
    pub(crate) handle: usize,
    pub(crate) start: usize,
    pub(crate) argument: usize,
    pub(crate) result: usize,
    /// Whether the handle can no longer be used to join it.
    pub(crate) is_gone: bool,
    pub(crate) signals: Signals,
    pub(crate) has_ended: bool,
    /// The borrowed OS thread that it runs on.
    pub(crate) slot: usize,
    /// How often it has changed something by other means than an operation, if that is counted.
    pub(crate) changes: u64,
    /// Whether it has looked at something since it last changed something, if local states are needed.
    pub(crate) looks_again: bool,
}

impl Thread {
    pub(crate) const NONE: Thread = Thread {
        signals: Signals::NONE,
        context: Context::NONE,
        handle: 0,
        start: 0,
        argument: 0,
        result: 0,
        is_gone: true,
        has_ended: false,
        slot: 0,
        changes: 0,
        looks_again: false,
    };
}
