//! Symmetric coroutines with an inline-assembly switch, for x86_64 Unix.
//!
//! The switch saves what the compiler is not told is clobbered: the frame pointer, `rbx` and the
//! address to go on at. Floating-point control words are not saved; programs that change rounding
//! modes see them shared by all threads of a run.

use std::arch::asm;
use std::cell::Cell;
use std::io;

use crate::Backend;
use crate::backend::{Baton, OWN_STACKS};
use crate::stack::{Stack, give_back};

/// The inline-assembly back end.
pub struct Native {
    stack_size: usize,
    entry: fn() -> !,
    /// By thread: the stack pointer of its coroutine while that is not running, or null if it has
    /// none.
    saved: Box<[*mut u8]>,
    /// The host's, while a coroutine runs.
    host: *mut u8,
    stacks: Vec<Stack>,
    /// Whether thread 0 may have none, because a coroutine went from one thread to another in this run or
    /// there is none at all.
    handed_on: bool,
}

thread_local! {
    /// The pool of the last check, for the next: its coroutines wait for work.
    static KEPT: Cell<Option<Native>> = const { Cell::new(None) };
}

/// A pool with more stacks than this is not kept.
const MOST_KEPT: usize = 64;

impl Backend for Native {
    const SWITCHES_TO_ITSELF: bool = true;

    fn new(stack_size: usize, entry: fn() -> !) -> Native {
        // Not at the end of the OS thread, when it is gone.
        let kept = KEPT.try_with(Cell::take).ok().flatten();
        let fits = |kept: &Native| {
            kept.stack_size == stack_size && std::ptr::fn_addr_eq(kept.entry, entry)
        };
        kept.filter(fits).unwrap_or_else(|| Native {
            stack_size,
            entry,
            saved: Box::default(),
            host: std::ptr::null_mut(),
            stacks: Vec::new(),
            handed_on: true,
        })
    }

    #[inline(always)]
    fn begin(&mut self) -> io::Result<()> {
        if self.handed_on { self.seat_anew() } else { Ok(()) }
    }

    #[inline(always)]
    fn seat(&mut self, thread: usize, ended: impl FnOnce() -> Option<usize>) -> io::Result<()> {
        match self.saved.get(thread) {
            Some(saved) if !saved.is_null() => Ok(()),
            Some(_) | None => self.seat_first_time(thread, ended),
        }
    }

    fn guards(&self, address: usize) -> bool {
        self.stacks.iter().any(|stack| stack.guard().contains(&address))
    }

    #[inline(always)]
    unsafe fn enter(this: *mut Native, to: usize, baton: Baton) {
        // SAFETY: the caller promises that `this` points to a pool.
        let save = unsafe { &raw mut (*this).host };
        // SAFETY: as above, and no reference into it exists; this one ends with the statement.
        let load = unsafe { &(&(*this).saved)[to] as *const *mut u8 };
        // SAFETY: `load` is the saved stack pointer of a coroutine that is not running.
        unsafe { switch(save, load, baton) };
    }

    #[inline(always)]
    unsafe fn switch(this: *mut Native, from: usize, to: usize, baton: Baton) -> Baton {
        // SAFETY: the caller promises that `this` points to a pool nobody has a reference into.
        let saved = unsafe { &mut (*this).saved };
        let (load, save) = if cfg!(debug_assertions) {
            // Where nothing is optimised, to check is also the shorter way.
            (&raw const saved[to], &raw mut saved[from])
        } else {
            let saved = saved.as_mut_ptr();
            // SAFETY: the caller promises that it has a coroutine, and so there is a place for its stack pointer.
            let load = unsafe { saved.add(to) };
            // SAFETY: likewise.
            (load.cast_const(), unsafe { saved.add(from) })
        };
        // SAFETY: if `to` is not `from` it is not running, and its stack pointer was saved; otherwise it is
        // saved now.
        unsafe { switch(save, load, baton) }
    }

    #[inline(always)]
    unsafe fn leave(this: *mut Native, from: usize) -> Baton {
        // SAFETY: the caller promises that `this` points to a pool nobody has a reference into.
        let save = unsafe { &mut (&mut (*this).saved)[from] as *mut *mut u8 };
        // SAFETY: as above.
        let load = unsafe { &raw const (*this).host };
        // SAFETY: the host entered a coroutine, or none would run, and saved its stack pointer.
        unsafe { switch(save, load, std::ptr::null()) }
    }

    fn keep(self) {
        if self.stacks.len() <= MOST_KEPT {
            let _ = KEPT.try_with(|kept| kept.set(Some(self)));
        }
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
        saved.retain(|saved| !saved.is_null());
        self.saved = saved.into_boxed_slice();
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
            saved.resize(thread + 1, std::ptr::null_mut());
            self.saved = saved.into_boxed_slice();
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
        self.saved[thread] = stack.prepare(stagger, self.entry);
        self.stacks.push(stack);
        Ok(())
    }
}

/// Saves the running stack in `save` and goes on with the one in `load`, handing over `baton`. Returns
/// with what is handed back.
///
/// # Safety
/// `load` holds a stack pointer that this function saved and that has not been gone on with since,
/// or one from [`Stack::prepare`]; or it is `save`.
#[inline(always)]
unsafe fn switch(save: *mut *mut u8, load: *const *mut u8, mut baton: Baton) -> Baton {
    // SAFETY: the caller's promise makes the loaded stack end in an address to jump to. What comes
    // back here finds its own stack as it left it: frame pointer, `rbx` and address are popped by
    // whoever goes on, everything else is declared clobbered.
    unsafe {
        asm!(
            "push rbp",
            "push rbx",
            "lea rax, [rip + 2f]",
            "push rax",
            "mov [rdi], rsp",
            "mov rsp, [rsi]",
            "pop rax",
            "jmp rax",
            "2:",
            "pop rbx",
            "pop rbp",
            inlateout("rdi") save => _,
            inlateout("rsi") load => _,
            inlateout("rdx") baton,
            lateout("r12") _,
            lateout("r13") _,
            lateout("r14") _,
            lateout("r15") _,
            clobber_abi("sysv64"),
        );
    }
    baton
}
