//! Pure analyses of traces, shared by explorers, reports and commands.
//!
//! Each function takes the trace of a finished run, or the finding made from it, and neither runs the
//! program nor changes anything. Happens-before comes from [`raddle_engine::causality`].
#![forbid(unsafe_code)]

mod blind_spots;
mod cause;
mod deadlock;
mod equivalent;
mod freed;
mod leaks;
mod lifetimes;
mod links;
mod lock_order;
mod names;
mod operation;
mod patterns;
mod races;
mod read_twice;
mod reads;
mod repetition;
mod stale;
mod wait_loops;
mod wakeups;

pub use blind_spots::blind_spots;
pub use cause::cause;
pub use deadlock::{Hop, cycles, waits};
pub use equivalent::Equivalents;
pub use freed::{Lines, Suspect, suspect};
pub use leaks::leak;
pub use lifetimes::Lifetimes;
pub use links::{Link, Links};
pub use lock_order::{Suspicion, suspicions};
pub use names::{Names, printable, type_name};
pub use operation::{Words, access_name, ordering, rmw, value};
pub use patterns::{Keying, MapCoverage, PATTERNS, Role, data_access, number};
pub use races::{Racing, for_each_race, race, race_except};
pub use read_twice::read_twice;
pub use reads::{Read, Reads};
pub use repetition::{Repeated, Repetition};
pub use stale::{MissedSync, StaleRead, StaleReads, Weak};
pub use wait_loops::wait_loops;
pub use wakeups::{Missed, Wakeups};
