//! What a run offers to the mirror, without its types.

use std::sync::Arc;

use raddle_core::Chooser;
use raddle_core::{Effect, ObjectId, Site, ThreadId, Token};
use raddle_engine::known::{AnyOp, AtomicOp, JoinOp, MutexOp};
use raddle_engine::{Initial, Memory};

use super::{Phase, Run};
use crate::Backend;
use crate::port::{Body, Caught, Entries, Parting};

impl<B: Backend, M: Memory, C: Chooser> Run<'_, B, M, C> {
    pub(super) const ENTRIES: Entries = Entries {
        submit: Self::submit_entry,
        submit_atomic: Self::submit_atomic_entry,
        submit_mutex: Self::submit_mutex_entry,
        submit_join: Self::submit_join_entry,
        declare: Self::declare_entry,
        newest: Self::newest_entry,
        life: Self::life_entry,
        parker: Self::parker_entry,
        time: Self::time_entry,
        spawn: Self::spawn_entry,
        work: Self::work_entry,
        finish: Self::finish_entry,
        panicked: Self::panicked_entry,
        unwinding: Self::unwinding_entry,
        thread: Self::thread_entry,
        token: Self::token_entry,
    };

    unsafe fn submit_entry(
        run: *const (),
        head: u64,
        first: u64,
        second: u64,
        site: Site,
    ) -> Effect {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.submit::<AnyOp>(head, first, second, site)
    }

    unsafe fn submit_atomic_entry(
        run: *const (),
        head: u64,
        first: u64,
        second: u64,
        site: Site,
    ) -> Effect {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.submit::<AtomicOp>(head, first, second, site)
    }

    unsafe fn submit_mutex_entry(
        run: *const (),
        head: u64,
        first: u64,
        second: u64,
        site: Site,
    ) -> Effect {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.submit::<MutexOp>(head, first, second, site)
    }

    unsafe fn submit_join_entry(
        run: *const (),
        head: u64,
        first: u64,
        second: u64,
        site: Site,
    ) -> Effect {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.submit::<JoinOp>(head, first, second, site)
    }

    unsafe fn declare_entry(run: *const (), initial: Initial, site: Site) -> ObjectId {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.with_engine(|engine| engine.declare(run.thread.get(), initial, site))
    }

    unsafe fn newest_entry(run: *const (), object: ObjectId) -> u64 {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.with_engine(|engine| engine.newest(object))
    }

    unsafe fn life_entry(run: *const (), thread: ThreadId) -> ObjectId {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.with_engine(|engine| engine.life(thread))
    }

    unsafe fn parker_entry(run: *const (), thread: ThreadId, site: Site) -> ObjectId {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.with_engine(|engine| engine.parker(thread, run.thread.get(), site))
    }

    unsafe fn time_entry(run: *const ()) -> u64 {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.with_engine(|engine| engine.time(run.thread.get()))
    }

    unsafe fn spawn_entry(run: *const (), body: Arc<dyn Body>, site: Site) -> ThreadId {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.spawn(body, site)
    }

    unsafe fn work_entry(run: *const ()) {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.work();
    }

    unsafe fn finish_entry(run: *const (), result: Caught) -> Parting {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.finish(result)
    }

    unsafe fn panicked_entry(run: *const ()) {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.unwinding.borrow_mut().push(run.thread.get());
        if run.phase.get() == Phase::Running {
            run.phase.set(Phase::Unwinding);
        }
    }

    unsafe fn unwinding_entry(run: *const ()) -> bool {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.is_unwinding(run.thread.get())
    }

    unsafe fn thread_entry(run: *const ()) -> ThreadId {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.thread.get()
    }

    unsafe fn token_entry(run: *const ()) -> String {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.with_engine(|engine| {
            let trace = engine.trace();
            Token::new(&run.crew.options.name, &trace.threads, trace.schedule()).to_string()
        })
    }
}
