//! The choices that make one execution out of all possible ones.

use alloc::vec::Vec;

use crate::{EventId, ThreadId};

/// One answered question.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Choice {
    /// This thread performed its pending operation.
    Thread(ThreadId),
    /// A load read this store.
    Source(EventId),
    /// A store came to stand right behind this one.
    Place(EventId),
    /// A value point took this number.
    Value(u32),
}

/// All answers of one run, in order. Nothing else is needed to replay it.
pub type Schedule = Vec<Choice>;
