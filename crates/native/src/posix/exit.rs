//! Ends of the program: return codes, failed assertions, aborts.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use raddle_core::ThreadId;

use crate::coroutines::Context;
use crate::hooks::with_caller;
use crate::real::real;
use crate::run::{is_controlled, refuse, state, state_if_any};
use crate::{first_thread, host, system};

/// Runs the exit handlers of the program, and leaves it.
pub(crate) fn leave(code: c_int) -> ! {
    real!(exit(code => c_int) -> !)
}

/// Main has returned, or called `exit` with this code.
fn main_exits(code: c_int) -> ! {
    state().finish_main();
    leave(code)
}

/// Called after the exit handlers of the program. A run that is not in a process of its own leaves here.
unsafe extern "C" fn after_handlers(code: c_int, _unused: *mut c_void) {
    if first_thread::is_awaited() {
        first_thread::await_thread(Context::NONE);
        return host::end_without_check(code);
    }
    let Some(state) = state_if_any() else { return };
    if state.main_has_ended.get() && code == 0 {
        state.look_for_leaks();
    }
    if !state.ends_with_process.get() && state.main_has_ended.get() {
        // SAFETY: writes what the program has not written yet.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        state.end_process(code);
    }
}

/// Runs before the constructors of the program, so that its exit handlers run before ours.
#[used]
#[unsafe(link_section = ".init_array")]
static REGISTER: extern "C" fn() = {
    extern "C" fn register() {
        // SAFETY: the function lives as long as the process.
        unsafe { on_exit(after_handlers, std::ptr::null_mut()) };
    }
    register
};

unsafe extern "C" {
    fn on_exit(handler: unsafe extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

pub(crate) extern "C" fn exit_with(code: c_int, pc: usize) -> ! {
    if is_controlled() {
        let state = state();
        if code != 0 {
            state.fail(format!("exit with code {code}"), Some(format!("{pc:#x}")));
        }
        if state.me() != ThreadId::MAIN {
            refuse("a thread other than main calls `exit(0)`, which raddle does not model");
        }
        main_exits(code);
    }
    leave(code)
}

/// Ends the process without exit handlers. Also called by libc after the exit handlers.
extern "C" fn exit_at_once(code: c_int, pc: usize) -> ! {
    if is_controlled() {
        exit_with(code, pc);
    }
    if first_thread::is_awaited() {
        first_thread::await_thread(Context::NONE);
        host::end_without_check(code);
    }
    match state_if_any() {
        Some(state) if !state.threads.borrow().is_empty() => state.end_process(code),
        Some(_) | None => system::exit(code),
    }
}

extern "C" fn abort_at(pc: usize) -> ! {
    if let Some(state) = state_if_any() {
        if state.in_engine.get() || !state.is_running.get() {
            // A panic of raddle itself, which has told its message.
            system::exit(crate::process::BROKEN);
        }
        if is_controlled() {
            state.fail("the program aborts".to_owned(), Some(format!("{pc:#x}")));
        }
    }
    real!(abort() -> !)
}

unsafe extern "C" fn assertion(
    expression: *const c_char,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
) -> ! {
    if is_controlled() {
        // SAFETY: the compiler passes C strings.
        let expression = unsafe { CStr::from_ptr(expression) }.to_string_lossy();
        // SAFETY: as above.
        let file = unsafe { CStr::from_ptr(file) }.to_string_lossy();
        state().fail(
            format!("assertion failed: {expression}"), // Assertions have no column.
            Some(format!("{file}:{line}:1")),
        );
    }
    real!(__assert_fail(
        expression => *const c_char,
        file => *const c_char,
        line => c_uint,
        function => *const c_char,
    ) -> !)
}

/// Stands in for the function of libc that `assert` calls.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __assert_fail(
    expression: *const c_char,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
) -> ! {
    // SAFETY: the arguments are the program's.
    unsafe { assertion(expression, file, line, function) }
}

with_caller! {
    exit, "rsi", exit_with;
    _exit, "rsi", exit_at_once;
    _Exit, "rsi", exit_at_once;
    quick_exit, "rsi", exit_at_once;
    abort, "rdi", abort_at;
}
