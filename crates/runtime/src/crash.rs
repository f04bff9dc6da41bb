//! Says which check ended the process, and how to replay it: a fault, an abort, a stack overflow, or
//! `process::exit` inside a run would take all other tests along without a word.
//!
//! A handler of the signals prints the name of the check, the step and the token, and then lets the previous handler
//! handle the signal. If the faulting address is in the guard page of a coroutine, it also says that a stack
//! overflowed. `process::exit` calls a function that `atexit` registered.

use std::cell::UnsafeCell;
use std::fmt::Write as _;
use std::mem::MaybeUninit;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::port;

/// The handlers that the program had before, one for each of [`SIGNALS`].
struct Previous(UnsafeCell<[MaybeUninit<libc::sigaction>; SIGNALS.len()]>);

// SAFETY: the value is written once, under `Once`, before the handler that reads it is installed.
unsafe impl Sync for Previous {}

static PREVIOUS: Previous = Previous(UnsafeCell::new([MaybeUninit::zeroed(); SIGNALS.len()]));

const SIGNALS: [libc::c_int; 3] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT];

/// The stack on which signals are handled: making a token takes more than the system provides.
const SIGNAL_STACK_BYTES: usize = 128 * 1024;

/// The status of a process that the program ends inside a check, whatever it asked for: no success, and not that of tests
/// that fail.
const EXIT_STATUS: libc::c_int = 1;

/// The seconds that a crashed process has to print its token.
const TOKEN_TIMEOUT_SECONDS: u32 = 5;

/// Installs the handler for crashes on the calling OS thread.
pub(crate) fn install_handler() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        for (index, signal) in SIGNALS.into_iter().enumerate() {
            install(index, signal);
        }
        // SAFETY: the function may be called at the end of the process.
        unsafe { libc::atexit(at_exit) };
    });
    thread_local!(static STACK: SignalStack = SignalStack::new());
    // The thread-local is gone at the end of the OS thread.
    let _ = STACK.try_with(|_| {});
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

/// A stack for signals of one OS thread, in place of that of the standard library.
struct SignalStack {
    before: libc::stack_t,
    _memory: Box<[u8]>,
}

impl SignalStack {
    fn new() -> SignalStack {
        let mut memory = vec![0u8; SIGNAL_STACK_BYTES].into_boxed_slice();
        let new = libc::stack_t {
            ss_sp: memory.as_mut_ptr().cast(),
            ss_flags: 0,
            ss_size: SIGNAL_STACK_BYTES,
        };
        // SAFETY: all-zero is a valid `stack_t`.
        let mut before: libc::stack_t = unsafe { std::mem::zeroed() };
        // SAFETY: the memory is valid until `drop` restores the stack of before.
        unsafe { libc::sigaltstack(&new, &mut before) };
        SignalStack { before, _memory: memory }
    }
}

impl Drop for SignalStack {
    fn drop(&mut self) {
        // SAFETY: the stack of before belongs to this OS thread, which has not ended.
        unsafe { libc::sigaltstack(&self.before, std::ptr::null_mut()) };
    }
}

extern "C" fn on_fault(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes valid information to a SA_SIGINFO handler.
    let info = unsafe { &*info };
    let is_abort = signal == libc::SIGABRT;
    // SAFETY: a fault has an address.
    let address = if is_abort { 0 } else { unsafe { info.si_addr() as usize } };
    if !is_abort && port::is_stack_guard(address) {
        describe(
            "overflowed its stack: its recursion is too deep, or it needs more than `Config::stack_size` gives it",
        );
        // The handler of the standard library knows nothing of this stack.
        // SAFETY: the signal gets its default action, which ends the process.
        unsafe { libc::signal(libc::SIGABRT, libc::SIG_DFL) };
        // SAFETY: `abort` has no preconditions.
        unsafe { libc::abort() };
    }
    describe(match signal {
        libc::SIGSEGV => "accessed memory that it must not access (SIGSEGV)",
        libc::SIGBUS => "accessed memory that does not exist (SIGBUS)",
        _ => "aborted the process (SIGABRT)",
    });
    let index = SIGNALS.iter().position(|&known| known == signal).unwrap_or(0);
    // SAFETY: the value was written before this handler was installed, and never since.
    let previous = unsafe { &(*PREVIOUS.0.get())[index] };
    // SAFETY: the structure is valid. The fault or abort happens again, and the previous handler handles it.
    unsafe { libc::sigaction(signal, previous.as_ptr(), std::ptr::null_mut()) };
}

extern "C" fn at_exit() {
    if port::steps().is_none() {
        return;
    }
    describe("ended the process (`process::exit`)");
    // SAFETY: all streams of C are written out.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    // The program may have asked for 0, and the tests would count as passed.
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(EXIT_STATUS) };
}

/// Prints which check is in a run on this OS thread, and what its thread did. Does nothing outside a run, and the
/// second time.
fn describe(what: &str) {
    static IS_DESCRIBED: AtomicBool = AtomicBool::new(false);
    let Some(steps) = port::steps() else { return };
    if IS_DESCRIBED.swap(true, Ordering::Relaxed) {
        return;
    }
    let mut text = Text { bytes: [0; 512], length: 0 };
    // This cannot fail, because text that does not fit is cut off.
    let _ = write!(
        text,
        "\nraddle: in the check `{}`, {} {what}.\n  It had made {steps} steps.\n",
        port::check_name(),
        port::thread(),
    );
    text.print();
    // The rest allocates, which a signal handler must not do: the fault may be inside the allocator. If it never
    // returns, the alarm ends the process.
    // SAFETY: the signal gets its default action.
    unsafe { libc::signal(libc::SIGALRM, libc::SIG_DFL) };
    // SAFETY: `alarm` has no preconditions.
    unsafe { libc::alarm(TOKEN_TIMEOUT_SECONDS) };
    let line = format!("  It is {}.\n  replay: {}\n", port::last_seen(), port::replay_line());
    // SAFETY: the text has this length.
    unsafe { libc::write(2, line.as_ptr().cast(), line.len()) };
    // SAFETY: `alarm` has no preconditions.
    unsafe { libc::alarm(0) };
}

/// A text that needs no allocation, for signal handlers.
struct Text {
    bytes: [u8; 512],
    length: usize,
}

impl Text {
    fn print(&self) {
        // SAFETY: `bytes` holds `length` initialised bytes.
        unsafe { libc::write(2, self.bytes.as_ptr().cast(), self.length) };
    }
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
