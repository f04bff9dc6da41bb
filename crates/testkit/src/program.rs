//! Programs as data.

use raddle_core::Action;
use raddle_engine::Initial;

/// Scripts for threads, and the objects they share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The shared objects.
    pub objects: Vec<Initial>,
    /// What threads do; the first is main's. A script spawns only scripts after itself, so that
    /// every program without loops ends.
    pub scripts: Vec<Vec<Step>>,
}

/// One line of a script.
///
/// Any sequence of steps is a program: what a thread may not do in its state, such as to unlock a
/// mutex it does not hold or to join a child it does not have, it leaves out. That makes cutting
/// programs down easy.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// An operation on an object. Waits on condition variables and barriers have steps of their
    /// own; a send on a rendezvous channel waits until it was taken.
    On(usize, Action),
    /// A fence, a pause or a choice.
    Alone(Action),
    /// Wait on a condition variable with a mutex that the thread holds.
    Wait {
        /// The condition variable.
        condvar: usize,
        /// The mutex.
        mutex: usize,
        /// Whether the wait may time out.
        timed: bool,
    },
    /// Arrive at a barrier and wait for the others.
    Meet(usize),
    /// Take the thread's own park token.
    Park {
        /// Whether it may go on without.
        timed: bool,
    },
    /// Give somebody a park token.
    Unpark(Relative),
    /// Start a thread that follows this script.
    Spawn(usize),
    /// Wait for this child, by position.
    Join(usize),
    /// Ask for this child, by position.
    IsFinished(usize),
    /// Leave out so many steps if what the thread learnt last is an odd number.
    SkipIfOdd(usize),
    /// Go back so many steps, to the first at most, if what the thread learnt last is an even
    /// number: a loop. Random programs of a [`Shape`](crate::Shape) have none.
    BackIfEven(usize),
    /// Panic.
    Panic,
}

/// A thread as seen from another.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Relative {
    /// The thread itself.
    Myself,
    /// Who spawned it; main's parent is main.
    Parent,
    /// Its child at this position.
    Child(usize),
}
