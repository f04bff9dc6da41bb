//! Functions that change what the kernel knows of the process. A run in the host's own process must not call them: the
//! check begins anew with forks.

use std::collections::BTreeSet;
use std::ffi::{c_char, c_int, c_void};

use crate::modules::{Origin, origin};
use crate::names;
use crate::real::real;
use crate::run::{is_controlled, refuse, state};

macro_rules! needs_fork {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        /// Stands in for the function of this name.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            if is_controlled() {
                state().need_fork();
            }
            real!($name($($argument => $type),*) -> $result)
        }
    )*};
}

needs_fork! {
    mmap(at: *mut c_void, size: usize, protection: c_int, flags: c_int, file: c_int, offset: i64) -> *mut c_void;
    mmap64(at: *mut c_void, size: usize, protection: c_int, flags: c_int, file: c_int, offset: i64) -> *mut c_void;
    munmap(at: *mut c_void, size: usize) -> c_int;
    mprotect(at: *mut c_void, size: usize, protection: c_int) -> c_int;
    sigaction(signal: c_int, new: *const c_void, old: *mut c_void) -> c_int;
    signal(signal: c_int, handler: *mut c_void) -> *mut c_void;
    chdir(path: *const c_char) -> c_int;
}

/// Stands in for `dlopen`. Instrumented code has to be there when the check begins, because its places are named by what
/// was loaded then.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void {
    let load = || real!(dlopen(path => *const c_char, flags => c_int) -> *mut c_void);
    if !is_controlled() {
        return load();
    }
    state().need_fork();
    let known = state().as_host(files);
    let handle = load();
    let new = state().as_host(|| {
        let is_new = |path: &String| !known.contains(path);
        files().into_iter().filter(is_new).find(|path| origin(path) == Origin::Instrumented)
    });
    if let Some(path) = new {
        refuse(&format!(
            "the program loads {path} by `dlopen`, which is instrumented: raddle does not model that; link it with the \
             program, or load it before main"
        ));
    }
    handle
}

/// Returns the files that are mapped.
fn files() -> BTreeSet<String> {
    names::modules().into_iter().map(|module| module.path).collect()
}
