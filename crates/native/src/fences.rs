//! Fences that programs for this processor write as something else, under RC11.
//!
//! Every locked instruction of an x86 processor is a full fence, and some libraries use one where the language would ask
//! for a sequentially consistent fence, because it is faster. What they mean is clear in three cases, which count as
//! fences. Without that, correct programs would fail.
//!
//! - A sequentially consistent update of a variable on the stack of the thread, close to where it is.
//! - A compiler fence right after a sequentially consistent update (crossbeam-epoch).
//! - The instruction `lock not` on memory, which inline assembly makes and no instrumentation sees (event-listener). It is
//!   replaced by an instruction that traps.

use std::cell::Cell;
use std::fs;

use raddle_core::{Action, AtomicOp, MemoryModel, ObjectId, Order, Site};

use crate::names;
use crate::one_thread::OneThread;
use crate::run::{State, state_if_any};
use crate::system;

/// How far up the stack a variable is taken for one of the function that runs.
const NEAR: usize = 1024;
const PAGE: usize = 4096;
/// `ud2`, and two instructions that do nothing: as long as `lock not [register]`.
const TRAP: [u8; 4] = [0x0f, 0x0b, 0x90, 0x90];

pub(crate) const BYTES: i64 = TRAP.len() as i64;

/// What the first register held at a trap. The number of the pseudo call takes its place.
static HELD: OneThread<Cell<i64>> = OneThread::new(Cell::new(0));

/// The number of a system call that does not exist, which stands for a fence.
pub(crate) const PSEUDO_CALL: usize = 1 << 40;

/// Returns the ordering of an update.
fn update_order(op: &AtomicOp) -> Option<Order> {
    match *op {
        AtomicOp::Update { order, .. } => Some(order),
        AtomicOp::CompareExchange { success, .. } => Some(success),
        AtomicOp::Load { .. } | AtomicOp::Store { .. } => None,
    }
}

impl State {
    /// An atomic operation was performed. It may stand for a fence.
    pub(crate) fn fence_by_update(&self, address: usize, op: &AtomicOp, site: Site) {
        if self.memory.get() != MemoryModel::Rc11 || update_order(op) != Some(Order::SeqCst) {
            return;
        }
        let here = (&raw const address).addr();
        if (here..here + NEAR).contains(&address) {
            self.fence(site);
        }
    }

    /// A compiler fence. It may complete an update that stands for a fence.
    pub(crate) fn fence_by_compiler(&self, site: Site) {
        if self.memory.get() != MemoryModel::Rc11 {
            return;
        }
        let me = self.me();
        let follows_update = self.with_engine(|engine| {
            let last = engine.trace().events.last().filter(|last| last.id.thread == me);
            last.is_some_and(|last| match last.op.action() {
                Action::Atomic(op) => update_order(&op) == Some(Order::SeqCst),
                _ => false,
            })
        });
        if follows_update {
            self.fence(site);
        }
    }

    fn fence(&self, site: Site) {
        self.act(ObjectId::NONE, Action::Fence(Order::SeqCst), site);
    }
}

/// Replaces the instructions of the program that stand for fences. Called once, before the check begins.
pub(crate) fn replace() {
    let Ok(program) = fs::read_link("/proc/self/exe") else { return };
    for part in names::modules() {
        if part.is_code && std::path::Path::new(&part.path) == program {
            replace_in(part.first, part.end);
        }
    }
}

fn replace_in(first: usize, end: usize) {
    let place = std::ptr::with_exposed_provenance::<u8>(first);
    // SAFETY: the code of the program is mapped, and nothing writes to it.
    let code = unsafe { std::slice::from_raw_parts(place, end - first) };
    let found: Vec<usize> = code
        .windows(TRAP.len())
        .enumerate()
        .filter(|(_, at)| is_fence(at))
        .map(|(at, _)| at)
        .collect();
    for at in found {
        let address = first + at;
        let pages = (address & !(PAGE - 1), (address + TRAP.len()).next_multiple_of(PAGE));
        if !protect(pages, libc::PROT_READ | libc::PROT_WRITE) {
            continue;
        }
        let to = std::ptr::with_exposed_provenance_mut::<[u8; 4]>(address);
        // SAFETY: the page can be written now, and no code of it runs meanwhile.
        unsafe { to.write_unaligned(TRAP) };
        protect(pages, libc::PROT_READ | libc::PROT_EXEC);
    }
}

fn protect((first, end): (usize, usize), protection: i32) -> bool {
    let arguments = [first, end - first, protection as usize, 0, 0, 0];
    // SAFETY: pages of the program's code.
    unsafe { system::call(libc::SYS_mprotect as usize, arguments) == 0 }
}

/// Returns whether these bytes are `lock not qword ptr [register]`. Compilers do not make this instruction: they call
/// the functions of the instrumentation for atomic operations.
fn is_fence(bytes: &[u8]) -> bool {
    let [lock, prefix, code, operand] = bytes else { return false };
    let register = operand & 7;
    *lock == 0xf0
        && matches!(prefix, 0x48 | 0x49)
        && *code == 0xf7
        && operand & 0xf8 == 0x10
        && !matches!(register, 4 | 5)
}

/// Returns whether the instruction is one that was put in the place of a fence.
pub(crate) fn is_trap(instruction: usize) -> bool {
    if state_if_any().is_none_or(|state| state.memory.get() != MemoryModel::Rc11) {
        return false;
    }
    let place = std::ptr::with_exposed_provenance::<[u8; 4]>(instruction);
    // SAFETY: an instruction that was just executed, in a page that is longer than it or followed by another.
    unsafe { place.read_unaligned() == TRAP }
}

/// Notes what the first register holds, which is put back after the fence.
pub(crate) fn hold(register: i64) {
    HELD.set(register);
}

/// Makes a fence in place of an instruction. Returns what the first register held.
pub(crate) fn make(site: Site) -> isize {
    let held = HELD.get();
    crate::run::state().fence(site);
    held as isize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_told_from_other_instructions() {
        // lock not qword ptr [rax]; the same with [r15].
        assert!(is_fence(&[0xf0, 0x48, 0xf7, 0x10]) && is_fence(&[0xf0, 0x49, 0xf7, 0x17]));
        // The end of `mov rax, [rbp-16]`, then `not rax`; `lock neg`; `lock not [rsp]` is longer.
        for other in [[0xf0, 0x48, 0xf7, 0xd0], [0xf0, 0x48, 0xf7, 0x18], [0xf0, 0x48, 0xf7, 0x14]]
        {
            assert!(!is_fence(&other));
        }
    }
}
