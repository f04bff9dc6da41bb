//! Loops that wait under RC11 against the axioms, with the loops unrolled.
//!
//! A search leaves idle rounds out. The axioms know no loops: they get programs in which each loop goes round a given
//! number of times, and no more. What the threads read last must be the same, and threads must wait forever in the search
//! if and only if the axioms have an execution in which they read the newest values and these do not let them go on.

use std::collections::BTreeSet;

use raddle_core::{Ending, StopReason};
use raddle_engine::Rc11;
use raddle_explore::{Dfs, Explorer, Graphs, Trust};
use raddle_strategy::{Rng, mix};
use raddle_testkit::litmus::run::Litmus;
use raddle_testkit::litmus::{Code, Instruction, Outcome, Place, axioms, random_code, shrink_code};
use raddle_testkit::{explore_in, scaled};

use crate::trust::{add_waits, last_reads};

/// The rounds that a loop of the axioms goes at most before it reads what it waits for.
const ROUNDS: usize = 2;
/// The most runs of a search. Programs with more are skipped.
const MAX_RUNS: u64 = 3_000;

/// What executions of a program show.
#[derive(PartialEq, Eq, Debug, Default)]
struct Shown {
    /// What the threads read last at each place, if they all end.
    reads: BTreeSet<Vec<u64>>,
    /// Whether threads may wait forever.
    waits: bool,
}

/// Returns what a search shows, or `None` if it has too many runs.
fn searched(code: &Code, explorer: impl Explorer) -> Option<Shown> {
    let mut shown = Shown::default();
    explore_in(Rc11::default(), &mut Litmus, code, explorer, MAX_RUNS, |trace| {
        let is_waiting = |stopped: &raddle_core::Stopped| {
            matches!(stopped.why, StopReason::IdleRound { is_current: true, .. })
        };
        match trace.ending {
            Ending::Finished if trace.stopped.is_empty() => {
                shown.reads.insert(last_reads(code, trace));
            }
            Ending::Deadlock => {
                assert!(trace.stopped.iter().all(is_waiting), "{trace:#?}");
                shown.waits = true;
            }
            Ending::Abandoned | Ending::Stopped => {}
            _ => panic!("{trace:#?}"),
        }
    })?;
    Some(shown)
}

/// An operation of an unrolled program, and what it has to read.
#[derive(Copy, Clone)]
struct Unrolled {
    instruction: Instruction,
    must: Must,
}

#[derive(Copy, Clone, PartialEq)]
enum Must {
    /// Reads what it likes, if it reads. This is the last time at its place.
    Be,
    Read(u64),
    NotRead(u64),
    /// The newest value, which is another than this one.
    Wait(u64),
}

/// Returns every way to unroll a thread: with up to `rounds` idle rounds in each loop, and if `may_wait`, also those that
/// stay in one of the loops.
fn ways(thread: &[Instruction], rounds: usize, may_wait: bool) -> Vec<Vec<Unrolled>> {
    let Some((&instruction, rest)) = thread.split_first() else { return vec![Vec::new()] };
    let awaited = match rest.first() {
        Some(&Instruction::Await(value)) => value,
        _ => {
            let first = Unrolled { instruction, must: Must::Be };
            let after = ways(rest, rounds, may_wait).into_iter();
            return after.map(|after| [vec![first], after].concat()).collect();
        }
    };
    let step = |must| Unrolled { instruction, must };
    let mut all = Vec::new();
    for idle in 0..=rounds {
        for after in ways(&rest[1..], rounds, may_wait) {
            let mut way = vec![step(Must::NotRead(awaited)); idle];
            way.push(step(Must::Read(awaited)));
            all.push([way, after].concat());
        }
    }
    if may_wait {
        all.push(vec![step(Must::Wait(awaited))]);
    }
    all
}

/// Returns the outcomes in which the operations of unrolled threads read what they have to, and whether one does not go
/// on.
fn consistent(threads: &[Vec<Unrolled>]) -> Vec<Vec<u64>> {
    let instructions =
        threads.iter().map(|thread| thread.iter().map(|step| step.instruction).collect());
    let code = Code { threads: instructions.collect() };
    let variables = code.variables();
    let steps = threads.iter().enumerate().flat_map(|(thread, steps)| {
        steps.iter().enumerate().map(move |(at, step)| ((thread, at), step))
    });
    let reads: Vec<(Place, &Unrolled)> =
        steps.filter(|(_, step)| step.instruction.reads()).collect();
    let mut all = Vec::new();
    for (graph, Outcome { read, .. }) in axioms::consistent(&code) {
        let values = read.iter().map(|value| value.expect("no thread ends early"));
        let is_newest = |place: &Place, step: &Unrolled| {
            let variable =
                variables.iter().position(|&name| Some(name) == step.instruction.variable());
            graph.reads[place].as_ref() == graph.orders[variable.expect("it reads")].last()
        };
        let is_right =
            reads.iter().zip(values.clone()).all(|((place, step), value)| match step.must {
                Must::Be => true,
                Must::Read(wanted) => value == wanted,
                Must::NotRead(wanted) => value != wanted,
                Must::Wait(wanted) => value != wanted && is_newest(place, step),
            });
        if is_right {
            let last = reads.iter().zip(values);
            let is_last = |step: &Unrolled| matches!(step.must, Must::Be | Must::Read(_));
            all.push(last.filter(|((_, step), _)| is_last(step)).map(|(_, value)| value).collect());
        }
    }
    all
}

/// Returns what the axioms allow.
fn allowed(code: &Code) -> Shown {
    let mut shown = Shown::default();
    for threads in products(code, ROUNDS, false) {
        shown.reads.extend(consistent(&threads));
    }
    // To wait forever, idle rounds before are no help: one is enough to see that.
    let is_waiting = |thread: &Vec<Unrolled>| {
        thread.last().is_some_and(|last| matches!(last.must, Must::Wait(_)))
    };
    shown.waits = products(code, 1, true)
        .iter()
        .any(|threads| threads.iter().any(is_waiting) && !consistent(threads).is_empty());
    shown
}

fn products(code: &Code, rounds: usize, may_wait: bool) -> Vec<Vec<Vec<Unrolled>>> {
    let mut all: Vec<Vec<Vec<Unrolled>>> = vec![Vec::new()];
    for thread in &code.threads {
        let ways = ways(thread, rounds, may_wait);
        let longer = all.iter().flat_map(|before| {
            ways.iter().map(move |way| [before.clone(), vec![way.clone()]].concat())
        });
        all = longer.collect();
    }
    all
}

/// Describes how a search differs from the axioms. Returns `None` if it does not.
fn difference(code: &Code) -> Option<String> {
    let allowed = allowed(code);
    let searches = [
        ("trust", searched(code, Trust::default())),
        ("graphs", searched(code, Graphs::default())),
        ("dfs", searched(code, Dfs::default())),
    ];
    let mut found = searches.into_iter().filter_map(|(name, found)| Some((name, found?)));
    let (name, found) = found.find(|(_, found)| *found != allowed)?;
    Some(format!("{code}, {name}: {found:?}, but the axioms allow {allowed:?}"))
}

fn waits(code: &Code) -> usize {
    let all = code.threads.iter().flatten();
    all.filter(|instruction| matches!(instruction, Instruction::Await(_))).count()
}

#[test]
fn searches_of_loops_show_what_the_axioms_allow_of_unrolled_ones() {
    let (mut programs, mut stuck, mut ending) = (0, 0, 0);
    for case in 0..scaled(200) {
        let mut rng = Rng::new(mix(10, case));
        let code = random_code(&mut rng, 6, 40);
        let code = add_waits(code, &mut rng);
        if !(1..=2).contains(&waits(&code)) {
            continue;
        }
        programs += 1;
        if let Some(text) = difference(&code) {
            let smallest = shrink_code(code, |code| {
                let first = |thread: &Vec<Instruction>| thread.first().copied();
                let begins = code.threads.iter().filter_map(first);
                // An `Await` comes after a read.
                begins.clone().all(Instruction::is_operation)
                    && is_sound(code)
                    && difference(code).is_some()
            });
            panic!("case {case}: {text}\nsmallest: {}", difference(&smallest).unwrap_or_default());
        }
        let allowed = allowed(&code);
        stuck += u64::from(allowed.waits);
        ending += u64::from(!allowed.reads.is_empty());
    }
    println!("{programs} programs: {stuck} may wait forever, {ending} may end");
    assert!(programs * 5 > scaled(200), "too few loops");
    assert!(stuck * 3 > programs && ending * 3 > programs, "too uniform");
}

/// Returns whether every loop reads.
fn is_sound(code: &Code) -> bool {
    code.threads.iter().all(|thread| {
        thread.windows(2).all(|pair| !matches!(pair[1], Instruction::Await(_)) || pair[0].reads())
    })
}
