//! All fair executions of a program with loops, by its state graph.

use std::collections::{BTreeMap, BTreeSet};

use super::{Outcome, World};
use crate::Program;

/// The fair executions of a program. An execution is fair if no thread that could always go on is left behind.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fair {
    /// The final states of executions that end without a panic, each with whether it is a deadlock.
    pub ends: BTreeSet<(String, bool)>,
    /// Whether a thread panics in some execution.
    pub panics: bool,
    /// Whether a fair execution does not end.
    pub is_endless: bool,
    /// Whether a fair execution does not end, and cannot be made to end by other choices from some state on.
    pub is_stuck: bool,
}

/// A state and its successors, each with the thread that steps.
struct State {
    next: Vec<(usize, usize)>,
    enabled: BTreeSet<usize>,
    threads: usize,
}

/// Returns the fair executions of `program`, or `None` if it has more than `limit` states.
pub fn fair(program: &Program, limit: usize) -> Option<Fair> {
    let mut found = Fair::default();
    let first = World::new(program);
    let mut places = BTreeMap::from([(first.state(), 0)]);
    let (mut worlds, mut states) = (vec![first], Vec::new());
    while let Some(world) = worlds.get(states.len()).cloned() {
        found.panics |= world.has_panicked();
        let options = world.options();
        if options.is_empty() && !world.has_panicked() {
            found.ends.insert((world.state(), world.outcome() == Outcome::Deadlock));
        }
        let mut next = Vec::new();
        for &(thread, value) in &options {
            let mut after = world.clone();
            after.step(thread, value);
            let place = *places.entry(after.state()).or_insert_with(|| {
                worlds.push(after.clone());
                worlds.len() - 1
            });
            next.push((thread, place));
        }
        let enabled = options.iter().map(|option| option.0).collect();
        states.push(State { next, enabled, threads: world.thread_count() });
        if worlds.len() > limit {
            return None;
        }
    }
    let can_end = reaching_an_end(&states);
    for component in components(&states) {
        let inside: BTreeSet<usize> = component.iter().copied().collect();
        let steps = |&state: &usize| {
            let next = states[state].next.iter();
            next.filter(|(_, to)| inside.contains(to)).map(|&(thread, _)| thread)
        };
        let moved: BTreeSet<usize> = component.iter().flat_map(|state| steps(state)).collect();
        let is_left_behind = |thread: usize| {
            !moved.contains(&thread)
                && component.iter().all(|&state| states[state].enabled.contains(&thread))
        };
        let threads = states[component[0]].threads;
        if !moved.is_empty() && !(0..threads).any(is_left_behind) {
            found.is_endless = true;
            found.is_stuck |= !component.iter().any(|state| can_end.contains(state));
        }
    }
    Some(found)
}

/// Returns the states from which some execution ends.
fn reaching_an_end(states: &[State]) -> BTreeSet<usize> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); states.len()];
    for (place, state) in states.iter().enumerate() {
        state.next.iter().for_each(|&(_, to)| before[to].push(place));
    }
    let mut reached = BTreeSet::new();
    let mut left: Vec<usize> =
        (0..states.len()).filter(|&place| states[place].next.is_empty()).collect();
    while let Some(place) = left.pop() {
        if reached.insert(place) {
            left.extend(&before[place]);
        }
    }
    reached
}

/// Returns the strongly connected components (Kosaraju).
fn components(states: &[State]) -> Vec<Vec<usize>> {
    let mut order = Vec::new();
    let mut seen = vec![false; states.len()];
    for root in 0..states.len() {
        let mut path = vec![(root, 0)];
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        while let Some((place, next)) = path.last_mut() {
            match states[*place].next.get(*next) {
                Some(&(_, to)) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[to], true) {
                        path.push((to, 0));
                    }
                }
                None => {
                    order.push(*place);
                    path.pop();
                }
            }
        }
    }
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); states.len()];
    for (place, state) in states.iter().enumerate() {
        state.next.iter().for_each(|&(_, to)| before[to].push(place));
    }
    let mut found = Vec::new();
    let mut taken = vec![false; states.len()];
    for &root in order.iter().rev() {
        let (mut component, mut left) = (Vec::new(), vec![root]);
        while let Some(place) = left.pop() {
            if !std::mem::replace(&mut taken[place], true) {
                component.push(place);
                left.extend(&before[place]);
            }
        }
        if !component.is_empty() {
            found.push(component);
        }
    }
    found
}
