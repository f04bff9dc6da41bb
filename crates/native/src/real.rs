//! The functions that this library stands in for.

use std::cell::Cell;
use std::ffi::{CStr, c_void};

use crate::one_thread::OneThread;

/// A function of another library that has the name of one here. It is looked up once.
pub(crate) struct Real {
    name: &'static CStr,
    address: OneThread<Cell<*mut c_void>>,
}

impl Real {
    pub(crate) const fn new(name: &'static CStr) -> Real {
        Real { name, address: OneThread::new(Cell::new(std::ptr::null_mut())) }
    }

    /// Returns the address of the next function with this name, in the order in which libraries were loaded.
    ///
    /// Several OS threads of a program that runs alone may look it up at once: all of them find the same.
    pub(crate) fn address(&self) -> *mut c_void {
        if self.address.get().is_null() {
            // SAFETY: the name is a C string.
            let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
            if found.is_null() {
                crate::system::write(2, b"raddle: the program's C library has no ");
                crate::system::write(2, self.name.to_bytes());
                crate::system::write(2, b"\n");
                crate::system::exit(2);
            }
            self.address.set(found);
        }
        self.address.get()
    }
}

/// Calls the function that a function here stands in for: `real!(name(argument: type, …) -> type)`.
///
/// The expression is unsafe, as the function is.
macro_rules! real {
    ($name:ident($($argument:expr => $type:ty),* $(,)?) -> $result:ty) => {{
        static REAL: $crate::real::Real = {
            const NAME: &std::ffi::CStr =
                match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => unreachable!(),
                };
            $crate::real::Real::new(NAME)
        };
        type Function = unsafe extern "C" fn($($type),*) -> $result;
        // SAFETY: the function of this name has this type.
        let function = unsafe { std::mem::transmute::<*mut std::ffi::c_void, Function>(REAL.address()) };
        // SAFETY: the arguments are those that the program gave to the function of this name.
        unsafe { function($($argument),*) }
    }};
}
pub(crate) use real;
