//! RADBench's bugs 1 to 6, of a JavaScript engine and of its portable runtime, as in SCTBench: contexts that are created
//! and destroyed while other threads access them, and the locks around that.

use std::sync::atomic::{AtomicBool as Quiet, Ordering::Relaxed};

use raddle::Granularity;
use raddle::cell::Shared;
use raddle::sync::{Arc, Condvar, Mutex, MutexGuard};

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all, start};

pub(super) const LAST_CONTEXT: Program = Program {
    name: "radbench-bug1",
    origin: Origin::SctBench,
    about: "the last context frees the atoms; a new context was created in between",
    failure: Failure::Assertion,
    class: Class::Lifetime,
    granularity: Granularity::Sync,
    space: Space::Acyclic,
    size: Size::FIXED,
    threads: |_| 3,
    body: |form, _| last_context(form),
};

pub(super) const COLLECTOR: Program = Program {
    name: "radbench-bug2",
    about: "a collector tests whether a context has a thread, then uses the thread",
    class: Class::Atomicity,
    granularity: Granularity::All,
    threads: |_| 2,
    body: |form, _| collector(form),
    ..LAST_CONTEXT
};

pub(super) const LATE_COLLECTOR: Program = Program {
    name: "radbench-bug3",
    about: "a collector runs while the last context destroys the atoms",
    body: |form, _| late_collector(form),
    ..LAST_CONTEXT
};

pub(super) const MONITORS: Program = Program {
    name: "radbench-bug4",
    about: "two threads create a monitor on first use, so there are two",
    class: Class::Atomicity,
    granularity: Granularity::All,
    body: |form, _| monitors(form),
    ..LAST_CONTEXT
};

pub(super) const INTERRUPT: Program = Program {
    name: "radbench-bug5",
    about: "an interrupt comes between the test for it and the wait",
    failure: Failure::Deadlock,
    class: Class::Wakeup,
    threads: |_| 2,
    body: |form, _| interrupt(form),
    ..LAST_CONTEXT
};

pub(super) const READ_TWICE: Program = Program {
    name: "radbench-bug6",
    about: "a reader acquires a lock that prefers writers twice; a writer waits in between",
    failure: Failure::Deadlock,
    class: Class::Locking,
    body: |form, _| read_twice(form),
    ..LAST_CONTEXT
};

/// Atoms exist as long as there is a context.
struct Runtime {
    form: Form,
    contexts: Mutex<u32>,
    /// Whether the atoms exist. Accessed only while a context exists.
    atoms: Quiet,
    atoms_lock: Mutex<()>,
}

impl Runtime {
    fn new(form: Form, contexts: u32) -> Arc<Runtime> {
        let (atoms, atoms_lock) = (Quiet::new(contexts > 0), Mutex::new(()));
        Arc::new(Runtime { form, contexts: Mutex::new(contexts), atoms, atoms_lock })
    }

    fn create(&self) {
        let mut contexts = self.contexts.lock().unwrap();
        *contexts += 1;
        if *contexts == 1 {
            self.atoms.store(true, Relaxed);
        }
    }

    fn use_atoms(&self) {
        let _guard = self.atoms_lock.lock().unwrap();
        assert!(self.atoms.load(Relaxed), "use of freed atoms");
    }

    fn destroy(&self) {
        let mut contexts = self.contexts.lock().unwrap();
        *contexts -= 1;
        if *contexts == 0 {
            // Fixed: a thread that creates a context must wait.
            let kept = match self.form {
                Form::Bugged => {
                    drop(contexts);
                    None
                }
                Form::Fixed => Some(contexts),
            };
            let atoms = self.atoms_lock.lock().unwrap();
            self.atoms.store(false, Relaxed);
            drop(atoms);
            drop(kept);
        }
    }
}

fn last_context(form: Form) {
    fn live(runtime: &Runtime) {
        runtime.create();
        runtime.use_atoms();
        runtime.destroy();
    }
    join_all(start(&Runtime::new(form, 0), &[live, live]));
}

fn collector(form: Form) {
    const CONTEXTS: usize = 3;
    struct Contexts {
        form: Form,
        lock: Mutex<()>,
        /// The thread in each context.
        threads: [Shared<Option<u32>>; CONTEXTS],
    }
    let contexts = Arc::new(Contexts {
        form,
        lock: Mutex::new(()),
        threads: [const { Shared::new(None) }; CONTEXTS],
    });
    let worker = start(
        &contexts,
        &[|contexts| {
            for thread in &contexts.threads {
                let guard = contexts.lock.lock().unwrap();
                thread.set(Some(1));
                drop(guard);
                let _guard = contexts.form.guard(&contexts.lock);
                thread.set(None);
            }
        }],
    );
    for _ in 0..4 {
        let _guard = contexts.lock.lock().unwrap();
        for thread in &contexts.threads {
            if thread.get().is_some() {
                thread.get().expect("the context has no thread any more");
            }
        }
    }
    join_all(worker);
}

fn late_collector(form: Form) {
    let runtime = Runtime::new(form, 1);
    join_all(start(
        &runtime,
        &[
            |runtime| runtime.destroy(),
            |runtime| {
                let contexts = runtime.contexts.lock().unwrap();
                if *contexts == 0 {
                    return;
                }
                // Fixed: no context can be destroyed during the collection.
                let kept = match runtime.form {
                    Form::Bugged => {
                        drop(contexts);
                        None
                    }
                    Form::Fixed => Some(contexts),
                };
                runtime.use_atoms();
                drop(kept);
            },
        ],
    ));
}

fn monitors(form: Form) {
    struct Object {
        form: Form,
        lock: Mutex<()>,
        /// The monitor of the object, once it has one.
        monitor: Shared<Option<usize>>,
        monitors: [Mutex<()>; 2],
        made: Mutex<usize>,
        is_inside: Quiet,
    }
    impl Object {
        fn monitor(&self) -> usize {
            let _guard = self.form.guard(&self.lock);
            if let Some(monitor) = self.monitor.get() {
                return monitor;
            }
            let mut made = self.made.lock().unwrap();
            let monitor = *made;
            *made += 1;
            drop(made);
            self.monitor.set(Some(monitor));
            monitor
        }

        fn enter_and_leave(&self) {
            let monitor = self.monitor();
            let guard = self.monitors[monitor].lock().unwrap();
            assert!(!self.is_inside.swap(true, Relaxed), "two threads are inside");
            drop(guard);
            self.is_inside.store(false, Relaxed);
        }
    }
    let object = Object {
        form,
        lock: Mutex::new(()),
        monitor: Shared::new(None),
        monitors: [Mutex::new(()), Mutex::new(())],
        made: Mutex::new(0),
        is_inside: Quiet::new(false),
    };
    join_all(start(&Arc::new(object), &[Object::enter_and_leave, Object::enter_and_leave]));
}

fn interrupt(form: Form) {
    struct Interrupt {
        came: Mutex<bool>,
        wake: Condvar,
    }
    let interrupt = Arc::new(Interrupt { came: Mutex::new(false), wake: Condvar::new() });
    let sender = start(
        &interrupt,
        &[|interrupt| {
            *interrupt.came.lock().unwrap() = true;
            interrupt.wake.notify_one();
        }],
    );
    let came = interrupt.came.lock().unwrap();
    if !*came {
        let came = match form {
            Form::Bugged => {
                drop(came);
                interrupt.came.lock().unwrap()
            }
            Form::Fixed => came,
        };
        drop(interrupt.wake.wait(came).unwrap());
    }
    join_all(sender);
}

/// A reader-writer lock that prefers writers: a reader waits while a writer waits.
struct WriterFirst {
    state: Mutex<ReadersAndWriters>,
    changed: Condvar,
}

#[derive(Default)]
struct ReadersAndWriters {
    readers: u32,
    waiting: u32,
    is_written: bool,
}

impl WriterFirst {
    fn wait_until<'a>(
        &self,
        mut state: MutexGuard<'a, ReadersAndWriters>,
        is_free: impl Fn(&ReadersAndWriters) -> bool,
    ) -> MutexGuard<'a, ReadersAndWriters> {
        while !is_free(&state) {
            state = self.changed.wait(state).unwrap();
        }
        state
    }

    fn read(&self) {
        let state = self.state.lock().unwrap();
        let mut state = self.wait_until(state, |state| state.waiting == 0 && !state.is_written);
        state.readers += 1;
    }

    fn end_reading(&self) {
        self.state.lock().unwrap().readers -= 1;
        self.changed.notify_all();
    }

    fn write(&self) {
        let mut state = self.state.lock().unwrap();
        state.waiting += 1;
        let mut state = self.wait_until(state, |state| state.readers == 0 && !state.is_written);
        state.waiting -= 1;
        state.is_written = true;
    }

    fn end_writing(&self) {
        self.state.lock().unwrap().is_written = false;
        self.changed.notify_all();
    }
}

fn read_twice(form: Form) {
    struct Shared {
        form: Form,
        lock: WriterFirst,
    }
    let lock = WriterFirst { state: Mutex::default(), changed: Condvar::new() };
    join_all(start(
        &Arc::new(Shared { form, lock }),
        &[
            |shared| {
                shared.lock.read();
                if shared.form == Form::Bugged {
                    shared.lock.read();
                    shared.lock.end_reading();
                }
                shared.lock.end_reading();
            },
            |shared| {
                shared.lock.write();
                shared.lock.end_writing();
            },
        ],
    ));
}
