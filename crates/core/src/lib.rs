//! The data of a run, shared by every layer of raddle: ids, operations, dependence, events, points,
//! schedules and traces.
//!
//! The crate holds data only. The engine turns operations into events, choosers answer points, and explorers
//! read traces. These types are all that they share. The crate is `no_std` because a native front end runs
//! inside the process under test.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod action;
mod blocking;
mod code;
pub mod dependence;
mod event;
pub mod fingerprint;
mod guarantee;
mod id;
pub mod locks;
mod memory_model;
mod op;
mod point;
mod rng;
mod schedule;
mod site;
mod special;
mod stopped;
mod trace;

pub use action::{
    Action, AtomicOp, BarrierOp, CellOp, ChannelOp, CondvarOp, FutexOp, MutexOp, OnceOp, Order,
    ParkOp, PauseOp, Question, Rmw, RwLockOp, Scalar, SemaphoreOp, ThreadOp,
};
pub use dependence::{Access, Footprint};
pub use event::{Effect, Event, Pending};
pub use guarantee::Guarantee;
pub use id::{EventId, ObjectId, ThreadId};
pub use memory_model::MemoryModel;
pub use op::Op;
pub use point::{Choices, Chooser, IdleRounds, Needs, Pick, Point, Threads};
pub use rng::{Rng, mix};
pub use schedule::{Choice, Schedule};
pub use site::Site;
pub use special::{Special, Strengthened};
pub use stopped::{StopReason, Stopped};
pub use trace::{
    Allocation, Description, Details, Divergence, End, Ending, LateUse, Moment, Note, NoteKind,
    ObjectInfo, ObjectKind, Panic, PlainAccess, Stack, ThreadInfo, Trace,
};
