//! Where the port of the calling OS thread is.
//!
//! Where nothing is optimised, `thread_local!` is five calls for what is one instruction, and the port is
//! looked up at every operation. There, on Linux, a word beside it keeps the address.

use super::{PORT, Port, outside};

#[cfg(all(debug_assertions, target_os = "linux", target_arch = "x86_64", not(miri)))]
pub(super) use word::address;

#[cfg(not(all(debug_assertions, target_os = "linux", target_arch = "x86_64", not(miri))))]
pub(super) use look_up as address;

#[inline(always)]
pub(super) fn look_up() -> *const Port {
    // Not `with`, which is one more call where nothing is optimised.
    let Ok(port) = PORT.try_with(|port| port as *const Port) else { outside() };
    port
}

#[cfg(all(debug_assertions, target_os = "linux", target_arch = "x86_64", not(miri)))]
mod word {
    use std::arch::{asm, global_asm};

    use super::{Port, look_up};

    // A word for each OS thread, zero at first.
    global_asm!(
        ".pushsection .tbss.raddle_port, \"awT\", @nobits",
        ".p2align 3",
        ".globl raddle_port",
        ".hidden raddle_port",
        "raddle_port:",
        ".zero 8",
        ".popsection",
    );

    #[inline(always)]
    pub(in super::super) fn address() -> *const Port {
        let known: *const Port;
        // SAFETY: reads the word of this OS thread, by the offset that the linker or loader wrote down.
        unsafe {
            asm!(
                "mov {known}, qword ptr [rip + raddle_port@GOTTPOFF]",
                "mov {known}, qword ptr fs:[{known}]",
                known = out(reg) known,
                options(nostack, preserves_flags, readonly),
            );
        }
        if known as usize != 0 { known } else { first() }
    }

    /// The first time on an OS thread.
    #[cold]
    fn first() -> *const Port {
        let port = look_up();
        // SAFETY: writes the same word.
        unsafe {
            asm!(
                "mov {place}, qword ptr [rip + raddle_port@GOTTPOFF]",
                "mov qword ptr fs:[{place}], {port}",
                place = out(reg) _,
                port = in(reg) port,
                options(nostack, preserves_flags),
            );
        }
        port
    }
}
