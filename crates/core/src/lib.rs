//! Plain data shared by every layer of raddle: ids, operations, dependence, events, points,
//! schedules, traces and reports.
//!
//! Nothing here acts. The engine turns operations into events, choosers answer points, explorers
//! read traces; they meet in these types and nowhere else. The crate is `no_std` because the native
//! front end runs it inside somebody else's process.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod action;
mod blocking;
mod code;
mod coverage;
pub mod dependence;
mod event;
mod events;
pub mod fingerprint;
mod id;
mod oddity;
mod op;
mod point;
mod reads;
mod report;
mod rng;
mod schedule;
pub mod token;
mod trace;

pub use action::{
    Action, AtomicOp, BarrierOp, CellOp, ChannelOp, CondvarOp, MutexOp, OnceOp, Order, ParkOp,
    PauseOp, Rmw, RwLockOp, Scalar, ThreadOp,
};
pub use coverage::{Accesses, Coverage, PatternSearch, VariableCoverage};
pub use dependence::{Access, Footprint};
pub use event::{Effect, Event, Pending};
pub use events::Events;
pub use id::{EventId, ObjectId, Site, ThreadId};
pub use oddity::{Leak, LockOrder, Oddity, Warning};
pub use op::Op;
pub use point::{Choices, Chooser, Needs, Pick, Point, Threads};
pub use reads::{Read, Reads};
pub use report::{
    Bounds, Cause, Failure, Failures, Finding, Guarantee, MemoryModel, Phase, PhaseEnd, Progress,
    Report, Search, Verdict, Wait,
};
pub use rng::{Rng, mix};
pub use schedule::{Choice, Schedule};
pub use token::{Token, TokenError};
pub use trace::{
    Creation, Divergence, Ending, ObjectInfo, ObjectKind, Panic, PlainAccess, ThreadInfo, Trace,
};
