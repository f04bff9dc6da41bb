//! Syscall User Dispatch: the kernel turns system calls of the program and its libraries into signals.
//!
//! Functions of libc that matter are interposed, but libc itself, and libraries that make system calls without it, wait
//! by futexes that raddle must see. Code of this library is exempt. The kernel looks at a byte that says whether
//! the program runs, so that nothing changes for the host. Linux has this since 5.11.

use std::arch::naked_asm;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::one_thread::OneThread;
use crate::run::is_controlled;
use crate::{crash, fences, names, syscalls, system};

const PR_SET_SYSCALL_USER_DISPATCH: usize = 59;
const ON: usize = 1;
/// The code of signals that stand for system calls.
const USER_DISPATCH: i32 = 2;
/// The bytes below the stack pointer that functions may use.
const RED_ZONE: i64 = 128;

/// What the kernel reads: zero if system calls are made, one if they become signals.
pub(crate) static SELECTOR: AtomicU8 = AtomicU8::new(0);

/// The code of this library, as first address and size.
static CODE: OneThread<Cell<(usize, usize)>> = OneThread::new(Cell::new((0, 0)));

/// Handles the signals. Called once, when the check begins.
pub(crate) fn set_up() {
    let here = set_up as *const () as usize;
    let own = names::modules().into_iter().find(|part| (part.first..part.end).contains(&here));
    if let Some(own) = own {
        CODE.set((own.first, own.end - own.first));
    }
    crash::handle(libc::SIGSYS, on_system_call);
    crash::handle(libc::SIGILL, on_trap);
}

/// An instruction that is none: one that was put in the place of a fence, or a crash.
extern "C" fn on_trap(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    let place = context.cast::<libc::ucontext_t>();
    // SAFETY: the kernel passes the registers, and takes them back when the handler returns.
    let registers = unsafe { &mut (*place).uc_mcontext.gregs };
    let instruction = registers[libc::REG_RIP as usize] as usize;
    if !fences::is_trap(instruction) {
        return crash::on_crash(signal, info, context);
    }
    registers[libc::REG_RIP as usize] += fences::BYTES;
    if is_controlled() {
        fences::hold(registers[libc::REG_RAX as usize]);
        registers[libc::REG_RAX as usize] = fences::PSEUDO_CALL as i64;
        continue_in_serve(registers);
    }
}

/// Continues in `serve`, on the stack of the thread: it may have to wait for its turn.
fn continue_in_serve(registers: &mut [i64; 23]) {
    let stack = registers[libc::REG_RSP as usize] - RED_ZONE - 8;
    let place = std::ptr::with_exposed_provenance_mut::<i64>(stack as usize);
    // SAFETY: the stack of the thread, below what it uses.
    unsafe { place.write(registers[libc::REG_RIP as usize]) };
    registers[libc::REG_RSP as usize] = stack;
    registers[libc::REG_RIP as usize] = serve as *const () as i64;
}

/// Returns whether an address is in the code of this library.
#[inline]
pub(crate) fn is_own(pc: usize) -> bool {
    let (first, size) = CODE.get();
    pc.wrapping_sub(first) < size
}

/// Lets the kernel turn system calls of this OS thread into signals. Returns whether it can. A fork ends that.
pub(crate) fn enable() -> bool {
    let (first, size) = CODE.get();
    let selector = SELECTOR.as_ptr().addr();
    let arguments = [PR_SET_SYSCALL_USER_DISPATCH, ON, first, size, selector, 0];
    // SAFETY: the selector lives as long as the process.
    size > 0 && unsafe { system::call(system::PRCTL, arguments) } == 0
}

/// Says whether the program runs.
#[inline]
pub(crate) fn set(program_runs: bool) {
    SELECTOR.store(u8::from(program_runs), Ordering::Relaxed);
}

/// Calls a function of libc whose system calls are raddle's own.
pub(crate) fn pause<R>(call: impl FnOnce() -> R) -> R {
    let before = SELECTOR.swap(0, Ordering::Relaxed);
    let result = call();
    SELECTOR.store(before, Ordering::Relaxed);
    result
}

/// A system call of the program.
extern "C" fn on_system_call(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes the information of the signal.
    let code = unsafe { (*info).si_code };
    if code != USER_DISPATCH {
        return crash::on_crash(signal, info, context);
    }
    let context = context.cast::<libc::ucontext_t>();
    // SAFETY: the kernel passes the registers, and takes them back when the handler returns.
    let registers = unsafe { &mut (*context).uc_mcontext.gregs };
    let number = registers[libc::REG_RAX as usize] as usize;
    if number == libc::SYS_rt_sigreturn as usize {
        // The end of a signal handler of the program: needs its stack.
        registers[libc::REG_RIP as usize] = system_call as *const () as i64;
        return;
    }
    if is_controlled() {
        continue_in_serve(registers);
        return;
    }
    let of = |register: i32| registers[register as usize] as usize;
    let arguments =
        [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8, libc::REG_R9]
            .map(of);
    // SAFETY: the program makes this call.
    let result = unsafe { system::call(number, arguments) };
    registers[libc::REG_RAX as usize] = result as i64;
}

/// Makes a system call with the registers as they are.
#[unsafe(naked)]
unsafe extern "C" fn system_call() {
    naked_asm!("syscall", "ret")
}

/// Makes a system call of a thread, and returns to the instruction after it. All registers are as after a real call.
#[unsafe(naked)]
unsafe extern "C" fn serve() {
    naked_asm!(
        "pushfq",
        "push rbp",
        "mov rbp, rsp",
        "push r9",
        "push r8",
        "push r10",
        "push rdx",
        "push rsi",
        "push rdi",
        "push rax",
        "mov rdi, rsp",
        "mov rsi, [rbp + 16]",
        // Room for the vector registers, with an empty header.
        "sub rsp, {room}",
        "and rsp, -64",
        "xor eax, eax",
        "mov [rsp + 512], rax",
        "mov [rsp + 520], rax",
        "mov [rsp + 528], rax",
        "mov [rsp + 536], rax",
        "mov [rsp + 544], rax",
        "mov [rsp + 552], rax",
        "mov [rsp + 560], rax",
        "mov [rsp + 568], rax",
        "mov eax, {vectors}",
        "xor edx, edx",
        "xsave64 [rsp]",
        "cld",
        "call {make}",
        "mov [rbp - 56], rax",
        "mov eax, {vectors}",
        "xor edx, edx",
        "xrstor64 [rsp]",
        "lea rsp, [rbp - 56]",
        "pop rax",
        "pop rdi",
        "pop rsi",
        "pop rdx",
        "pop r10",
        "pop r8",
        "pop r9",
        "pop rbp",
        "popfq",
        "ret 128",
        // x87, SSE, AVX and AVX-512, at their places in the standard format.
        vectors = const 0xe7,
        room = const 2752,
        make = sym make,
    )
}

/// Makes a system call: its number, and six arguments. `pc` is the address after the instruction.
unsafe extern "C" fn make(call: *const [usize; 7], pc: usize) -> isize {
    // SAFETY: `serve` has stored the registers.
    let [number, arguments @ ..] = unsafe { call.read() };
    syscalls::make(number, arguments, pc)
}
