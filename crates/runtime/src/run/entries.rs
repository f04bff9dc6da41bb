//! What a run offers to the mirror, without its types.

use std::any::Any;
use std::rc::Rc;

use raddle_core::{Chooser, ObjectId, Site, ThreadId};
use raddle_engine::known::{
    AddOp, AnyOp, AtomicOp, ChannelOp, ConsumeOp, EnqueueOp, LockOp, NotifyOp, PostOp, ReceiveOp,
    SendOp, UnlockOp,
};
use raddle_engine::{Engine, Initial, Memory};
use raddle_results::Token;

use super::{Phase, Run};
use crate::port::{Caught, Entries, Joined, Kind, Parting, Pulse, Unwinding};
use crate::{Backend, Body, bare};

/// Functions of a run behind a pointer without a type.
macro_rules! erased {
    ($(fn $name:ident($run:ident $(, $argument:ident: $type:ty)*) $(-> $result:ty)? $body:block)*) => {
        $(
            unsafe fn $name($run: *const () $(, $argument: $type)*) $(-> $result)? {
                // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
                let $run: &Self = unsafe { bare::follow!($run as Self) };
                $body
            }
        )*
    };
}

impl<B: Backend, M: Memory, C: Chooser> Run<'_, B, M, C> {
    pub(super) const ENTRIES: Entries = Entries {
        submit: [
            Self::entry::<AnyOp>(Kind::Any),
            Self::entry::<AtomicOp>(Kind::Atomic),
            Self::entry::<AddOp>(Kind::Add),
            Self::entry::<LockOp>(Kind::Lock),
            Self::entry::<UnlockOp>(Kind::Unlock),
            Self::entry::<NotifyOp>(Kind::Notify),
            Self::entry::<EnqueueOp>(Kind::Enqueue),
            Self::entry::<ConsumeOp>(Kind::Consume),
            Self::entry::<SendOp>(Kind::Send),
            Self::entry::<PostOp>(Kind::Post),
            Self::entry::<ReceiveOp>(Kind::Receive),
            Self::entry::<ChannelOp>(Kind::Channel),
        ],
        declare: Self::declare_entry,
        touch: Self::touch_entry,
        is_racy: Self::is_racy_entry,
        spurious: Self::spurious_entry,
        call_object: Self::call_object_entry,
        allocated: Self::allocated_entry,
        freed: Self::freed_entry,
        born: Self::born_entry,
        keep: Self::keep_entry,
        newest: Self::newest_entry,
        life: Self::life_entry,
        join: Self::join_entry,
        join_otherwise: Self::join_otherwise_entry,
        parker: Self::parker_entry,
        time: Self::time_entry,
        advance: Self::advance_entry,
        belongings: Self::belongings_entry,
        endow: Self::endow_entry,
        spawn: Self::spawn_entry,
        spawn_unusually: Self::spawn_unusually_entry,
        refuse_spawn: Self::refuse_spawn_entry,
        call_thread: Self::call_thread_entry,
        work: Self::work_entry,
        finish: Self::finish_entry,
        exit: Self::exit_entry,
        panicked: Self::panicked_entry,
        unwinding: Self::unwinding_entry,
        take_panic: Self::take_panic_entry,
        guards: Self::guards_entry,
        thread: Self::thread_entry,
        token: Self::token_entry,
        pulse: Self::pulse_entry,
    };

    erased! {
        fn declare_entry(run, initial: Initial, site: Site) -> ObjectId {
            run.with_engine(|engine| engine.declare(run.thread.get(), initial, site))
        }
        fn touch_entry(run, object: ObjectId, writes: bool, site: Site) {
            run.with_engine(|engine| engine.touch(run.thread.get(), object, writes, site))
        }
        fn is_racy_entry(run, site: Site) -> bool {
            run.crew.options.racy.contains(&site)
        }
        fn spurious_entry(run, site: Site) -> bool {
            run.is_spurious(site)
        }
        fn call_object_entry(run, object: ObjectId, name: &str) {
            run.crew.call_object(object, name);
        }
        fn allocated_entry(run, address: usize, size: usize) {
            run.crew.extras.get().heap.allocated(run.thread.get(), address, size);
        }
        fn freed_entry(run, address: usize) {
            run.crew.extras.get().heap.freed(address);
        }
        fn born_entry(run, object: ObjectId, address: usize) {
            run.born(object, address);
        }
        fn keep_entry(run, place: *mut u8, size: usize) {
            // SAFETY: promised to the port.
            unsafe { run.crew.extras.get().kept.keep(place, size) }
        }
        fn newest_entry(run, object: ObjectId) -> u64 {
            run.with_engine(|engine| engine.newest(object))
        }
        fn life_entry(run, thread: ThreadId) -> ObjectId {
            run.with_engine(|engine| engine.life(thread))
        }
        fn join_otherwise_entry(run, how: Joined, thread: ThreadId, site: Site) {
            run.join_otherwise(how, thread, site);
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
            let all = run.crew.extras.look().belongings.borrow();
            all.get(run.thread.get().index()).and_then(Clone::clone)
        }
        fn endow_entry(run, belongings: Option<Rc<dyn Any>>) {
            let me = run.thread.get().index();
            let mut all = run.crew.extras.get().belongings.borrow_mut();
            if all.len() <= me {
                all.resize(me + 1, None);
            }
            let before = std::mem::replace(&mut all[me], belongings);
            drop(all);
            drop(before);
        }
        fn spawn_unusually_entry(run, child: ThreadId, body: Body, site: Site) -> ThreadId {
            run.spawn_unusually(child, body, site)
        }
        fn refuse_spawn_entry(run, child: ThreadId, site: Site) -> ThreadId {
            run.refuse_spawn(child, site)
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
            run.unwinds(run.thread.get());
            if !run.phase.get().is_over() {
                run.with_engine(Engine::end_lease);
                run.phase.set(Phase::Unwinding);
            }
        }
        fn unwinding_entry(run) -> Unwinding {
            run.unwinding(run.thread.get())
        }
        fn take_panic_entry(run, thread: ThreadId) -> Option<Box<dyn Any + Send>> {
            run.crew.extras.look().panics.take(thread)
        }
        fn guards_entry(run, address: usize) -> bool {
            // SAFETY: only looks, on behalf of the program under test, while no coroutine operation
            // is under way.
            unsafe { &*run.crew.backend.get() }.guards(address)
        }
        fn thread_entry(run) -> ThreadId {
            run.thread.get()
        }
        fn pulse_entry(run) -> Option<Pulse> {
            let me = run.thread.get();
            run.with_engine(|engine| {
                let events = &engine.trace().events;
                let last = events.iter().rev().find(|event| event.id.thread == me);
                Some(Pulse { steps: events.len(), last: last.map(|event| event.site) })
            })
        }
        fn token_entry(run) -> String {
            run.with_engine(|engine| {
                let trace = engine.trace();
                Token::new(&run.crew.name, &trace.threads, trace.schedule()).to_string()
            })
        }
    }
}
