//! The way back to the program after a switch: by a jump, and not by a return.
//!
//! The processor expects a return to go where the latest call came from, which after a switch is another
//! thread. A jump it expects to go where that jump went before. Each kind of operation has one of its own: one
//! for all is foreseen a little worse.

pub(crate) use ways::{PAYS, tell};

// Where nothing is optimised, a jump would be a call that comes back. Tests are to see it all the same.
#[cfg(all(
    target_os = "linux",
    target_arch = "x86_64",
    any(not(debug_assertions), test),
    not(miri)
))]
mod ways {
    use std::arch::global_asm;
    use std::mem::{MaybeUninit, transmute};

    use raddle_core::Effect;
    use raddle_engine::known::Known;

    /// Whether it is worth the way.
    pub(crate) const PAYS: bool = true;

    /// An effect as it goes through registers.
    #[derive(Copy, Clone)]
    #[repr(C)]
    struct Words([MaybeUninit<u64>; 2]);

    /// Functions that return what they are given.
    macro_rules! ways {
        ($($way:ident)*) => {
            global_asm!($(
                ".p2align 4",
                concat!(".globl ", stringify!($way)),
                concat!(".hidden ", stringify!($way)),
                concat!(stringify!($way), ":"),
                "mov rax, rdi",
                "mov rdx, rsi",
                "pop rcx",
                "jmp rcx",
            )*);

            unsafe extern "sysv64" {
                $(safe fn $way(words: Words) -> Words;)*
            }
        };
    }

    ways! {
        raddle_back_from_lock
        raddle_back_from_unlock
        raddle_back_from_notify
        raddle_back_from_enqueue
        raddle_back_from_consume
        raddle_back_from_send
        raddle_back_from_post
        raddle_back_from_receive
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
        } else if K::POST {
            raddle_back_from_post
        } else if K::RECEIVE {
            raddle_back_from_receive
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

    /// Whether it is worth the way.
    pub(crate) const PAYS: bool = false;

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
        ConsumeOp, EnqueueOp, JoinOp, Known, LockOp, NotifyOp, PostOp, ReceiveOp, SendOp, UnlockOp,
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
        assert!(tells_truly::<PostOp>(&effects));
        assert!(tells_truly::<ReceiveOp>(&effects));
        assert!(tells_truly::<JoinOp>(&effects));
    }
}
