//! Programs interpreted on the engine, without stacks, switches or unwinding.

use raddle_core::{Action, Choices, ObjectId, Op, Panic, Site, ThreadId, ThreadOp};
use raddle_engine::{Engine, Frames, Kind, Memory, Substrate, Turn};

use crate::{Actor, Program, Request, Target};

/// The message of a panic in a script.
pub(crate) const SCRIPTED_PANIC: &str = "scripted panic";

/// Interprets programs by the engine's protocol.
#[derive(Debug, Default)]
pub struct Interpreter;

/// Interprets programs as [`Interpreter`] does, and also identifies objects across runs.
#[derive(Debug, Default)]
pub struct IdentifyingInterpreter;

/// Interprets programs as [`Interpreter`] does, and also identifies every other object across runs, as if it were a
/// static.
#[derive(Debug, Default)]
pub struct HalfIdentifyingInterpreter;

/// Interprets programs as [`IdentifyingInterpreter`] does, and also tells the exact local states of threads.
#[derive(Debug, Default)]
pub struct FramedInterpreter;

impl Substrate for Interpreter {
    type Program = Program;

    fn execute<M: Memory>(
        &mut self,
        engine: &mut Engine<M>,
        choices: Choices<'_>,
        program: &Program,
    ) {
        interpret(engine, choices, program, |_| false);
    }
}

impl Substrate for IdentifyingInterpreter {
    type Program = Program;

    fn execute<M: Memory>(
        &mut self,
        engine: &mut Engine<M>,
        choices: Choices<'_>,
        program: &Program,
    ) {
        interpret(engine, choices, program, |_| true);
    }
}

impl Substrate for HalfIdentifyingInterpreter {
    type Program = Program;

    fn execute<M: Memory>(
        &mut self,
        engine: &mut Engine<M>,
        choices: Choices<'_>,
        program: &Program,
    ) {
        interpret(engine, choices, program, |position| position % 2 == 0);
    }
}

impl Substrate for FramedInterpreter {
    type Program = Program;

    fn execute<M: Memory>(
        &mut self,
        engine: &mut Engine<M>,
        choices: Choices<'_>,
        program: &Program,
    ) {
        engine.begin(&choices);
        engine.offer_frames(Frames::FromTheBeginning);
        interpret_begun(engine, choices, program, |_| true);
    }
}

fn interpret<M: Memory>(
    engine: &mut Engine<M>,
    choices: Choices<'_>,
    program: &Program,
    is_identified: fn(usize) -> bool,
) {
    engine.begin(&choices);
    interpret_begun(engine, choices, program, is_identified);
}

fn interpret_begun<M: Memory>(
    engine: &mut Engine<M>,
    choices: Choices<'_>,
    program: &Program,
    is_identified: fn(usize) -> bool,
) {
    let objects = vec![None; program.objects.len()];
    let mut run = Run { engine, choices, program, objects, threads: Vec::new(), is_identified };
    run.add_thread(ThreadId::MAIN, ThreadId::MAIN, 0);
    let mut next = run.announce(ThreadId::MAIN);
    while let Some(thread) = next.and_then(Turn::thread) {
        next = run.turn(thread);
    }
}

struct Run<'a, 'c, M: Memory> {
    engine: &'a mut Engine<M>,
    choices: Choices<'c>,
    program: &'a Program,
    /// By position in the program, the ids of objects that have been announced in this run.
    objects: Vec<Option<ObjectId>>,
    /// By [`ThreadId`], the thread and its last announcement.
    threads: Vec<Option<(Actor, Announced)>>,
    /// Whether the object at a position in the program has an identity.
    is_identified: fn(usize) -> bool,
}

#[derive(Copy, Clone)]
enum Announced {
    Nothing,
    Operation(Op),
    Spawn { script: usize, life: ObjectId },
    Exit,
}

impl<M: Memory> Run<'_, '_, M> {
    fn add_thread(&mut self, thread: ThreadId, parent: ThreadId, script: usize) {
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, None);
        }
        self.threads[thread.index()] =
            Some((Actor::new(thread, parent, script), Announced::Nothing));
    }

    fn thread(&mut self, thread: ThreadId) -> &mut (Actor, Announced) {
        self.threads[thread.index()].as_mut().expect("the thread has been added")
    }

    /// Announces the next request of `thread`, and returns the turn that follows. Returns `None` if it panicked.
    fn announce(&mut self, thread: ThreadId) -> Option<Turn> {
        let program = self.program;
        let request = self.thread(thread).0.next(program);
        let (op, announced) = match request {
            Request::Perform(target, action) => {
                let op = Op::new(self.object(thread, target), action);
                (op, Announced::Operation(op))
            }
            Request::Spawn(script) => {
                let (_, life) = self.engine.declare_child(thread, Site::UNKNOWN);
                let op = Op::new(life, Action::Thread(ThreadOp::Spawn));
                (op, Announced::Spawn { script, life })
            }
            Request::Exit => {
                let life = self.engine.life(thread);
                (Op::new(life, Action::Thread(ThreadOp::Exit)), Announced::Exit)
            }
            Request::Stop => {
                return Some(self.engine.stop(thread, Site::UNKNOWN, &mut self.choices));
            }
            Request::Panic => {
                let message = SCRIPTED_PANIC.to_owned();
                self.engine.fail(Panic { thread, message, place: None, backtrace: None });
                return None;
            }
        };
        self.thread(thread).1 = announced;
        if self.engine.takes_frames() {
            let frame = self.thread(thread).0.frame();
            self.engine.arrive(thread, frame);
        }
        Some(self.engine.submit(Kind::of(&op), thread, &op, Site::UNKNOWN, &mut self.choices))
    }

    /// Performs what `thread` announced, and returns the turn that follows. Returns `None` if the run ended.
    fn turn(&mut self, thread: ThreadId) -> Option<Turn> {
        let program = self.program;
        match self.thread(thread).1 {
            Announced::Operation(op) => {
                let kind = Kind::of(&op);
                let effect =
                    self.engine.perform(kind, thread, &op, Site::UNKNOWN, &mut self.choices)?;
                self.thread(thread).0.observe(program, effect);
                self.announce(thread)
            }
            Announced::Spawn { script, life } => {
                let child = self.engine.start(thread, life, Site::UNKNOWN);
                self.add_thread(child, thread, script);
                let back = self.announce(child)?;
                assert_eq!(back, Turn::of(thread), "the turn goes back to the creator");
                self.thread(thread).0.add_child(child);
                self.announce(thread)
            }
            Announced::Exit => Some(self.engine.exit(thread, &mut self.choices)),
            Announced::Nothing => panic!("{thread} has the turn, but has announced nothing"),
        }
    }

    fn object(&mut self, by: ThreadId, target: Target) -> ObjectId {
        match target {
            Target::Object(position) => *self.objects[position].get_or_insert_with(|| {
                let initial = self.program.objects[position];
                let object = self.engine.declare(by, initial, Site::UNKNOWN);
                if (self.is_identified)(position) {
                    self.engine.identify(object, position as u64 + 1);
                }
                object
            }),
            Target::Life(thread) => self.engine.life(thread),
            Target::Parker(thread) => self.engine.parker(thread, by, Site::UNKNOWN),
            Target::Nothing => ObjectId::NONE,
        }
    }
}
