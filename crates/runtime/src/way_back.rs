//! The way back to the program after a switch: by a jump, and not by a return.
//!
//! The processor expects a return to go where the latest call came from, which after a switch is another
//! thread. A jump it expects to go where that jump went before. Each kind of operation has one of its own: one
//! for all is foreseen a little worse.
//!
//! A call without a return leaves an expectation behind, which the next return of the program finds in place of its own.
//! Where that matters, the way there is a jump too ([`visit`]).

pub(crate) use ways::{PAYS, tell, tell_of_join, tell_of_spawn, visit};

/// What can be [visited](visit): takes the run and three words, and returns a word. It does not unwind.
pub(crate) type Visit = unsafe extern "C" fn(*const (), *const (), *const (), *const ()) -> u64;

// Where nothing is optimised, a jump would be a call that comes back. Tests are to see it all the same.
#[cfg(all(
    target_os = "linux",
    target_arch = "x86_64",
    any(not(debug_assertions), test),
    not(miri)
))]
mod ways {
    use std::arch::{asm, global_asm};
    use std::mem::{MaybeUninit, transmute};

    use raddle_core::Effect;
    use raddle_engine::known::Known;

    use super::Visit;

    /// Whether it is worth the way.
    pub(crate) const PAYS: bool = true;

    /// Calls `entry` without a call, so that no return is expected: it comes back by a jump.
    ///
    /// # Safety
    /// `entry` may be called with these.
    #[inline(always)]
    pub(crate) unsafe fn visit(
        entry: Visit,
        run: *const (),
        first: *const (),
        second: *const (),
        third: *const (),
    ) -> u64 {
        let word;
        // SAFETY: a call by other means: what is pushed is where to come back to, and everything that a function may
        // change is declared. `entry` does not unwind.
        unsafe {
            asm!(
                "lea rax, [rip + 2f]",
                "push rax",
                "jmp r8",
                "2:",
                in("r8") entry,
                in("rdi") run,
                in("rsi") first,
                in("rdx") second,
                in("rcx") third,
                lateout("rax") word,
                clobber_abi("sysv64"),
            );
        }
        word
    }

    /// An effect as it goes through registers.
    #[derive(Copy, Clone)]
    #[repr(C)]
    struct Words([MaybeUninit<u64>; 2]);

    /// Functions that return what they are given, moved as it says.
    macro_rules! ways {
        ($type:ty, $moves:literal: $($way:ident)*) => {
            global_asm!($(
                ".p2align 4",
                concat!(".globl ", stringify!($way)),
                concat!(".hidden ", stringify!($way)),
                concat!(stringify!($way), ":"),
                $moves,
                "pop rcx",
                "jmp rcx",
            )*);

            unsafe extern "sysv64" {
                $(safe fn $way(value: $type) -> $type;)*
            }
        };
    }

    ways! {
        Words, "mov rax, rdi; mov rdx, rsi":
        raddle_back_from_lock
        raddle_back_from_unlock
        raddle_back_from_notify
        raddle_back_from_enqueue
        raddle_back_from_consume
        raddle_back_from_send
        raddle_back_from_pass
    }

    ways! {
        u64, "mov rax, rdi":
        raddle_back_from_spawn
        raddle_back_from_join
    }

    /// Tells the program what came of a spawn, likewise.
    #[inline(always)]
    pub(crate) fn tell_of_spawn(word: u64) -> u64 {
        raddle_back_from_spawn(word)
    }

    /// Tells the program what came of a join, likewise.
    #[inline(always)]
    pub(crate) fn tell_of_join(word: u64) -> u64 {
        raddle_back_from_join(word)
    }

    /// Tells the program what came of an operation of this kind, after a switch. To be the last thing that is done,
    /// so that it ends the function by a jump.
    #[inline(always)]
    pub(crate) fn tell<K: Known>(effect: Effect) -> Effect {
        let way = if K::LOCK {
            raddle_back_from_lock
        } else if K::UNLOCK {
            raddle_back_from_unlock
        } else if K::NOTIFY {
            raddle_back_from_notify
        } else if K::ENQUEUE {
            raddle_back_from_enqueue
        } else if K::CONSUME {
            raddle_back_from_consume
        } else if K::SEND {
            raddle_back_from_send
        } else if K::PASS {
            raddle_back_from_pass
        } else {
            return effect;
        };
        // SAFETY: an effect is two words, each of which may mean nothing.
        let words = unsafe { transmute::<Effect, Words>(effect) };
        // SAFETY: they are the words of an effect.
        unsafe { transmute::<Words, Effect>(way(words)) }
    }
}

#[cfg(not(all(
    target_os = "linux",
    target_arch = "x86_64",
    any(not(debug_assertions), test),
    not(miri)
)))]
mod ways {
    use raddle_core::Effect;
    use raddle_engine::known::Known;

    use super::Visit;

    /// Whether it is worth the way.
    pub(crate) const PAYS: bool = false;

    /// Calls `entry`.
    ///
    /// # Safety
    /// `entry` may be called with these.
    #[inline(always)]
    pub(crate) unsafe fn visit(
        entry: Visit,
        run: *const (),
        first: *const (),
        second: *const (),
        third: *const (),
    ) -> u64 {
        // SAFETY: promised by the caller.
        unsafe { entry(run, first, second, third) }
    }

    /// Tells the program what came of a spawn.
    #[inline(always)]
    pub(crate) fn tell_of_spawn(word: u64) -> u64 {
        word
    }

    /// Tells the program what came of a join.
    #[inline(always)]
    pub(crate) fn tell_of_join(word: u64) -> u64 {
        word
    }

    /// Tells the program what came of an operation.
    #[inline(always)]
    #[expect(clippy::extra_unused_type_parameters, reason = "as above")]
    pub(crate) fn tell<K: Known>(effect: Effect) -> Effect {
        effect
    }
}

#[cfg(test)]
mod tests {
    use raddle_core::Effect;
    use raddle_engine::known::{
        ConsumeOp, EnqueueOp, JoinOp, Known, LockOp, NotifyOp, PassOp, SendOp, UnlockOp,
    };

    use super::*;

    /// A function that has something to do after it came back.
    #[inline(never)]
    fn tells_truly<K: Known>(effects: &[Effect]) -> bool {
        #[inline(never)]
        fn there_and_back<K: Known>(effect: &Effect) -> Effect {
            tell::<K>(*effect)
        }
        effects.iter().all(|effect| there_and_back::<K>(effect) == *effect)
    }

    #[test]
    fn nothing_is_lost_on_any_way() {
        let effects =
            [Effect::None, Effect::Yes, Effect::No, Effect::Ticket(1 << 63 | 7), Effect::Closed];
        assert!(tells_truly::<LockOp>(&effects));
        assert!(tells_truly::<UnlockOp>(&effects));
        assert!(tells_truly::<NotifyOp>(&effects));
        assert!(tells_truly::<EnqueueOp>(&effects));
        assert!(tells_truly::<ConsumeOp>(&effects));
        assert!(tells_truly::<SendOp>(&effects));
        assert!(tells_truly::<PassOp>(&effects));
        assert!(tells_truly::<JoinOp>(&effects));
    }

    unsafe extern "C" fn first_of(
        sum: *const (),
        first: *const (),
        second: *const (),
        third: *const (),
    ) -> u64 {
        // SAFETY: that of the test.
        let sum = unsafe { &*sum.cast::<std::cell::Cell<usize>>() };
        sum.set(sum.get() * 1000 + second.addr() * 10 + third.addr());
        tell_of_join(tell_of_spawn(first.addr() as u64))
    }

    #[test]
    fn a_visit_is_a_call() {
        let sum = std::cell::Cell::new(0);
        let run = (&raw const sum).cast();
        let number = std::ptr::without_provenance;
        for step in 0..100 {
            // SAFETY: it is a function that takes these.
            let first = unsafe { visit(first_of, run, number(step), number(step % 7), number(3)) };
            assert_eq!(first, step as u64);
            assert_eq!(sum.replace(1), 1000 * usize::from(step > 0) + step % 7 * 10 + 3);
        }
    }
}
