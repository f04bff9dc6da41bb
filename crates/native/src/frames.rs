//! Local states of threads, for loops that wait: the registers and the stack of a thread when it calls a hook, its
//! thread-local storage, and how often it has changed memory by other means than operations.
//!
//! Two equal local states of one thread in one run, with nothing changed in between that the thread can see, continue
//! alike. Words that no longer matter may make equal states look different, never the other way round. What a library
//! writes that is not instrumented is not part of it: the engine lets a loop run alone before it believes that nothing
//! counts its rounds.

use std::cell::Cell;
use std::ptr;

use raddle_core::{Op, Site, ThreadId};
use raddle_engine::SinceChange;

use crate::one_thread::OneThread;
use crate::run::State;
use crate::system;

/// The stack pointer and the registers that a call preserves.
pub(crate) type Registers = [usize; 7];

/// The registers at the last call of a hook that [`with_registers`](crate::hooks::with_registers) exports.
pub(crate) static REGISTERS: OneThread<Cell<Registers>> = OneThread::new(Cell::new([0; 7]));

/// Programs that create stacks of their own have no local states.
const MOST_BYTES: usize = 1 << 20;

/// Whether local states are needed, and where the operation began that is about to be announced.
#[derive(Default)]
pub(crate) struct Frames {
    is_on: Cell<bool>,
    entry: Cell<Option<Registers>>,
    /// The end of the stack of main.
    main_end: Cell<usize>,
}

/// Forgets the registers: an operation begins that no hook has left them for.
pub(crate) fn forget_registers() {
    REGISTERS.set([0; 7]);
}

impl Frames {
    /// Notes where the stack of main ends. Called once, when the check begins.
    pub(crate) fn set_up(&self, main_end: usize) {
        self.main_end.set(main_end);
    }

    /// Notes whether local states are needed from now on.
    #[inline]
    pub(crate) fn turn(&self, is_on: bool) {
        self.is_on.set(is_on);
    }
}

impl State {
    /// Begins an operation, which is announced next, of a hook that [`with_registers`](crate::hooks::with_registers)
    /// exports.
    #[inline(always)]
    pub(crate) fn enter(&self) {
        if self.frames.is_on.get() {
            self.frames.entry.set(Some(REGISTERS.get()).filter(|registers| registers[0] != 0));
        }
    }

    /// Ends an operation, or a plain access. If the thread looks at something again and again, what raddle has left on the
    /// unused stack is overwritten, so that it is the same in every round.
    #[inline(always)]
    pub(crate) fn leave(&self) {
        if self.frames.is_on.get() && self.threads.borrow()[self.me().index()].looks_again {
            scrub_unused_stack();
        }
    }

    /// Overwrites the unused stack of a thread that begins, so that what earlier threads left there does not decide when
    /// a round is seen to repeat.
    pub(crate) fn prepare_stack(&self) {
        if self.frames.is_on.get() {
            scrub_unused_stack();
        }
    }

    /// Tells the local state of the calling thread, which is about to announce an operation, if it is needed.
    #[inline(always)]
    pub(crate) fn tell_frame(&self, op: Op, site: Site) {
        if self.frames.is_on.get() {
            self.tell_frame_slow(op, site);
        }
    }

    #[cold]
    fn tell_frame_slow(&self, op: Op, site: Site) {
        let me = self.me();
        let entry = self.frames.entry.take();
        let since = self.with_engine(|engine| engine.since_change(me, op, site));
        self.threads.borrow_mut()[me.index()].looks_again = since != SinceChange::Nothing;
        if since == SinceChange::WasHere
            && let Some(frame) = entry.and_then(|registers| self.local_state(registers))
        {
            self.with_engine(|engine| engine.arrive(me, frame));
        }
    }

    /// Notes that the calling thread has changed something by other means than an operation, or may go on otherwise than
    /// its local state tells.
    #[inline(always)]
    pub(crate) fn note_change(&self) {
        if self.frames.is_on.get() {
            self.threads.borrow_mut()[self.me().index()].changes += 1;
        }
    }

    /// Notes a plain access. What others write does not change what a thread reads plainly, unless that is a race: then a
    /// loop that waits for it is not idle.
    #[inline(always)]
    pub(crate) fn note_plain(&self, address: usize, writes: bool) {
        if self.frames.is_on.get() && (writes || !self.finds_races.get()) {
            self.note_plain_slow(address);
        }
    }

    #[cold]
    fn note_plain_slow(&self, address: usize) {
        let here = ptr::from_ref(&address).addr();
        if !(here..self.stack_end()).contains(&address) {
            self.note_change();
        }
    }

    /// Returns where the stack of the calling thread ends. Its thread-local storage is at the end of it, unless it is main.
    fn stack_end(&self) -> usize {
        match self.me() {
            ThreadId::MAIN => self.frames.main_end.get(),
            _ => system::thread_pointer(),
        }
    }

    /// Returns a hash of the local state of the calling thread, which has called a hook with these registers.
    fn local_state(&self, registers: Registers) -> Option<u64> {
        let (first, end) = (registers[0], self.stack_end());
        let bytes = end.checked_sub(first).filter(|&bytes| bytes <= MOST_BYTES)?;
        let changes = self.threads.borrow()[self.me().index()].changes;
        let known = registers.iter().map(|&word| word as u64).chain([changes]);
        let words = (0..bytes / size_of::<u64>()).map(|index| {
            let word = ptr::with_exposed_provenance::<u64>(first).wrapping_add(index);
            // SAFETY: the stack of the calling thread, from the frame of the function that called the hook to its end.
            unsafe { word.read_volatile() }
        });
        Some(known.chain(words).fold(0, raddle_core::mix))
    }
}

/// Overwrites the unused stack below the calling function.
#[inline(never)]
fn scrub_unused_stack() {
    std::hint::black_box([0u64; 512]);
}
