//! The local state of a thread: its callee-saved registers, and its stack above the call into raddle.
//!
//! Two equal local states of one thread in one run, with nothing changed in between that the thread can see, continue
//! alike. Words that no longer matter may make equal states look different, never the other way round. The heap is not
//! part of it.

use std::arch::asm;

/// The stack pointer and the callee-saved registers of a function.
pub(super) struct Registers([usize; 7]);

impl Registers {
    /// Returns those of the calling function, into which this one is inlined. What a caller further up has in a
    /// callee-saved register is still there, or a function in between has saved it in its stack frame.
    #[inline(always)]
    pub(super) fn here() -> Registers {
        let mut words = [0; 7];
        // SAFETY: writes seven words to an array of that size, and touches nothing else.
        unsafe {
            asm!(
                "mov [{words}], rsp",
                "mov [{words} + 8], rbx",
                "mov [{words} + 16], rbp",
                "mov [{words} + 24], r12",
                "mov [{words} + 32], r13",
                "mov [{words} + 40], r14",
                "mov [{words} + 48], r15",
                words = in(reg) words.as_mut_ptr(),
                options(nostack, preserves_flags),
            );
        }
        Registers(words)
    }

    /// Returns the stack pointer.
    pub(super) fn stack_pointer(&self) -> usize {
        self.0[0]
    }

    /// Returns a hash of the registers and of the stack from the stack pointer to `end`.
    ///
    /// # Safety
    /// The calling thread runs on the stack that ends there, below the function of these registers.
    #[inline(never)]
    pub(super) unsafe fn hash_with_stack(&self, end: usize) -> u64 {
        let length = end.saturating_sub(self.stack_pointer()) / size_of::<u64>();
        let mut words: Vec<u64> = Vec::with_capacity(length);
        // SAFETY: reads `length` words of the stack of this thread, up to its end, and writes them to a vector with room
        // for them. Whatever they are, they are words afterwards.
        unsafe {
            asm!(
                "rep movsq",
                inout("rcx") length => _,
                inout("rsi") self.stack_pointer() => _,
                inout("rdi") words.as_mut_ptr() => _,
                options(nostack, preserves_flags),
            );
        }
        // SAFETY: the words were written above.
        unsafe { words.set_len(length) };
        let registers = self.0.iter().map(|&word| word as u64);
        let hash = |hash: u64, word: u64| {
            // Two sequences that differ in one word have different hashes: each step can be undone.
            let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^ mixed >> 29
        };
        registers.chain(words.iter().copied()).fold(0, hash)
    }
}

/// Overwrites this many words of the unused stack below the calling function, so that what is left there does not depend on
/// what was done before.
#[inline(never)]
pub(super) fn scrub_unused_stack<const WORDS: usize>() {
    let mut area = std::mem::MaybeUninit::<[u64; WORDS]>::uninit();
    // SAFETY: writes as many words as the array has.
    unsafe {
        asm!(
            "rep stosq",
            inout("rcx") WORDS => _,
            inout("rdi") area.as_mut_ptr() => _,
            in("rax") 0,
            options(nostack, preserves_flags),
        );
    }
}
