//! Elements that are there, on the way of every operation.
//!
//! As by an index, but for what is said if they are not: a length and a place that nobody is told are not loaded.
//! Where nothing is optimised, an index is less than a call.

/// The element of a slice at an index.
macro_rules! at {
    ($list:expr, $index:expr) => {
        if cfg!(debug_assertions) {
            &$list[$index]
        } else {
            match $list.get($index) {
                Some(element) => element,
                None => $crate::at::nowhere(),
            }
        }
    };
}

/// The same, to be changed.
macro_rules! at_mut {
    ($list:expr, $index:expr) => {
        if cfg!(debug_assertions) {
            &mut $list[$index]
        } else {
            match $list.get_mut($index) {
                Some(element) => element,
                None => $crate::at::nowhere(),
            }
        }
    };
}

#[cold]
#[inline(never)]
pub(crate) fn nowhere() -> ! {
    unreachable!("raddle invariant broken: an index beyond the end")
}
