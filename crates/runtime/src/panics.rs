//! Panics of the program under test, and raddle's own unwinding.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::{Mutex, Once, PoisonError};

use raddle_core::{Panic, ThreadId};

use crate::{own_bug, port};

/// The payload that unwinds a thread whose run is over. It is not a panic of the program.
struct Teardown;

/// Begins the unwinding of the calling thread.
pub(crate) fn tear_down() -> ! {
    panic::resume_unwind(Box::new(Teardown))
}

/// The payload of a panic in the destructor of a thread-local value.
struct FromThreadLocal(Box<dyn Any + Send>);

/// Unwinds the calling thread with the panic of the destructor of a thread-local value.
pub(crate) fn resume_from_thread_local(payload: Box<dyn Any + Send>) -> ! {
    panic::resume_unwind(Box::new(FromThreadLocal(payload)))
}

/// Returns whether a panic came from the destructor of a thread-local value. The standard library ends the process then.
pub(crate) fn is_from_thread_local(payload: &(dyn Any + Send)) -> bool {
    payload.is::<FromThreadLocal>()
}

struct Record {
    message: String,
    place: Option<String>,
    backtrace: Backtrace,
}

thread_local! {
    /// The last panics of each thread of a run on this OS thread, in order.
    static RECORDS: RefCell<Vec<(ThreadId, Record)>> = const { RefCell::new(Vec::new()) };
}

/// The records kept for each thread. A panic that is under way has a record unless more than this are nested in it.
const MAX_RECORDS: usize = 4;

/// Describes a panic that left a thread: by the hook's record if there is one, otherwise by the payload.
pub(crate) fn describe(thread: ThreadId, payload: &(dyn Any + Send)) -> Panic {
    if let Some(FromThreadLocal(inner)) = payload.downcast_ref() {
        let mut panic = describe(thread, &**inner);
        panic.message +=
            "\nin the destructor of a thread-local value: without raddle the process aborts";
        return panic;
    }
    let own = message(payload);
    // `resume_unwind` does not call the hook. Then the records are of earlier panics.
    let is_it = |known: &(ThreadId, Record)| {
        known.0 == thread && own.is_none_or(|own| own == known.1.message)
    };
    let record = RECORDS.with(|records| {
        let mut records = records.borrow_mut();
        let place = records.iter().rposition(is_it)?;
        Some(records.remove(place).1)
    });
    match record {
        Some(record) => {
            let captured = record.backtrace.status() == BacktraceStatus::Captured;
            let backtrace = captured.then(|| record.backtrace.to_string());
            Panic { thread, message: record.message, place: record.place, backtrace }
        }
        None => {
            ensure_hook();
            let message = own.unwrap_or(NO_TEXT).to_owned();
            Panic { thread, message, place: None, backtrace: None }
        }
    }
}

/// Keeps the record of a panic of `thread`.
fn keep(thread: ThreadId, record: Record) {
    RECORDS.with(|records| {
        let mut records = records.borrow_mut();
        if records.iter().filter(|known| known.0 == thread).count() == MAX_RECORDS {
            let oldest = records.iter().position(|known| known.0 == thread);
            records.remove(oldest.expect("just counted"));
        }
        records.push((thread, record));
    });
}

/// Returns the last record of `thread`.
fn take_last(thread: ThreadId) -> Option<Record> {
    RECORDS.with(|records| {
        let mut records = records.borrow_mut();
        let last = records.iter().rposition(|known| known.0 == thread)?;
        Some(records.remove(last).1)
    })
}

/// Forgets the panics of a run.
pub(crate) fn forget() {
    RECORDS.with(|records| records.borrow_mut().clear());
}

/// Prints a panic of raddle itself, which the hook has recorded but not printed.
#[cold]
pub(crate) fn tell(thread: ThreadId) {
    if let Some(record) = take_last(thread) {
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

/// The address of the hook that was installed last. Zero if none was.
static INSTALLED: Mutex<usize> = Mutex::new(0);

/// Installs a hook that records the panics of runs instead of printing them. Other panics go to the previous hook.
pub(crate) fn install_hook() {
    static FIRST: Once = Once::new();
    FIRST.call_once(ensure_hook);
}

/// Installs the hook again if a test has replaced it: that must not change what is known of the panics of other tests.
#[cold]
fn ensure_hook() {
    if std::thread::panicking() {
        return;
    }
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    let current = panic::take_hook();
    if std::ptr::from_ref(&*current).cast::<()>().addr() == *installed {
        return panic::set_hook(current);
    }
    let hook = Box::new(
        move |info: &PanicHookInfo<'_>| {
            if port::active() { in_run(info, &current) } else { current(info) }
        },
    );
    *installed = std::ptr::from_ref(&*hook).addr();
    panic::set_hook(hook);
}

fn in_run(info: &PanicHookInfo<'_>, before: &dyn Fn(&PanicHookInfo<'_>)) {
    let text = message(info.payload()).unwrap_or(NO_TEXT);
    // The messages of the standard library before it aborts the process.
    let aborts = text.starts_with("panic in a destructor during cleanup")
        || text.starts_with("panic in a function that cannot unwind");
    if aborts {
        let thread = port::thread();
        if port::is_over() {
            eprintln!(
                "raddle: a destructor of {thread} panicked while raddle cleared away a thread that \
                 waits forever; Rust ends the process."
            );
        } else {
            eprintln!(
                "raddle: {thread} panicked while it was unwinding from another panic; \
                 Rust ends the process."
            );
        }
        if let Some(record) = take_last(thread) {
            let place = record.place.as_deref().unwrap_or("unknown place");
            eprintln!("  the last panic: {} ({place})", record.message);
        }
        if let Some(text) = own_bug::take(port::check_name(), &port::token()) {
            eprintln!("{text}");
        }
        eprintln!("  replay: {}", port::replay_line());
        before(info);
        return;
    }
    own_bug::note(text, info.location());
    let place = info.location().map(|location| location.to_string());
    let backtrace = if port::is_trial() { Backtrace::disabled() } else { Backtrace::capture() };
    let record = Record { message: text.to_owned(), place, backtrace };
    keep(port::panicked(), record);
}
