//! Atomic accesses to 16 bytes. The engine knows which thread accesses them when; memory holds the value.
//!
//! A trace shows the lower half of the value.

use std::arch::asm;

use raddle_core::{AtomicOp, MemoryModel, Order, Rmw, Scalar};

use super::atomic::{load_order, look_for_race, order, store_order};
use super::with_caller;
use crate::memory::read;
use crate::run::{is_controlled, refuse, site, state};

const BYTES: usize = 16;

/// Performs an operation: at its turn `change` gets the value, and returns the new one if there is one. Returns the old
/// value.
fn act(
    address: *mut u128,
    announced: AtomicOp,
    pc: usize,
    change: impl Fn(u128) -> Option<u128>,
) -> u128 {
    let at_once = || {
        // SAFETY: the program makes an atomic operation on this address, and one OS thread runs.
        let old = unsafe { address.read_volatile() };
        if let Some(new) = change(old) {
            // SAFETY: as above.
            unsafe { address.write_volatile(new) };
        }
        old
    };
    if !is_controlled() {
        return alone(address, change);
    }
    let (state, site) = (state(), site(pc));
    if state.memory.get() == MemoryModel::Rc11 {
        refuse(
            "the program uses atomic variables of 16 bytes, which raddle models under sequential consistency only",
        );
    }
    state.needs_no_values();
    state.check_access(address.addr(), BYTES, pc);
    let low = || read(address.addr(), BYTES / 2);
    let located = state.atomic(address.addr(), BYTES, Scalar::U64, low, site);
    look_for_race(address.addr(), BYTES, &announced, site);
    let mut result = 0;
    state.act_at_turn(located.object, announced, site, || {
        result = at_once();
        (result as u64, announced)
    });
    state.check_access(address.addr(), BYTES, pc);
    result
}

/// Performs an operation outside of a run, where other OS threads may do so too.
fn alone(address: *mut u128, change: impl Fn(u128) -> Option<u128>) -> u128 {
    let mut old = 0;
    loop {
        let new = change(old).unwrap_or(old);
        let (mut low, mut high) = (old as u64, (old >> 64) as u64);
        // SAFETY: the program makes an atomic operation on this address. All processors that have FSGSBASE have this
        // instruction. `rbx`, which the compiler keeps for itself, is put back.
        unsafe {
            asm!(
                "xchg {new}, rbx",
                "lock cmpxchg16b [{address}]",
                "mov rbx, {new}",
                new = inout(reg) new as u64 => _,
                address = in(reg) address,
                in("rcx") (new >> 64) as u64,
                inout("rax") low,
                inout("rdx") high,
                options(nostack),
            );
        }
        let found = u128::from(high) << 64 | u128::from(low);
        if found == old {
            return old;
        }
        old = found;
    }
}

/// A read-modify-write, as the engine sees it.
fn swap(order: Order) -> AtomicOp {
    AtomicOp::Update { order, scalar: Scalar::U64, function: Rmw::Swap, operand: 0 }
}

extern "C" fn load(address: *mut u128, word: i32, pc: usize) -> u128 {
    act(address, AtomicOp::Load { order: load_order(word) }, pc, |_| None)
}

extern "C" fn store(address: *mut u128, value: u128, word: i32, pc: usize) {
    let op = AtomicOp::Store { order: store_order(word), value: value as u64 };
    act(address, op, pc, |_| Some(value));
}

fn compare(address: *mut u128, expected: u128, new: u128, success: i32, pc: usize) -> u128 {
    act(address, swap(order(success)), pc, |old| (old == expected).then_some(new))
}

/// The seventh argument is the caller's address.
unsafe extern "C" fn compare_pointer(
    address: *mut u128,
    expected: *mut u128,
    new: u128,
    success: i32,
    _failure: i32,
    pc: usize,
) -> i32 {
    // SAFETY: the program passed a pointer to the expected value.
    let wanted = unsafe { expected.read() };
    let found = compare(address, wanted, new, success, pc);
    if found != wanted {
        // SAFETY: as above.
        unsafe { expected.write(found) };
    }
    i32::from(found == wanted)
}

/// The seventh argument is the ordering of a failure, the eighth the caller's address.
extern "C" fn compare_value(
    address: *mut u128,
    expected: u128,
    new: u128,
    success: i32,
    _failure: i32,
    pc: usize,
) -> u128 {
    compare(address, expected, new, success, pc)
}

macro_rules! update {
    ($($name:ident, $change:expr;)*) => {$(
        extern "C" fn $name(address: *mut u128, operand: u128, word: i32, pc: usize) -> u128 {
            let change: fn(u128, u128) -> u128 = $change;
            act(address, swap(order(word)), pc, |old| Some(change(old, operand)))
        }
    )*};
}
update! {
    exchange, |_, operand| operand;
    add, u128::wrapping_add;
    sub, u128::wrapping_sub;
    and, |old, operand| old & operand;
    or, |old, operand| old | operand;
    xor, |old, operand| old ^ operand;
    nand, |old, operand| !(old & operand);
}

with_caller! {
    __tsan_atomic128_load, "rdx", load;
    __tsan_atomic128_store, "r8", store;
    __tsan_atomic128_exchange, "r8", exchange;
    __tsan_atomic128_fetch_add, "r8", add;
    __tsan_atomic128_fetch_sub, "r8", sub;
    __tsan_atomic128_fetch_and, "r8", and;
    __tsan_atomic128_fetch_or, "r8", or;
    __tsan_atomic128_fetch_xor, "r8", xor;
    __tsan_atomic128_fetch_nand, "r8", nand;
}

/// Functions whose arguments do not fit into registers: `pushed` puts the rest on the stack, `size` bytes.
macro_rules! with_caller_on_stack {
    ($($name:ident, $function:path, [$($push:literal),*], $size:literal;)*) => {$(
        /// Stands in for the function of this name.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name() {
            std::arch::naked_asm!(
                $($push,)*
                "call {}",
                concat!("add rsp, ", $size),
                "ret",
                sym $function,
            )
        }
    )*};
}

with_caller_on_stack! {
    __tsan_atomic128_compare_exchange_strong, compare_pointer, ["push [rsp]"], 8;
    __tsan_atomic128_compare_exchange_weak, compare_pointer, ["push [rsp]"], 8;
    __tsan_atomic128_compare_exchange_val, compare_value,
        ["mov rax, [rsp]", "mov r10, [rsp + 8]", "sub rsp, 8", "push rax", "push r10"], 24;
}
