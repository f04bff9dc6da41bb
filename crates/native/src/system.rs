//! System calls without libc: most functions of libc that matter here are interposed, and `errno` belongs to the
//! program.

use std::arch::asm;

pub(crate) const WRITE: usize = 1;
pub(crate) const MMAP: usize = 9;
pub(crate) const RT_SIGPROCMASK: usize = 14;
pub(crate) const FORK: usize = 57;
pub(crate) const EXECVE: usize = 59;
pub(crate) const WAIT4: usize = 61;
pub(crate) const FTRUNCATE: usize = 77;
pub(crate) const LSEEK: usize = 8;
pub(crate) const DUP2: usize = 33;
pub(crate) const FCNTL: usize = 72;
pub(crate) const PERSONALITY: usize = 135;
pub(crate) const PRCTL: usize = 157;
pub(crate) const FUTEX: usize = 202;
pub(crate) const TIMER_CREATE: usize = 222;
pub(crate) const TIMER_SETTIME: usize = 223;
pub(crate) const CLOCK_GETTIME: usize = 228;
pub(crate) const EXIT_GROUP: usize = 231;
pub(crate) const MEMFD_CREATE: usize = 319;

/// Makes a system call. Returns a negative error number if it fails.
///
/// # Safety
/// The arguments must be right for the call.
#[inline(always)]
pub(crate) unsafe fn call(number: usize, arguments: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: promised by the caller; the kernel changes no other registers.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            in("r8") arguments[4],
            in("r9") arguments[5],
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    result
}

/// Returns the base of the thread-local storage of the code that runs.
#[inline(always)]
pub(crate) fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: by the ABI the first word of thread-local storage holds its own address.
    unsafe { asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly, preserves_flags)) };
    pointer
}

/// Writes all of `bytes` to a file descriptor. Returns whether that succeeded.
pub(crate) fn write(descriptor: usize, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: the kernel reads `bytes` only.
        let written =
            unsafe { call(WRITE, [descriptor, bytes.as_ptr().addr(), bytes.len(), 0, 0, 0]) };
        match written {
            1.. => bytes = &bytes[written as usize..],
            INTERRUPTED => {}
            _ => return false,
        }
    }
    true
}

/// The result of a system call that a signal interrupted.
pub(crate) const INTERRUPTED: isize = -(libc::EINTR as isize);

/// Ends the process.
pub(crate) fn exit(code: i32) -> ! {
    loop {
        // SAFETY: nothing of this process is used afterwards.
        unsafe { call(EXIT_GROUP, [code as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Returns the time of the monotonic clock in nanoseconds.
pub(crate) fn now() -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: the kernel writes two words.
    unsafe {
        call(CLOCK_GETTIME, [libc::CLOCK_MONOTONIC as usize, (&raw mut time).addr(), 0, 0, 0, 0])
    };
    time[0] * 1_000_000_000 + time[1]
}
