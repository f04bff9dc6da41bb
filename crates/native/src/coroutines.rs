//! Threads of the program as coroutines of one OS thread.
//!
//! A coroutine needs a stack and thread-local storage that libc knows. Both are borrowed from an OS thread that is
//! created for this purpose and then sleeps until the process ends. A switch exchanges the stack pointer, the registers
//! that a call preserves, and the base of thread-local storage (`FS`).

use std::arch::naked_asm;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::one_thread::OneThread;
use crate::real::real;
use crate::{dispatch, run, system};

/// The most threads that are alive at once.
pub(crate) const MAX_THREADS: usize = 1000;
/// The number of threads of a run from which on the OS threads of those that have ended are used again.
const MAX_UNSHARED: usize = 64;
const PAGE: usize = 4096;
/// Where libc keeps an OS thread's place in its list of threads: after the base of thread-local storage. The place changes
/// when others are created.
const LINKS: usize = 0x2c0;
const LINKS_BYTES: usize = 16;

/// A place to continue at: a stack pointer and the base of thread-local storage.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Context {
    pub(crate) stack: usize,
    pub(crate) local: usize,
}

impl Context {
    pub(crate) const NONE: Context = Context { stack: 0, local: 0 };
}

/// An OS thread whose stack and thread-local storage can be used.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Borrowed {
    pub(crate) context: Context,
    /// The `pthread_t` of the OS thread.
    pub(crate) handle: usize,
    /// Its number among the borrowed threads.
    pub(crate) slot: usize,
    /// The size of its stack, with its thread-local storage.
    pub(crate) bytes: usize,
    /// Whether an earlier thread of this run has used it.
    pub(crate) is_reused: bool,
}

/// The borrowed OS threads of this process.
#[derive(Default)]
struct Pool {
    threads: Vec<Borrowed>,
    /// The number of those that the host has made. A forked run may make more, which end with it.
    lasting: usize,
    used: usize,
    /// The stacks and thread-local storage of the threads from [`MAX_UNSHARED`] on, before this run used them.
    unused: Vec<Vec<u8>>,
    /// The slots whose threads have ended, so that they can be used again.
    free: Vec<usize>,
}

static POOL: OneThread<Cell<*mut RefCell<Pool>>> = OneThread::new(Cell::new(ptr::null_mut()));

/// The stack for a new OS thread.
#[derive(Copy, Clone)]
pub(crate) enum Stack {
    /// As libc allocates it by default.
    Default,
    /// A given one.
    At { begin: *mut u8, bytes: usize },
}

/// Lets the next run use all borrowed threads, and makes as many as there were never more threads than.
pub(crate) fn begin_run(wanted: usize) {
    {
        let mut pool = pool().borrow_mut();
        pool.used = 0;
        let lasting = pool.lasting;
        pool.threads.truncate(lasting);
        pool.unused.clear();
        pool.free.clear();
    }
    while pool().borrow().threads.len() < wanted.min(MAX_THREADS) {
        grow();
    }
    let mut pool = pool().borrow_mut();
    pool.lasting = pool.threads.len();
}

fn grow() {
    let thread = borrow(Stack::Default);
    let mut pool = pool().borrow_mut();
    let slot = pool.threads.len();
    pool.threads.push(Borrowed { slot, ..thread });
}

/// Returns a borrowed thread that this run has not used, or whose thread has ended.
pub(crate) fn take() -> Borrowed {
    let freed = pool().borrow_mut().free.pop();
    if let Some(slot) = freed {
        let pool = pool().borrow();
        let thread = pool.threads[slot];
        put_back(&thread, &pool.unused[slot - MAX_UNSHARED]);
        return Borrowed { is_reused: true, ..thread };
    }
    if pool().borrow().used == pool().borrow().threads.len() {
        grow();
    }
    let mut pool = pool().borrow_mut();
    pool.used += 1;
    let thread = pool.threads[pool.used - 1];
    if thread.slot >= MAX_UNSHARED {
        let (first, bytes) = extent(&thread);
        // SAFETY: the top of the stack of a thread that sleeps, and its thread-local storage.
        let copy = unsafe { std::slice::from_raw_parts(first, bytes) }.to_vec();
        pool.unused.push(copy);
    }
    thread
}

/// The thread on a borrowed one has ended and has been joined or detached. Another thread may use the borrowed one.
pub(crate) fn give_back(slot: usize) {
    if slot >= MAX_UNSHARED {
        pool().borrow_mut().free.push(slot);
    }
}

/// Returns the memory that a borrowed thread has written before it sleeps: from the top of its stack to the end of its
/// thread-local storage, which is at the end of the stack's mapping.
fn extent(thread: &Borrowed) -> (*mut u8, usize) {
    let stack = thread.context.stack;
    (ptr::with_exposed_provenance_mut(stack), thread.end() - stack)
}

impl Borrowed {
    /// Returns the end of the mapping with its stack and its thread-local storage.
    pub(crate) fn end(&self) -> usize {
        (self.context.local + 1).next_multiple_of(PAGE)
    }
}

/// Lets a borrowed thread be as before its use.
fn put_back(thread: &Borrowed, before: &[u8]) {
    let (first, bytes) = extent(thread);
    let links = thread.context.local - thread.context.stack + LINKS;
    for part in [0..links, links + LINKS_BYTES..bytes] {
        // SAFETY: inside the extent.
        let to = unsafe { first.add(part.start) };
        // SAFETY: the thread that used this memory has ended, and the copy has the same size.
        unsafe { ptr::copy_nonoverlapping(before[part.clone()].as_ptr(), to, part.len()) };
    }
}

/// Returns whether another thread needs an OS thread that this run has not used.
pub(crate) fn is_used_up() -> bool {
    let pool = pool().borrow();
    pool.free.is_empty() && pool.used == pool.threads.len()
}

/// Returns whether no more threads can be made.
pub(crate) fn is_full() -> bool {
    let pool = pool().borrow();
    pool.free.is_empty() && pool.used >= MAX_THREADS
}

/// Returns the number of borrowed threads that this run uses.
pub(crate) fn used() -> usize {
    pool().borrow().used
}

fn pool() -> &'static RefCell<Pool> {
    if POOL.get().is_null() {
        POOL.set(Box::into_raw(Box::default()));
    }
    // SAFETY: the pool is never dropped.
    unsafe { &*POOL.get() }
}

/// What an OS thread tells its creator before it sleeps.
#[repr(C)]
struct Note {
    stack: usize,
    local: usize,
    is_ready: AtomicU32,
}

/// Makes an OS thread, and returns when it sleeps.
pub(crate) fn borrow(stack: Stack) -> Borrowed {
    let note = Note { stack: 0, local: 0, is_ready: AtomicU32::new(0) };
    let mut handle: libc::pthread_t = 0;
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: the attributes are written only.
    unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) };
    if let Stack::At { begin, bytes } = stack {
        // SAFETY: the attributes are initialised, and the stack is the caller's.
        unsafe { libc::pthread_attr_setstack(attributes.as_mut_ptr(), begin.cast(), bytes) };
    }
    let mut bytes = 0;
    // SAFETY: the attributes are initialised.
    unsafe { libc::pthread_attr_getstacksize(attributes.as_ptr(), &mut bytes) };
    // The thread never handles a signal.
    let (all, mut before) = (u64::MAX, 0u64);
    mask_signals(libc::SIG_SETMASK, &all, &mut before);
    let error = dispatch::pause(|| {
        real!(pthread_create(
            &raw mut handle => *mut libc::pthread_t,
            attributes.as_ptr() => *const libc::pthread_attr_t,
            sleep_and_serve => unsafe extern "C" fn(*mut c_void) -> *mut c_void,
            (&raw const note).cast_mut().cast() => *mut c_void,
        ) -> libc::c_int)
    });
    mask_signals(libc::SIG_SETMASK, &before, &mut 0);
    if error != 0 {
        run::refuse(&format!(
            "no thread can be created (error {error}): the machine allows too few threads or too little memory"
        ));
    }
    while note.is_ready.load(Ordering::Acquire) == 0 {
        let word = note.is_ready.as_ptr().addr();
        // SAFETY: waits on a word of this frame.
        unsafe { system::call(system::FUTEX, [word, libc::FUTEX_WAIT as usize, 0, 0, 0, 0]) };
    }
    // SAFETY: the other thread wrote before it said that it was ready.
    let stack = unsafe { (&raw const note.stack).read_volatile() };
    // SAFETY: as above.
    let local = unsafe { (&raw const note.local).read_volatile() };
    Borrowed {
        context: Context { stack, local },
        handle: handle as usize,
        slot: 0,
        bytes,
        is_reused: false,
    }
}

fn mask_signals(how: libc::c_int, new: &u64, old: &mut u64) {
    let arguments = [how as usize, ptr::from_ref(new).addr(), ptr::from_mut(old).addr(), 8, 0, 0];
    // SAFETY: the sets of signals have eight bytes.
    unsafe { system::call(system::RT_SIGPROCMASK, arguments) };
}

/// The body of a borrowed OS thread. What follows the call of `sleep` runs on its stack, but on the OS thread of the
/// check, when a thread of the program begins there.
unsafe extern "C" fn sleep_and_serve(note: *mut c_void) -> *mut c_void {
    let note = note.cast::<Note>();
    // SAFETY: the creator waits, so the note is alive.
    let local = unsafe { &raw mut (*note).local };
    // SAFETY: as above, and the creator does not read it before the thread is ready.
    unsafe { local.write(system::thread_pointer()) };
    // SAFETY: the note is alive until it says that the thread is ready.
    unsafe { sleep(note) };
    run::serve_thread()
}

/// Stores the stack pointer, tells the creator, and sleeps. Returns when the context is continued.
#[unsafe(naked)]
unsafe extern "C" fn sleep(note: *mut Note) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi + {stack}], rsp",
        "lea rdi, [rdi + {is_ready}]",
        "mov dword ptr [rdi], 1",
        // Wakes the creator. The note may be gone already: then no thread waits.
        "mov esi, {wake}",
        "mov edx, 1",
        "mov eax, {futex}",
        "syscall",
        // Sleeps forever, on a word that no thread wakes.
        "2:",
        "mov eax, {pause}",
        "syscall",
        "jmp 2b",
        stack = const std::mem::offset_of!(Note, stack),
        is_ready = const std::mem::offset_of!(Note, is_ready),
        wake = const libc::FUTEX_WAKE,
        futex = const system::FUTEX,
        pause = const libc::SYS_pause,
    )
}

/// Stores where to continue in `from`, and continues at `to`.
///
/// # Safety
/// `to` was stored by this function or by [`sleep`], or begins a new stack, and was not continued since.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn switch(from: *mut usize, stack: usize, local: usize) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "wrfsbase rdx",
        "mov rsp, rsi",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// Forks. Returns the number of the child, or a negative error number. The child continues at a stack; it does not touch
/// the caller's, which both processes share.
///
/// # Safety
/// As for [`switch`].
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn fork(stack: usize, local: usize) -> isize {
    naked_asm!(
        "mov eax, {fork}",
        "syscall",
        "test rax, rax",
        "jnz 2f",
        "wrfsbase rsi",
        "mov rsp, rdi",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "2:",
        "ret",
        fork = const system::FORK,
    )
}

/// Returns the stack pointer of a new stack on which [`switch`] begins with `entry`, which never returns.
///
/// # Safety
/// `begin` is a block of `bytes` bytes that nothing else uses.
pub(crate) unsafe fn new_stack(begin: *mut u8, bytes: usize, entry: extern "C" fn() -> !) -> usize {
    /// Registers to pop, the address to return to, and one word so that the stack is aligned as after a call.
    const WORDS: usize = 8;
    // SAFETY: inside the block.
    let top = unsafe { begin.add(bytes - 64) }.cast::<usize>();
    // SAFETY: as above.
    let first = unsafe { top.sub(WORDS) };
    let frame = [0, 0, 0, 0, 0, 0, entry as *const () as usize, 0];
    // SAFETY: as above; the block is aligned to pages.
    unsafe { first.cast::<[usize; WORDS]>().write(frame) };
    first.addr()
}
