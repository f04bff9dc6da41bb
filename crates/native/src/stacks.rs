//! Stacks of calls, as sites: for replays whose reports show where the program, and not a library of its, was.
//!
//! A site is one word. While stacks are kept, a site is the number of a stack, marked so that it is no code address. A
//! stack is read by frame pointers, with which this library, Rust's standard library and the tests of `cargo raddle` are
//! compiled. It ends where other code keeps something else in the register.

use std::arch::asm;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ptr;

use raddle_core::Site;

use crate::{dispatch, system};

/// Tells stacks from code addresses, which have fewer bits.
pub(crate) const MARK: usize = 1 << 62;
/// The most frames that are read, and kept.
const MAX_READ: usize = 64;
const MAX_KEPT: usize = 40;
/// The most bytes of a stack.
const MAX_STACK_BYTES: usize = 64 << 20;
/// Where a system call interrupts a thread, flags are in the place of a return address.
const MAX_FLAGS: usize = 0xff_ffff;

/// The stacks of this process.
#[derive(Default)]
pub(crate) struct Stacks {
    is_on: Cell<bool>,
    /// Whether the program allocates by functions of a library, so that its own code is further down the stack.
    allocates_by_library: Cell<bool>,
    /// By number: return addresses, the innermost first.
    known: RefCell<Vec<Vec<usize>>>,
    numbers: RefCell<BTreeMap<Vec<usize>, usize>>,
}

impl Stacks {
    /// Sets whether sites are stacks.
    pub(crate) fn keep(&self, is_on: bool) {
        self.is_on.set(is_on);
    }

    /// Lets allocations be told apart by their stacks. All threads of the program must be borrowed ones.
    pub(crate) fn tell_allocations_apart(&self) {
        self.allocates_by_library.set(true);
    }

    /// Returns the site of the code that returns to `pc`.
    #[inline(always)]
    pub(crate) fn site(&self, pc: usize) -> Site {
        if self.is_on.get() { self.number(pc) } else { Site::at_address(pc) }
    }

    #[cold]
    #[inline(never)]
    fn number(&self, pc: usize) -> Site {
        let mut stack = Vec::new();
        read(pc, |address| stack.push(address));
        let number = *self.numbers.borrow_mut().entry(stack).or_insert_with_key(|stack| {
            let mut known = self.known.borrow_mut();
            known.push(stack.clone());
            known.len()
        });
        Site::at_address(MARK | number)
    }

    /// Returns what an allocation of `size` bytes has in common with others of the same code.
    pub(crate) fn origin(&self, pc: usize, size: usize) -> usize {
        if !self.allocates_by_library.get() {
            return pc;
        }
        let mut hash = size as u64;
        read(pc, |address| hash = raddle_core::mix(hash, address as u64));
        hash as usize
    }

    /// Returns all stacks, with their sites as words.
    pub(crate) fn all(&self) -> Vec<(usize, Vec<usize>)> {
        let known = self.known.borrow();
        let entry = |(index, stack): (usize, &Vec<usize>)| (MARK | (index + 1), stack.clone());
        known.iter().enumerate().map(entry).collect()
    }
}

/// Passes the return addresses of a stack on, the innermost first, which is `pc`.
#[inline(never)]
fn read(pc: usize, mut pass: impl FnMut(usize)) {
    pass(pc);
    let (mut frame, mut count) = (frame_pointer(), 1);
    // The thread-local storage of a borrowed thread is behind its stack.
    let end = system::thread_pointer();
    for _ in 0..MAX_READ {
        let is_inside = frame < end && end - frame < MAX_STACK_BYTES && frame.is_multiple_of(8);
        if !is_inside {
            break;
        }
        let place = ptr::with_exposed_provenance::<[usize; 2]>(frame);
        // SAFETY: on the stack of this thread, whose frames are not changed meanwhile.
        let [next, address] = unsafe { place.read() };
        // The frames of this library come first. The innermost of the program may be `pc` once more.
        let is_known = dispatch::is_own(address) || count == 1 && address == pc;
        if !is_known && address > MAX_FLAGS {
            pass(address);
            count += 1;
        }
        if next <= frame || count == MAX_KEPT {
            break;
        }
        frame = next;
    }
}

#[inline(always)]
fn frame_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rbp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
    pointer
}
