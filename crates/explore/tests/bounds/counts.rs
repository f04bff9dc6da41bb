//! Runs on programs small enough to be counted by hand, and deepening.

use raddle_core::{Action, AtomicOp, CellOp, Ending, MutexOp, Order, PauseOp, Rmw, Scalar};
use raddle_engine::{Engine, Family, Initial, Sc, Substrate};
use raddle_explore::{
    Bound, BoundedDfs, Bpor, Deepening, Dfs, DporClassic, Explorer, Limit, Reduction,
};
use raddle_testkit::{Interpreter, Program, Shape, Step, explore, for_all, scaled};

use crate::bpor::reached;

/// So many threads, each with these steps so many times.
fn same(threads: usize, times: usize, object: Initial, steps: &[Step]) -> Program {
    let mut scripts = vec![(1..=threads).map(Step::Spawn).collect::<Vec<_>>()];
    scripts.extend(vec![steps.repeat(times); threads]);
    Program { objects: vec![object], scripts }
}

fn adds(threads: usize, times: usize) -> Program {
    let (order, scalar, function) = (Order::SeqCst, Scalar::U8, Rmw::Add);
    let add = AtomicOp::Update { order, scalar, function, operand: 1 };
    let step = Step::On(0, Action::Atomic(add));
    same(threads, times, Initial::Atomic(scalar, 0), &[step])
}

fn locks(threads: usize, times: usize) -> Program {
    let on = |op| Step::On(0, Action::Mutex(op));
    same(threads, times, Initial::Mutex, &[on(MutexOp::Lock), on(MutexOp::Unlock)])
}

fn runs(program: &Program, explorer: impl Explorer) -> u64 {
    explore(&mut Interpreter, program, explorer, u64::MAX, |_| {}).expect("there is no limit")
}

#[test]
fn runs_on_programs_that_can_be_counted() {
    let programs = [
        ("add 2x2", adds(2, 2)),
        ("add 3x2", adds(3, 2)),
        ("mutex 2x2", locks(2, 2)),
        ("mutex 3x2", locks(3, 2)),
    ];
    for (name, program) in programs {
        let mut line = String::new();
        for bound in 0..4 {
            let bounded = runs(&program, BoundedDfs::new(Limit::Preemptions(bound)));
            let mut bpor = Bpor::new(Bound::preemptions(bound), Reduction::Optimised);
            let classes = reached(&program, &mut bpor).len();
            let plain = runs(&program, Bpor::new(Bound::preemptions(bound), Reduction::Plain));
            let counts = bpor.counts();
            line += &format!(
                " {bound}: {bounded} dfs {} ({}) bpor {plain} plain {classes} classes;",
                counts.runs, counts.blocked
            );
        }
        let mut classic = DporClassic::new(Reduction::Optimised);
        let classes = reached(&program, &mut classic).len();
        let plain = runs(&program, DporClassic::new(Reduction::Plain));
        println!(
            "{name}:{line} classic {} ({}), {plain} plain, {classes} classes",
            classic.counts().runs,
            classic.counts().blocked
        );
    }
}
