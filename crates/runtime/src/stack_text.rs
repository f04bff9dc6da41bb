//! Stacks as text.
//!
//! Looking up the symbols of a stack takes fifty times as long as walking it. So the text of a stack is kept, by its return
//! addresses.

use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::collections::HashMap;

/// The number of stacks that an OS thread keeps.
const MAX_KEPT_STACKS: usize = 256;

thread_local! {
    static KEPT: RefCell<HashMap<Vec<usize>, String>> = RefCell::default();
}

/// Returns the stack of the calling thread as text.
pub(crate) fn stack_text() -> String {
    let addresses = return_addresses();
    // The cache is gone at the end of the OS thread.
    let kept = KEPT.try_with(|kept| kept.borrow().get(&addresses).cloned()).ok().flatten();
    if let Some(text) = kept {
        return text;
    }
    let text = Backtrace::force_capture().to_string();
    if !addresses.is_empty() {
        let _ = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            if kept.len() == MAX_KEPT_STACKS {
                kept.clear();
            }
            kept.insert(addresses, text.clone());
        });
    }
    text
}

/// Returns the addresses to which the functions on the stack return.
#[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
fn return_addresses() -> Vec<usize> {
    use std::ffi::{c_int, c_void};

    type Visit = extern "C" fn(context: *mut c_void, addresses: *mut c_void) -> c_int;

    // The unwinder, with which the standard library is linked.
    unsafe extern "C" {
        fn _Unwind_Backtrace(visit: Visit, addresses: *mut c_void) -> c_int;
        fn _Unwind_GetIP(context: *mut c_void) -> usize;
    }

    extern "C" fn visit(context: *mut c_void, addresses: *mut c_void) -> c_int {
        // SAFETY: the vector that `return_addresses` passes, which does not touch it meanwhile.
        let addresses = unsafe { &mut *addresses.cast::<Vec<usize>>() };
        // SAFETY: the unwinder passes the context of a frame.
        addresses.push(unsafe { _Unwind_GetIP(context) });
        // Continue.
        0
    }

    let mut addresses: Vec<usize> = Vec::with_capacity(64);
    // SAFETY: walks the stack of this thread. `visit` gets the vector, and does not unwind: only running out of memory could
    // make it, and that ends the process.
    unsafe { _Unwind_Backtrace(visit, (&raw mut addresses).cast()) };
    addresses
}

/// Returns nothing: stacks cannot be walked here without looking up their symbols.
#[cfg(not(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
fn return_addresses() -> Vec<usize> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use std::backtrace::Backtrace;

    use super::stack_text;

    #[inline(never)]
    fn here() -> [String; 2] {
        [stack_text(), Backtrace::force_capture().to_string()]
    }

    #[inline(never)]
    fn elsewhere() -> String {
        let text = stack_text();
        // So that the call is no tail call, which would leave no frame of this function.
        std::hint::black_box(&text);
        text
    }

    /// The text is that of this stack, the first time and later.
    #[test]
    fn text_is_of_the_stack_that_is_walked() {
        let functions = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| !line.trim_start().starts_with("at "));
            let names = lines.filter_map(|line| Some(line.split_once(": ")?.1.to_owned()));
            names
                .filter(|name| name.contains("raddle") && !name.contains("stack_text::stack_text"))
                .collect()
        };
        for _ in 0..3 {
            let [text, captured] = here();
            assert_eq!(functions(&text), functions(&captured));
            let other = elsewhere();
            assert!(other.contains("elsewhere") && !text.contains("elsewhere"), "{other}");
        }
    }
}
