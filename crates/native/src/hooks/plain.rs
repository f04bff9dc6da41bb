//! Plain accesses to memory.

use raddle_core::{Action, CellOp};

use super::{with_caller, with_registers};
use crate::races;
use crate::run::{Plain, State, is_controlled, site, state};

/// What an access does.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// Reads, by a hook that leaves the registers of the caller.
    Load,
    Write,
    /// Reads as an operation on a synchronisation object does, which races with plain writes only.
    Synchronise,
}

/// An access to `size` bytes is about to happen.
#[inline]
pub(crate) fn access(address: usize, size: usize, access: Access, pc: usize) {
    if size == 0 || !is_controlled() {
        return;
    }
    let state = state();
    state.check_access(address, size, pc);
    let writes = access == Access::Write;
    let is_point = match state.plain.get() {
        Plain::None => false,
        Plain::Racy => state.racy.borrow().binary_search(&pc).is_ok(),
        Plain::All => true,
    };
    if is_point {
        if access == Access::Load {
            state.enter();
        }
        act(state, address, size, if writes { CellOp::Write } else { CellOp::Read }, pc);
        // Another thread may have freed it meanwhile.
        state.check_access(address, size, pc);
    }
    if !is_point && access != Access::Synchronise {
        state.note_plain(address, writes);
    }
    if !is_point || state.plain.get() == Plain::Racy {
        let site = site(pc);
        let is_atomic = access == Access::Synchronise;
        let access = races::Access { address, size, writes, is_atomic, is_point, site };
        state.look_for_race(access);
    }
    state.leave();
}

/// Makes an access a scheduling point: an operation on each of the variables that it touches.
fn act(state: &State, address: usize, size: usize, op: CellOp, pc: usize) {
    let site = site(pc);
    for (address, size) in state.pieces(address, size) {
        let object = state.plain(address, size, site);
        state.act(object, Action::Cell(op), site);
    }
}

/// A volatile access of a program in Rust is about to happen. Sequence locks and queues read what others may write by
/// volatile accesses, and then see whether it was written, so these do not race. C has them as plain ones.
fn volatile(address: usize, size: usize, pc: usize) {
    if is_controlled() {
        state().check_access(address, size, pc);
        state().note_change();
    }
}

macro_rules! sizes {
    ($($read:ident $write:ident $both:ident $volatile:ident $size:literal;)*) => {$(
        extern "C" fn $volatile(address: usize, pc: usize) {
            volatile(address, $size, pc);
        }

        extern "C" fn $read(address: usize, pc: usize) {
            access(address, $size, if $size == 16 { Access::Read } else { Access::Load }, pc);
        }

        extern "C" fn $write(address: usize, pc: usize) {
            access(address, $size, Access::Write, pc);
        }

        extern "C" fn $both(address: usize, pc: usize) {
            access(address, $size, Access::Read, pc);
            access(address, $size, Access::Write, pc);
        }
    )*};
}
sizes! {
    read1 write1 both1 volatile1 1;
    read2 write2 both2 volatile2 2;
    read4 write4 both4 volatile4 4;
    read8 write8 both8 volatile8 8;
    read16 write16 both16 volatile16 16;
}

extern "C" fn read_range(address: usize, size: usize, pc: usize) {
    access(address, size, Access::Read, pc);
}

extern "C" fn write_range(address: usize, size: usize, pc: usize) {
    access(address, size, Access::Write, pc);
}

extern "C" fn update_vptr(address: usize, _new: usize, pc: usize) {
    access(address, size_of::<usize>(), Access::Write, pc);
}

unsafe extern "C" fn copy(to: *mut u8, from: *const u8, size: usize, pc: usize) -> *mut u8 {
    access(from.addr(), size, Access::Read, pc);
    access(to.addr(), size, Access::Write, pc);
    // SAFETY: the program called `memcpy` or `memmove` with these arguments.
    unsafe { std::ptr::copy(from, to, size) };
    to
}

unsafe extern "C" fn set(to: *mut u8, byte: i32, size: usize, pc: usize) -> *mut u8 {
    access(to.addr(), size, Access::Write, pc);
    // SAFETY: the program called `memset` with these arguments.
    unsafe { std::ptr::write_bytes(to, byte as u8, size) };
    to
}

with_registers! {
    __tsan_read1, "rsi", read1;
    __tsan_read2, "rsi", read2;
    __tsan_read4, "rsi", read4;
    __tsan_read8, "rsi", read8;
}

with_caller! {
    __tsan_read16, "rsi", read16;
    __tsan_write1, "rsi", write1;
    __tsan_write2, "rsi", write2;
    __tsan_write4, "rsi", write4;
    __tsan_write8, "rsi", write8;
    __tsan_write16, "rsi", write16;
    __tsan_unaligned_read2, "rsi", read2;
    __tsan_unaligned_read4, "rsi", read4;
    __tsan_unaligned_read8, "rsi", read8;
    __tsan_unaligned_read16, "rsi", read16;
    __tsan_unaligned_write2, "rsi", write2;
    __tsan_unaligned_write4, "rsi", write4;
    __tsan_unaligned_write8, "rsi", write8;
    __tsan_unaligned_write16, "rsi", write16;
    __tsan_read_write1, "rsi", both1;
    __tsan_read_write2, "rsi", both2;
    __tsan_read_write4, "rsi", both4;
    __tsan_read_write8, "rsi", both8;
    __tsan_read_write16, "rsi", both16;
    __tsan_unaligned_read_write2, "rsi", both2;
    __tsan_unaligned_read_write4, "rsi", both4;
    __tsan_unaligned_read_write8, "rsi", both8;
    __tsan_unaligned_read_write16, "rsi", both16;
    __tsan_volatile_read1, "rsi", volatile1;
    __tsan_volatile_read2, "rsi", volatile2;
    __tsan_volatile_read4, "rsi", volatile4;
    __tsan_volatile_read8, "rsi", volatile8;
    __tsan_volatile_read16, "rsi", volatile16;
    __tsan_volatile_write1, "rsi", volatile1;
    __tsan_volatile_write2, "rsi", volatile2;
    __tsan_volatile_write4, "rsi", volatile4;
    __tsan_volatile_write8, "rsi", volatile8;
    __tsan_volatile_write16, "rsi", volatile16;
    __tsan_unaligned_volatile_read2, "rsi", volatile2;
    __tsan_unaligned_volatile_read4, "rsi", volatile4;
    __tsan_unaligned_volatile_read8, "rsi", volatile8;
    __tsan_unaligned_volatile_read16, "rsi", volatile16;
    __tsan_unaligned_volatile_write2, "rsi", volatile2;
    __tsan_unaligned_volatile_write4, "rsi", volatile4;
    __tsan_unaligned_volatile_write8, "rsi", volatile8;
    __tsan_unaligned_volatile_write16, "rsi", volatile16;
    __tsan_read_range, "rdx", read_range;
    __tsan_write_range, "rdx", write_range;
    __tsan_vptr_read, "rsi", read8;
    __tsan_vptr_update, "rdx", update_vptr;
    __tsan_memcpy, "rcx", copy;
    __tsan_memmove, "rcx", copy;
    __tsan_memset, "rcx", set;
}
