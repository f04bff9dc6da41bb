//! Programs on the coroutine runtime, through the interface that the `std` mirror uses.

use std::mem::ManuallyDrop;
use std::panic::resume_unwind;
use std::sync::Arc;

use raddle_core::{Choices, ObjectId, Op, Site, ThreadId};
use raddle_engine::{Engine, Memory, Substrate};
use raddle_runtime::port::{self, Kind, Name};
use raddle_runtime::{Backend, Body, Options, Runtime};

use crate::interpreter::SCRIPTED_PANIC;
use crate::{Actor, Program, Request, Target};

/// Runs programs on coroutines of the back end `B`.
pub struct Coroutines<B: Backend>(Runtime<B>);

impl<B: Backend> Default for Coroutines<B> {
    fn default() -> Coroutines<B> {
        // Many of the programs deadlock, and their threads have no destructors.
        let unwinds_failing_runs = true;
        let plain = Options { plain_accesses: true, unwinds_failing_runs, ..Options::default() };
        Coroutines(Runtime::new("testkit", &Options { stack_size: 128 * 1024, ..plain }))
    }
}

impl<B: Backend> Substrate for Coroutines<B> {
    type Program = Program;

    fn execute<M: Memory>(
        &mut self,
        engine: &mut Engine<M>,
        choices: Choices<'_>,
        program: &Program,
    ) {
        let program = Arc::new(program.clone());
        self.0.execute(engine, choices, &move || {
            let names = program.objects.iter().map(|_| ManuallyDrop::new(Name::new())).collect();
            let world = Arc::new(World { program: program.clone(), names });
            Thread { world, script: 0, parent: ThreadId::MAIN }.run();
        })
    }
}

/// The state that the threads of one run share.
struct World {
    program: Arc<Program>,
    /// Not dropped: the interpreter has no ends of objects.
    names: Vec<ManuallyDrop<Name>>,
}

struct Thread {
    world: Arc<World>,
    script: usize,
    parent: ThreadId,
}

impl Body for Thread {
    fn run(&self) {
        let World { program, names } = &*self.world;
        let mut actor = Actor::new(port::thread(), self.parent, self.script);
        loop {
            let (op, site) = match actor.next(program) {
                Request::Perform(Target::Object(position), action) => {
                    let op = Op::new(ObjectId::NONE, action);
                    let initial = program.objects[position];
                    let name = &names[position];
                    let kind = Kind::of(&op);
                    let effect = port::operate(kind, name, || Some(initial), op, Site::UNKNOWN);
                    actor.observe(program, effect.expect("inside a run"));
                    continue;
                }
                Request::Perform(Target::Life(thread), action) => {
                    (Op::new(port::life(thread), action), Site::UNKNOWN)
                }
                Request::Perform(Target::Parker(thread), action) => {
                    (Op::new(port::parker(thread, Site::UNKNOWN), action), Site::UNKNOWN)
                }
                Request::Perform(Target::Nothing, action) => {
                    (Op::new(ObjectId::NONE, action), Site::UNKNOWN)
                }
                Request::Spawn(script) => {
                    let parent = port::thread();
                    let body = Thread { world: self.world.clone(), script, parent };
                    actor.add_child(port::spawn(Arc::new(body), Site::UNKNOWN));
                    continue;
                }
                Request::Stop => {
                    port::stop(Site::UNKNOWN);
                    unreachable!("a scripted thread that was stopped unwinds");
                }
                // Without the panic hook, which would record a line that the interpreter does not have.
                Request::Panic => resume_unwind(Box::new(SCRIPTED_PANIC)),
                Request::Exit => return,
            };
            actor.observe(program, port::submit(Kind::of(&op), op, site));
        }
    }
}
