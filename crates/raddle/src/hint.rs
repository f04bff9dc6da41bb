//! Hints to the compiler and the processor, as in [`std::hint`].

use raddle_core::{Action, ObjectId, Op, PauseOp, Site};
use raddle_runtime::port::{self, Kind};

pub use std::hint::{assert_unchecked, black_box, unreachable_unchecked};

/// Signals that the thread is in a spin loop, as [`std::hint::spin_loop`]. Inside a check other threads run
/// first.
///
/// ```
/// use raddle::sync::Arc;
/// use raddle::sync::atomic::{AtomicBool, Ordering};
///
/// let flag = Arc::new(AtomicBool::new(false));
/// let setter = {
///     let flag = flag.clone();
///     raddle::thread::spawn(move || flag.store(true, Ordering::Release))
/// };
/// while !flag.load(Ordering::Acquire) {
///     raddle::hint::spin_loop();
/// }
/// # setter.join().unwrap();
/// ```
#[inline]
#[track_caller]
pub fn spin_loop() {
    if !port::active() {
        return std::hint::spin_loop();
    }
    port::submit(Kind::Any, Op::new(ObjectId::NONE, Action::Pause(PauseOp::Spin)), Site::caller());
}
