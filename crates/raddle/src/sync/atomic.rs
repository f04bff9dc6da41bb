//! Atomic types, as in [`std::sync::atomic`].
//!
//! In a run the engine stores the value. The variable itself keeps its value from outside the run, with which it starts
//! the next run. So a static has the same initial value in every execution.

use std::fmt;

use raddle_core::{Action, AtomicOp, Effect, ObjectId, Op, Order, Rmw, Scalar, Site};
use raddle_engine::Initial;
use raddle_runtime::port::{self, Kind, Name};

pub use std::sync::atomic::{Ordering, compiler_fence};

use crate::naming::Named;
use crate::unexpected;

mod sited;

pub(super) use sited::fence_at;

/// A memory fence, as [`std::sync::atomic::fence`].
///
/// ```
/// use raddle::sync::atomic::{AtomicBool, Ordering, fence};
///
/// let is_ready = AtomicBool::new(true);
/// if is_ready.load(Ordering::Relaxed) {
///     fence(Ordering::Acquire);
///     // Writes before the `Release` store to the flag are visible here.
/// }
/// ```
///
/// # Panics
/// Panics if the ordering is `Relaxed`.
#[track_caller]
pub fn fence(order: Ordering) {
    assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed fence");
    fence_at(order, Site::caller());
}

const LOAD: Op = operation(AtomicOp::Load { order: Order::Relaxed });
const STORE: Op = operation(AtomicOp::Store { order: Order::Relaxed, value: 0 });

#[inline(always)]
const fn operation(op: AtomicOp) -> Op {
    Op::new(ObjectId::NONE, Action::Atomic(op))
}

#[inline]
fn translate(order: Ordering) -> Order {
    match order {
        Ordering::Relaxed => Order::Relaxed,
        Ordering::Acquire => Order::Acquire,
        Ordering::Release => Order::Release,
        Ordering::AcqRel => Order::AcqRel,
        Ordering::SeqCst => Order::SeqCst,
        other => panic!("raddle does not know the memory ordering {other:?}"),
    }
}

#[inline]
#[track_caller]
fn load_order(order: Ordering) -> Order {
    match order {
        Ordering::Release => panic!("there is no such thing as a release load"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release load"),
        other => translate(other),
    }
}

#[inline]
#[track_caller]
fn store_order(order: Ordering) -> Order {
    match order {
        Ordering::Acquire => panic!("there is no such thing as an acquire store"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release store"),
        other => translate(other),
    }
}

#[inline]
#[track_caller]
fn failure_order(order: Ordering) -> Order {
    match order {
        Ordering::Release => panic!("there is no such thing as a release failure ordering"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release failure ordering"),
        other => translate(other),
    }
}

#[inline(always)]
fn word_of(effect: Effect) -> u64 {
    match effect {
        Effect::Value(value) => value,
        other => unexpected(other),
    }
}

#[inline]
fn exchanged(effect: Effect) -> Result<u64, u64> {
    match effect {
        Effect::Exchanged(old) => Ok(old),
        Effect::Kept(old) => Err(old),
        other => unexpected(other),
    }
}

/// Expands to an example for the documentation, with a variable of type `$name` that holds the first of `$values`.
macro_rules! example {
    ($name:ident, $values:literal, $($text:tt)+) => {
        concat!(
            "\n```\nuse raddle::sync::atomic::{", stringify!($name), ", Ordering::SeqCst};\n\n",
            "let (old, new) = ", $values, ";\n",
            "let mut variable = ", stringify!($name), "::new(old);\n",
            $($text)+, "\n```"
        )
    };
}

/// Defines an atomic type, with the methods that all atomic types have. `$bits` converts `$from` to 64 bits, and `$value`
/// converts `$word` back. `$values` are two values for the examples.
macro_rules! atomic_type {
    ($(#[$doc:meta])* $name:ident [$($generic:ident)?], $std:ty, $type:ty, $scalar:expr, |$from:ident| $bits:expr, |$word:ident| $value:expr, $values:literal) => {
        $(#[$doc])*
        #[doc = example!($name, $values, "variable.store(new, SeqCst);\nassert_eq!(variable.load(SeqCst), new);")]
        pub struct $name $(<$generic>)? {
            name: Name,
            inner: $std,
        }

        impl $(<$generic>)? $name $(<$generic>)? {
            /// Returns a variable that holds `value`.
            #[doc = example!($name, $values, "assert_eq!(variable.into_inner(), old);")]
            #[track_caller]
            pub const fn new(value: $type) -> Self {
                Self { name: Name::new(), inner: <$std>::new(value) }
            }

            /// Returns the value.
            #[doc = example!($name, $values, "assert_eq!(variable.load(SeqCst), old);")]
            #[inline]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $type {
                let order_of_load = load_order(order);
                match self.access(LOAD.with(order_of_load, 0), Site::caller()) {
                    Some(effect) => Self::from_bits(word_of(effect)),
                    None => self.inner.load(order),
                }
            }

            /// Sets the value.
            #[doc = example!($name, $values, "\
                variable.store(new, SeqCst);\n\
                assert_eq!(variable.load(SeqCst), new);")]
            #[inline]
            #[track_caller]
            pub fn store(&self, value: $type, order: Ordering) {
                let (order_of_store, bits) = (store_order(order), Self::to_bits(value));
                if self.access(STORE.with(order_of_store, bits), Site::caller()).is_none() {
                    self.inner.store(value, order);
                }
            }

            /// Replaces the value and returns the old one.
            #[doc = example!($name, $values, "\
                assert_eq!(variable.swap(new, SeqCst), old);\n\
                assert_eq!(variable.load(SeqCst), new);")]
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $type, order: Ordering) -> $type {
                match self.read_modify_write(const { Self::rmw(Rmw::Swap) }, Self::to_bits(value), order, Site::caller()) {
                    Some(effect) => Self::from_bits(word_of(effect)),
                    None => self.inner.swap(value, order),
                }
            }

            /// Sets the value to `new` if it is `current`. Returns the old value in either case.
            #[doc = example!($name, $values, "\
                assert_eq!(variable.compare_exchange(old, new, SeqCst, SeqCst), Ok(old));\n\
                assert_eq!(variable.compare_exchange(old, new, SeqCst, SeqCst), Err(new));")]
            #[inline]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                self.exchange(false, current, new, (success, failure), Site::caller())
                    .unwrap_or_else(|| self.inner.compare_exchange(current, new, success, failure))
            }

            /// Does what [`compare_exchange`](Self::compare_exchange) does, but may fail spuriously.
            /// Inside a check it does not, unless [`Config::spurious`](crate::Config::spurious)
            /// allows it.
            #[doc = example!($name, $values, "\
                while variable.compare_exchange_weak(old, new, SeqCst, SeqCst).is_err() {}\n\
                assert_eq!(variable.load(SeqCst), new);")]
            #[inline]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                let site = Site::caller();
                if port::spurious(site) {
                    let effect = self.access(LOAD.with(failure_order(failure), 0), site);
                    return Err(effect.map_or(current, |effect| Self::from_bits(word_of(effect))));
                }
                self.exchange(true, current, new, (success, failure), site)
                    .unwrap_or_else(|| self.inner.compare_exchange_weak(current, new, success, failure))
            }

            /// Replaces the value by the result of `f`, until that succeeds or `f` returns `None`.
            #[doc = example!($name, $values, "\
                assert_eq!(variable.fetch_update(SeqCst, SeqCst, |_| Some(new)), Ok(old));\n\
                assert_eq!(variable.fetch_update(SeqCst, SeqCst, |_| None), Err(new));")]
            #[track_caller]
            pub fn fetch_update<F>(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: F,
            ) -> Result<$type, $type>
            where
                F: FnMut($type) -> Option<$type>,
            {
                let mut old = self.load(fetch_order);
                while let Some(new) = f(old) {
                    match self.compare_exchange_weak(old, new, set_order, fetch_order) {
                        Ok(old) => return Ok(old),
                        Err(newer) => old = newer,
                    }
                }
                Err(old)
            }

            /// Does what [`fetch_update`](Self::fetch_update) does.
            #[doc = example!($name, $values, "\
                assert_eq!(variable.try_update(SeqCst, SeqCst, |_| Some(new)), Ok(old));\n\
                assert_eq!(variable.try_update(SeqCst, SeqCst, |_| None), Err(new));")]
            #[track_caller]
            pub fn try_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                f: impl FnMut($type) -> Option<$type>,
            ) -> Result<$type, $type> {
                self.fetch_update(set_order, fetch_order, f)
            }

            /// Replaces the value by the result of `f`. Returns the old value.
            #[doc = example!($name, $values, "\
                assert_eq!(variable.update(SeqCst, SeqCst, |_| new), old);\n\
                assert_eq!(variable.load(SeqCst), new);")]
            #[track_caller]
            pub fn update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($type) -> $type,
            ) -> $type {
                let (Ok(old) | Err(old)) =
                    self.fetch_update(set_order, fetch_order, |old| Some(f(old)));
                old
            }

            /// Returns the value without an atomic operation. An atomic store that is not ordered with this read is a data
            /// race.
            #[doc = example!($name, $values, "\
                // SAFETY: no other thread uses the variable.\n\
                assert_eq!(unsafe { variable.unsync_load() }, old);\n\
                variable.store(new, SeqCst);")]
            ///
            /// # Safety
            /// No other thread writes the variable at the same time.
            #[track_caller]
            pub unsafe fn unsync_load(&self) -> $type {
                match port::touch_atomic(&self.name, || self.begin(), false, Site::caller()) {
                    Some(bits) => Self::from_bits(bits),
                    // SAFETY: the place is valid, and the caller promises that no other thread writes it.
                    None => unsafe { self.inner.as_ptr().read() },
                }
            }

            /// Calls `change` with the value: the caller has the only reference. Inside a check an access of another thread
            /// that is not ordered with this one is a data race nevertheless.
            #[doc = example!($name, $values, "\
                variable.with_mut(|value| *value = new);\n\
                assert_eq!(variable.into_inner(), new);\n\
                # _ = old;")]
            #[track_caller]
            pub fn with_mut<R>(&mut self, change: impl FnOnce(&mut $type) -> R) -> R {
                let site = Site::caller();
                let Some(bits) = port::touch_atomic(&self.name, || self.begin(), true, site) else {
                    return change(self.inner.get_mut());
                };
                let mut value = Self::from_bits(bits);
                let result = change(&mut value);
                if Self::to_bits(value) != bits {
                    self.access(STORE.with(Order::Relaxed, Self::to_bits(value)), site);
                }
                result
            }

            /// Sets the value to `new` if it is `current`, as the method of `std` that
            /// [`compare_exchange`](Self::compare_exchange) replaces. Returns the old value.
            #[doc = example!($name, $values, "\
                assert_eq!(variable.compare_and_swap(old, new, SeqCst), old);\n\
                assert_eq!(variable.load(SeqCst), new);")]
            #[track_caller]
            pub fn compare_and_swap(&self, current: $type, new: $type, order: Ordering) -> $type {
                let failure = match order {
                    Ordering::Release => Ordering::Relaxed,
                    Ordering::AcqRel => Ordering::Acquire,
                    other => other,
                };
                let (Ok(old) | Err(old)) = self.compare_exchange(current, new, order, failure);
                old
            }

            /// Returns the value without synchronisation: the caller has the only reference.
            #[doc = example!($name, $values, "\
                *variable.get_mut() = new;\n\
                assert_eq!(variable.into_inner(), new);")]
            pub fn get_mut(&mut self) -> &mut $type {
                self.settle();
                self.name.forget();
                self.inner.get_mut()
            }

            /// Returns the value.
            #[doc = example!($name, $values, "assert_eq!(variable.into_inner(), old);")]
            pub fn into_inner(mut self) -> $type {
                self.settle();
                self.inner.into_inner()
            }

            /// Copies the value from the engine.
            fn settle(&mut self) {
                if let Some(object) = self.name.known() {
                    *self.inner.get_mut() = Self::from_bits(port::newest(object));
                }
            }

            #[inline]
            fn to_bits($from: $type) -> u64 {
                $bits
            }

            #[inline]
            fn from_bits($word: u64) -> $type {
                $value
            }

            #[inline(always)]
            fn access(&self, op: Op, site: Site) -> Option<Effect> {
                port::operate(Kind::Atomic, &self.name, || Some(self.begin()), op, site)
            }

            /// Returns the state of the variable when a run first uses it.
            #[inline]
            fn begin(&self) -> Initial {
                Initial::Atomic($scalar, Self::to_bits(self.inner.load(Ordering::Relaxed)))
            }

            /// Returns an update of the variable, without its ordering and operand.
            const fn rmw(function: Rmw) -> Op {
                let (order, scalar) = (Order::Relaxed, $scalar);
                operation(AtomicOp::Update { order, scalar, function, operand: 0 })
            }

            #[inline]
            fn read_modify_write(
                &self,
                update: Op,
                operand: u64,
                order: Ordering,
                site: Site,
            ) -> Option<Effect> {
                self.access(update.with(translate(order), operand), site)
            }

            #[inline]
            #[track_caller]
            fn exchange(
                &self,
                weak: bool,
                current: $type,
                new: $type,
                orders: (Ordering, Ordering),
                site: Site,
            ) -> Option<Result<$type, $type>> {
                let (success, failure) = (translate(orders.0), failure_order(orders.1));
                let (expected, new) = (Self::to_bits(current), Self::to_bits(new));
                let op = AtomicOp::CompareExchange { success, failure, weak, expected, new };
                let effect = self.access(operation(op), site)?;
                Some(exchanged(effect).map(Self::from_bits).map_err(Self::from_bits))
            }
        }

        impl $(<$generic>)? From<$type> for $name $(<$generic>)? {
            #[track_caller]
            fn from(value: $type) -> Self {
                Self::new(value)
            }
        }

        impl $(<$generic>)? Named for $name $(<$generic>)? {
            fn call(&self, name: &str, site: Site) {
                port::name_object(&self.name, || Some(self.begin()), name, site);
            }
        }

        impl $(<$generic>)? fmt::Debug for $name $(<$generic>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // This is not an operation of the program.
                let newest = self.name.known().map(|object| Self::from_bits(port::newest(object)));
                let value = newest.unwrap_or_else(|| self.inner.load(Ordering::Relaxed));
                fmt::Debug::fmt(&value, f)
            }
        }
    };
}

/// The read-modify-write methods, each from its function.
macro_rules! read_modify_write_methods {
    ($name:ident $values:literal, $type:ty; $($(#[$doc:meta])* $method:ident $function:ident $result:literal),* $(,)?) => {
        $(
            $(#[$doc])*
            #[doc = example!(
                $name, $values,
                "assert_eq!(variable.", stringify!($method), "(new, SeqCst), old);\n",
                "assert_eq!(variable.load(SeqCst), ", $result, ");"
            )]
            #[inline]
            #[track_caller]
            pub fn $method(&self, value: $type, order: Ordering) -> $type {
                match self.read_modify_write(const { Self::rmw(Rmw::$function) }, Self::to_bits(value), order, Site::caller()) {
                    Some(Effect::Value(value)) => Self::from_bits(value),
                    Some(other) => unexpected(other),
                    None => self.inner.$method(value, order),
                }
            }
        )*
    };
}

macro_rules! atomic_integer {
    ($name:ident $type:ident $bits:ident $scalar:expr) => {
        atomic_type! {
            #[doc = concat!("An atomic integer, as [`std::sync::atomic::", stringify!($name), "`].")]
            $name [], std::sync::atomic::$name, $type, $scalar,
            |value| value as $bits as u64,
            |bits| bits as $type,
            "(6, 3)"
        }

        impl $name {
            read_modify_write_methods! { $name "(6, 3)", $type;
                /// Adds, wrapping around; returns the old value.
                fetch_add Add "old + new",
                /// Subtracts, with wrapping. Returns the old value.
                fetch_sub Sub "old - new",
                /// Computes the bitwise and. Returns the old value.
                fetch_and And "old & new",
                /// Computes the bitwise nand. Returns the old value.
                fetch_nand Nand "!(old & new)",
                /// Computes the bitwise or. Returns the old value.
                fetch_or Or "old | new",
                /// Computes the bitwise exclusive or. Returns the old value.
                fetch_xor Xor "old ^ new",
                /// Computes the maximum. Returns the old value.
                fetch_max Max "old.max(new)",
                /// Computes the minimum. Returns the old value.
                fetch_min Min "old.min(new)",
            }
        }

        impl Default for $name {
            #[track_caller]
            fn default() -> Self {
                Self::new(0)
            }
        }
    };
}

atomic_integer!(AtomicU8 u8 u8 Scalar::U8);
atomic_integer!(AtomicU16 u16 u16 Scalar::U16);
atomic_integer!(AtomicU32 u32 u32 Scalar::U32);
atomic_integer!(AtomicU64 u64 u64 Scalar::U64);
atomic_integer!(AtomicI8 i8 u8 Scalar::I8);
atomic_integer!(AtomicI16 i16 u16 Scalar::I16);
atomic_integer!(AtomicI32 i32 u32 Scalar::I32);
atomic_integer!(AtomicI64 i64 u64 Scalar::I64);
atomic_integer!(AtomicUsize usize usize Scalar::Usize);
atomic_integer!(AtomicIsize isize usize Scalar::Isize);

atomic_type! {
    /// An atomic boolean, as [`std::sync::atomic::AtomicBool`].
    AtomicBool [], std::sync::atomic::AtomicBool, bool, Scalar::Bool,
    |value| value as u64,
    |bits| bits != 0,
    "(true, false)"
}

impl AtomicBool {
    read_modify_write_methods! { AtomicBool "(true, false)", bool;
        /// Logical and; returns the old value.
        fetch_and And "old & new",
        /// Computes the logical nand. Returns the old value.
        fetch_nand Nand "!(old & new)",
        /// Computes the logical or. Returns the old value.
        fetch_or Or "old | new",
        /// Computes the logical exclusive or. Returns the old value.
        fetch_xor Xor "old ^ new",
    }

    /// Negates the value. Returns the old value.
    ///
    /// ```
    /// use raddle::sync::atomic::{AtomicBool, Ordering::SeqCst};
    ///
    /// let variable = AtomicBool::new(true);
    /// assert_eq!(variable.fetch_not(SeqCst), true);
    /// assert_eq!(variable.load(SeqCst), false);
    /// ```
    #[inline]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

impl Default for AtomicBool {
    #[track_caller]
    fn default() -> Self {
        Self::new(false)
    }
}

// Below the macros that it uses.
mod pointer;

pub use pointer::AtomicPtr;
