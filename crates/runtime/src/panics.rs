//! Panics of the program under test, and raddle's own unwinding.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

use raddle_core::{Panic, ThreadId};

use crate::port;

/// The payload that unwinds a thread whose run is over. It is not a panic of the program.
struct Teardown;

/// Begins the unwinding of the calling thread.
pub(crate) fn tear_down() -> ! {
    panic::resume_unwind(Box::new(Teardown))
}

struct Record {
    message: String,
    place: Option<String>,
    backtrace: Backtrace,
}

thread_local! {
    /// The last panic of a run on this OS thread.
    static LAST: RefCell<Option<Record>> = const { RefCell::new(None) };
}

/// Describes a panic that left a thread: by the hook's record if there is one, otherwise by the payload.
pub(crate) fn describe(thread: ThreadId, payload: &(dyn Any + Send)) -> Panic {
    let record = LAST.with(|last| last.borrow_mut().take());
    let own = message(payload);
    match record {
        // `resume_unwind` does not call the hook. Then the record is of an earlier panic.
        Some(record) if own.is_none_or(|own| own == record.message) => {
            let captured = record.backtrace.status() == BacktraceStatus::Captured;
            let backtrace = captured.then(|| record.backtrace.to_string());
            Panic { thread, message: record.message, place: record.place, backtrace }
        }
        Some(_) | None => {
            let message = own.unwrap_or(NO_TEXT).to_owned();
            Panic { thread, message, place: None, backtrace: None }
        }
    }
}

/// Prints a panic of raddle itself, which the hook has recorded but not printed.
#[cold]
pub(crate) fn tell() {
    if let Some(record) = LAST.with(|last| last.borrow_mut().take()) {
        let place = record.place.as_deref().unwrap_or("an unknown place");
        eprintln!("raddle panicked at {place}:\n{}", record.message);
    }
}

const NO_TEXT: &str = "a panic whose payload is not a string";

fn message(payload: &(dyn Any + Send)) -> Option<&str> {
    payload
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

/// Installs a hook that records the panics of runs instead of printing them. Other panics go to the previous hook.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if port::active() { in_run(info, &before) } else { before(info) }
        }));
    });
}

fn in_run(info: &PanicHookInfo<'_>, before: &dyn Fn(&PanicHookInfo<'_>)) {
    let text = message(info.payload()).unwrap_or(NO_TEXT);
    // The messages of the standard library before it aborts the process.
    let aborts = text.starts_with("panic in a destructor during cleanup")
        || text.starts_with("panic in a function that cannot unwind");
    if aborts {
        let thread = port::thread();
        eprintln!(
            "raddle: {thread} panicked while it was unwinding from another panic; \
             Rust ends the process."
        );
        if let Some(record) = LAST.with(|last| last.borrow_mut().take()) {
            let place = record.place.as_deref().unwrap_or("unknown place");
            eprintln!("  the last panic: {} ({place})", record.message);
        }
        eprintln!("  replay: RADDLE_REPLAY={}", port::token());
        before(info);
        return;
    }
    port::panicked();
    let place = info.location().map(|location| location.to_string());
    let record = Record { message: text.to_owned(), place, backtrace: Backtrace::capture() };
    LAST.with(|last| *last.borrow_mut() = Some(record));
}
