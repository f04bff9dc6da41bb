//! The guarantee of PCT with all of §4.2. Checked by enumeration of all draws on small programs with blocking threads,
//! and by sampling the bugs of Figs. 1 to 5.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::{Event, ThreadId, ThreadInfo, Trace};
use raddle_strategy::{Pct, Sampler, mix};
use raddle_testkit::scaled;
use raddle_testkit::statistics::plausible;

use super::bare::{Bare, Do, Steps, run};

const DEPTH: usize = 3;

/// The state of a program.
#[derive(Clone)]
struct State<'a> {
    program: &'a Bare,
    /// By thread, the number of its steps so far.
    done: Vec<usize>,
    tokens: [i32; 16],
}

impl State<'_> {
    fn new(program: &Bare) -> State<'_> {
        State { program, done: vec![0; program.len()], tokens: [0; 16] }
    }

    fn enabled(&self) -> Vec<usize> {
        let is_enabled = |thread: &usize| match self.program[*thread].get(self.done[*thread]) {
            None => false,
            Some(Do::Wait(object)) => self.tokens[*object as usize] > 0,
            Some(_) => true,
        };
        (0..self.program.len()).filter(is_enabled).collect()
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

/// Returns the schedule for the given priorities and change points, and the number of counted steps. Counted are the
/// start of a thread, when it is first chosen, and its steps until the chooser is asked again. Of a thread that was
/// the only enabled one, only the last of these steps counts. The last step does not count if the thread continues as
/// the only enabled one.
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
        let continues_alone = loop {
            state.step(thread);
            order.push(thread);
            unseen += 1;
            let enabled = state.enabled();
            let is_preferred = |other: &usize| {
                *other != thread && (was_alone || priorities[*other] > priorities[thread])
            };
            let is_due = !was_alone && points.contains(&(counted + unseen));
            if !enabled.contains(&thread) || enabled.iter().any(is_preferred) || is_due {
                // Programs have no exits here, so the end of a thread is not a step.
                break enabled.is_empty() || enabled == [thread];
            }
        };
        let counts = if was_alone { 1 } else { unseen };
        counted += counts - usize::from(continues_alone);
        if !continues_alone {
            lower(thread, counted, &mut priorities);
        }
    }
}

/// Returns the number of draws that lead to each schedule, the number of all draws, and the maximal number of counted
/// steps.
fn enumerate(program: &Bare, steps: usize) -> (BTreeMap<Steps, u64>, u64, usize) {
    let mut counts = BTreeMap::new();
    let (mut draws, mut max) = (0, 0);
    for permutation in permutations(program.len()) {
        let priorities: Vec<usize> = permutation.iter().map(|place| DEPTH + place).collect();
        for points in tuples(steps, DEPTH - 1) {
            let points: Vec<usize> = points.iter().map(|point| point + 1).collect();
            let (order, counted) = schedule(program, &priorities, &points);
            *counts.entry(order).or_insert(0) += 1;
            draws += 1;
            max = max.max(counted);
        }
    }
    (counts, draws, max)
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    let all = tuples(count, count).into_iter();
    all.filter(|tuple| tuple.iter().collect::<BTreeSet<_>>().len() == count).collect()
}

/// Returns all tuples of `length` numbers below `bound`.
fn tuples(bound: usize, length: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..length {
        let longer = |tuple: &Vec<usize>, last| [&tuple[..], &[last]].concat();
        all =
            all.iter().flat_map(|tuple| (0..bound).map(move |last| longer(tuple, last))).collect();
    }
    all
}

/// Adds all interleavings of the threads from `state` to `all`.
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

/// A step: a thread, and its position in the thread.
type Place = (usize, usize);

/// Considers all satisfiable directives b₁ < b₂ < b₃ with aᵢ < bᵢ, each a bug of depth at most 3. Returns how many
/// there are, and how many are hit with less than the guaranteed probability.
fn violations(
    orders: &[Steps],
    counts: &BTreeMap<Steps, u64>,
    draws: u64,
    inverse_bound: u64,
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
                // Compares hits/draws with 1/(n·k^(d−1)), in integers.
                below += u64::from(hits.iter().sum::<u64>() * inverse_bound < draws);
            }
        }
    }
    (bugs, below)
}

/// Returns all triples of distinct places.
fn permutations_of(places: &[Place]) -> Vec<[Place; DEPTH]> {
    tuples(places.len(), DEPTH)
        .iter()
        .filter(|t| t[0] != t[1] && t[0] != t[2] && t[1] != t[2])
        .map(|t| [places[t[0]], places[t[1]], places[t[2]]])
        .collect()
}

fn programs() -> Vec<Bare> {
    let w = Do::Write(0);
    let (signal, wait) = (Do::Signal(5), Do::Wait(5));
    let (signal2, wait2) = (Do::Signal(6), Do::Wait(6));
    vec![
        vec![vec![w; 3], vec![w; 3]],
        vec![vec![w; 2], vec![w; 2], vec![w; 2]],
        vec![vec![w; 1], vec![w; 2], vec![w; 3]],
        // One thread waits for the other in the middle.
        vec![vec![w, signal, w], vec![w, wait, w]],
        // Each thread waits for the other once.
        vec![vec![w, signal, wait2], vec![w, wait, signal2]],
        // One thread is the only enabled one in the middle.
        vec![vec![wait, w, w], vec![w, signal], vec![w]],
        vec![vec![wait, w], vec![wait2, w], vec![w, signal, signal2]],
    ]
}

#[test]
fn every_bug_of_depth_three_is_hit_with_the_guaranteed_probability() {
    if cfg!(miri) {
        return;
    }
    let runs = scaled(20_000);
    for program in programs() {
        let all = program.iter().map(Vec::len).sum::<usize>() + program.len();
        let (_, _, steps) = enumerate(&program, all);
        assert!(steps < all, "{steps}");
        let (counts, draws, max) = enumerate(&program, steps);
        assert_eq!(max, steps);
        let mut orders = Vec::new();
        interleavings(State::new(&program), &mut Vec::new(), &mut orders);
        let inverse_bound = (program.len() * steps.pow(DEPTH as u32 - 1)) as u64;
        let (bugs, below) = violations(&orders, &counts, draws, inverse_bound);
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

/// Returns the position of step `index` of `thread` in a run.
fn at(past: &[Event], thread: u32, index: u32) -> usize {
    let is_it = |event: &Event| event.id.thread == ThreadId(thread) && event.id.index == index;
    past.iter().position(is_it).expect("every step is performed")
}

/// Asserts that runs with this depth hit `bug` at least as often as guaranteed, and that the escape probability is
/// right.
fn assert_hit(name: &str, depth: u32, program: &Bare, bug: impl Fn(&[Event]) -> bool) {
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
    // n and k were fixed by the first runs.
    assert_eq!(guarantee.runs - before, runs, "{name}");
    let (n, k) = (f64::from(guarantee.threads), guarantee.steps as f64);
    let bound = 1.0 / (n * k.powi(depth as i32 - 1));
    let expected = bound * runs as f64;
    println!("{name}: {hits} of {runs} hit, {expected:.0} guaranteed (n = {n}, k = {k})");
    // One-sided at 99.9 %.
    assert!(hits as f64 >= expected - 3.09 * expected.sqrt(), "{name}: {hits} < {expected}");
    let escape = (1.0 - bound).powi(guarantee.runs as i32);
    assert!((guarantee.escape - escape).abs() <= 1e-6 * escape, "{} {escape}", guarantee.escape);
}

#[test]
fn the_bugs_of_the_figures_are_hit_with_the_guaranteed_probability() {
    if cfg!(miri) {
        return;
    }
    let (t, e, init, a, b) = (0, 5, 1, 2, 3);
    let other = |steps| vec![Do::Write(9); steps];
    // Fig. 1(a): t is used before it is initialised.
    let order = vec![
        [other(5), vec![Do::Write(t)]].concat(),
        [other(2), vec![Do::Read(t)], other(5)].concat(),
    ];
    assert_hit("fig. 1(a)", 1, &order, |past| at(past, 1, 2) < at(past, 0, 5));
    // Fig. 1(b): t is tested, set to null by the other thread, then used.
    let atomicity = vec![
        [other(3), vec![Do::Write(t)], other(3)].concat(),
        [other(3), vec![Do::Read(t), Do::Read(t)]].concat(),
    ];
    assert_hit("fig. 1(b)", 2, &atomicity, |past| {
        at(past, 1, 3) < at(past, 0, 3) && at(past, 0, 3) < at(past, 1, 4)
    });
    // Fig. 1(c): each thread acquires its first lock before the other acquires its second.
    let locks = vec![
        [other(2), vec![Do::Write(a), Do::Write(b)]].concat(),
        vec![Do::Write(b), Do::Write(a)],
    ];
    assert_hit("fig. 1(c)", 2, &locks, |past| {
        at(past, 0, 2) < at(past, 1, 1) && at(past, 1, 0) < at(past, 0, 3)
    });
    // Fig. 2: the mutex is unlocked after it was freed and before the end of main.
    let unlock = vec![
        [other(2), vec![Do::Write(a), Do::Write(b)]].concat(),
        [other(2), vec![Do::Write(a)]].concat(),
    ];
    assert_hit("fig. 2", 2, &unlock, |past| {
        at(past, 0, 2) < at(past, 1, 2) && at(past, 1, 2) < at(past, 0, 3)
    });
    // Fig. 3: as Fig. 1(a), right after the event that the other thread waits for was set.
    let event = vec![
        [other(3), vec![Do::Signal(e), Do::Write(t)]].concat(),
        [vec![Do::Wait(e), Do::Read(t)], other(2)].concat(),
    ];
    assert_hit("fig. 3", 1, &event, |past| at(past, 1, 1) < at(past, 0, 4));
    // Fig. 4: init is set before t, and the other thread reads init first.
    let guarded = vec![
        [other(2), vec![Do::Write(init), Do::Write(t)]].concat(),
        [other(1), vec![Do::Read(init), Do::Read(t)]].concat(),
    ];
    assert_hit("fig. 4", 2, &guarded, |past| {
        at(past, 0, 2) < at(past, 1, 1) && at(past, 1, 2) < at(past, 0, 3)
    });
    // Fig. 5: one thread ends before the other has begun, for both threads.
    let long = vec![other(12), other(12)];
    assert_hit("fig. 5, black", 1, &long, |past| at(past, 0, 11) < at(past, 1, 0));
    assert_hit("fig. 5, grey", 1, &long, |past| at(past, 1, 11) < at(past, 0, 0));
}
