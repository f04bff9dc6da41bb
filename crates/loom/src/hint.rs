//! Hints, as in [`std::hint`].

pub use raddle::hint::spin_loop;

/// Panics: a program that reaches this point has undefined behaviour.
///
/// # Safety
/// Not needed: the function panics.
///
/// # Panics
/// Always.
#[track_caller]
pub unsafe fn unreachable_unchecked() -> ! {
    panic!("unreachable_unchecked was reached");
}
