//! What is known of an operation where it is announced.
//!
//! The front end knows at every call which kind of object it is about. Passing that on as a type
//! lets the compiler leave out everything else from the path of the most frequent operations.

/// A kind of operation.
pub trait Known {
    /// It is on an atomic variable.
    const ATOMIC: bool;
    /// It is on a mutex.
    const MUTEX: bool;
    /// It may be disabled by a state of its object.
    const BLOCKS: bool;
    /// It is on an object.
    const IS_ON_OBJECT: bool = true;
    /// It is on the life of a thread.
    const LIFE: bool = false;
}

/// Nothing is known.
#[derive(Debug)]
pub enum AnyOp {}

/// An operation on an atomic variable.
#[derive(Debug)]
pub enum AtomicOp {}

/// An operation on a mutex.
#[derive(Debug)]
pub enum MutexOp {}

/// The beginning or the end of a thread.
#[derive(Debug)]
pub enum LifeOp {}

impl Known for LifeOp {
    const ATOMIC: bool = false;
    const MUTEX: bool = false;
    const BLOCKS: bool = false;
    const LIFE: bool = true;
}

/// A look at the life of a thread: whether it has ended, or waiting until it has.
#[derive(Debug)]
pub enum JoinOp {}

impl Known for JoinOp {
    const ATOMIC: bool = false;
    const MUTEX: bool = false;
    const BLOCKS: bool = true;
    const LIFE: bool = true;
}

impl Known for AnyOp {
    const ATOMIC: bool = false;
    const MUTEX: bool = false;
    const BLOCKS: bool = true;
    const IS_ON_OBJECT: bool = false;
}

impl Known for AtomicOp {
    const ATOMIC: bool = true;
    const MUTEX: bool = false;
    const BLOCKS: bool = false;
}

impl Known for MutexOp {
    const ATOMIC: bool = false;
    const MUTEX: bool = true;
    const BLOCKS: bool = true;
}
