//! Atomic types, as in [`std::sync::atomic`]. Accesses that are not atomic ([`AtomicUsize::unsync_load`],
//! [`AtomicUsize::with_mut`]) are checked for data races.

pub use raddle::hint::spin_loop as spin_loop_hint;
pub use raddle::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8,
    AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
