//! Entry points of ThreadSanitizer's instrumentation, which the compiler calls before accesses to memory.

use std::cell::Cell;

use crate::one_thread::OneThread;

pub(crate) mod atomic;
pub(crate) mod plain;
pub(crate) mod strings;
pub(crate) mod wide;

/// Exports functions that pass the address they return to as one more argument: `name, register, function;`. The
/// register is the one of the argument after the last.
macro_rules! with_caller {
    ($($name:ident, $register:literal, $function:path;)*) => {$(
        /// Stands in for the function of this name.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name() {
            std::arch::naked_asm!(concat!("mov ", $register, ", [rsp]"), "jmp {}", sym $function)
        }
    )*};
}
pub(crate) use with_caller;

/// The same for functions whose calls may be rounds of a loop that waits: they leave the registers of the caller in
/// [`REGISTERS`](crate::frames::REGISTERS).
macro_rules! with_registers {
    ($($name:ident, $register:literal, $function:path;)*) => {$(
        /// Stands in for the function of this name.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name() {
            std::arch::naked_asm!(
                concat!("mov ", $register, ", [rsp]"),
                "lea rax, [rip + {registers}]",
                "mov [rax], rsp",
                "mov [rax + 8], rbx",
                "mov [rax + 16], rbp",
                "mov [rax + 24], r12",
                "mov [rax + 32], r13",
                "mov [rax + 40], r14",
                "mov [rax + 48], r15",
                "jmp {function}",
                registers = sym $crate::frames::REGISTERS,
                function = sym $function,
            )
        }
    )*};
}
pub(crate) use with_registers;

/// Called by the constructors of instrumented code.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __tsan_init() {
    IS_INSTRUMENTED.set(true);
}

static IS_INSTRUMENTED: OneThread<Cell<bool>> = OneThread::new(Cell::new(false));

/// Returns whether instrumented code was loaded.
pub(crate) fn is_instrumented() -> bool {
    IS_INSTRUMENTED.get()
}

/// Called at the beginning of functions.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __tsan_func_entry(_caller: usize) {}

/// Called at the end of functions.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __tsan_func_exit() {}

/// Called by clang around code that is not to be checked.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __tsan_ignore_thread_begin() {}

/// Called by clang around code that is not to be checked.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __tsan_ignore_thread_end() {}
