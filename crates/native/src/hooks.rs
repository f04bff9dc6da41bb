//! Entry points of ThreadSanitizer's instrumentation, which the compiler calls before accesses to memory.

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

/// Called by the constructors of instrumented code.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __tsan_init() {}

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
