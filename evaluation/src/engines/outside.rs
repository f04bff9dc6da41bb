//! raddle's mirror outside of any check, and the standard library that it then is: the price of leaving it
//! in a program.
//!
//! The strategy is the library, and an execution is one operation.

use std::hint::black_box;

use crate::measure::Prepared;

/// Prepares an operation of `raddle` or `std`.
pub(crate) fn prepare(library: &str, workload: &str) -> Result<Prepared, String> {
    match (library, workload) {
        ("raddle", "lock") => Ok(repeat(raddle_mirror::lock)),
        ("raddle", "fetch_add") => Ok(repeat(raddle_mirror::fetch_add)),
        ("std", "lock") => Ok(repeat(standard::lock)),
        ("std", "fetch_add") => Ok(repeat(standard::fetch_add)),
        _ => Err(format!("no operation `{workload}` of `{library}`")),
    }
}

fn repeat(operation: fn(u64)) -> Prepared {
    Prepared::Ready(Box::new(move |count| {
        operation(count);
        Ok(count)
    }))
}

/// The operations by one library.
macro_rules! operations {
    ($name:ident, $library:ident) => {
        mod $name {
            use ::$library::sync::Mutex;
            use ::$library::sync::atomic::{AtomicU64, Ordering};

            use super::black_box;

            /// Takes a free lock, changes what it guards, and gives it back.
            pub(super) fn lock(count: u64) {
                let total = Mutex::new(0u64);
                for number in 0..count {
                    *black_box(&total).lock().unwrap() += number;
                }
                black_box(total.lock().map(|total| *total).ok());
            }

            pub(super) fn fetch_add(count: u64) {
                let total = AtomicU64::new(0);
                for number in 0..count {
                    black_box(&total).fetch_add(number, Ordering::SeqCst);
                }
                black_box(total.load(Ordering::SeqCst));
            }
        }
    };
}

operations!(raddle_mirror, raddle);
operations!(standard, std);
