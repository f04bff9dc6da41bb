//! Atomic accesses to memory, and fences.
//!
//! Memory holds the newest value of a variable, and the engine its history. Whatever else has written to the variable
//! since is made known to the engine before the operation.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

use raddle_core::{Action, AtomicOp, Effect, ObjectId, Op, Order, Rmw, Scalar, Site};

use super::{with_caller, with_registers};
use crate::frames;
use crate::races::Access;
use crate::run::{is_controlled, site, state};

/// Memory orderings as the compiler passes them.
pub(super) fn order(order: i32) -> Order {
    match order & 0x7fff {
        0 => Order::Relaxed,
        // Compilers treat consume as acquire.
        1 | 2 => Order::Acquire,
        3 => Order::Release,
        4 => Order::AcqRel,
        _ => Order::SeqCst,
    }
}

/// The ordering of a load. One that is not allowed counts as the next stronger one.
pub(super) fn load_order(word: i32) -> Order {
    match order(word) {
        Order::Release => Order::Relaxed,
        Order::AcqRel => Order::Acquire,
        order @ (Order::Relaxed | Order::Acquire | Order::SeqCst) => order,
    }
}

/// The ordering of a store. One that is not allowed counts as the next stronger one.
pub(super) fn store_order(word: i32) -> Order {
    match order(word) {
        Order::Acquire => Order::Relaxed,
        Order::AcqRel => Order::Release,
        order @ (Order::Relaxed | Order::Release | Order::SeqCst) => order,
    }
}

/// Returns the value that an operation read.
fn value(effect: Effect) -> u64 {
    match effect {
        Effect::Value(value) | Effect::Exchanged(value) | Effect::Kept(value) => value,
        Effect::None
        | Effect::Yes
        | Effect::No
        | Effect::Ticket(_)
        | Effect::LastTicket(_)
        | Effect::Closed => 0,
    }
}

/// An atomic access races with plain ones.
pub(super) fn look_for_race(address: usize, size: usize, op: &AtomicOp, site: Site) {
    let writes = match op {
        AtomicOp::Load { .. } => false,
        AtomicOp::Store { .. } | AtomicOp::Update { .. } | AtomicOp::CompareExchange { .. } => true,
    };
    state().look_for_race(Access { address, size, writes, is_atomic: true, is_point: false, site });
}

/// Performs an operation on some bytes of a variable. The engine sees a compare-exchange as a swap: what it would do in
/// another place of the run depends on the value of these bytes, which the trace does not tell.
fn act_mixed(
    object: ObjectId,
    op: AtomicOp,
    site: Site,
    load: impl Fn() -> u64,
    store: impl Fn(u64),
) -> Effect {
    let swap = |order: Order, operand: u64| AtomicOp::Update {
        order,
        scalar: Scalar::U64,
        function: Rmw::Swap,
        operand,
    };
    let announced = match op {
        AtomicOp::Load { .. } | AtomicOp::Store { .. } | AtomicOp::Update { .. } => op,
        AtomicOp::CompareExchange { success, new, .. } => swap(success, new),
    };
    let mut result = Effect::None;
    state().act_at_turn(object, announced, site, || {
        let old = load();
        let (new, effect) = Op::new(object, Action::Atomic(op)).apply_to_atomic(old);
        result = effect;
        if let Some(new) = new {
            store(new);
        }
        let performed = match op {
            AtomicOp::Load { .. } | AtomicOp::Store { .. } | AtomicOp::Update { .. } => op,
            AtomicOp::CompareExchange { success, .. } => swap(success, new.unwrap_or(old)),
        };
        (old, performed)
    });
    result
}

/// Stores a byte as the program's own atomic stores do.
pub(crate) fn store_byte(address: *mut u8, value: u8, pc: usize) {
    const RELEASE: i32 = 3;
    frames::forget_registers();
    bits8::store(address, value, RELEASE, pc);
}

extern "C" fn thread_fence(word: i32, pc: usize) {
    if is_controlled() {
        state().enter();
        state().act(ObjectId::NONE, Action::Fence(order(word)), site(pc));
        state().leave();
    } else {
        fence(Ordering::SeqCst);
    }
}

extern "C" fn signal_fence(word: i32, pc: usize) {
    if is_controlled() && order(word) == Order::SeqCst {
        state().fence_by_compiler(site(pc));
    }
}

with_registers! {
    __tsan_atomic_thread_fence, "rsi", thread_fence;
}
with_caller! {
    __tsan_atomic_signal_fence, "rsi", signal_fence;
}

/// The operations on variables of one size.
macro_rules! size {
    (
        $module:ident, $type:ty, $atomic:ty, $scalar:ident,
        $load:ident, $store:ident, $exchange:ident, $add:ident, $sub:ident, $and:ident, $or:ident, $xor:ident,
        $nand:ident, $strong:ident, $weak:ident, $val:ident
    ) => {
        mod $module {
            use super::*;

            /// Returns the variable for an operation outside of a run.
            fn real<'a>(address: *mut $type) -> &'a $atomic {
                // SAFETY: the program makes an atomic operation on this address.
                unsafe { <$atomic>::from_ptr(address) }
            }

            fn act(address: *mut $type, op: AtomicOp, pc: usize) -> $type {
                state().enter();
                let site = site(pc);
                let check = || state().check_access(address.addr(), size_of::<$type>(), pc);
                check();
                // SAFETY: the program makes an atomic operation on this address, and one OS thread runs.
                let load = || u64::from(unsafe { address.read_volatile() });
                // SAFETY: as above.
                let store = |value: u64| unsafe { address.write_volatile(value as $type) };
                let size = size_of::<$type>();
                let located = state().atomic(address.addr(), size, Scalar::$scalar, load, site);
                look_for_race(address.addr(), size, &op, site);
                let effect = if located.is_mixed {
                    act_mixed(located.object, op, site, load, store)
                } else {
                    state().act_on_memory(located.object, op, site, load, store)
                };
                // Another thread may have freed it before this one had its turn. Freed memory is kept, so the operation
                // was harmless.
                check();
                state().fence_by_update(address.addr(), &op, site);
                state().leave();
                value(effect) as $type
            }

            extern "C" fn load(address: *mut $type, order: i32, pc: usize) -> $type {
                if !is_controlled() {
                    return real(address).load(Ordering::SeqCst);
                }
                act(address, AtomicOp::Load { order: load_order(order) }, pc)
            }

            pub(super) extern "C" fn store(
                address: *mut $type,
                value: $type,
                order: i32,
                pc: usize,
            ) {
                if !is_controlled() {
                    return real(address).store(value, Ordering::SeqCst);
                }
                act(
                    address,
                    AtomicOp::Store { order: store_order(order), value: value.into() },
                    pc,
                );
            }

            fn compare(
                address: *mut $type,
                expected: $type,
                new: $type,
                success: i32,
                failure: i32,
                pc: usize,
            ) -> $type {
                if !is_controlled() {
                    let result = real(address).compare_exchange(
                        expected,
                        new,
                        Ordering::SeqCst,
                        Ordering::SeqCst,
                    );
                    return result.unwrap_or_else(|found| found);
                }
                let op = AtomicOp::CompareExchange {
                    success: order(success),
                    failure: load_order(failure),
                    weak: false,
                    expected: expected.into(),
                    new: new.into(),
                };
                act(address, op, pc)
            }

            /// The caller's address takes the register of the sixth argument.
            extern "C" fn compare_value(
                address: *mut $type,
                expected: $type,
                new: $type,
                success: i32,
                failure: i32,
                pc: usize,
            ) -> $type {
                compare(address, expected, new, success, failure, pc)
            }

            unsafe extern "C" fn compare_pointer(
                address: *mut $type,
                expected: *mut $type,
                new: $type,
                success: i32,
                failure: i32,
                pc: usize,
            ) -> i32 {
                // SAFETY: the program passed a pointer to the expected value.
                let wanted = unsafe { expected.read() };
                let found = compare(address, wanted, new, success, failure, pc);
                if found != wanted {
                    // SAFETY: as above.
                    unsafe { expected.write(found) };
                }
                i32::from(found == wanted)
            }

            macro_rules! update {
                ($name:ident, $function:ident, $real:expr) => {
                    extern "C" fn $name(
                        address: *mut $type,
                        operand: $type,
                        order_word: i32,
                        pc: usize,
                    ) -> $type {
                        if !is_controlled() {
                            let update: fn(&$atomic, $type) -> $type = $real;
                            return update(real(address), operand);
                        }
                        let op = AtomicOp::Update {
                            order: order(order_word),
                            scalar: Scalar::$scalar,
                            function: Rmw::$function,
                            operand: operand.into(),
                        };
                        act(address, op, pc)
                    }
                };
            }
            update!(exchange, Swap, |atomic, value| atomic.swap(value, Ordering::SeqCst));
            update!(add, Add, |atomic, value| atomic.fetch_add(value, Ordering::SeqCst));
            update!(sub, Sub, |atomic, value| atomic.fetch_sub(value, Ordering::SeqCst));
            update!(and, And, |atomic, value| atomic.fetch_and(value, Ordering::SeqCst));
            update!(or, Or, |atomic, value| atomic.fetch_or(value, Ordering::SeqCst));
            update!(xor, Xor, |atomic, value| atomic.fetch_xor(value, Ordering::SeqCst));
            update!(nand, Nand, |atomic, value| atomic.fetch_nand(value, Ordering::SeqCst));

            with_registers! {
                $load, "rdx", load;
                $store, "rcx", store;
                $exchange, "rcx", exchange;
                $add, "rcx", add;
                $sub, "rcx", sub;
                $and, "rcx", and;
                $or, "rcx", or;
                $xor, "rcx", xor;
                $nand, "rcx", nand;
                $strong, "r9", compare_pointer;
                $weak, "r9", compare_pointer;
                $val, "r9", compare_value;
            }
        }
    };
}

size! {
    bits8, u8, AtomicU8, U8,
    __tsan_atomic8_load, __tsan_atomic8_store, __tsan_atomic8_exchange, __tsan_atomic8_fetch_add,
    __tsan_atomic8_fetch_sub, __tsan_atomic8_fetch_and, __tsan_atomic8_fetch_or, __tsan_atomic8_fetch_xor,
    __tsan_atomic8_fetch_nand, __tsan_atomic8_compare_exchange_strong, __tsan_atomic8_compare_exchange_weak,
    __tsan_atomic8_compare_exchange_val
}
size! {
    bits16, u16, AtomicU16, U16,
    __tsan_atomic16_load, __tsan_atomic16_store, __tsan_atomic16_exchange, __tsan_atomic16_fetch_add,
    __tsan_atomic16_fetch_sub, __tsan_atomic16_fetch_and, __tsan_atomic16_fetch_or, __tsan_atomic16_fetch_xor,
    __tsan_atomic16_fetch_nand, __tsan_atomic16_compare_exchange_strong, __tsan_atomic16_compare_exchange_weak,
    __tsan_atomic16_compare_exchange_val
}
size! {
    bits32, u32, AtomicU32, U32,
    __tsan_atomic32_load, __tsan_atomic32_store, __tsan_atomic32_exchange, __tsan_atomic32_fetch_add,
    __tsan_atomic32_fetch_sub, __tsan_atomic32_fetch_and, __tsan_atomic32_fetch_or, __tsan_atomic32_fetch_xor,
    __tsan_atomic32_fetch_nand, __tsan_atomic32_compare_exchange_strong, __tsan_atomic32_compare_exchange_weak,
    __tsan_atomic32_compare_exchange_val
}
size! {
    bits64, u64, AtomicU64, U64,
    __tsan_atomic64_load, __tsan_atomic64_store, __tsan_atomic64_exchange, __tsan_atomic64_fetch_add,
    __tsan_atomic64_fetch_sub, __tsan_atomic64_fetch_and, __tsan_atomic64_fetch_or, __tsan_atomic64_fetch_xor,
    __tsan_atomic64_fetch_nand, __tsan_atomic64_compare_exchange_strong, __tsan_atomic64_compare_exchange_weak,
    __tsan_atomic64_compare_exchange_val
}
