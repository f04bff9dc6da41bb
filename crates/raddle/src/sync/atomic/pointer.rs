//! Atomic pointers.

use std::fmt;

use raddle_core::{AtomicOp, Effect, Op, Order, Rmw, Scalar, Site};
use raddle_engine::Initial;
use raddle_runtime::port::{self, Kind, Name};

use super::{
    LOAD, Ordering, STORE, exchanged, failure_order, load_order, operation, store_order, translate,
    word_of,
};
use crate::naming::Named;

atomic_type! {
    /// An atomic pointer, as [`std::sync::atomic::AtomicPtr`].
    AtomicPtr [T], std::sync::atomic::AtomicPtr<T>, *mut T, Scalar::Pointer,
    |value| value.expose_provenance() as u64,
    |bits| std::ptr::with_exposed_provenance_mut(bits as usize),
    "(std::ptr::dangling_mut::<u8>(), std::ptr::null_mut::<u8>())"
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}

/// Defines read-modify-write methods on the address, each by its function and its effect on a pointer.
macro_rules! address_methods {
    ($($(#[$doc:meta])* $method:ident $function:ident $result:literal $change:expr),* $(,)?) => {
        $(
            $(#[$doc])*
            #[doc = concat!(
                "\n```\nuse raddle::sync::atomic::{AtomicPtr, Ordering::SeqCst};\n\n",
                "let old = std::ptr::without_provenance_mut::<u8>(6);\n",
                "let place = AtomicPtr::new(old);\n",
                "assert_eq!(place.", stringify!($method), "(3, SeqCst), old);\n",
                "assert_eq!(place.load(SeqCst).addr(), ", $result, ");\n```"
            )]
            #[track_caller]
            pub fn $method(&self, val: usize, order: Ordering) -> *mut T {
                let (update, operand) = (const { Self::rmw(Rmw::$function) }, val as u64);
                if let Some(effect) = self.read_modify_write(update, operand, order, Site::caller()) {
                    return Self::from_bits(word_of(effect));
                }
                // The method of `std` is newer than the oldest supported compiler.
                let change: fn(*mut T, usize) -> *mut T = $change;
                let mut old = self.inner.load(Ordering::Relaxed);
                loop {
                    let new = change(old, val);
                    match self.inner.compare_exchange_weak(old, new, order, Ordering::Relaxed) {
                        Ok(old) => return old,
                        Err(newer) => old = newer,
                    }
                }
            }
        )*
    };
}

impl<T> AtomicPtr<T> {
    /// Adds `val` times the size of `T`. Returns the old pointer.
    ///
    /// ```
    /// use raddle::sync::atomic::{AtomicPtr, Ordering::SeqCst};
    ///
    /// let middle = [1u32, 2, 3].as_mut_ptr().wrapping_add(1);
    /// let place = AtomicPtr::new(middle);
    /// assert_eq!(place.fetch_ptr_add(1, SeqCst), middle);
    /// assert_eq!(place.load(SeqCst), middle.wrapping_add(1));
    /// ```
    #[track_caller]
    pub fn fetch_ptr_add(&self, val: usize, order: Ordering) -> *mut T {
        self.fetch_byte_add(val.wrapping_mul(size_of::<T>()), order)
    }

    /// Subtracts `val` times the size of `T`. Returns the old pointer.
    ///
    /// ```
    /// use raddle::sync::atomic::{AtomicPtr, Ordering::SeqCst};
    ///
    /// let middle = [1u32, 2, 3].as_mut_ptr().wrapping_add(1);
    /// let place = AtomicPtr::new(middle);
    /// assert_eq!(place.fetch_ptr_sub(1, SeqCst), middle);
    /// assert_eq!(place.load(SeqCst), middle.wrapping_sub(1));
    /// ```
    #[track_caller]
    pub fn fetch_ptr_sub(&self, val: usize, order: Ordering) -> *mut T {
        self.fetch_byte_sub(val.wrapping_mul(size_of::<T>()), order)
    }

    address_methods! {
        /// Adds `val` bytes. Returns the old pointer.
        fetch_byte_add Add "6 + 3" |old, val| old.wrapping_byte_add(val),
        /// Subtracts `val` bytes. Returns the old pointer.
        fetch_byte_sub Sub "6 - 3" |old, val| old.wrapping_byte_sub(val),
        /// Computes the bitwise or of the address. Returns the old pointer.
        fetch_or Or "6 | 3" |old, val| old.map_addr(|address| address | val),
        /// Computes the bitwise and of the address. Returns the old pointer.
        fetch_and And "6 & 3" |old, val| old.map_addr(|address| address & val),
        /// Computes the bitwise exclusive or of the address. Returns the old pointer.
        fetch_xor Xor "6 ^ 3" |old, val| old.map_addr(|address| address ^ val),
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // This is not an operation of the program.
        let newest = self.name.known().map(port::newest);
        let newest = newest.map(|bits| std::ptr::with_exposed_provenance_mut::<T>(bits as usize));
        fmt::Pointer::fmt(&newest.unwrap_or_else(|| self.inner.load(Ordering::Relaxed)), f)
    }
}
