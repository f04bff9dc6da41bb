//! Panics of the program under test, and raddle's own unwinding.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

use raddle_core::{Panic, ThreadId};

use crate::port;

/// Unwinds a thread whose run is over; no bug of anybody.
struct Teardown;

/// Begins the unwinding of the calling thread.
pub(crate) fn tear_down() -> ! {
    panic::resume_unwind(Box::new(Teardown))
}

struct Seen {
    message: String,
    place: Option<String>,
    backtrace: Backtrace,
}

thread_local! {
    /// The last panic in a run.
    static LAST: RefCell<Option<Seen>> = const { RefCell::new(None) };
}

/// What is known of a panic that escaped: from the hook if it saw it, otherwise from the payload.
pub(crate) fn describe(thread: ThreadId, payload: &(dyn Any + Send)) -> Panic {
    let seen = LAST.with(|last| last.borrow_mut().take());
    let own = message(payload);
    match seen {
        // `resume_unwind` passes the hook by: then the last panic seen is an older one.
        Some(seen) if own.is_none_or(|own| own == seen.message) => {
            let captured = seen.backtrace.status() == BacktraceStatus::Captured;
            let backtrace = captured.then(|| seen.backtrace.to_string());
            Panic { thread, message: seen.message, place: seen.place, backtrace }
        }
        Some(_) | None => {
            let message = own.unwrap_or(NO_TEXT).to_owned();
            Panic { thread, message, place: None, backtrace: None }
        }
    }
}

/// Says what raddle itself panicked with outside of the program's threads, which the hook kept to itself.
#[cold]
pub(crate) fn tell() {
    if let Some(seen) = LAST.with(|last| last.borrow_mut().take()) {
        let place = seen.place.as_deref().unwrap_or("an unknown place");
        eprintln!("raddle panicked at {place}:\n{}", seen.message);
    }
}

const NO_TEXT: &str = "a panic whose payload is no text";

fn message(payload: &(dyn Any + Send)) -> Option<&str> {
    payload
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

/// Keeps panics inside runs off the terminal; everything else goes to the hook there was before.
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
    // What the standard library says before it aborts the process.
    let aborts = text.starts_with("panic in a destructor during cleanup")
        || text.starts_with("panic in a function that cannot unwind");
    if aborts {
        let thread = port::thread();
        eprintln!(
            "raddle: {thread} panicked while it was unwinding from another panic; \
             Rust ends the process."
        );
        if let Some(seen) = LAST.with(|last| last.borrow_mut().take()) {
            let place = seen.place.as_deref().unwrap_or("unknown place");
            eprintln!("  the last panic: {} ({place})", seen.message);
        }
        eprintln!("  replay: RADDLE_REPLAY={}", port::token());
        before(info);
        return;
    }
    port::panicked();
    let place = info.location().map(|location| location.to_string());
    let seen = Seen { message: text.to_owned(), place, backtrace: Backtrace::capture() };
    LAST.with(|last| *last.borrow_mut() = Some(seen));
}
