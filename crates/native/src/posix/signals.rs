//! Signals that the threads of a program send to themselves and to threads that wait for them.
//!
//! A thread that raises a signal calls its handler at once. A signal to another thread is modelled if that thread has
//! blocked it since its birth (main: since it created the first thread) and asks for it, by `sigwait` or `sigsuspend`:
//! the signals sent to a thread are one variable of the engine, and the thread waits for a change of it as for a futex.
//! Any other signal to a thread would interrupt it anywhere in its code, and is refused by name. A signal to the process
//! is one to main, if all other threads block it.
//!
//! Each thread has its own mask here. The mask of the kernel never changes, because the threads share one OS thread, and
//! because raddle turns system calls into a signal, which must not be blocked.

use std::ffi::{c_int, c_void};
use std::ptr;

use raddle_core::{AtomicOp, Effect, ObjectId, Order, Rmw, Scalar, Site, ThreadId};
use raddle_engine::Initial;

use super::thread::by_handle;
use super::{object, time};
use crate::hooks::with_caller;
use crate::real::real;
use crate::run::{State, is_controlled, refuse, site, state};
use crate::syscalls::PROCESS;
use crate::variables::Use;
use crate::{dispatch, futex, system};

/// What a thread does with signals.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Signals {
    /// The signals that the thread blocks now.
    mask: u64,
    /// Those that it has blocked since others could send it signals.
    inherited: u64,
    /// Those that it has raised while it blocked them.
    raised: u64,
    /// Those that were sent to it and wait, and [`OPEN`].
    sent: u64,
}

/// Says that a thread has unblocked signals that others may send. The bit of a signal that is glibc's own.
const OPEN: u64 = bit(32);
/// Says the same of a thread other than main, in the variable of main. Also the bit of a signal of glibc's.
const OTHER_OPEN: u64 = bit(33);
const NOT_SIGNALS: u64 = OPEN | OTHER_OPEN;
const LAST_SIGNAL: i32 = 64;
/// Signals that are ignored unless the program says otherwise, and those that stop the process.
const IGNORED: [i32; 4] = [libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH];
const STOPS: [i32; 4] = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

impl Signals {
    pub(crate) const NONE: Signals = Signals { mask: 0, inherited: 0, raised: 0, sent: 0 };

    /// The signals of a new thread.
    pub(crate) fn of_child(self) -> Signals {
        Signals { mask: self.mask, inherited: self.mask, ..Signals::NONE }
    }

    /// The signals of main, which is about to create the first thread.
    pub(crate) fn of_creator(self) -> Signals {
        Signals { inherited: self.mask, ..self }
    }
}

impl State {
    fn signals(&self, of: ThreadId) -> Signals {
        self.threads.borrow()[of.index()].signals
    }

    fn change_signals(&self, of: ThreadId, change: impl FnOnce(&mut Signals)) {
        change(&mut self.threads.borrow_mut()[of.index()].signals);
    }
}

/// Returns the variable that holds the signals that were sent to a thread.
fn variable(of: ThreadId, site: Site) -> ObjectId {
    // No object of the program is at so low an address.
    let key = of.index() + 1;
    state().object(key, Use::Signals, || Initial::Atomic(Scalar::U64, 0), site)
}

/// Changes the signals that were sent to a thread. Returns what they were.
fn update(of: ThreadId, function: Rmw, operand: u64, site: Site) -> u64 {
    let state = state();
    let op = AtomicOp::Update { order: Order::AcqRel, scalar: Scalar::U64, function, operand };
    let load = || state.signals(of).sent;
    let store = |new| state.change_signals(of, |signals| signals.sent = new);
    match state.act_on_memory(variable(of, site), op, site, load, store) {
        Effect::Value(old) => old,
        effect => unreachable!("raddle invariant broken: an update of signals has {effect:?}"),
    }
}

/// Makes `kill`. Returns zero or a negative error number.
pub(crate) fn send_to_process(process: usize, signal: usize, pc: usize) -> isize {
    let (process, signal) = (process as i32, signal as i32);
    if process as isize != PROCESS {
        refuse(
            "the program sends a signal to another process by `kill`, which raddle does not model",
        );
    }
    if !(0..=LAST_SIGNAL).contains(&signal) {
        return -(libc::EINVAL as isize);
    }
    let state = state();
    let (me, action) = (state.me(), if signal == 0 { Action::Ignore } else { action(signal) });
    let is_blocked = signal != 0 && state.signals(me).mask & bit(signal) != 0;
    match action {
        Action::Ignore => 0,
        Action::Default if !is_blocked => deliver(signal, pc),
        // The kernel prefers main.
        Action::Handle(_) if !is_blocked && me == ThreadId::MAIN => deliver(signal, pc),
        Action::Default | Action::Handle(_) => {
            let others = state.threads.borrow().len();
            let mut others = (1..others).map(|index| ThreadId(index as u32));
            if others.any(|other| state.signals(other).inherited & bit(signal) == 0) {
                refuse_signal(signal, "kill");
            }
            send(ThreadId::MAIN, signal, "kill", NOT_SIGNALS, pc)
        }
    }
}

/// Makes `tgkill` and `tkill`. Returns zero or a negative error number.
pub(crate) fn send_to_thread(thread: usize, signal: usize, pc: usize) -> isize {
    let index = (thread as isize).wrapping_sub(PROCESS);
    let count = state().threads.borrow().len() as isize;
    if !(0..count).contains(&index) {
        refuse(
            "the program sends a signal to a thread of another process by `tgkill`, which raddle does not model",
        );
    }
    send(ThreadId(index as u32), signal as i32, "tgkill", OPEN, pc)
}

fn refuse_signal(signal: i32, function: &str) -> ! {
    refuse(&format!(
        "the program sends {} by `{function}` to a thread that may not have blocked it from its beginning, which raddle \
         does not model",
        name(signal)
    ))
}

/// Sends a signal to a thread, in whose variable none of these bits is set. Returns zero or a negative error number.
fn send(to: ThreadId, signal: i32, function: &str, none_of: u64, pc: usize) -> isize {
    if !(0..=LAST_SIGNAL).contains(&signal) {
        return -(libc::EINVAL as isize);
    }
    let (state, site) = (state(), site(pc));
    if signal == 0 {
        return 0;
    }
    if to == state.me() {
        return raise_here(signal, pc);
    }
    let is_blocked = state.signals(to).inherited & bit(signal) != 0;
    if !is_blocked || update(to, Rmw::Or, bit(signal), site) & none_of != 0 {
        refuse_signal(signal, function);
    }
    futex::wake_object(variable(to, site), site);
    0
}

/// The calling thread sends itself a signal.
fn raise_here(signal: i32, pc: usize) -> isize {
    let state = state();
    let me = state.me();
    if state.signals(me).mask & bit(signal) == 0 {
        return deliver(signal, pc);
    }
    state.change_signals(me, |signals| signals.raised |= bit(signal));
    update(me, Rmw::Or, bit(signal), site(pc));
    0
}

/// What becomes of a signal.
#[derive(Copy, Clone)]
enum Action {
    Ignore,
    Default,
    Handle(Handler),
}

/// A handler of the program, as the kernel knows it.
#[derive(Copy, Clone)]
#[repr(C)]
struct Handler {
    function: usize,
    flags: u64,
    restorer: usize,
    mask: u64,
}

/// Asks the kernel what becomes of a signal.
fn action(signal: i32) -> Action {
    let mut known = Handler { function: 0, flags: 0, restorer: 0, mask: 0 };
    let arguments = [signal as usize, 0, (&raw mut known).addr(), size_of::<u64>(), 0, 0];
    // SAFETY: the kernel writes the action.
    unsafe { system::call(libc::SYS_rt_sigaction as usize, arguments) };
    match known.function {
        libc::SIG_IGN => Action::Ignore,
        libc::SIG_DFL if IGNORED.contains(&signal) => Action::Ignore,
        libc::SIG_DFL => Action::Default,
        // raddle's own, for crashes.
        function if dispatch::is_own(function) => Action::Default,
        _ => Action::Handle(known),
    }
}

/// A signal arrives at the calling thread.
fn deliver(signal: i32, pc: usize) -> isize {
    match action(signal) {
        Action::Ignore => 0,
        Action::Default if STOPS.contains(&signal) => refuse(&format!(
            "the program stops itself by {}, which raddle does not model",
            name(signal)
        )),
        Action::Default => {
            object::fail(&format!("the program ends itself by {}", name(signal)), pc)
        }
        Action::Handle(handler) => {
            call(signal, handler);
            0
        }
    }
}

/// Calls a handler, as the kernel does.
fn call(signal: i32, handler: Handler) {
    let state = state();
    let me = state.me();
    let before = state.signals(me).mask;
    let is_deferred = handler.flags as i32 & libc::SA_NODEFER == 0;
    let own = if is_deferred { bit(signal) } else { 0 };
    state.change_signals(me, |signals| signals.mask |= handler.mask | own);
    if handler.flags as i32 & libc::SA_RESETHAND != 0 {
        let default = Handler { function: libc::SIG_DFL, flags: 0, restorer: 0, mask: 0 };
        let arguments = [signal as usize, (&raw const default).addr(), 0, size_of::<u64>(), 0, 0];
        // SAFETY: the kernel reads the action. The run has a process of its own, because it has set a handler.
        unsafe { system::call(libc::SYS_rt_sigaction as usize, arguments) };
    }
    let mut information = information_on(signal);
    // SAFETY: all bytes zero are a context, of no use for the handler of a signal that it was sent.
    let mut context: libc::ucontext_t = unsafe { std::mem::zeroed() };
    type Function = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
    // SAFETY: the program has set this handler. One with a single argument ignores the others.
    let function = unsafe { std::mem::transmute::<usize, Function>(handler.function) };
    // SAFETY: as above.
    unsafe { function(signal, &mut information, (&raw mut context).cast()) };
    change_mask(before, 0);
}

/// Makes `rt_sigprocmask`. Returns zero or a negative error number.
pub(crate) fn mask(how: usize, new: usize, old: usize, pc: usize) -> isize {
    let state = state();
    let me = state.me();
    let before = state.signals(me).mask;
    if new != 0 {
        let set = read_set(new);
        let after = match how as i32 {
            libc::SIG_BLOCK => before | set,
            libc::SIG_UNBLOCK => before & !set,
            libc::SIG_SETMASK => set,
            _ => return -(libc::EINVAL as isize),
        };
        change_mask(after & !(bit(libc::SIGKILL) | bit(libc::SIGSTOP)), pc);
    }
    if old != 0 {
        // SAFETY: the program passed a place for a set of signals.
        unsafe { ptr::with_exposed_provenance_mut::<u64>(old).write_unaligned(before) };
    }
    0
}

/// Sets the mask of the calling thread. Signals that waited for this arrive.
fn change_mask(after: u64, pc: usize) {
    let state = state();
    let me = state.me();
    let Signals { mask, inherited, raised, .. } = state.signals(me);
    state.change_signals(me, |signals| signals.mask = after);
    let unblocked = mask & !after;
    // Others can send only what the thread has blocked from its birth.
    if unblocked & (inherited | raised) == 0 {
        return;
    }
    let open = if unblocked & inherited != 0 { OPEN } else { 0 };
    let waiting = update(me, Rmw::Or, open, site(pc)) & unblocked & !NOT_SIGNALS;
    if open != 0 && me != ThreadId::MAIN {
        update(ThreadId::MAIN, Rmw::Or, OTHER_OPEN, site(pc));
    }
    if waiting == 0 {
        return;
    }
    update(me, Rmw::And, !waiting, site(pc));
    for signal in (1..=LAST_SIGNAL).filter(|&signal| waiting & bit(signal) != 0) {
        deliver(signal, pc);
    }
}

/// Makes `rt_sigpending`.
pub(crate) fn pending(place: usize, pc: usize) -> isize {
    let waiting = update(state().me(), Rmw::Or, 0, site(pc)) & !NOT_SIGNALS;
    // SAFETY: the program passed a place for a set of signals.
    unsafe { ptr::with_exposed_provenance_mut::<u64>(place).write_unaligned(waiting) };
    0
}

/// Makes `rt_sigtimedwait`. Returns the signal, or a negative error number.
pub(crate) fn wait(set: usize, information: usize, limit: usize, pc: usize) -> isize {
    let limit = ptr::with_exposed_provenance(limit);
    let Some(signal) = take(read_set(set), limit, site(pc)) else {
        return -(libc::EAGAIN as isize);
    };
    let place = ptr::with_exposed_provenance_mut::<libc::siginfo_t>(information);
    if !place.is_null() {
        // SAFETY: the program passed a place for the information.
        unsafe { place.write(information_on(signal)) };
    }
    signal as isize
}

/// Makes `rt_sigsuspend` and `pause`: waits until a handler was called.
pub(crate) fn suspend(mask: u64, pc: usize) -> isize {
    let state = state();
    let me = state.me();
    loop {
        let signal = take(!mask, ptr::null(), site(pc));
        let Some(signal) = signal else { continue };
        let is_handled = matches!(action(signal), Action::Handle(_));
        let before = state.signals(me).mask;
        state.change_signals(me, |signals| signals.mask = mask);
        deliver(signal, pc);
        state.change_signals(me, |signals| signals.mask = before);
        if is_handled {
            return -(libc::EINTR as isize);
        }
    }
}

/// Makes `rt_sigsuspend` with a set of the program.
pub(crate) fn suspend_with(set: usize, pc: usize) -> isize {
    suspend(read_set(set), pc)
}

/// Makes `pause`.
pub(crate) fn pause(pc: usize) -> isize {
    let state = state();
    suspend(state.signals(state.me()).mask, pc)
}

fn read_set(set: usize) -> u64 {
    // SAFETY: the program passed a set of signals.
    unsafe { ptr::with_exposed_provenance::<u64>(set).read_unaligned() }
}

/// Takes one of these signals. Waits for it, if a limit is given for that time. Returns `None` if the time is up.
fn take(set: u64, limit: *const libc::timespec, site: Site) -> Option<i32> {
    let state = state();
    let me = state.me();
    loop {
        let seen = update(me, Rmw::Or, 0, site);
        let found = seen & set & !NOT_SIGNALS;
        if found != 0 {
            let signal = found.trailing_zeros() as i32 + 1;
            // Nothing but this thread takes its signals.
            update(me, Rmw::And, !bit(signal), site);
            return Some(signal);
        }
        let now = || state.signals(me).sent;
        let error = futex::wait_object(variable(me, site), seen, now, limit, site);
        if error == -(libc::ETIMEDOUT as isize) {
            return None;
        }
    }
}

fn information_on(signal: i32) -> libc::siginfo_t {
    // SAFETY: all bytes zero are an information without content.
    let mut information: libc::siginfo_t = unsafe { std::mem::zeroed() };
    information.si_signo = signal;
    information.si_code = libc::SI_TKILL;
    information
}

/// Returns the name of a signal.
fn name(signal: i32) -> String {
    const NAMES: [(i32, &str); 14] = [
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGUSR1, "SIGUSR1"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGUSR2, "SIGUSR2"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGALRM, "SIGALRM"),
        (libc::SIGTERM, "SIGTERM"),
    ];
    let known = NAMES.iter().find(|(number, _)| *number == signal);
    known.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}

extern "C" fn kill_by_handle(handle: libc::pthread_t, signal: c_int, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(pthread_kill(handle => libc::pthread_t, signal => c_int) -> c_int);
    }
    let state = state();
    let is_me = state.threads.borrow()[state.me().index()].handle == handle as usize;
    let to = if is_me { Some(state.me()) } else { by_handle(handle) };
    let Some(to) = to else { return libc::ESRCH };
    -send(to, signal, "pthread_kill", OPEN, pc) as c_int
}

extern "C" fn wait_in_libc(set: *const c_void, place: *mut c_int, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(sigwait(set => *const c_void, place => *mut c_int) -> c_int);
    }
    let signal = wait(set.addr(), 0, 0, pc);
    // SAFETY: the program passed a place for the signal.
    unsafe { place.write(signal as c_int) };
    0
}

extern "C" fn kill_process(process: c_int, signal: c_int, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(kill(process => c_int, signal => c_int) -> c_int);
    }
    with_errno(send_to_process(process as usize, signal as usize, pc))
}

extern "C" fn raise_in_libc(signal: c_int, pc: usize) -> c_int {
    if !is_controlled() {
        return real!(raise(signal => c_int) -> c_int);
    }
    with_errno(send(state().me(), signal, "raise", OPEN, pc))
}

/// Returns zero, or -1 and sets `errno`.
fn with_errno(result: isize) -> c_int {
    if result < 0 { time::fail(-result as c_int) } else { 0 }
}

with_caller! {
    kill, "rdx", kill_process;
    raise, "rsi", raise_in_libc;
    pthread_kill, "rdx", kill_by_handle;
    sigwait, "rdx", wait_in_libc;
}
