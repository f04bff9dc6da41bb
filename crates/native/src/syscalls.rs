//! System calls of the program: which of them raddle models, and which must not be made in the host's process.
//!
//! Calls come here from libc's function `syscall`, and from any code of the program and its libraries by way of
//! [`dispatch`](crate::dispatch).

use std::ffi::CStr;
use std::ptr;

use crate::posix::{exit, signals, time};
use crate::run::{refuse, site, state};
use crate::{descriptors, fences, frames, futex, system};

/// The number of a process in runs. The real one differs from process to process.
pub(crate) const PROCESS: isize = 4_242;

/// What becomes of a system call.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Class {
    /// The kernel makes it.
    Pass,
    /// It changes what the kernel knows of the process, which is not put back after a run in the host's process.
    NeedsFork,
    /// raddle does not model it.
    Refused(&'static str),
    /// raddle makes it.
    Modelled,
}

/// Makes a system call of a thread of a run. Returns its result, a negative error number if it fails.
pub(crate) fn make(number: usize, arguments: [usize; 6], pc: usize) -> isize {
    frames::forget_registers();
    if number == fences::PSEUDO_CALL {
        return fences::make(site(pc));
    }
    match class(number as i64, &arguments) {
        Class::Modelled => model(number as i64, arguments, pc),
        Class::Refused(name) => refuse(&format!(
            "the program makes the system call `{name}`, which raddle does not model"
        )),
        Class::NeedsFork => {
            note_files(number as i64, &arguments);
            state().need_fork();
            pass(number, arguments, pc)
        }
        Class::Pass => {
            note_files(number as i64, &arguments);
            pass(number, arguments, pc)
        }
    }
}

/// Returns the name of the system call that the kernel makes for the program now.
pub(crate) fn under_way() -> Option<String> {
    const NAMES: [(i64, &str); 16] = [
        (libc::SYS_read, "read"),
        (libc::SYS_readv, "readv"),
        (libc::SYS_write, "write"),
        (libc::SYS_writev, "writev"),
        (libc::SYS_poll, "poll"),
        (libc::SYS_ppoll, "ppoll"),
        (libc::SYS_select, "select"),
        (libc::SYS_pselect6, "pselect6"),
        (libc::SYS_epoll_wait, "epoll_wait"),
        (libc::SYS_accept, "accept"),
        (libc::SYS_connect, "connect"),
        (libc::SYS_recvfrom, "recvfrom"),
        (libc::SYS_recvmsg, "recvmsg"),
        (libc::SYS_sendto, "sendto"),
        (libc::SYS_wait4, "wait4"),
        (libc::SYS_flock, "flock"),
    ];
    let number = state().in_kernel.get().checked_sub(1).filter(|&number| number >= 0)?;
    let known = NAMES.iter().find(|(known, _)| *known == number);
    Some(known.map_or_else(|| format!("number {number}"), |(_, name)| (*name).to_owned()))
}

fn pass(number: usize, arguments: [usize; 6], pc: usize) -> isize {
    let state = state();
    state.note_change();
    if let Some(result) = descriptors::make(number as i64, arguments, site(pc)) {
        return result;
    }
    // Threads that wait for the kernel make no steps, and are not at fault.
    state.in_kernel.set(number as i64 + 1);
    // SAFETY: the program makes this call.
    let result = unsafe { system::call(number, arguments) };
    state.in_kernel.set(0);
    state.look_at_waiters();
    result
}

#[rustfmt::skip]
fn class(number: i64, arguments: &[usize; 6]) -> Class {
    use libc as c;
    match number {
        c::SYS_futex | c::SYS_sched_yield | c::SYS_nanosleep | c::SYS_clock_nanosleep | c::SYS_clock_gettime
        | c::SYS_gettimeofday | c::SYS_time | c::SYS_getrandom | c::SYS_getpid | c::SYS_gettid | c::SYS_exit_group | c::SYS_kill | c::SYS_tgkill
        | c::SYS_tkill | c::SYS_rt_sigprocmask | c::SYS_rt_sigpending | c::SYS_rt_sigtimedwait
        | c::SYS_rt_sigsuspend | c::SYS_pause => Class::Modelled,
        // The name of the OS thread, which all threads of the program share.
        c::SYS_prctl if arguments[0] as i32 == c::PR_SET_NAME => Class::Modelled,
        c::SYS_timerfd_create if state().clock.is_on() => Class::Modelled,
        c::SYS_fork => Class::Refused("fork"),
        c::SYS_vfork => Class::Refused("vfork"),
        c::SYS_clone => Class::Refused("clone"),
        c::SYS_clone3 => Class::Refused("clone3"),
        c::SYS_execve => Class::Refused("execve"),
        c::SYS_execveat => Class::Refused("execveat"),
        c::SYS_setitimer => Class::Refused("setitimer"),
        c::SYS_alarm => Class::Refused("alarm"),
        c::SYS_timer_create => Class::Refused("timer_create"),
        c::SYS_signalfd | c::SYS_signalfd4 => Class::Refused("signalfd"),
        c::SYS_rt_sigqueueinfo => Class::Refused("rt_sigqueueinfo"),
        c::SYS_rt_tgsigqueueinfo => Class::Refused("rt_tgsigqueueinfo"),
        c::SYS_exit => Class::Refused("exit"),
        c::SYS_ptrace => Class::Refused("ptrace"),
        c::SYS_io_uring_setup => Class::Refused("io_uring_setup"),
        c::SYS_fcntl if ![c::F_GETFL, c::F_GETFD].contains(&(arguments[1] as i32)) => Class::NeedsFork,
        // Opening and closing files is noticed at the end of a run, unless all were closed again.
        c::SYS_open | c::SYS_openat | c::SYS_close | c::SYS_fcntl
        | c::SYS_read | c::SYS_write | c::SYS_readv | c::SYS_writev | c::SYS_pread64 | c::SYS_pwrite64 | c::SYS_preadv
        | c::SYS_pwritev | c::SYS_lseek | c::SYS_stat | c::SYS_fstat | c::SYS_lstat | c::SYS_newfstatat | c::SYS_statx
        | c::SYS_statfs | c::SYS_fstatfs | c::SYS_access | c::SYS_faccessat | c::SYS_faccessat2 | c::SYS_readlink
        | c::SYS_readlinkat | c::SYS_getcwd | c::SYS_getdents64 | c::SYS_poll | c::SYS_ppoll | c::SYS_select
        | c::SYS_pselect6 | c::SYS_ioctl | c::SYS_uname | c::SYS_sysinfo | c::SYS_times | c::SYS_getrusage
        | c::SYS_getrlimit | c::SYS_sched_getaffinity | c::SYS_sched_getparam | c::SYS_sched_getscheduler
        | c::SYS_sched_get_priority_max | c::SYS_sched_get_priority_min | c::SYS_getcpu | c::SYS_getuid | c::SYS_geteuid
        | c::SYS_getgid | c::SYS_getegid | c::SYS_getppid | c::SYS_getpgrp | c::SYS_getpgid | c::SYS_getsid
        | c::SYS_getgroups | c::SYS_getpriority | c::SYS_clock_getres
        | c::SYS_brk | c::SYS_madvise | c::SYS_mincore | c::SYS_membarrier | c::SYS_rseq | c::SYS_set_robust_list
        | c::SYS_get_robust_list | c::SYS_fsync | c::SYS_fdatasync => {
            Class::Pass
        }
        c::SYS_prlimit64 if arguments[2] == 0 => Class::Pass,
        _ => Class::NeedsFork,
    }
}

/// Makes a system call that raddle models.
fn model(number: i64, arguments: [usize; 6], pc: usize) -> isize {
    let [first, second, third, ..] = arguments;
    let time = |address: usize| ptr::with_exposed_provenance_mut::<libc::timespec>(address);
    match number {
        libc::SYS_futex => futex::call(arguments, pc),
        libc::SYS_sched_yield => {
            time::yield_turn(pc);
            0
        }
        libc::SYS_nanosleep => {
            let clock = libc::CLOCK_MONOTONIC;
            -time::sleep_clock(clock, 0, time(first), time(second), pc) as isize
        }
        libc::SYS_clock_nanosleep => {
            let (clock, flags) = (first as i32, second as i32);
            -time::sleep_clock(clock, flags, time(third), time(arguments[3]), pc) as isize
        }
        // SAFETY: the program passed a place for the time.
        libc::SYS_clock_gettime => unsafe {
            time::get_clock(first as i32, time(second), pc) as isize
        },
        libc::SYS_gettimeofday => {
            let place = ptr::with_exposed_provenance_mut(first);
            // SAFETY: the program passed a place for the time.
            unsafe { time::get_day(place, ptr::null_mut(), pc) as isize }
        }
        libc::SYS_time => {
            // SAFETY: the program passed a place for the time, or none.
            unsafe { time::get_time(ptr::with_exposed_provenance_mut(first), pc) as isize }
        }
        libc::SYS_prctl => 0,
        // Time is not the kernel's. Libraries do without such descriptors.
        libc::SYS_timerfd_create => -(libc::ENOSYS as isize),
        libc::SYS_getrandom => random(first, second),
        libc::SYS_getpid => PROCESS,
        libc::SYS_gettid => PROCESS + state().me().index() as isize,
        libc::SYS_exit_group => exit::exit_with(first as i32, pc),
        libc::SYS_kill => signals::send_to_process(first, second, pc),
        libc::SYS_tkill => signals::send_to_thread(first, second, pc),
        libc::SYS_tgkill => signals::send_to_thread(second, third, pc),
        libc::SYS_rt_sigprocmask => signals::mask(first, second, third, pc),
        libc::SYS_rt_sigpending => signals::pending(first, pc),
        libc::SYS_rt_sigtimedwait => signals::wait(first, second, third, pc),
        libc::SYS_rt_sigsuspend => signals::suspend_with(first, pc),
        libc::SYS_pause => signals::pause(pc),
        _ => unreachable!("raddle invariant broken: system call {number} is not modelled"),
    }
}

/// Fills a buffer with numbers that are the same in every run.
pub(crate) fn random(buffer: usize, size: usize) -> isize {
    let state = state();
    state.note_change();
    for byte in 0..size {
        let drawn = raddle_core::mix(state.seed.get(), state.drawn.get());
        state.drawn.set(state.drawn.get() + 1);
        let place = ptr::with_exposed_provenance_mut::<u8>(buffer + byte);
        // SAFETY: the program passed a buffer of this size.
        unsafe { place.write(drawn as u8) };
    }
    size as isize
}

/// Notes files that the program changes, and that it reads its standard input.
fn note_files(number: i64, arguments: &[usize; 6]) {
    let path = match number {
        libc::SYS_read | libc::SYS_readv if arguments[0] == 0 => {
            return state().reads_input.set(true);
        }
        libc::SYS_open if changes(arguments[1]) => arguments[0],
        libc::SYS_openat if changes(arguments[2]) => arguments[1],
        libc::SYS_creat
        | libc::SYS_truncate
        | libc::SYS_unlink
        | libc::SYS_mkdir
        | libc::SYS_rmdir => arguments[0],
        libc::SYS_rename => arguments[1],
        libc::SYS_unlinkat | libc::SYS_mkdirat => arguments[1],
        libc::SYS_renameat | libc::SYS_renameat2 => arguments[3],
        _ => return,
    };
    if path == 0 {
        return;
    }
    // SAFETY: the program passed a C string.
    let path = unsafe { CStr::from_ptr(ptr::with_exposed_provenance(path)) }.to_string_lossy();
    if !path.starts_with("/dev/") && !path.starts_with("/proc/") {
        state().changed_files.borrow_mut().insert(path.into_owned());
    }
}

/// Returns whether a file that is opened with these flags can be changed.
fn changes(flags: usize) -> bool {
    flags as i32 & (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) != 0
}
