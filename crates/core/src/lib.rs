//! The data of a run, shared by every layer of raddle: ids, operations, dependence, events, points,
//! schedules and traces.
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
pub mod dependence;
mod event;
mod events;
pub mod fingerprint;
mod guarantee;
mod id;
mod memory_model;
mod op;
mod point;
mod rng;
mod schedule;
mod site;
mod trace;

pub use action::{
    Action, AtomicOp, BarrierOp, CellOp, ChannelOp, CondvarOp, MutexOp, OnceOp, Order, ParkOp,
    PauseOp, Rmw, RwLockOp, Scalar, ThreadOp,
};
pub use dependence::{Access, Footprint};
pub use event::{Effect, Event, Pending};
pub use events::Events;
pub use guarantee::Guarantee;
pub use id::{EventId, ObjectId, ThreadId};
pub use memory_model::MemoryModel;
pub use op::Op;
pub use point::{Choices, Chooser, Needs, Pick, Point, Threads};
pub use rng::{Rng, mix};
pub use schedule::{Choice, Schedule};
pub use site::Site;
pub use trace::{
    Creation, Divergence, Ending, ObjectInfo, ObjectKind, Panic, PlainAccess, ThreadInfo, Trace,
};
