//! Symmetric coroutines with an inline-assembly switch, for x86_64 Unix.
//!
//! The switch saves what the compiler is not told is clobbered: the stack pointer, the frame pointer, `rbx`,
//! `r15` and the address to go on at. They are beside one another and not on the stack, for which whoever goes on
//! would have to wait first. Floating-point control words are not saved; programs that change rounding modes
//! see them shared by all threads of a run.

use std::arch::asm;
use std::io;

use crate::backend::{Baton, HOST, OWN_STACKS};
use crate::stack::{Stack, give_back};
use crate::{Backend, bare};

/// The inline-assembly back end.
pub struct Native {
    stack_size: usize,
    entry: fn() -> !,
    /// By thread: its coroutine while that is not running, or [`Saved::NONE`] if it has none.
    saved: Box<[Saved]>,
    /// Where they are, in every build by one load.
    first: *mut Saved,
    /// The host, while a coroutine runs.
    host: Saved,
    stacks: Vec<Stack>,
    /// Whether thread 0 may have none, because a coroutine went from one thread to another in this run or
    /// there is none at all.
    handed_on: bool,
}

/// What is left of a coroutine that does not run.
#[derive(Copy, Clone)]
#[repr(C)]
struct Saved {
    stack: *mut u8,
    /// Where to go on.
    resume: *const (),
    rbp: usize,
    rbx: usize,
    r15: usize,
}

impl Saved {
    const NONE: Saved =
        Saved { stack: std::ptr::null_mut(), resume: std::ptr::null(), rbp: 0, rbx: 0, r15: 0 };

    #[inline(always)]
    fn is_none(&self) -> bool {
        self.stack.is_null()
    }
}

/// A pool with more stacks than this is not kept.
const MOST_KEPT: usize = 64;

impl Backend for Native {
    const SWITCHES_TO_ITSELF: bool = true;

    fn new(stack_size: usize, entry: fn() -> !) -> Native {
        Native {
            stack_size,
            entry,
            saved: Box::default(),
            first: std::ptr::null_mut(),
            host: Saved::NONE,
            stacks: Vec::new(),
            handed_on: true,
        }
    }

    #[inline(always)]
    fn begin(&mut self) -> io::Result<()> {
        if self.handed_on { self.seat_anew() } else { Ok(()) }
    }

    #[inline(always)]
    fn is_seated(&self, thread: usize) -> bool {
        let saved = &*self.saved;
        thread < saved.len() && !saved[thread].is_none()
    }

    fn seat(&mut self, thread: usize, ended: impl FnOnce() -> Option<usize>) -> io::Result<()> {
        if self.is_seated(thread) { Ok(()) } else { self.seat_first_time(thread, ended) }
    }

    fn guards(&self, address: usize) -> bool {
        self.stacks.iter().any(|stack| stack.guard().contains(&address))
    }

    #[inline(always)]
    unsafe fn enter(this: *mut Native, to: usize, baton: Baton) {
        // SAFETY: the caller promises that `this` points to a pool nobody has a reference into.
        let pool = unsafe { bare::follow_mut!(this as Native) };
        let load = pool.first.wrapping_add(to);
        // SAFETY: the caller promises that `to` has a coroutine, which is not running and was saved.
        unsafe { switch(&raw mut pool.host, load, baton) };
    }

    #[inline(always)]
    unsafe fn switch(this: *mut Native, from: usize, to: usize, baton: Baton) -> Baton {
        // SAFETY: the caller promises that `this` points to a pool nobody has a reference into.
        let pool = unsafe { bare::follow_mut!(this as Native) };
        // A branch that is foreseen, so that the host need not wait for whoever told that it is its turn.
        let load = if to == HOST { &raw mut pool.host } else { pool.first.wrapping_add(to) };
        // SAFETY: the caller promises that both have a coroutine and runs on that of `from`. If `to` is not `from` it is
        // not running, and was saved; otherwise it is saved now. So was the host, or no coroutine would run.
        unsafe { switch(pool.first.wrapping_add(from), load, baton) }
    }

    fn is_worth_keeping(&self) -> bool {
        self.stacks.len() <= MOST_KEPT
    }

    fn abandon(mut self) {
        std::mem::forget(std::mem::take(&mut self.stacks));
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        give_back(self.stacks.drain(..));
    }
}

impl Native {
    /// The first threads to start get what coroutines there are.
    #[cold]
    fn seat_anew(&mut self) -> io::Result<()> {
        let mut saved = std::mem::take(&mut self.saved).into_vec();
        saved.retain(|saved| !saved.is_none());
        self.keep(saved);
        self.seat(0, || None)?;
        self.handed_on = false;
        Ok(())
    }

    #[cold]
    fn seat_first_time(
        &mut self,
        thread: usize,
        ended: impl FnOnce() -> Option<usize>,
    ) -> io::Result<()> {
        if self.saved.len() <= thread {
            let mut saved = std::mem::take(&mut self.saved).into_vec();
            saved.resize(thread + 1, Saved::NONE);
            self.keep(saved);
        }
        let ended = if self.stacks.len() >= OWN_STACKS { ended() } else { None };
        if let Some(ended) = ended {
            self.saved.swap(thread, ended);
            self.handed_on = true;
            return Ok(());
        }
        let stack = Stack::new(self.stack_size)?;
        // Stacks of equal alignment would compete for the same cache lines.
        let stagger = self.stacks.len() * 320 % 4096 / 64 * 64;
        let resume = self.entry as *const ();
        self.saved[thread] =
            Saved { stack: stack.prepare(stagger), resume, rbp: 0, rbx: 0, r15: 0 };
        self.stacks.push(stack);
        Ok(())
    }

    fn keep(&mut self, saved: Vec<Saved>) {
        self.saved = saved.into_boxed_slice();
        self.first = self.saved.as_mut_ptr();
    }
}

/// Saves the running coroutine in `save` and goes on with the one in `load`, handing over `baton`. Returns
/// with what is handed back.
///
/// # Safety
/// `load` holds what this function saved and that has not been gone on with since, or a stack from
/// [`Stack::prepare`] and a function that does not return; or it is `save`.
#[inline(always)]
unsafe fn switch(save: *mut Saved, load: *const Saved, mut baton: Baton) -> Baton {
    // SAFETY: the caller's promise makes `load` hold a stack and an address to jump to. What comes back here
    // finds its own stack as it left it, and in `rdx` where it was saved, which is what whoever goes on has
    // loaded; everything but the frame pointer, `rbx` and `r15` is declared clobbered.
    unsafe {
        asm!(
            "lea rax, [rip + 2f]",
            "mov [rsi], rsp",
            "mov [rsi + 8], rax",
            "mov [rsi + 16], rbp",
            "mov [rsi + 24], rbx",
            "mov [rsi + 32], r15",
            "mov rsp, [rdx]",
            "jmp [rdx + 8]",
            "2:",
            "mov rbp, [rdx + 16]",
            "mov rbx, [rdx + 24]",
            "mov r15, [rdx + 32]",
            // In the registers in which operations get them, or nearly.
            inlateout("rdi") baton,
            inlateout("rsi") save => _,
            inlateout("rdx") load => _,
            lateout("r12") _,
            lateout("r13") _,
            lateout("r14") _,
            clobber_abi("sysv64"),
        );
    }
    baton
}
