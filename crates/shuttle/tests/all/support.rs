//! Programs and their failures.

use std::panic::{AssertUnwindSafe, catch_unwind};

use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;

/// Two threads add one each, and an update can be lost.
pub(crate) fn lost_update() {
    let number = Arc::new(AtomicUsize::new(0));
    let other = {
        let number = number.clone();
        thread::spawn(move || add_one(&number))
    };
    add_one(&number);
    other.join().unwrap();
    assert_eq!(number.load(Ordering::SeqCst), 2, "an update was lost");
}

fn add_one(number: &AtomicUsize) {
    let old = number.load(Ordering::SeqCst);
    number.store(old + 1, Ordering::SeqCst);
}

/// Returns the message of the panic, if there is one.
pub(crate) fn failure(run: impl FnOnce()) -> Option<String> {
    let payload = catch_unwind(AssertUnwindSafe(run)).err()?;
    Some(*payload.downcast::<String>().expect("a report"))
}

/// Returns the token of a report.
pub(crate) fn token(report: &str) -> String {
    let (_, rest) = report.split_once("RADDLE_REPLAY=").expect("a token");
    rest.split_whitespace().next().expect("a token").to_owned()
}
