//! What a run offers to the mirror, without its types.

use std::any::Any;
use std::rc::Rc;

use raddle_core::{Action, Chooser, Effect, ObjectId, Op, Site, ThreadId, ThreadOp, Token};
use raddle_engine::known::{AnyOp, AtomicOp, JoinOp, LockOp, NotifyOp, UnlockOp};
use raddle_engine::{Initial, Memory};

use super::{Phase, Run};
use crate::port::{Caught, Entries, Parting};
use crate::{Backend, Body};

/// Functions of a run behind a pointer without a type.
macro_rules! erased {
    ($(fn $name:ident($run:ident $(, $argument:ident: $type:ty)*) $(-> $result:ty)? $body:block)*) => {
        $(
            unsafe fn $name($run: *const () $(, $argument: $type)*) $(-> $result)? {
                // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
                let $run: &Self = unsafe { &*$run.cast() };
                $body
            }
        )*
    };
}

impl<B: Backend, M: Memory, C: Chooser> Run<'_, B, M, C> {
    pub(super) const ENTRIES: Entries = Entries {
        submit: [
            Self::submit_entry,
            Self::submit_atomic_entry,
            Self::submit_lock_entry,
            Self::submit_unlock_entry,
            Self::submit_notify_entry,
        ],
        declare: Self::declare_entry,
        touch: Self::touch_entry,
        newest: Self::newest_entry,
        life: Self::life_entry,
        join: Self::join_entry,
        parker: Self::parker_entry,
        time: Self::time_entry,
        advance: Self::advance_entry,
        belongings: Self::belongings_entry,
        endow: Self::endow_entry,
        spawn: Self::spawn_entry,
        call_thread: Self::call_thread_entry,
        work: Self::work_entry,
        finish: Self::finish_entry,
        exit: Self::exit_entry,
        panicked: Self::panicked_entry,
        unwinding: Self::unwinding_entry,
        guards: Self::guards_entry,
        thread: Self::thread_entry,
        token: Self::token_entry,
    };

    erased! {
        fn submit_entry(run, head: u64, first: u64, second: u64, site: Site) -> Effect {
            run.submit::<AnyOp>(head, first, second, site)
        }
        fn submit_atomic_entry(run, head: u64, first: u64, second: u64, site: Site) -> Effect {
            run.submit::<AtomicOp>(head, first, second, site)
        }
        fn submit_lock_entry(run, head: u64, first: u64, second: u64, site: Site) -> Effect {
            run.submit::<LockOp>(head, first, second, site)
        }
        fn submit_unlock_entry(run, head: u64, first: u64, second: u64, site: Site) -> Effect {
            run.submit::<UnlockOp>(head, first, second, site)
        }
        fn submit_notify_entry(run, head: u64, first: u64, second: u64, site: Site) -> Effect {
            run.submit::<NotifyOp>(head, first, second, site)
        }
        fn declare_entry(run, initial: Initial, site: Site) -> ObjectId {
            run.with_engine(|engine| engine.declare(run.thread.get(), initial, site))
        }
        fn touch_entry(run, object: ObjectId, writes: bool, site: Site) {
            run.with_engine(|engine| engine.touch(run.thread.get(), object, writes, site))
        }
        fn newest_entry(run, object: ObjectId) -> u64 {
            run.with_engine(|engine| engine.newest(object))
        }
        fn life_entry(run, thread: ThreadId) -> ObjectId {
            run.with_engine(|engine| engine.life(thread))
        }
        fn join_entry(run, thread: ThreadId, site: Site) {
            let life = run.with_engine(|engine| engine.life(thread));
            let op = Op::new(life, Action::Thread(ThreadOp::Join));
            let [head, first, second] = op.into_words();
            run.submit::<JoinOp>(head, first, second, site);
        }
        fn parker_entry(run, thread: ThreadId, site: Site) -> ObjectId {
            run.with_engine(|engine| engine.parker(thread, run.thread.get(), site))
        }
        fn time_entry(run) -> u64 {
            run.with_engine(|engine| engine.time(run.thread.get()))
        }
        fn advance_entry(run, nanos: u64) {
            run.with_engine(|engine| engine.advance(run.thread.get(), nanos));
        }
        fn belongings_entry(run) -> Option<Rc<dyn Any>> {
            let all = run.crew.belongings.borrow();
            all.get(run.thread.get().index()).and_then(Clone::clone)
        }
        fn endow_entry(run, belongings: Option<Rc<dyn Any>>) {
            let me = run.thread.get().index();
            let mut all = run.crew.belongings.borrow_mut();
            if all.len() <= me {
                all.resize(me + 1, None);
            }
            let before = std::mem::replace(&mut all[me], belongings);
            drop(all);
            drop(before);
        }
        fn spawn_entry(run, body: Body, site: Site) -> ThreadId {
            run.spawn(body, site)
        }
        fn call_thread_entry(run, name: &str) {
            run.crew.call_thread(run.thread.get(), name);
        }
        fn work_entry(run) {
            run.work();
        }
        fn finish_entry(run, result: Caught) -> Parting {
            run.finish(result)
        }
        fn exit_entry(run) -> Parting {
            run.exit()
        }
        fn panicked_entry(run) {
            run.crew.unwinding.borrow_mut().push(run.thread.get());
            if !run.phase.get().is_over() {
                run.phase.set(Phase::Unwinding);
            }
        }
        fn unwinding_entry(run) -> bool {
            run.is_unwinding(run.thread.get())
        }
        fn guards_entry(run, address: usize) -> bool {
            // SAFETY: only looks, on behalf of the program under test, while no coroutine operation
            // is under way.
            unsafe { &*run.crew.backend.get() }.guards(address)
        }
        fn thread_entry(run) -> ThreadId {
            run.thread.get()
        }
        fn token_entry(run) -> String {
            run.with_engine(|engine| {
                let trace = engine.trace();
                Token::new(&run.crew.options.name, &trace.threads, trace.schedule()).to_string()
            })
        }
    }
}
