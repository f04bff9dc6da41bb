//! Random programs whose threads panic, catch the panics, and perform operations in destructors. None of them can fail, so
//! each failure is a bug of raddle: a false deadlock, or a lost message or lock.
//!
//! A separate binary, because it replaces the panic hook of the process.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use raddle::sync::{Arc, Mutex, PoisonError};
use raddle::{Config, thread};
use raddle_strategy::{Rng, mix};

const PROGRAMS: u64 = 150;
/// The maximum nesting of steps.
const DEPTH: u32 = 2;
const STRATEGIES: &[&str] =
    &["random", "pct:3", "pos-star", "surw", "delay:2", "round-robin", "dfs", "dpor"];

#[derive(Clone, Debug)]
enum Step {
    Yield,
    Add,
    Lock,
    Send,
    /// Performs these steps while the outer lock is held.
    Hold(Vec<Step>),
    /// Spawns and joins a thread with these steps.
    Spawn(Vec<Step>),
    /// Panics and catches the panic. A destructor performs these steps during the unwinding.
    Panic(Vec<Step>),
}

#[derive(Clone, Debug)]
struct Program {
    /// The bound of the channel, if there is one.
    bound: Option<usize>,
    /// The steps of each thread. The first is main, which then receives all messages.
    threads: Vec<Vec<Step>>,
}

impl Program {
    fn random(rng: &mut Rng) -> Program {
        let bound = [None, Some(0), Some(1), Some(2)][rng.below(4)];
        let threads = (0..2 + rng.below(3)).map(|_| steps(rng, 3, DEPTH)).collect();
        let mut program = Program { bound, threads };
        // No thread receives while main sends.
        if bound.is_some() {
            forget_sends(&mut program.threads[0]);
        }
        program
    }

    /// Returns the report of a failing execution, or `None` if none fails.
    fn failure(&self) -> Option<String> {
        STRATEGIES.iter().find_map(|&strategy| {
            let program = self.clone();
            let config = Config::new().strategy(strategy).runs(60).explore_trivial(true);
            let report = config.run(move || program.run());
            report.failure().map(|_| format!("{strategy}: {}", raddle::text(&report)))
        })
    }

    fn run(&self) {
        let (sender, receiver) = match self.bound {
            None => {
                let (sender, receiver) = channel();
                (AnySender::Unbounded(sender), receiver)
            }
            Some(bound) => {
                let (sender, receiver) = sync_channel(bound);
                (AnySender::Bounded(sender), receiver)
            }
        };
        let shared = Arc::new((AtomicU32::new(0), Mutex::new(0), Mutex::new(())));
        let actor = Actor { sender, shared: shared.clone() };
        let (main, others) = self.threads.split_first().expect("main is a thread of the program");
        let threads: Vec<_> = others.iter().map(|steps| actor.spawn(steps)).collect();
        actor.take(main);
        drop(actor);
        let all = || self.threads.iter().flatten();
        assert_eq!(receiver.iter().sum::<u32>(), count(all(), &|step| matches!(step, Step::Send)));
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(shared.0.load(SeqCst), count(all(), &|step| matches!(step, Step::Add)));
        assert!(!shared.2.is_poisoned(), "no thread panicked while it held the lock");
        let locked = *shared.1.lock().expect("no thread panicked while it held the lock");
        assert_eq!(locked, count(all(), &|step| matches!(step, Step::Lock)));
    }

    /// Returns a minimal failing program, made from this failing program by removing steps and threads.
    fn smallest(self) -> Program {
        let smaller = self.smaller().find(|program| program.failure().is_some());
        smaller.map_or(self, Program::smallest)
    }

    /// Returns all programs with one step or thread less.
    fn smaller(&self) -> impl Iterator<Item = Program> {
        let threads = (1..self.threads.len()).map(|thread| {
            let mut program = self.clone();
            program.threads.remove(thread);
            program
        });
        let places = self.threads.iter().enumerate();
        let steps = places.flat_map(|(thread, steps)| (0..steps.len()).map(move |at| (thread, at)));
        threads.chain(steps.flat_map(|(thread, at)| {
            let mut without = self.clone();
            let step = without.threads[thread].remove(at);
            let mut flatter = without.clone();
            let inner = match step {
                Step::Spawn(inner) | Step::Panic(inner) | Step::Hold(inner) => inner,
                Step::Yield | Step::Add | Step::Lock | Step::Send => Vec::new(),
            };
            flatter.threads[thread].splice(at..at, inner);
            [without, flatter]
        }))
    }
}

fn steps(rng: &mut Rng, max: usize, depth: u32) -> Vec<Step> {
    (0..rng.below(max + 1)).map(|_| step(rng, depth)).collect()
}

fn step(rng: &mut Rng, depth: u32) -> Step {
    match rng.below(if depth > 0 { 9 } else { 4 }) {
        0 => Step::Yield,
        1 => Step::Add,
        2 => Step::Lock,
        3 => Step::Send,
        4 if depth == DEPTH => {
            let mut inner = steps(rng, 2, depth - 1);
            forget_sends(&mut inner);
            Step::Hold(inner)
        }
        // In a destructor this would panic after the end of a run, and so abort the process.
        5 if depth == DEPTH => Step::Spawn(steps(rng, 2, depth - 1)),
        _ => Step::Panic(steps(rng, 2, depth - 1)),
    }
}

fn forget_sends(steps: &mut Vec<Step>) {
    steps.retain(|step| !matches!(step, Step::Send));
    for step in steps {
        // A thread that main joins must not wait for main.
        if let Step::Panic(inner) | Step::Spawn(inner) | Step::Hold(inner) = step {
            forget_sends(inner);
        }
    }
}

fn count<'a>(steps: impl Iterator<Item = &'a Step>, is: &dyn Fn(&Step) -> bool) -> u32 {
    let count_one = |step: &Step| match step {
        Step::Spawn(inner) | Step::Panic(inner) | Step::Hold(inner) => count(inner.iter(), is),
        Step::Yield | Step::Add | Step::Lock | Step::Send => u32::from(is(step)),
    };
    steps.map(count_one).sum()
}

#[derive(Clone)]
enum AnySender {
    Unbounded(Sender<u32>),
    Bounded(SyncSender<u32>),
}

#[derive(Clone)]
struct Actor {
    sender: AnySender,
    shared: Arc<(AtomicU32, Mutex<u32>, Mutex<()>)>,
}

impl Actor {
    fn spawn(&self, steps: &[Step]) -> thread::JoinHandle<()> {
        let (actor, steps) = (self.clone(), steps.to_vec());
        thread::spawn(move || actor.take(&steps))
    }

    fn take(&self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Yield => thread::yield_now(),
                Step::Add => _ = self.shared.0.fetch_add(1, SeqCst),
                Step::Lock => {
                    let mut locked = self.shared.1.lock().unwrap_or_else(PoisonError::into_inner);
                    thread::yield_now();
                    *locked += 1;
                }
                // Main receives and counts the messages as long as the run is active.
                Step::Send => match &self.sender {
                    AnySender::Unbounded(sender) => _ = sender.send(1),
                    AnySender::Bounded(sender) => _ = sender.send(1),
                },
                Step::Hold(inner) => {
                    let _held = self.shared.2.lock();
                    self.take(inner);
                }
                Step::Spawn(inner) => self.spawn(inner).join().unwrap(),
                Step::Panic(inner) => {
                    let panics = AssertUnwindSafe(|| {
                        let _destructor = InDestructor(self, inner);
                        panic!("caught")
                    });
                    assert!(catch_unwind(panics).is_err());
                }
            }
        }
    }
}

struct InDestructor<'a>(&'a Actor, &'a [Step]);

impl Drop for InDestructor<'_> {
    fn drop(&mut self) {
        self.0.take(self.1);
    }
}

#[test]
fn correct_random_programs_do_not_fail() {
    // Without this the hook would print every caught panic.
    std::panic::set_hook(Box::new(|_| {}));
    let mut found = None;
    for case in 0..PROGRAMS {
        let program = Program::random(&mut Rng::new(mix(7, case)));
        if program.failure().is_some() {
            let smallest = program.smallest();
            let failure = smallest.failure();
            found = Some(format!("case {case}: {smallest:?}\n{}", failure.unwrap_or_default()));
            break;
        }
    }
    _ = std::panic::take_hook();
    assert!(found.is_none(), "{}", found.unwrap_or_default());
}
