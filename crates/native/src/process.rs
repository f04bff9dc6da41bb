//! Runs of the program: each in a child of the host, or in its own process, whose memory is put back after each.
//!
//! A run continues main where the host left it, and works on the host's engine, which is in the arena. When the run has
//! ended, also by a crash, the trace is there.

use std::ffi::CStr;
use std::ptr::NonNull;

use raddle_core::{Choices, Ending, Panic, ThreadId};
use raddle_engine::{Engine, Frames, Memory, RunState, Substrate};

use crate::coroutines::{self, Context};
use crate::drive::{Drive, Driven};
use crate::panics::{self, Reported};
use crate::plan::Backend;
use crate::run::{Outcome, State, state};
use crate::snapshot::Snapshot;
use crate::{crash, dispatch, fresh, hooks, host, system};

/// The exit code of a process in which raddle itself failed.
pub(crate) const BROKEN: i32 = 97;

/// How the process of a run ended.
#[derive(Copy, Clone, Debug)]
enum End {
    Code(i32),
    Signal(i32),
}

/// The program of this process.
pub(crate) struct Process {
    /// Main, before its first instruction.
    pub(crate) main: Context,
    pub(crate) watchdog: crash::Watchdog,
    /// The file that standard output and standard error go to.
    pub(crate) capture: Option<usize>,
    pub(crate) backend: Backend,
    /// The folder that is emptied before each run.
    pub(crate) fresh: Option<&'static CStr>,
    /// What the program is to write.
    pub(crate) expected: Option<&'static [u8]>,
    /// The program before main, if its memory is put back after runs.
    pub(crate) snapshot: Option<Snapshot>,
    /// Why the check ends without a result. No run follows.
    pub(crate) halt: Option<Halt>,
    pub(crate) window: Window,
}

/// The steps of a run that are chosen. Those after them are made with few switches, so that tests with millions of steps
/// come to their end.
#[derive(Copy, Clone, Default, Debug)]
pub(crate) struct Window {
    /// The number of steps that are chosen: the step limit.
    pub(crate) chosen: usize,
    /// The most steps after them.
    pub(crate) led: Option<usize>,
    /// The steps of all runs so far, and those of them that were chosen.
    pub(crate) all_steps: u64,
    pub(crate) chosen_steps: u64,
    /// The number of runs that came to their end.
    pub(crate) ended: u64,
}

impl Window {
    /// Prepares for a run. Runs that are to be shorter than others are not led on.
    fn begin<M: Memory>(&self, engine: &mut Engine<M>) {
        let is_whole = engine.max_steps() == self.chosen;
        engine.set_tail_steps(self.led.filter(|_| is_whole));
    }

    /// Counts the steps of a run that has ended.
    fn count<M: Memory>(&mut self, engine: &Engine<M>) {
        let is_cut_off = matches!(
            engine.whole_trace().ending,
            Ending::StepLimit | Ending::TimeLimit | Ending::Abandoned | Ending::Diverged(_)
        );
        self.ended += u64::from(!is_cut_off);
        if engine.max_steps() == self.chosen {
            self.chosen_steps += engine.trace().events.len() as u64;
            self.all_steps += engine.whole_trace().events.len() as u64;
        }
    }
}

/// Why a check ends without a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Halt {
    /// The program did what raddle does not model.
    Refused(String),
    /// The check has to begin anew.
    Again,
}

impl Substrate for Process {
    type Program = ();

    fn execute<M: Memory>(&mut self, engine: &mut Engine<M>, choices: Choices<'_>, _program: &()) {
        let state = state();
        self.window.begin(engine);
        engine.begin(&choices);
        // Time that passes with every step is in no local state.
        if hooks::is_instrumented() && !state.clock.is_on() {
            engine.offer_frames(Frames::FromTheBeginning);
        }
        state.frames.turn(engine.takes_frames());
        if self.halt.is_some() {
            // The check is about to end, and its report is not used.
            let message = "the check was halted".to_owned();
            let thread = ThreadId::MAIN;
            return engine.fail(Panic { thread, message, place: None, backtrace: None });
        }
        state.begin(self.main);
        self.rewind_files();
        let mut driven = Driven { engine, choices };
        let drive: NonNull<dyn Drive + '_> = NonNull::from(&mut driven);
        // SAFETY: only the lifetime is changed. The engine is not used after the run.
        let drive =
            unsafe { std::mem::transmute::<NonNull<dyn Drive + '_>, NonNull<dyn Drive>>(drive) };
        state.engine.set(Some(drive));
        state.is_running.set(true);
        let end = match self.backend {
            Backend::Fork => self.run_in_child(state),
            Backend::Snapshot => self.run_here(state),
        };
        state.is_running.set(false);
        state.outside.end_children();
        state.engine.set(None);
        self.window.count(driven.engine);
        self.judge(state, driven.engine, end)
    }
}

impl Process {
    /// Makes one run in a child.
    fn run_in_child(&self, state: &State) -> End {
        state.ends_with_process.set(true);
        // SAFETY: main waits in a switch. The child has copies of all private memory, and shares the arena, which the
        // host does not use meanwhile.
        let child = unsafe { coroutines::fork(self.main.stack, self.main.local) };
        assert!(child > 0, "raddle: the program cannot be forked (error {})", -child);
        let mut status = 0i32;
        loop {
            let arguments = [child as usize, (&raw mut status).addr(), 0, 0, 0, 0];
            // SAFETY: the kernel writes the status.
            let result = unsafe { system::call(system::WAIT4, arguments) };
            if result != system::INTERRUPTED {
                break;
            }
        }
        match libc::WEXITSTATUS(status) {
            _ if libc::WIFSIGNALED(status) => End::Signal(libc::WTERMSIG(status)),
            // The child has told why.
            BROKEN => system::exit(BROKEN),
            code => End::Code(code),
        }
    }

    /// Makes one run in this process.
    fn run_here(&mut self, state: &State) -> End {
        state.ends_with_process.set(false);
        let snapshot = self.snapshot.get_or_insert_with(Snapshot::take);
        let host = Context { stack: 0, local: system::thread_pointer() };
        let place = state.host.as_ptr();
        // SAFETY: the state outlives the run, and only the end of the run reads the place.
        unsafe { place.write(host) };
        // SAFETY: as above.
        let place = unsafe { &raw mut (*place).stack };
        dispatch::set(true);
        // SAFETY: main waits in a switch. The run ends with a switch back.
        unsafe { coroutines::switch(place, self.main.stack, self.main.local) };
        snapshot.restore();
        if snapshot.has_other_files() && *state.outcome.borrow() == Outcome::Fine {
            *state.outcome.borrow_mut() = Outcome::NeedsFork;
        }
        End::Code(state.code.get())
    }

    /// Completes the trace of a run that did not end by itself.
    fn judge<M: Memory>(&mut self, state: &State, engine: &mut Engine<M>, end: End) {
        let outcome = state.outcome.borrow().clone();
        let (message, place, backtrace) = match (&outcome, end) {
            (Outcome::Refused(what), _) => {
                self.halt = Some(Halt::Refused(what.clone()));
                (what.clone(), None, None)
            }
            (Outcome::NeedsFork, _) => {
                self.backend = Backend::Fork;
                self.halt = Some(Halt::Again);
                ("this run needs a process of its own".to_owned(), None, None)
            }
            (Outcome::NeedsLayout, _) => {
                self.halt = Some(Halt::Again);
                ("this run needs to know its variables".to_owned(), None, None)
            }
            (Outcome::NeedsThreads, _) => {
                self.snapshot = None;
                self.halt = Some(Halt::Again);
                ("this run needs more threads".to_owned(), None, None)
            }
            (Outcome::Crash(found), _) => {
                assert!(
                    !state.in_engine.get(),
                    "raddle invariant broken: {} at {:#x}",
                    crash::describe(found),
                    found.place
                );
                // A symbol is looked up for the instruction before a return address.
                let place = Some(format!("{:#x}", found.place + 1));
                let message = crash::describe(found);
                // A program that hangs is somewhere else each time.
                if crash::is_hang(found) { (message, None, place) } else { (message, place, None) }
            }
            (Outcome::Fine, End::Signal(signal)) => {
                (format!("the program was killed by signal {signal}"), None, None)
            }
            (Outcome::Fine, End::Code(code @ 1..)) => {
                // The code of a program in Rust whose main has panicked.
                let may_tell = state.harness.get().local != 0 || code == 101;
                match self.reported_panic().filter(|_| may_tell) {
                    Some(Reported { message, place }) => (message, place, None),
                    None => (format!("exit with code {code}"), None, None),
                }
            }
            (Outcome::Fine, End::Code(_)) => {
                assert!(
                    engine.state() == RunState::Ended,
                    "raddle invariant broken: a run ended unseen"
                );
                let leak = state.leak.borrow_mut().take();
                let Some(message) = leak.or_else(|| self.unexpected_output()) else { return };
                (message, None, None)
            }
        };
        let panic = Panic { thread: state.me(), message, place, backtrace };
        if engine.state() == RunState::Ended {
            engine.blame(panic);
        } else {
            engine.fail(panic);
        }
    }

    /// Returns the panic that made a test fail, if the test has written it.
    fn reported_panic(&self) -> Option<Reported> {
        panics::find(&String::from_utf8_lossy(&host::read_all(self.capture?)))
    }

    /// Returns how the output of a run differs from what is expected, in words.
    fn unexpected_output(&self) -> Option<String> {
        let expected = self.expected?;
        let written = self.capture.map(host::read_all).unwrap_or_default();
        let lines = |text: &[u8]| -> Vec<String> {
            let lines = text.split(|&byte| byte == b'\n');
            lines.map(|line| format!("`{}`", String::from_utf8_lossy(line))).collect()
        };
        if expected == written {
            return None;
        }
        let (wanted, found) = (lines(expected), lines(&written));
        let same = wanted.iter().zip(&found).take_while(|(wanted, found)| wanted == found).count();
        let line = |lines: &[String]| lines.get(same).map_or("missing".to_owned(), String::clone);
        let (wanted, found, number) = (line(&wanted), line(&found), same + 1);
        Some(format!(
            "the output is not the expected one: line {number} is {found}, expected: {wanted}"
        ))
    }

    /// Lets the next run read standard input from its beginning, and forgets what the last one has written.
    fn rewind_files(&self) {
        if let Some(folder) = self.fresh {
            fresh::empty(folder);
        }
        // SAFETY: fails if standard input cannot be rewound.
        unsafe { system::call(system::LSEEK, [0; 6]) };
        if let Some(capture) = self.capture {
            // SAFETY: the file is raddle's own.
            unsafe { system::call(system::FTRUNCATE, [capture, 0, 0, 0, 0, 0]) };
            // SAFETY: as above.
            unsafe { system::call(system::LSEEK, [capture, 0, 0, 0, 0, 0]) };
        }
    }
}
