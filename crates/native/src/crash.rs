//! Signals that end a run: crashes of the program, and runs without progress.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::time::Duration;

use crate::arena;
use crate::one_thread::OneThread;
use crate::run::{Crash, Outcome, refuse, state};
use crate::{syscalls, system};

/// The signals of a program that does something wrong.
const SIGNALS: [i32; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT];
/// The number of ticks of the watchdog without progress after which a run has hung.
const TICKS: u32 = 4;
/// The size of the stack for signal handlers, which also work after a stack overflow.
const STACK_BYTES: usize = 64 * 1024;

/// Ends runs without progress.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Watchdog {
    pub(crate) limit: Option<Duration>,
}

/// The number of ticks after which a run has hung that takes no CPU time: it waits without a system call that was seen.
const MAX_TICKS: u32 = 10 * TICKS;
/// How soon the end of a run is tried again, and how often.
const RETRY: Duration = Duration::from_millis(1);
const MAX_RETRIES: u32 = 20_000;

static LAST_STEPS: OneThread<Cell<u64>> = OneThread::new(Cell::new(u64::MAX));
static IDLE_TICKS: OneThread<Cell<u32>> = OneThread::new(Cell::new(0));
static RETRIES: OneThread<Cell<u32>> = OneThread::new(Cell::new(0));
static TIMER: OneThread<Cell<i32>> = OneThread::new(Cell::new(0));
static LIMIT: OneThread<Cell<Duration>> = OneThread::new(Cell::new(Duration::ZERO));
/// The CPU time at the last progress.
static CPU_BEFORE: OneThread<Cell<Duration>> = OneThread::new(Cell::new(Duration::ZERO));

/// Handles the signals. Called once, when the check begins.
pub(crate) fn set_up() {
    let stack = libc::stack_t {
        ss_sp: arena::pages(STACK_BYTES).cast(),
        ss_flags: 0,
        ss_size: STACK_BYTES,
    };
    // SAFETY: nothing else uses the block.
    unsafe { libc::sigaltstack(&stack, ptr::null_mut()) };
    for signal in SIGNALS {
        handle(signal, on_crash);
    }
    handle(tick_signal(), on_tick);
}

pub(crate) type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void);

/// The kernel's form of what to do on a signal.
#[repr(C)]
struct KernelAction {
    handler: usize,
    flags: u64,
    restorer: usize,
    mask: u64,
}

/// Handles a signal on the stack for signals. The handler ends by code of this library, whose system calls are exempt
/// from [`dispatch`](crate::dispatch).
pub(crate) fn handle(signal: i32, handler: Handler) {
    const RESTORER: i32 = 0x0400_0000;
    // A handler does not return if it ends a run in this process.
    let flags =
        libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART | libc::SA_NODEFER | RESTORER;
    let action = KernelAction {
        handler: handler as *const () as usize,
        flags: flags as u64,
        restorer: restore as *const () as usize,
        mask: 0,
    };
    let arguments = [signal as usize, (&raw const action).addr(), 0, size_of::<u64>(), 0, 0];
    // SAFETY: the kernel reads the action.
    unsafe { system::call(libc::SYS_rt_sigaction as usize, arguments) };
}

/// Ends a signal handler.
#[unsafe(naked)]
unsafe extern "C" fn restore() {
    std::arch::naked_asm!("mov eax, {}", "syscall", const libc::SYS_rt_sigreturn)
}

/// A signal that programs rarely use.
fn tick_signal() -> i32 {
    libc::SIGRTMAX() - 3
}

impl Watchdog {
    /// Watches the run that begins in this process, a child of the host.
    pub(crate) fn begin_child(self) {
        let kill = libc::SIGKILL as usize;
        // SAFETY: asks for a signal when the host ends.
        unsafe { system::call(system::PRCTL, [libc::PR_SET_PDEATHSIG as usize, kill, 0, 0, 0, 0]) };
        self.begin();
    }

    /// Watches the runs in this process.
    pub(crate) fn begin(self) {
        let Some(limit) = self.limit else { return };
        LAST_STEPS.set(u64::MAX);
        IDLE_TICKS.set(0);
        RETRIES.set(0);
        CPU_BEFORE.set(cpu_time());
        // The layout of `sigevent`: value, signal, kind of notification, and room.
        let mut event = [0u32; 16];
        event[2] = tick_signal() as u32;
        event[3] = libc::SIGEV_SIGNAL as u32;
        let mut timer = 0i32;
        let clock = libc::CLOCK_MONOTONIC as usize;
        let arguments = [clock, event.as_ptr().addr(), (&raw mut timer).addr(), 0, 0, 0];
        // SAFETY: the kernel reads the event and writes the timer.
        unsafe { system::call(system::TIMER_CREATE, arguments) };
        TIMER.set(timer);
        LIMIT.set(limit);
        set_timer(timer, period(limit));
    }
}

/// Returns whether a run was ended because it made no progress.
pub(crate) fn is_hang(crash: &Crash) -> bool {
    crash.signal == tick_signal()
}

/// Returns a crash in words.
pub(crate) fn describe(crash: &Crash) -> String {
    let address = crash.address;
    match crash.signal {
        libc::SIGSEGV | libc::SIGBUS => {
            format!("the program crashes: it cannot access the address {address:#x}")
        }
        libc::SIGFPE => {
            "the program crashes: arithmetic error, such as a division by zero".to_owned()
        }
        libc::SIGILL => "the program crashes: illegal instruction".to_owned(),
        libc::SIGTRAP => "the program crashes: trap".to_owned(),
        libc::SIGABRT => "the program aborts".to_owned(),
        libc::SIGSYS => "the program crashes: bad system call".to_owned(),
        _ => "the program hangs: it loops or waits without a scheduling point".to_owned(),
    }
}

pub(crate) extern "C" fn on_crash(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes the information of the signal.
    let info = unsafe { &*info };
    // SAFETY: signals of this kind have an address.
    let address = unsafe { info.si_addr() }.addr();
    end(Crash { signal, address, place: instruction(context) });
}

/// Judges the run under way. A thread that waits for the kernel hangs by the clock, one that computes by the CPU time
/// that it takes: other processes may have the processor.
extern "C" fn on_tick(signal: i32, _info: *mut libc::siginfo_t, context: *mut c_void) {
    let state = state();
    let steps = state.steps.get();
    if LAST_STEPS.replace(steps) != steps || !state.is_running.get() {
        CPU_BEFORE.set(cpu_time());
        if RETRIES.replace(0) > 0 {
            set_timer(TIMER.get(), period(LIMIT.get()));
        }
        return IDLE_TICKS.set(0);
    }
    IDLE_TICKS.set(IDLE_TICKS.get().saturating_add(1));
    if IDLE_TICKS.get() < TICKS {
        return;
    }
    if let Some(name) = syscalls::under_way() {
        // What another thread or the outside would do is not known, so this is no failure.
        refuse(&format!(
            "the program waits in the system call `{name}`, for a terminal, a pipe, a socket or another process: raddle \
             does not model that; let it read files, or standard input by `--stdin FILE`"
        ));
    }
    let computed = cpu_time() - CPU_BEFORE.get();
    let is_asleep = IDLE_TICKS.get() > MAX_TICKS && computed < LIMIT.get() / 100;
    if computed < LIMIT.get() && !is_asleep {
        return;
    }
    if state.is_inside() && RETRIES.replace(RETRIES.get() + 1) < MAX_RETRIES {
        // The run cannot be ended while raddle's code works for it.
        return set_timer(TIMER.get(), RETRY);
    }
    end(Crash { signal, address: 0, place: instruction(context) });
}

/// Returns the CPU time of this process.
fn cpu_time() -> Duration {
    let mut time = [0u64; 2];
    let arguments = [libc::CLOCK_PROCESS_CPUTIME_ID as usize, (&raw mut time).addr(), 0, 0, 0, 0];
    // SAFETY: the kernel writes two words.
    unsafe { system::call(system::CLOCK_GETTIME, arguments) };
    Duration::new(time[0], time[1] as u32)
}

/// Returns the time between ticks.
fn period(limit: Duration) -> Duration {
    (limit / TICKS).max(Duration::from_millis(1))
}

/// Makes a timer tick with this period.
fn set_timer(timer: i32, period: Duration) {
    let (seconds, nanos) = (period.as_secs(), u64::from(period.subsec_nanos()));
    let times = [seconds, nanos, seconds, nanos];
    let arguments = [timer as usize, 0, times.as_ptr().addr(), 0, 0, 0];
    // SAFETY: the kernel reads the times.
    unsafe { system::call(system::TIMER_SETTIME, arguments) };
}

/// Returns the instruction that a signal interrupted.
fn instruction(context: *mut c_void) -> usize {
    let context = context.cast::<libc::ucontext_t>();
    // SAFETY: the kernel passes the registers.
    let context = unsafe { &*context };
    context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize
}

/// Ends the run.
fn end(crash: Crash) -> ! {
    let state = state();
    if !state.is_running.get() && !state.main_has_ended.get() {
        // The host itself.
        system::exit(crate::process::BROKEN);
    }
    if let Ok(mut outcome) = state.outcome.try_borrow_mut() {
        *outcome = Outcome::Crash(crash);
    }
    state.end_process(0)
}
