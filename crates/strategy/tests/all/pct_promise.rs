//! PCT with all of §4.2 keeps its promise: by enumeration of all draws on small programs, with
//! threads that wait, and by sampling the bugs of Figs 1 to 5.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::{Event, ThreadId, ThreadInfo, Trace};
use raddle_strategy::{Pct, Sampler, mix};
use raddle_testkit::scaled;
use raddle_testkit::statistics::plausible;

use super::bare::{Bare, Do, Steps, run};

const DEPTH: usize = 3;

/// Where a program is.
#[derive(Clone)]
struct State<'a> {
    program: &'a Bare,
    done: Vec<usize>,
    tokens: [i32; 16],
}

impl State<'_> {
    fn new(program: &Bare) -> State<'_> {
        State { program, done: vec![0; program.len()], tokens: [0; 16] }
    }

    fn enabled(&self) -> Vec<usize> {
        let can = |thread: &usize| match self.program[*thread].get(self.done[*thread]) {
            None => false,
            Some(Do::Wait(object)) => self.tokens[*object as usize] > 0,
            Some(_) => true,
        };
        (0..self.program.len()).filter(can).collect()
    }

    fn step(&mut self, thread: usize) {
        match self.program[thread][self.done[thread]] {
            Do::Signal(object) => self.tokens[object as usize] += 1,
            Do::Wait(object) => self.tokens[object as usize] -= 1,
            Do::Read(_) | Do::Write(_) | Do::Yield => {}
        }
        self.done[thread] += 1;
    }

    fn has_ended(&self, thread: usize) -> bool {
        self.done[thread] == self.program[thread].len()
    }
}

/// The schedule that follows from priorities and change points, and how many steps were counted: the
/// start of a thread, when it is first chosen, and all steps it takes before anybody looks who else
/// can go on. One that was alone only has its last step counted. The last does not count if the
/// thread goes on alone.
fn schedule(program: &Bare, priorities: &[usize], points: &[usize]) -> (Steps, usize) {
    let mut state = State::new(program);
    let mut priorities = priorities.to_vec();
    let mut begun = vec![false; program.len()];
    let (mut order, mut counted) = (Vec::new(), 0);
    let lower = |thread: usize, counted: usize, priorities: &mut Vec<usize>| {
        for (index, &point) in points.iter().enumerate() {
            if counted == point {
                priorities[thread] = DEPTH - 1 - index;
            }
        }
    };
    loop {
        let enabled = state.enabled();
        let Some(&thread) = enabled.iter().max_by_key(|&&thread| priorities[thread]) else {
            return (order, counted);
        };
        let was_alone = enabled.len() == 1;
        if !std::mem::replace(&mut begun[thread], true) && !was_alone {
            counted += 1;
            lower(thread, counted, &mut priorities);
            continue;
        }
        let mut unseen = 0;
        let goes_on_alone = loop {
            state.step(thread);
            order.push(thread);
            unseen += 1;
            let enabled = state.enabled();
            let goes_before = |other: &usize| {
                *other != thread && (was_alone || priorities[*other] > priorities[thread])
            };
            let is_due = !was_alone && points.contains(&(counted + unseen));
            if !enabled.contains(&thread) || enabled.iter().any(goes_before) || is_due {
                // The driver of these tests has no exits: that a thread has ended goes unseen.
                break enabled.is_empty() || enabled == [thread];
            }
        };
        let counts = if was_alone { 1 } else { unseen };
        counted += counts - usize::from(goes_on_alone);
        if !goes_on_alone {
            lower(thread, counted, &mut priorities);
        }
    }
}

/// How many of all draws lead to each schedule, how many draws there are, and the most steps counted.
fn enumerate(program: &Bare, steps: usize) -> (BTreeMap<Steps, u64>, u64, usize) {
    let mut counts = BTreeMap::new();
    let (mut draws, mut most) = (0, 0);
    for permutation in permutations(program.len()) {
        let priorities: Vec<usize> = permutation.iter().map(|place| DEPTH + place).collect();
        for points in tuples(steps, DEPTH - 1) {
            let points: Vec<usize> = points.iter().map(|point| point + 1).collect();
            let (order, counted) = schedule(program, &priorities, &points);
            *counts.entry(order).or_insert(0) += 1;
            draws += 1;
            most = most.max(counted);
        }
    }
    (counts, draws, most)
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    let all = tuples(count, count).into_iter();
    all.filter(|tuple| tuple.iter().collect::<BTreeSet<_>>().len() == count).collect()
}

/// All tuples of `length` numbers below `bound`.
fn tuples(bound: usize, length: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..length {
        let longer = |tuple: &Vec<usize>, last| [&tuple[..], &[last]].concat();
        all =
            all.iter().flat_map(|tuple| (0..bound).map(move |last| longer(tuple, last))).collect();
    }
    all
}

/// All orders in which the threads can run.
fn interleavings(state: State<'_>, order: &mut Steps, all: &mut Vec<Steps>) {
    let enabled = state.enabled();
    if enabled.is_empty() {
        assert!((0..state.program.len()).all(|thread| state.has_ended(thread)), "a deadlock");
        all.push(order.clone());
    }
    for thread in enabled {
        let mut next = state.clone();
        next.step(thread);
        order.push(thread);
        interleavings(next, order, all);
        order.pop();
    }
}

/// A step: a thread and its how-many-eth.
type Place = (usize, usize);

/// Counts the directives b₁ < b₂ < b₃ with aᵢ < bᵢ, each a bug of depth at most 3, that can happen at
/// all: how many there are, and how many are hit with less than the promised probability.
fn broken_promises(
    orders: &[Steps],
    counts: &BTreeMap<Steps, u64>,
    draws: u64,
    promise: u64,
) -> (u64, u64) {
    let mut places: Vec<Place> = Vec::new();
    let positions: Vec<(u64, BTreeMap<Place, usize>)> = orders
        .iter()
        .map(|order| {
            let mut position = BTreeMap::new();
            for (at, &thread) in order.iter().enumerate() {
                let done = order[..at].iter().filter(|&&other| other == thread).count();
                position.insert((thread, done), at);
            }
            places = position.keys().copied().collect();
            (counts.get(order).copied().unwrap_or(0), position)
        })
        .collect();
    let (mut bugs, mut below) = (0, 0);
    for targets in permutations_of(&places) {
        let ordered: Vec<_> = positions
            .iter()
            .filter(|(_, at)| {
                at[&targets[0]] < at[&targets[1]] && at[&targets[1]] < at[&targets[2]]
            })
            .collect();
        for sources in tuples(places.len(), DEPTH) {
            let hit = |at: &BTreeMap<Place, usize>| {
                (0..DEPTH).all(|i| at[&places[sources[i]]] < at[&targets[i]])
            };
            let hits: Vec<u64> =
                ordered.iter().filter(|(_, at)| hit(at)).map(|(weight, _)| *weight).collect();
            if !hits.is_empty() {
                bugs += 1;
                // hits/draws against 1/(n·k^(d−1)), in whole numbers.
                below += u64::from(hits.iter().sum::<u64>() * promise < draws);
            }
        }
    }
    (bugs, below)
}

/// All triples of different places.
fn permutations_of(places: &[Place]) -> Vec<[Place; DEPTH]> {
    tuples(places.len(), DEPTH)
        .iter()
        .filter(|t| t[0] != t[1] && t[0] != t[2] && t[1] != t[2])
        .map(|t| [places[t[0]], places[t[1]], places[t[2]]])
        .collect()
}

fn programs() -> Vec<Bare> {
    let w = Do::Write(0);
    let (give, take) = (Do::Signal(5), Do::Wait(5));
    let (give2, take2) = (Do::Signal(6), Do::Wait(6));
    vec![
        vec![vec![w; 3], vec![w; 3]],
        vec![vec![w; 2], vec![w; 2], vec![w; 2]],
        vec![vec![w; 1], vec![w; 2], vec![w; 3]],
        // One waits for the other, half-way.
        vec![vec![w, give, w], vec![w, take, w]],
        // Each waits for the other once: nobody goes on alone for long.
        vec![vec![w, give, take2], vec![w, take, give2]],
        // One thread runs alone in the middle.
        vec![vec![take, w, w], vec![w, give], vec![w]],
        vec![vec![take, w], vec![take2, w], vec![w, give, give2]],
    ]
}

#[test]
fn every_bug_of_depth_three_is_hit_as_promised() {
    if cfg!(miri) {
        return;
    }
    let runs = scaled(20_000);
    for program in programs() {
        let all = program.iter().map(Vec::len).sum::<usize>() + program.len();
        let (_, _, steps) = enumerate(&program, all);
        assert!(steps < all, "{steps}");
        let (counts, draws, most) = enumerate(&program, steps);
        assert_eq!(most, steps);
        let mut orders = Vec::new();
        interleavings(State::new(&program), &mut Vec::new(), &mut orders);
        let promise = (program.len() * steps.pow(DEPTH as u32 - 1)) as u64;
        let (bugs, below) = broken_promises(&orders, &counts, draws, promise);
        println!("{program:?}: k = {steps} of {all}, {bugs} bugs");
        assert!(bugs > 0 && below == 0, "{program:?}: {below} of {bugs} bugs below the bound");

        let likely = |order: &Steps| counts.get(order).copied().unwrap_or(0) as f64 / draws as f64;
        let probabilities: Vec<f64> = orders.iter().map(likely).collect();
        let mut chooser = Pct::with_steps(DEPTH as u32, steps);
        let mut seen: BTreeMap<Steps, u64> = BTreeMap::new();
        let mut past = Vec::new();
        for number in 0..runs {
            chooser.begin(mix(12, number));
            *seen.entry(run(&program, &mut chooser, &mut past)).or_default() += 1;
        }
        let seen: Vec<u64> =
            orders.iter().map(|order| seen.get(order).copied().unwrap_or(0)).collect();
        assert_eq!(seen.iter().sum::<u64>(), runs);
        if let Err(error) = plausible(&seen, &probabilities) {
            panic!("{program:?}: {error}");
        }
    }
}

/// Where step `index` of `thread` stands in a run.
fn at(past: &[Event], thread: u32, index: u32) -> usize {
    let is_it = |event: &Event| event.id.thread == ThreadId(thread) && event.id.index == index;
    past.iter().position(is_it).expect("every step is taken")
}

/// Demands that `bug` is hit by runs with this depth as often as promised, and tells what remains.
fn hit(name: &str, depth: u32, program: &Bare, bug: impl Fn(&[Event]) -> bool) {
    let mut chooser = Pct::new(depth);
    let mut past = Vec::new();
    let runs = scaled(10_000);
    let (mut hits, mut before) = (0u64, 0u64);
    for number in 0..runs + 200 {
        chooser.begin(mix(21, number));
        run(program, &mut chooser, &mut past);
        let thread = |id| ThreadInfo { id: ThreadId(id), parent: ThreadId::MAIN, position: id };
        chooser.learn(&Trace {
            events: past.clone(),
            threads: (0..program.len() as u32).map(thread).collect(),
            ..Trace::default()
        });
        if number == 199 {
            before = chooser.guarantees()[0].runs;
        }
        hits += u64::from(number >= 200 && bug(&past));
    }
    let guarantee = &chooser.guarantees()[0];
    // n and k were learnt in the first runs.
    assert_eq!(guarantee.runs - before, runs, "{name}");
    let (n, k) = (f64::from(guarantee.threads), guarantee.steps as f64);
    let bound = 1.0 / (n * k.powi(depth as i32 - 1));
    let expected = bound * runs as f64;
    println!("{name}: {hits} of {runs} hit, {expected:.0} promised (n = {n}, k = {k})");
    // One-sided at 99.9 %.
    assert!(hits as f64 >= expected - 3.09 * expected.sqrt(), "{name}: {hits} < {expected}");
    let escape = (1.0 - bound).powi(guarantee.runs as i32);
    assert!((guarantee.escape - escape).abs() <= 1e-6 * escape, "{} {escape}", guarantee.escape);
}

#[test]
fn the_bugs_of_the_figures_are_hit_as_promised() {
    if cfg!(miri) {
        return;
    }
    let (t, e, init, a, b) = (0, 5, 1, 2, 3);
    let other = |steps| vec![Do::Write(9); steps];
    // Fig. 1(a): t is used before it is set.
    let order = vec![
        [other(5), vec![Do::Write(t)]].concat(),
        [other(2), vec![Do::Read(t)], other(5)].concat(),
    ];
    hit("fig. 1(a)", 1, &order, |past| at(past, 1, 2) < at(past, 0, 5));
    // Fig. 1(b): t is tested, set to null by the other, then used.
    let atomicity = vec![
        [other(3), vec![Do::Write(t)], other(3)].concat(),
        [other(3), vec![Do::Read(t), Do::Read(t)]].concat(),
    ];
    hit("fig. 1(b)", 2, &atomicity, |past| {
        at(past, 1, 3) < at(past, 0, 3) && at(past, 0, 3) < at(past, 1, 4)
    });
    // Fig. 1(c): each takes its first lock before the other does.
    let locks = vec![
        [other(2), vec![Do::Write(a), Do::Write(b)]].concat(),
        vec![Do::Write(b), Do::Write(a)],
    ];
    hit("fig. 1(c)", 2, &locks, |past| {
        at(past, 0, 2) < at(past, 1, 1) && at(past, 1, 0) < at(past, 0, 3)
    });
    // Fig. 2: the mutex is unlocked after it was freed and before the end of main.
    let unlock = vec![
        [other(2), vec![Do::Write(a), Do::Write(b)]].concat(),
        [other(2), vec![Do::Write(a)]].concat(),
    ];
    hit("fig. 2", 2, &unlock, |past| {
        at(past, 0, 2) < at(past, 1, 2) && at(past, 1, 2) < at(past, 0, 3)
    });
    // Fig. 3: as 1(a), right after the event that the other waits for was set.
    let event = vec![
        [other(3), vec![Do::Signal(e), Do::Write(t)]].concat(),
        [vec![Do::Wait(e), Do::Read(t)], other(2)].concat(),
    ];
    hit("fig. 3", 1, &event, |past| at(past, 1, 1) < at(past, 0, 4));
    // Fig. 4: init is set before t, and the other looks at init first.
    let guarded = vec![
        [other(2), vec![Do::Write(init), Do::Write(t)]].concat(),
        [other(1), vec![Do::Read(init), Do::Read(t)]].concat(),
    ];
    hit("fig. 4", 2, &guarded, |past| {
        at(past, 0, 2) < at(past, 1, 1) && at(past, 1, 2) < at(past, 0, 3)
    });
    // Fig. 5: one thread gets to its end before the other has begun, either way.
    let long = vec![other(12), other(12)];
    hit("fig. 5, black", 1, &long, |past| at(past, 0, 11) < at(past, 1, 0));
    hit("fig. 5, grey", 1, &long, |past| at(past, 1, 11) < at(past, 0, 0));
}
