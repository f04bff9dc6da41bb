//! Functions that raddle does not model. A run that calls one is refused by its name, outside of runs they are libc's.

use std::ffi::{c_char, c_int, c_long, c_void};

use super::time;
use crate::real::real;
use crate::run::{is_controlled, refuse};
use crate::{syscalls, system};

macro_rules! refused {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        /// Refused in runs.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            if is_controlled() {
                refuse(concat!("the program calls `", stringify!($name), "`, which raddle does not model"));
            }
            real!($name($($argument => $type),*) -> $result)
        }
    )*};
}

refused! {
    fork() -> c_int;
    vfork() -> c_int;
    system(command: *const c_char) -> c_int;
    popen(command: *const c_char, mode: *const c_char) -> *mut c_void;
    pthread_cancel(thread: libc::pthread_t) -> c_int;
    sem_open(name: *const c_char, flags: c_int, mode: libc::mode_t, count: u32) -> *mut c_void;
}

/// Stands in for the function that makes a system call.
unsafe extern "C" fn make_call(arguments: *const [usize; 7], pc: usize) -> c_long {
    // SAFETY: `syscall` has stored its arguments.
    let [number, arguments @ ..] = unsafe { arguments.read() };
    let result = if is_controlled() {
        syscalls::make(number, arguments, pc)
    } else {
        // SAFETY: the program makes this call.
        unsafe { system::call(number, arguments) }
    };
    if (-4095..0).contains(&result) {
        return c_long::from(time::fail(-result as c_int));
    }
    result as c_long
}

/// Makes the system call with the number and the arguments of the caller, the last of which is on the stack.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn syscall() {
    std::arch::naked_asm!(
        "mov rax, [rsp + 8]",
        "mov r10, [rsp]",
        "push rax",
        "push r9",
        "push r8",
        "push rcx",
        "push rdx",
        "push rsi",
        "push rdi",
        "mov rdi, rsp",
        "mov rsi, r10",
        "call {}",
        "add rsp, 56",
        "ret",
        sym make_call,
    )
}
