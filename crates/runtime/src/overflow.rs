//! Reports a stack overflow, which would otherwise be a SIGSEGV without a message.
//!
//! The handler tests whether the faulting address is in the guard page of a coroutine of this OS thread. If so, it prints
//! which thread of the program overflowed and aborts the process. Otherwise the previous handler handles the fault.

use std::cell::{Cell, UnsafeCell};
use std::fmt::Write as _;
use std::mem::MaybeUninit;
use std::sync::Once;

use crate::port;

/// The handlers that the program had before, one for each of [`SIGNALS`].
struct Previous(UnsafeCell<[MaybeUninit<libc::sigaction>; 2]>);

// SAFETY: the value is written once, under `Once`, before the handler that reads it is installed.
unsafe impl Sync for Previous {}

static PREVIOUS: Previous = Previous(UnsafeCell::new([MaybeUninit::zeroed(); 2]));

const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Installs the handler for overflows of coroutines on the calling OS thread.
pub(crate) fn install_handler() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        for (index, signal) in SIGNALS.into_iter().enumerate() {
            install(index, signal);
        }
    });
    thread_local!(static PROVIDED: Cell<bool> = const { Cell::new(false) });
    if !PROVIDED.replace(true) {
        provide_signal_stack();
    }
}

fn install(index: usize, signal: libc::c_int) {
    // SAFETY: all-zero is a valid `sigaction`.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = on_fault as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: this runs inside `Once`, before the handler can run, so there is no other reference.
    let previous = unsafe { &mut (*PREVIOUS.0.get())[index] };
    // SAFETY: both structures are valid, and the handler is async-signal-safe.
    unsafe { libc::sigaction(signal, &action, previous.as_mut_ptr()) };
}

/// Provides a stack for signals. Threads that the standard library started already have one.
fn provide_signal_stack() {
    // SAFETY: all-zero is a valid `stack_t`.
    let mut current: libc::stack_t = unsafe { std::mem::zeroed() };
    // SAFETY: the structure can be written, and no stack is changed.
    unsafe { libc::sigaltstack(std::ptr::null(), &mut current) };
    if current.ss_flags & libc::SS_DISABLE == 0 {
        return;
    }
    let size = 64 * 1024;
    let stack = Box::leak(vec![0u8; size].into_boxed_slice());
    let new = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: size };
    // SAFETY: the stack is leaked, so it stays valid.
    unsafe { libc::sigaltstack(&new, std::ptr::null_mut()) };
}

extern "C" fn on_fault(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes valid information to a SA_SIGINFO handler.
    let info = unsafe { &*info };
    // SAFETY: the signals handled here have an address.
    let address = unsafe { info.si_addr() } as usize;
    if port::is_stack_guard(address) {
        report_and_abort();
    }
    let index = usize::from(signal == libc::SIGBUS);
    // SAFETY: the value was written before this handler was installed, and never since.
    let previous = unsafe { &(*PREVIOUS.0.get())[index] };
    // SAFETY: the structure is valid. The fault happens again, and the previous handler handles it.
    unsafe { libc::sigaction(signal, previous.as_ptr(), std::ptr::null_mut()) };
}

fn report_and_abort() -> ! {
    let mut text = Text { bytes: [0; 256], length: 0 };
    // This cannot fail, because text that does not fit is cut off.
    let _ = write!(
        text,
        "\nraddle: {} overflowed its stack. Its recursion is too deep, or it needs more than \
         `Config::stack_size` gives it.\n",
        port::thread()
    );
    // SAFETY: `text` holds `length` initialised bytes.
    unsafe { libc::write(2, text.bytes.as_ptr().cast(), text.length) };
    // SAFETY: `abort` has no preconditions.
    unsafe { libc::abort() }
}

/// A text that needs no allocation, for signal handlers.
struct Text {
    bytes: [u8; 256],
    length: usize,
}

impl std::fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = &mut self.bytes[self.length..];
        let count = text.len().min(room.len());
        room[..count].copy_from_slice(&text.as_bytes()[..count]);
        self.length += count;
        Ok(())
    }
}
