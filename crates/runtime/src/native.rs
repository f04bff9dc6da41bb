//! Symmetric coroutines with an inline-assembly switch, for x86_64 Unix.
//!
//! The switch saves what is not declared clobbered: the stack pointer, the frame pointer, `rbx` and the address to
//! continue at. Floating-point control words are not saved; programs that change rounding modes see them shared by all
//! threads of a run.

use std::arch::asm;
use std::io;

use crate::Backend;
use crate::backend::OWN_STACKS;
use crate::stack::{Stack, give_back};

/// The inline-assembly back end.
pub struct Native {
    stack_size: usize,
    entry: fn() -> !,
    /// By thread: its coroutine while that is not running, or [`Saved::NONE`] if it has none.
    saved: Vec<Saved>,
    /// The host, while a coroutine runs.
    host: Saved,
    stacks: Vec<Stack>,
    /// Whether a coroutine went from one thread to another in this run.
    was_reassigned: bool,
}

/// What is left of a coroutine that does not run.
#[derive(Copy, Clone)]
#[repr(C)]
struct Saved {
    stack: *mut u8,
    /// Where to continue.
    resume: *const (),
    rbp: usize,
    rbx: usize,
}

impl Saved {
    const NONE: Saved =
        Saved { stack: std::ptr::null_mut(), resume: std::ptr::null(), rbp: 0, rbx: 0 };

    #[inline(always)]
    fn is_none(&self) -> bool {
        self.stack.is_null()
    }
}

/// A pool with more stacks than this is not kept.
const MAX_KEPT_STACKS: usize = 64;

impl Backend for Native {
    const HAS_STACK_ENDS: bool = true;

    fn new(stack_size: usize, entry: fn() -> !) -> Native {
        Native {
            stack_size,
            entry,
            saved: Vec::new(),
            host: Saved::NONE,
            stacks: Vec::new(),
            was_reassigned: false,
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.was_reassigned) {
            // The first threads to start get the coroutines there are.
            self.saved.retain(|saved| !saved.is_none());
        }
        self.assign_stack(0, || None)
    }

    #[inline(always)]
    fn assign_stack(
        &mut self,
        thread: usize,
        ended: impl FnOnce() -> Option<usize>,
    ) -> io::Result<()> {
        match self.saved.get(thread) {
            Some(saved) if !saved.is_none() => Ok(()),
            Some(_) | None => self.assign_new_stack(thread, ended),
        }
    }

    fn is_stack_guard(&self, address: usize) -> bool {
        self.stacks.iter().any(|stack| stack.guard().contains(&address))
    }

    fn stack_end(&self, pointer: usize) -> Option<usize> {
        let pointer = std::ptr::without_provenance_mut(pointer);
        self.stacks.iter().find(|stack| stack.contains(pointer)).map(Stack::end)
    }

    #[inline(always)]
    unsafe fn enter<R>(this: *mut Native, to: usize, run: *const R) {
        // SAFETY: the caller promises that `this` points to a pool without other references into it.
        let pool = unsafe { &mut *this };
        let load: *const Saved = &raw const pool.saved[to];
        // SAFETY: the caller promises that `to` has a coroutine, which is not running and was saved.
        unsafe { switch(&raw mut pool.host, load, run) };
    }

    #[inline(always)]
    unsafe fn switch<R>(
        this: *mut Native,
        from: usize,
        to: Option<usize>,
        run: *const R,
    ) -> *const R {
        // SAFETY: the caller promises that `this` points to a pool without other references into it.
        let pool = unsafe { &mut *this };
        let load: *const Saved = match to {
            Some(to) => &raw const pool.saved[to],
            None => &raw const pool.host,
        };
        let save: *mut Saved = &raw mut pool.saved[from];
        // SAFETY: the caller promises that both have a coroutine and runs on that of `from`. `to` is another one, which
        // is not running and was saved. So was the host, or no coroutine would run.
        unsafe { switch(save, load, run) }
    }

    fn is_worth_keeping(&self) -> bool {
        self.stacks.len() <= MAX_KEPT_STACKS
    }

    fn leak(&mut self, thread: usize) {
        let saved = std::mem::replace(&mut self.saved[thread], Saved::NONE);
        let place = self.stacks.iter().position(|stack| stack.contains(saved.stack));
        let place = place.expect("raddle invariant broken: a coroutine without a stack");
        std::mem::forget(self.stacks.swap_remove(place));
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        give_back(self.stacks.drain(..));
    }
}

impl Native {
    #[cold]
    fn assign_new_stack(
        &mut self,
        thread: usize,
        ended: impl FnOnce() -> Option<usize>,
    ) -> io::Result<()> {
        if self.saved.len() <= thread {
            self.saved.resize(thread + 1, Saved::NONE);
        }
        let ended = if self.stacks.len() >= OWN_STACKS { ended() } else { None };
        if let Some(ended) = ended {
            self.saved.swap(thread, ended);
            self.was_reassigned = true;
            return Ok(());
        }
        let stack = Stack::new(self.stack_size)?;
        // Stacks of equal alignment would compete for the same cache lines.
        let stagger = self.stacks.len() * 320 % 4096 / 64 * 64;
        let resume = self.entry as *const ();
        self.saved[thread] = Saved { stack: stack.prepare(stagger), resume, ..Saved::NONE };
        self.stacks.push(stack);
        Ok(())
    }
}

/// Saves the running coroutine in `save` and continues the one in `load`. Returns when the saved one is continued, with
/// the `run` that the other side passed.
///
/// # Safety
/// `load` holds what this function saved and that has not been continued since, or a stack from [`Stack::prepare`] and a
/// function that does not return.
#[inline(always)]
unsafe fn switch<R>(save: *mut Saved, load: *const Saved, mut run: *const R) -> *const R {
    // SAFETY: the caller's promise makes `load` hold a stack and an address to jump to. A coroutine that is continued here
    // finds its own stack as it left it, and in `rdx` where it was saved, which is what the other side has loaded.
    // `rdi` is not touched.
    // Everything but the frame pointer and `rbx` is declared clobbered.
    unsafe {
        asm!(
            "lea rax, [rip + 2f]",
            "mov [rsi], rsp",
            "mov [rsi + 8], rax",
            "mov [rsi + 16], rbp",
            "mov [rsi + 24], rbx",
            "mov rsp, [rdx]",
            "jmp [rdx + 8]",
            "2:",
            "mov rbp, [rdx + 16]",
            "mov rbx, [rdx + 24]",
            inlateout("rsi") save => _,
            inlateout("rdx") load => _,
            inlateout("rdi") run,
            lateout("r12") _,
            lateout("r13") _,
            lateout("r14") _,
            lateout("r15") _,
            clobber_abi("sysv64"),
        );
    }
    run
}
