//! Causes, compared with all executions of random programs: every execution with these orderings fails, and no smaller
//! set of orderings is enough. Repairs in the same way: with the change, every execution ends well.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::{Choice, Ending, Event, ObjectId, Op, ThreadId, Trace};
use raddle_explore::{Dfs, Explain};
use raddle_results::{CauseEvent, Change, Repair, Sufficiency};
use raddle_testkit::{IdentifyingInterpreter, Program, Shape, explore, for_all, scaled};

use super::{checked_on, explanation};

/// Programs with more executions are not enumerated.
const LIMIT: u64 = 3_000;
/// Programs with more orderings are not compared with all sets.
const MAX_PAIRS: usize = 80;

/// An event: thread, kind of operation, and how often the thread did the same before. The programs have no places.
type Name = (ThreadId, u8, u32);
type Pair = (Name, Name);

/// All executions of a program, as a tree.
#[derive(Default)]
struct Tree {
    children: BTreeMap<(u32, u32), (Option<Name>, Tree)>,
    /// How the execution ends, if it ends here.
    end: Option<End>,
}

/// How an execution ends.
#[derive(Copy, Clone, PartialEq, Eq)]
enum End {
    /// Like the one that is explained.
    Same,
    Well,
    Otherwise,
}

/// What a thread does, without its number. The programs have no places.
type Region = (u8, u8);

impl Tree {
    fn add(&mut self, trace: &Trace, end: End) {
        let (names, mut node) = (names(trace), self);
        for (event, name) in trace.events.iter().zip(names) {
            let value = trace_value(event);
            let key = (event.id.thread.0, value);
            node = &mut node.children.entry(key).or_insert_with(|| (Some(name), Tree::default())).1;
        }
        node.end = Some(end);
    }

    /// Returns whether every execution that respects `pairs` fails, and none is held back forever.
    fn suffices(&self, pairs: &[Pair], done: &mut BTreeSet<Name>) -> bool {
        if let Some(end) = self.end {
            return end == End::Same;
        }
        let mut is_held = true;
        for (name, child) in self.children.values() {
            let name = name.expect("every step has a name");
            if pairs.iter().any(|(before, after)| *after == name && !done.contains(before)) {
                continue;
            }
            is_held = false;
            done.insert(name);
            let suffices = child.suffices(pairs, done);
            done.remove(&name);
            if !suffices {
                return false;
            }
        }
        !is_held
    }

    /// Returns whether every execution that respects `pairs`, and in which one thread at a time is in one of `regions`, ends
    /// well, and none is held back forever. Threads have no branches, so that they leave the regions that they enter.
    fn holds(&self, pairs: &[Pair], regions: &[Region], past: &mut Vec<Name>) -> bool {
        let inside = inside(regions, past);
        if let Some(end) = self.end {
            return end == End::Well;
        }
        let is_free = |name: &Name| {
            let comes_first = |pair: &Pair| pair.1 == *name && !past.contains(&pair.0);
            let enters = regions.iter().any(|region| region.0 == name.1);
            let is_locked = inside.iter().any(|thread| *thread != name.0);
            let is_held = pairs.iter().any(comes_first);
            !is_held && (!enters || inside.contains(&name.0) || !is_locked)
        };
        let children = self.children.values();
        let children = children.map(|(name, child)| (name.expect("every step has a name"), child));
        let free: Vec<(Name, &Tree)> = children.filter(|(name, _)| is_free(name)).collect();
        !free.is_empty()
            && free.into_iter().all(|(name, child)| {
                past.push(name);
                let holds = child.holds(pairs, regions, past);
                past.pop();
                holds
            })
    }
}

/// Returns the threads that are in a region.
fn inside(regions: &[Region], past: &[Name]) -> BTreeSet<ThreadId> {
    let mut inside: BTreeMap<ThreadId, Region> = BTreeMap::new();
    for &(thread, kind, _) in past {
        let entered = regions.iter().find(|region| region.0 == kind);
        if let Some(entered) = entered {
            inside.entry(thread).or_insert(*entered);
        }
        if inside.get(&thread).is_some_and(|region| region.1 == kind) {
            inside.remove(&thread);
        }
    }
    inside.into_keys().collect()
}

/// Returns the orderings that a repair adds, and its regions.
fn change(repair: &Repair) -> (Vec<Pair>, Vec<Region>) {
    match &repair.change {
        Change::Turned(pair) => (vec![(name_of(&pair.after), name_of(&pair.before))], Vec::new()),
        Change::Excluded(regions) => {
            let kind = |event: &CauseEvent| event.op.kind();
            let regions = regions.iter().map(|region| (kind(&region.first), kind(&region.last)));
            (Vec::new(), regions.collect())
        }
        other => panic!("no such change is expected under SC: {other:?}"),
    }
}

fn trace_value(event: &Event) -> u32 {
    match event.effect {
        raddle_core::Effect::Value(value) if event.op.is_choose() => value as u32,
        _ => 0,
    }
}

fn names(trace: &Trace) -> Vec<Name> {
    let mut counts: BTreeMap<(ThreadId, u8), u32> = BTreeMap::new();
    let name = |event: &Event| {
        let count = counts.entry((event.id.thread, event.op.kind())).or_default();
        *count += 1;
        (event.id.thread, event.op.kind(), *count - 1)
    };
    trace.events.iter().map(name).collect()
}

fn name_of(event: &CauseEvent) -> Name {
    (event.thread, event.op.kind(), event.nth)
}

/// Returns the orderings of dependent operations on one object that hold in a failing execution.
fn orderings(failing: &Trace, all: &[Trace]) -> Vec<Pair> {
    let own = names(failing);
    let identity = |trace: &Trace, op: Op| match op.object() {
        ObjectId::NONE => None,
        object => Some(trace.objects[object.index()].identity),
    };
    let mut pairs = BTreeSet::new();
    for other in all {
        for (after, after_name) in other.events.iter().zip(names(other)) {
            let end = own.iter().position(|name| *name == after_name).unwrap_or(own.len());
            for (before, before_name) in failing.events.iter().zip(&own).take(end) {
                let is_dependent = before.op.access().conflicts(after.op.access())
                    && identity(failing, before.op).is_some()
                    && identity(failing, before.op) == identity(other, after.op);
                if before_name.0 != after_name.0 && is_dependent && !after.op.is_thread() {
                    pairs.insert((*before_name, after_name));
                }
            }
        }
    }
    pairs.into_iter().collect()
}

/// Returns whether a set of `size` pairs suffices, whatever the first are.
fn any_suffices(tree: &Tree, pairs: &[Pair], chosen: &mut Vec<Pair>, size: usize) -> bool {
    if size == 0 {
        return tree.suffices(chosen, &mut BTreeSet::new());
    }
    (0..pairs.len()).any(|at| {
        chosen.push(pairs[at]);
        let suffices = any_suffices(tree, &pairs[at + 1..], chosen, size - 1);
        chosen.pop();
        suffices
    })
}

fn is_same_ending(one: &Ending, other: &Ending) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// Threads have the same ids in all executions: all are spawned by main, in order.
fn is_flat(trace: &Trace) -> bool {
    let numbers = trace.threads.iter().skip(1).zip(1..);
    let mut numbers = numbers.map(|(info, number)| info.id == ThreadId(number));
    trace.threads.iter().all(|info| info.parent == ThreadId::MAIN) && numbers.all(|is| is)
}

#[test]
fn causes_are_enough_and_least() {
    let shape = Shape { scripts: 3, pieces: 2, kinds_at_once: 3, panics: 10, ..Shape::small() };
    let (mut proved, mut compared, mut sizes) = (0u64, 0u64, BTreeSet::new());
    let mut repaired = [0u64; 2];
    for_all(11, scaled(1_500), &shape, |program: &Program, rng| {
        let report = checked_on(IdentifyingInterpreter, program, rng.bits(), Explain::Quick);
        let Some(failure) = report.failure() else { return Ok(()) };
        let Some(causes) = &explanation(failure).causes else { return Ok(()) };
        let mut all = Vec::new();
        let whole = explore(&mut IdentifyingInterpreter, program, Dfs::default(), LIMIT, |trace| {
            all.push(trace.clone());
        });
        let Sufficiency::Proved { .. } = causes.certificate.sufficient else { return Ok(()) };
        let numbers = |trace: &Trace| {
            let chosen = |choice: &Choice| matches!(choice, Choice::Value(_));
            trace.schedule().iter().any(chosen)
        };
        if whole.is_none() || !all.iter().all(is_flat) || all.iter().any(numbers) {
            return Ok(());
        }
        proved += 1;
        let mut tree = Tree::default();
        for trace in &all {
            let end = match &trace.ending {
                ending if is_same_ending(ending, &failure.trace.ending) => End::Same,
                Ending::Finished => End::Well,
                _ => End::Otherwise,
            };
            tree.add(trace, end);
        }
        let set = causes.orderings.iter();
        let set: Vec<Pair> =
            set.map(|pair| (name_of(&pair.before), name_of(&pair.after))).collect();
        sizes.insert(set.len());
        if !tree.suffices(&set, &mut BTreeSet::new()) {
            return Err(format!("not enough: {set:?}"));
        }
        // Orders of locks are applied to programs elsewhere: `crates/programs/tests/all/lock_orders.rs`.
        let is_in_tree = |repair: &&Repair| !matches!(repair.change, Change::LockOrder { .. });
        for repair in explanation(failure).repairs.iter().filter(is_in_tree) {
            let (pairs, regions) = change(repair);
            repaired[usize::from(pairs.is_empty())] += 1;
            if !tree.holds(&pairs, &regions, &mut Vec::new()) {
                return Err(format!("does not repair: {:?}", repair.change));
            }
        }
        let pairs = orderings(&failure.trace, &all);
        if pairs.len() > MAX_PAIRS || set.len() > 3 {
            return Ok(());
        }
        compared += 1;
        for size in 0..set.len() {
            if any_suffices(&tree, &pairs, &mut Vec::new(), size) {
                return Err(format!("{size} of {} are enough, but {set:?}", pairs.len()));
            }
        }
        Ok(())
    });
    assert!(proved > scaled(100) && compared > scaled(80), "{proved} {compared}");
    // Without places, hardly any program has regions. Those are tried on programs with a lock and without.
    assert!(repaired[0] > scaled(15), "{repaired:?}");
    assert!(sizes.len() >= 3, "{sizes:?}");
}
