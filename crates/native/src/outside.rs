//! Other processes, in tests of Rust's test harness: those that a test starts, and those that it connects to.
//!
//! They run without raddle, in real time. What they answer must not depend on when a thread looks for it, so a wait for a
//! descriptor gives them time for an answer before other threads run.

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int, c_void};

use crate::real::real;
use crate::run::{State, is_controlled, refuse, state};
use crate::system;

/// How long to wait for an answer of another process, in milliseconds.
pub(crate) const ANSWER_MILLIS: usize = 500;

/// What a run has to do with other processes.
#[derive(Default)]
pub(crate) struct Outside {
    children: RefCell<Vec<libc::pid_t>>,
    connects: Cell<bool>,
    listens: Cell<bool>,
}

impl Outside {
    /// Prepares for a run.
    pub(crate) fn begin(&self) {
        self.connects.set(false);
        self.listens.set(false);
    }

    /// Notes a system call of the program.
    pub(crate) fn note(&self, number: i64) {
        match number {
            libc::SYS_connect => self.connects.set(true),
            libc::SYS_listen => self.listens.set(true),
            _ => {}
        }
    }

    /// Returns whether another process may answer: one that was started, or a server. A test that listens connects to
    /// itself.
    pub(crate) fn answers(&self) -> bool {
        !self.children.borrow().is_empty() || self.connects.get() && !self.listens.get()
    }

    /// Ends the processes that a run has started and not waited for. They are children of the host, because it adopts what
    /// a forked run leaves.
    pub(crate) fn end_children(&self) {
        const NO_WAIT: usize = libc::WNOHANG as usize;
        for child in self.children.borrow_mut().drain(..) {
            let wait = |options: usize| {
                // SAFETY: asks for no status.
                unsafe { system::call(system::WAIT4, [child as usize, 0, options, 0, 0, 0]) }
            };
            if wait(NO_WAIT) == 0 {
                let kill = libc::SYS_kill as usize;
                // SAFETY: it is a child of this process that has not been waited for, so the id is still its own.
                unsafe { system::call(kill, [child as usize, libc::SIGKILL as usize, 0, 0, 0, 0]) };
                wait(0);
            }
        }
    }
}

/// Lets this process adopt what its children leave.
pub(crate) fn adopt() {
    let option = libc::PR_SET_CHILD_SUBREAPER as usize;
    // SAFETY: changes only who waits for orphans.
    unsafe { system::call(system::PRCTL, [option, 1, 0, 0, 0, 0]) };
}

impl State {
    /// Starts a process by a function of libc, which returns zero and stores the number of the process.
    fn start_process(&self, number: *mut libc::pid_t, start: impl FnOnce() -> c_int) -> c_int {
        if !self.clock.is_on() {
            refuse("the program starts a process by `posix_spawn`, which raddle does not model");
        }
        self.need_fork();
        let error = self.as_host(start);
        if error == 0 {
            // SAFETY: libc has stored the number there.
            let number = unsafe { number.read() };
            self.outside.children.borrow_mut().push(number);
        }
        error
    }
}

macro_rules! starts_process {
    ($($name:ident)*) => {$(
        /// Stands in for the function of this name.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name(
            number: *mut libc::pid_t,
            program: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            arguments: *const c_void,
            environment: *const c_void,
        ) -> c_int {
            let mut unasked = 0;
            let number = if number.is_null() { &raw mut unasked } else { number };
            let start = || {
                real!($name(
                    number => *mut libc::pid_t,
                    program => *const c_char,
                    actions => *const c_void,
                    attributes => *const c_void,
                    arguments => *const c_void,
                    environment => *const c_void,
                ) -> c_int)
            };
            if is_controlled() { state().start_process(number, start) } else { start() }
        }
    )*};
}
starts_process! { posix_spawn posix_spawnp }
