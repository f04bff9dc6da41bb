//! Names a stack overflow, which would otherwise be a bare SIGSEGV.
//!
//! The handler looks whether the faulting address lies in the guard page of a coroutine of this OS
//! thread. If so it says which thread of the program overflowed and ends the process; if not, the
//! fault goes to the handler there was before.

use std::cell::{Cell, UnsafeCell};
use std::fmt::Write as _;
use std::mem::MaybeUninit;
use std::sync::Once;

use crate::port;

struct Previous(UnsafeCell<[MaybeUninit<libc::sigaction>; 2]>);

// SAFETY: written once, under `Once`, before the handler that reads it is installed.
unsafe impl Sync for Previous {}

static PREVIOUS: Previous = Previous(UnsafeCell::new([MaybeUninit::zeroed(); 2]));

const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Makes overflows on coroutines of the calling OS thread known as such.
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
    // SAFETY: inside `Once`, before the handler can run: nobody else looks.
    let previous = unsafe { &mut (*PREVIOUS.0.get())[index] };
    // SAFETY: both structures are valid, and the handler only does what handlers may.
    unsafe { libc::sigaction(signal, &action, previous.as_mut_ptr()) };
}

/// The standard library gives its own threads a stack for signals; threads it did not start need
/// one from us.
fn provide_signal_stack() {
    // SAFETY: all-zero is a valid `stack_t`.
    let mut current: libc::stack_t = unsafe { std::mem::zeroed() };
    // SAFETY: only asks; the structure is valid.
    unsafe { libc::sigaltstack(std::ptr::null(), &mut current) };
    if current.ss_flags & libc::SS_DISABLE == 0 {
        return;
    }
    let size = 64 * 1024;
    let stack = Box::leak(vec![0u8; size].into_boxed_slice());
    let new = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: size };
    // SAFETY: the stack is leaked, so it stays.
    unsafe { libc::sigaltstack(&new, std::ptr::null_mut()) };
}

extern "C" fn on_fault(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes valid information to a SA_SIGINFO handler.
    let info = unsafe { &*info };
    // SAFETY: for the signals handled here it carries an address.
    let address = unsafe { info.si_addr() } as usize;
    if port::is_stack_guard(address) {
        say_and_abort();
    }
    let index = usize::from(signal == libc::SIGBUS);
    // SAFETY: written before this handler was installed, never since.
    let previous = unsafe { &(*PREVIOUS.0.get())[index] };
    // SAFETY: puts back what was there; the fault happens again and goes to it.
    unsafe { libc::sigaction(signal, previous.as_ptr(), std::ptr::null_mut()) };
}

fn say_and_abort() -> ! {
    let mut text = Text { bytes: [0; 256], length: 0 };
    // Cannot fail: what does not fit is cut off.
    let _ = write!(
        text,
        "\nraddle: {} overflowed its stack. Its recursion is too deep, or it needs more than \
         `Config::stack_size` gives it.\n",
        port::thread()
    );
    // SAFETY: the bytes are initialised and ours.
    unsafe { libc::write(2, text.bytes.as_ptr().cast(), text.length) };
    // SAFETY: always allowed.
    unsafe { libc::abort() }
}

/// Text without allocation, for signal handlers.
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
