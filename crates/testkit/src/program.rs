//! Scripted programs.

use raddle_core::Action;
use raddle_engine::Initial;

/// Scripts for threads, and their shared objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The shared objects.
    pub objects: Vec<Initial>,
    /// The scripts, main's first. A script spawns only later scripts, so that every program without loops ends.
    pub scripts: Vec<Vec<Step>>,
}

/// One step of a script.
///
/// Any sequence of steps is a valid script, so that programs are easy to shrink. A thread skips steps that
/// are not allowed in its state, such as unlocking a mutex that it does not hold.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Performs an operation on an object. Waits on condition variables and barriers have steps of their
    /// own. A send on a rendezvous channel waits until the message was received.
    On(usize, Action),
    /// Performs a fence, a pause or a choice.
    Alone(Action),
    /// Waits on a condition variable, with a mutex that the thread holds.
    Wait {
        /// The condition variable.
        condvar: usize,
        /// The mutex.
        mutex: usize,
        /// Whether the wait may time out.
        timed: bool,
    },
    /// Arrives at a barrier and waits for the others.
    Meet(usize),
    /// Waits to be woken at an atomic variable, whatever its value.
    FutexWait {
        /// The variable.
        variable: usize,
        /// The part of the variable.
        part: u8,
        /// The bits of the thread.
        mask: u32,
        /// Whether the wait may time out.
        timed: bool,
    },
    /// Takes the thread's own park token.
    Park {
        /// Whether the wait may time out.
        timed: bool,
    },
    /// Makes the park token of a thread available.
    Unpark(Relative),
    /// Spawns a thread with this script.
    Spawn(usize),
    /// Waits for the child at this position.
    Join(usize),
    /// Asks whether the child at this position has ended.
    IsFinished(usize),
    /// Skips this number of steps if the last value that the thread got is odd.
    SkipIfOdd(usize),
    /// Goes back this number of steps, at most to the first, if the last value that the thread got is even: a loop.
    /// Random programs of a [`Shape`](crate::Shape) have none.
    BackIfEven(usize),
    /// Goes back as [`BackIfEven`](Step::BackIfEven) does, at most `times` times in a row: a bounded number of attempts.
    AttemptAgainIfEven {
        /// The number of steps.
        steps: usize,
        /// The number of times.
        times: u32,
    },
    /// Remembers the last value that the thread got.
    Keep,
    /// Goes back as [`BackIfEven`](Step::BackIfEven) does, if the last value is not the one that was kept.
    BackUnlessKept(usize),
    /// Stops the thread for the rest of the execution if the last value that it got is even.
    AssumeOdd,
    /// Panics.
    Panic,
}

/// A thread, relative to another.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Relative {
    /// The thread itself.
    Myself,
    /// The thread that spawned it; main's parent is main.
    Parent,
    /// The child at this position.
    Child(usize),
}
