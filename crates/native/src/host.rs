//! The host: takes over before main, makes the check, and writes its result.
//!
//! The host has a stack and thread-local storage of its own, so that no run touches what raddle uses between runs.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs;
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use raddle_core::MemoryModel;
use raddle_explore::{Budget, Elapsed, Leaks};
use raddle_results::Progress;

use crate::coroutines::{self, Context, Stack};
use crate::names;
use crate::one_thread::OneThread;
use crate::phases::{self, Checked};
use crate::plan::{Backend, Begin, Plan, VARIABLE};
use crate::process::{BROKEN, Halt, Process, Window};
use crate::real::real;
use crate::{arena, crash, dispatch, fences, first_thread, outside, posix, run, system};

type Main = unsafe extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

/// The most files that a result names.
const MAX_FILES: usize = 5;
const HOST_STACK_BYTES: usize = 16 << 20;
/// The host's thread-local storage is at the end of a stack of its own.
const HOST_LOCAL_BYTES: usize = 1 << 20;

static MAIN: OneThread<Cell<Option<Main>>> = OneThread::new(Cell::new(None));
/// The program, waiting for the host.
static BEFORE_RUN: OneThread<Cell<Context>> = OneThread::new(Cell::new(Context::NONE));
static PLAN: OneThread<Cell<*const Plan>> = OneThread::new(Cell::new(ptr::null()));

/// Stands in for the function that calls main, and passes another main to it.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __libc_start_main(
    main: Main,
    count: c_int,
    arguments: *mut *mut c_char,
    init: *mut c_void,
    fini: *mut c_void,
    linker_fini: *mut c_void,
    stack_end: *mut c_void,
) -> c_int {
    MAIN.set(Some(main));
    // SAFETY: the environment follows the arguments and a null pointer.
    let environment = unsafe { arguments.add(count as usize + 1) };
    if plan_in(environment).is_some() {
        fix_addresses(arguments, environment);
    }
    real!(__libc_start_main(
        start => Main,
        count => c_int,
        arguments => *mut *mut c_char,
        init => *mut c_void,
        fini => *mut c_void,
        linker_fini => *mut c_void,
        stack_end => *mut c_void,
    ) -> c_int)
}

/// Returns the plan in the environment.
fn plan_in(environment: *mut *mut c_char) -> Option<&'static str> {
    let mut entry = environment;
    loop {
        // SAFETY: the environment ends with a null pointer, and the loop with it.
        let text = unsafe { entry.read() };
        if text.is_null() {
            return None;
        }
        // SAFETY: entries of the environment are C strings, which nothing changes before main.
        let text = unsafe { CStr::from_ptr(text) };
        let plan = text.to_str().ok().and_then(|text| text.strip_prefix(VARIABLE));
        if let Some(plan) = plan.and_then(|plan| plan.strip_prefix('=')) {
            return Some(plan);
        }
        // SAFETY: this was not the last entry.
        entry = unsafe { entry.add(1) };
    }
}

/// Starts the program again with the same addresses in every process, where the kernel allows that.
fn fix_addresses(arguments: *mut *mut c_char, environment: *mut *mut c_char) {
    const QUERY: usize = 0xffff_ffff;
    let fixed = libc::ADDR_NO_RANDOMIZE as isize;
    // SAFETY: only asks.
    let before = unsafe { system::call(system::PERSONALITY, [QUERY, 0, 0, 0, 0, 0]) };
    if before < 0 || before & fixed != 0 {
        return;
    }
    let wanted = [(before | fixed) as usize, 0, 0, 0, 0, 0];
    // SAFETY: has an effect on later programs only.
    if unsafe { system::call(system::PERSONALITY, wanted) } < 0 {
        return;
    }
    let path = c"/proc/self/exe".as_ptr().addr();
    let call = [path, arguments.addr(), environment.addr(), 0, 0, 0];
    // SAFETY: a path, and the arguments and the environment of this process. Returns if it fails.
    unsafe { system::call(system::EXECVE, call) };
}

/// Runs in place of main, after all constructors.
unsafe extern "C" fn start(
    count: c_int,
    arguments: *mut *mut c_char,
    environment: *mut *mut c_char,
) -> c_int {
    let main = MAIN.get().expect("raddle invariant broken: no main");
    if let Some(plan) = plan_in(environment) {
        // Owns memory, which must be freed before runs pass through this frame.
        let host = set_up(plan);
        // Nothing of main's is above its arguments.
        run::state().frames.set_up(arguments.addr());
        match begin_of_runs() {
            Begin::Main => begin(host),
            Begin::FirstThread => first_thread::await_thread(host),
        }
    }
    // SAFETY: as libc calls it.
    let code = unsafe { main(count, arguments, environment) };
    if run::is_controlled() {
        run::state().finish_main();
    }
    code
}

/// Begins the check. Returns once for each run.
pub(crate) fn begin(host: Context) {
    let mut before = Context { stack: 0, local: system::thread_pointer() };
    let stack = &raw mut before.stack;
    BEFORE_RUN.set(Context { stack: stack.expose_provenance(), ..before });
    // SAFETY: the host begins on a new stack. It continues here for each run.
    unsafe { coroutines::switch(stack, host.stack, host.local) };
    if run::state().ends_with_process.get() {
        // SAFETY: the plan is never dropped.
        let limit = unsafe { &*PLAN.get() }.watchdog;
        crash::Watchdog { limit }.begin_child();
        dispatch::enable();
        dispatch::set(true);
    }
}

fn begin_of_runs() -> Begin {
    // SAFETY: the plan is never dropped.
    unsafe { &*PLAN.get() }.begin
}

/// The program has ended before the check began.
pub(crate) fn end_without_check(code: i32) {
    // SAFETY: the plan is never dropped.
    let plan = unsafe { &*PLAN.get() };
    system::write(plan.output, format!("alone {code}\nend\n").as_bytes());
}

/// Prepares the check. Returns where the host begins.
#[inline(never)]
fn set_up(text: &str) -> Context {
    let mut plan = match Plan::parse(text) {
        Ok(plan) => plan,
        Err(line) => {
            system::write(2, format!("raddle: the plan has the line `{line}`\n").as_bytes());
            system::exit(BROKEN);
        }
    };
    plan.output = high_copy(plan.output).unwrap_or(plan.output);
    let output = plan.output;
    std::panic::set_hook(Box::new(move |panic| {
        system::write(output, format!("broken {}\n", one_line(&panic.to_string())).as_bytes());
    }));
    let kill = libc::SIGKILL as usize;
    // SAFETY: asks for a signal when the command ends.
    unsafe { system::call(system::PRCTL, [libc::PR_SET_PDEATHSIG as usize, kill, 0, 0, 0, 0]) };
    outside::adopt();
    // SAFETY: only asks.
    let parent = unsafe { system::call(libc::SYS_getppid as usize, [0; 6]) };
    if plan.parent != 0 && plan.parent != parent {
        // It has ended already.
        system::exit(BROKEN);
    }
    for name in [c"LD_PRELOAD", c"LD_BIND_NOW", c"RADDLE_NATIVE_PLAN"] {
        // SAFETY: no other thread of the program exists.
        unsafe { libc::unsetenv(name.as_ptr()) };
    }
    // One heap for all threads, which grows by its end only.
    for (option, value) in
        [(libc::M_ARENA_MAX, 1), (libc::M_MMAP_MAX, 0), (libc::M_TRIM_THRESHOLD, c_int::MAX)]
    {
        // SAFETY: no other thread of the program exists.
        unsafe { libc::mallopt(option, value) };
    }
    run::set_up();
    run::state().image.set(names::image());
    let state = run::state();
    state.heap.borrow_mut().set_up();
    state.finds_leaks.set(plan.settings.warnings.leaks == Leaks::Fail);
    state.memory.set(plan.settings.memory);
    state.seed.set(plan.settings.seed);
    state.is_debugged.set(plan.is_debugged);
    let word = plan.settings.strategy.word();
    state.plans_by_values.set(["mcr", "pcr"].iter().any(|name| word.starts_with(name)));
    posix::thread::set_up();
    if plan.settings.memory == MemoryModel::Rc11 {
        fences::replace();
    }
    crash::set_up();
    dispatch::set_up();
    PLAN.set(Box::into_raw(Box::new(plan)));
    let block = arena::pages(HOST_LOCAL_BYTES);
    let local = coroutines::borrow(Stack::At { begin: block, bytes: HOST_LOCAL_BYTES });
    // Memory that is not put back with the program's, and that forked runs share: choosers may live on this stack.
    let begin = arena::pages(HOST_STACK_BYTES);
    // SAFETY: the block is new.
    let stack = unsafe { coroutines::new_stack(begin, HOST_STACK_BYTES, host) };
    Context { stack, local: local.context.local }
}

/// The check. Everything that raddle does between runs happens here.
extern "C" fn host() -> ! {
    // SAFETY: the plan is never dropped.
    let plan = unsafe { &*PLAN.get() };
    let before = BEFORE_RUN.get();
    let place = ptr::with_exposed_provenance::<usize>(before.stack);
    // SAFETY: the frame of `start` holds the stack pointer, and waits.
    let main = Context { stack: unsafe { place.read() }, local: before.local };
    let mut process = Process {
        main,
        watchdog: crash::Watchdog { limit: plan.watchdog },
        capture: capture(),
        backend: plan.backend,
        fresh: plan.fresh.as_deref(),
        expected: plan.expected.as_deref(),
        snapshot: None,
        halt: None,
        window: Window { chosen: plan.settings.max_steps, led: plan.tail, ..Window::default() },
    };
    if plan.backend == Backend::Snapshot {
        process.watchdog.begin();
        dispatch::enable();
    }
    let clock = Clock { start: system::now(), limit: plan.time, told: AtomicU64::new(0), plan };
    let result = loop {
        process.halt = None;
        let result = phases::explore(&mut process, plan, &clock);
        match &process.halt {
            Some(Halt::Again) if process.backend == plan.backend => {}
            Some(Halt::Again) => {
                // The host's stack is not one that a forked run can begin on: the command starts the program again.
                system::write(plan.output, b"again fork\nend\n");
                system::exit(0);
            }
            Some(Halt::Refused(why)) => break Err(why.clone()),
            None => break result,
        }
    };
    if !plan.is_debugged {
        write_result(plan.output, &process, result);
    }
    system::exit(0)
}

/// Sends standard output and standard error to a file in memory. Returns its descriptor.
fn capture() -> Option<usize> {
    let name = c"raddle-output".as_ptr().addr();
    // SAFETY: the name is a C string.
    let file = unsafe { system::call(system::MEMFD_CREATE, [name, 0, 0, 0, 0, 0]) };
    let file = usize::try_from(file).ok()?;
    let high = high_copy(file);
    for standard in [1, 2] {
        // SAFETY: both are open.
        unsafe { system::call(system::DUP2, [file, standard, 0, 0, 0, 0]) };
    }
    // SAFETY: the file is raddle's own.
    unsafe { system::call(libc::SYS_close as usize, [file, 0, 0, 0, 0, 0]) };
    high
}

/// Returns a copy of a file descriptor with a high number: the program's own files get the lowest numbers, as they do
/// without raddle.
fn high_copy(file: usize) -> Option<usize> {
    const LOWEST: usize = 500;
    let arguments = [file, libc::F_DUPFD_CLOEXEC as usize, LOWEST, 0, 0, 0];
    // SAFETY: makes a new descriptor.
    let copy = unsafe { system::call(system::FCNTL, arguments) };
    usize::try_from(copy).ok()
}

/// Writes the result: lines, and after some of them as many bytes as they say.
fn write_result(output: usize, process: &Process, result: Result<Checked, String>) {
    let mut bytes = Vec::new();
    for module in names::modules() {
        let names::Module { first, end, offset, path, is_code: _ } = module;
        bytes.extend(format!("module {first:x} {end:x} {offset:x} {path}\n").into_bytes());
    }
    for (site, stack) in run::state().stacks.all() {
        let addresses: Vec<String> = stack.iter().map(|address| format!("{address:x}")).collect();
        bytes.extend(format!("stack {site:x} {}\n", addresses.join(" ")).into_bytes());
    }
    match result {
        Err(refusal) => {
            bytes.extend(format!("refused {}\n", one_line(&refusal)).into_bytes());
        }
        Ok(Checked { mut report, points, harmless }) => {
            let (image, _) = run::state().image.get();
            for point in points {
                let place = point as isize - image as isize;
                bytes.extend(format!("point {place} {point:#x}\n").into_bytes());
            }
            for note in notes() {
                bytes.extend(format!("note {}\n", one_line(&note)).into_bytes());
            }
            if run::state().reads_input.get() {
                bytes.extend(b"input\n");
            }
            let Window { all_steps, chosen_steps, ended, .. } = process.window;
            bytes.extend(format!("window {ended} {chosen_steps} {all_steps}\n").into_bytes());
            if let Some(executions) = harmless {
                bytes.extend(format!("harmless {executions}\n").into_bytes());
            }
            names::name_objects(&mut report);
            let document = raddle_report::document(&report).to_string();
            bytes.extend(format!("report {}\n{document}\n", document.len()).into_bytes());
            if report.failure().is_some() {
                let written = process.capture.map(read_all).unwrap_or_default();
                bytes.extend(format!("output {}\n", written.len()).into_bytes());
                bytes.extend(written);
            }
        }
    }
    bytes.extend(b"end\n");
    system::write(output, &bytes);
}

/// Returns what a user has to know of the check.
fn notes() -> Vec<String> {
    let state = run::state();
    let mut notes = Vec::new();
    let files: Vec<_> = state.changed_files.borrow().iter().cloned().collect();
    if !files.is_empty() {
        let some = files[..files.len().min(MAX_FILES)].join(", ");
        let more = if files.len() > MAX_FILES { " and others" } else { "" };
        notes.push(format!("executions change files, which is not undone: {some}{more}"));
    }
    if let Some(library) = &*state.foreign.borrow() {
        notes.push(format!(
            "{library} waits by futexes and is not instrumented, so data races were not looked for"
        ));
    }
    notes
}

fn one_line(text: &str) -> String {
    text.replace('\n', " ")
}

/// Returns what a file contains.
pub(crate) fn read_all(file: usize) -> Vec<u8> {
    fs::read(format!("/proc/self/fd/{file}")).unwrap_or_default()
}

/// The time that the check may take.
struct Clock {
    start: u64,
    limit: Option<Duration>,
    /// When the progress was last told.
    told: AtomicU64,
    plan: &'static Plan,
}

/// The least time that the first run may take. Without it nothing is known of a program.
const FIRST_LIMIT: Duration = Duration::from_secs(20);
/// The time between two lines of progress.
const PROGRESS_NANOS: u64 = 300_000_000;

impl Budget for Clock {
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(system::now() - self.start)
    }

    fn limit(&self) -> Option<Duration> {
        self.limit
    }

    fn first_limit(&self) -> Option<Duration> {
        self.limit.map(|limit| limit.max(FIRST_LIMIT))
    }

    fn clock(&self) -> Option<Elapsed> {
        let start = self.start;
        Some(Rc::new(move || Duration::from_nanos(system::now() - start)))
    }

    fn on_progress(&self, progress: &Progress) {
        let now = system::now();
        if !self.plan.tells_progress
            || now < self.told.load(Ordering::Relaxed).max(self.start) + PROGRESS_NANOS
        {
            return;
        }
        self.told.store(now, Ordering::Relaxed);
        let line = raddle_report::progress(&self.plan.settings.name, progress, self.elapsed());
        system::write(self.plan.output, format!("progress {}\n", one_line(&line)).as_bytes());
    }
}
