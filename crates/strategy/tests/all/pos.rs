//! Partial order sampling against a naive implementation of Algorithm 4, and against the probabilities that
//! the paper gives for its running example.

use std::collections::BTreeMap;

use raddle_core::{Access, Choices, Chooser, Event, EventId, ObjectId, Pick, Point};
use raddle_strategy::{Pos, Random, Rng, Sampler, mix};
use raddle_testkit::scaled;
use raddle_testkit::statistics::{alike, near};

use super::bare::{Bare, Do, Steps, figure_2, run};

/// Which events race.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Races {
    Never,
    Always,
    UnlessBothRead,
}

/// Algorithm 4, line by line.
struct Naive {
    races: Races,
    rng: Rng,
    priorities: BTreeMap<EventId, u64>,
}

impl Chooser for Naive {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else { panic!("there are thread points only") };
        let event = |option: usize| {
            let thread = threads.enabled[option];
            let index = past.iter().filter(|event| event.id.thread == thread).count() as u32;
            EventId { thread, index }
        };
        let mut best: Option<usize> = None;
        for option in 0..threads.enabled.len() {
            let new = self.rng.bits();
            let priority = *self.priorities.entry(event(option)).or_insert(new);
            if best.is_none_or(|best| self.priorities[&event(best)] < priority) {
                best = Some(option);
            }
        }
        let best = best.expect("a thread is enabled");
        let op = |option: usize| threads.pending[threads.enabled[option].index()].op;
        for option in 0..threads.enabled.len() {
            let (mine, other) = (op(best), op(option));
            let both = |access| [mine, other].iter().all(|op| op.access() == access);
            let racing = mine.object() == other.object()
                && mine.object() != ObjectId::NONE
                && match self.races {
                    Races::Never => false,
                    Races::Always => true,
                    Races::UnlessBothRead => !both(Access::Read) && !both(Access::Share),
                };
            if option != best && racing {
                self.priorities.remove(&event(option));
            }
        }
        Pick::Take(best)
    }
}

impl Sampler for Naive {
    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
        self.priorities.clear();
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }
}

fn variants() -> [(Races, Pos); 3] {
    [
        (Races::Never, Pos::basic()),
        (Races::Always, Pos::plain()),
        (Races::UnlessBothRead, Pos::default()),
    ]
}

fn sample(
    program: &Bare,
    sampler: &mut (impl Sampler + Chooser),
    runs: u64,
    seed: u64,
) -> BTreeMap<Steps, u64> {
    let mut past = Vec::new();
    let mut seen = BTreeMap::new();
    for number in 0..runs {
        sampler.begin(mix(seed, number));
        *seen.entry(run(program, sampler, &mut past)).or_insert(0) += 1;
    }
    seen
}

/// Returns a small random program.
fn program(rng: &mut Rng) -> Bare {
    let threads = 2 + rng.below(3);
    let (steps, objects) = if threads == 4 { (2, 2) } else { (3, 2) };
    let one = |rng: &mut Rng| {
        let object = rng.below(objects) as u32;
        match rng.below(8) {
            0..3 => Do::Read(object),
            3..6 => Do::Write(object),
            6 => Do::Yield,
            _ => Do::Signal(5),
        }
    };
    let mut all: Bare =
        (0..threads).map(|_| (0..1 + rng.below(steps)).map(|_| one(rng)).collect()).collect();
    let signals = all.iter().flatten().filter(|step| **step == Do::Signal(5)).count();
    for _ in 0..signals.min(1) {
        let thread = rng.below(threads);
        let at = rng.below(all[thread].len() + 1);
        all[thread].insert(at, Do::Wait(5));
    }
    all
}

#[test]
fn schedules_have_the_distribution_of_algorithm_4() {
    if cfg!(miri) {
        return;
    }
    for (races, mut pos) in variants() {
        let mut rng = Rng::new(mix(3, races as u64));
        for case in 0..scaled(5) {
            let program = program(&mut rng);
            let mut naive = Naive { races, rng: Rng::new(0), priorities: BTreeMap::new() };
            let runs = 8_000;
            let expected = sample(&program, &mut naive, runs, 1000 + case);
            let seen = sample(&program, &mut pos, runs, case);
            if let Err(error) = alike(&seen, &expected) {
                panic!("{races:?} on {program:?}: {error}");
            }
        }
    }
}

/// Programs in which threads with equal known priorities become first at different times, and in which a disabled
/// thread keeps its priority. Random programs rarely detect mistakes here.
#[test]
fn positions_have_the_distribution_of_algorithm_4() {
    if cfg!(miri) {
        return;
    }
    // Each program, and the number of last steps that are compared.
    let programs: [(Bare, usize); 3] = [
        // After the first thread's write, the second takes its position before the third, and the first draws anew.
        (
            vec![
                vec![Do::Write(0), Do::Read(3), Do::Read(4)],
                vec![Do::Write(0)],
                vec![Do::Write(1)],
            ],
            5,
        ),
        // One of two waiting threads takes the token, and the other is disabled again.
        (
            vec![
                vec![Do::Signal(5), Do::Yield, Do::Signal(5)],
                vec![Do::Wait(5)],
                vec![Do::Wait(5)],
                vec![Do::Read(0), Do::Read(0), Do::Read(0)],
            ],
            8,
        ),
        // A waiting thread is disabled several times, and new threads have drawn when it is enabled again.
        (
            vec![
                vec![Do::Signal(5), Do::Signal(5), Do::Signal(5), Do::Signal(6), Do::Signal(5)],
                vec![Do::Wait(5)],
                vec![Do::Wait(5)],
                vec![Do::Wait(5)],
                vec![Do::Wait(5)],
                vec![Do::Wait(6), Do::Read(0)],
            ],
            3,
        ),
    ];
    for (program, compared) in programs {
        let ends = |orders: BTreeMap<Steps, u64>| {
            let mut seen: BTreeMap<Steps, u64> = BTreeMap::new();
            for (order, times) in orders {
                *seen.entry(order[order.len() - compared..].to_vec()).or_default() += times;
            }
            seen
        };
        for (races, mut pos) in variants() {
            let mut naive = Naive { races, rng: Rng::new(0), priorities: BTreeMap::new() };
            let runs = scaled(20_000);
            let expected = ends(sample(&program, &mut naive, runs, 1));
            let seen = ends(sample(&program, &mut pos, runs, 2));
            if let Err(error) = alike(&seen, &expected) {
                panic!("{races:?} on {program:?}: {error}");
            }
        }
    }
}

/// More threads than a small set holds, many of them on one level. Compares the positions of the writers.
#[test]
fn many_threads_have_the_distribution_of_algorithm_4() {
    if cfg!(miri) {
        return;
    }
    let script = |thread: usize| match thread {
        0 | 20 => vec![Do::Write(0)],
        1 => vec![Do::Write(1), Do::Read(0)],
        _ if thread % 5 == 0 => vec![Do::Read(1)],
        _ => vec![Do::Read(0)],
    };
    let program: Bare = (0..40).map(script).collect();
    let project = |orders: BTreeMap<Steps, u64>| {
        let mut seen: BTreeMap<(usize, bool), u64> = BTreeMap::new();
        for (order, times) in orders {
            let writer = order.iter().position(|thread| [0, 20].contains(thread)).unwrap();
            let is_last = order.iter().skip(writer + 1).any(|thread| *thread == 1);
            *seen.entry((writer, is_last)).or_default() += times;
        }
        seen
    };
    for (races, mut pos) in variants() {
        let mut naive = Naive { races, rng: Rng::new(0), priorities: BTreeMap::new() };
        let expected = project(sample(&program, &mut naive, scaled(800), 1));
        let seen = project(sample(&program, &mut pos, scaled(4000), 2));
        if let Err(error) = alike(&seen, &expected) {
            panic!("{races:?}: {error}");
        }
    }
}

/// Returns a program in which most threads wait for one token and pass it on.
fn token_passing(threads: usize) -> Bare {
    let script = |thread: usize| match thread {
        0..4 => vec![Do::Write(0), Do::Read(1), Do::Signal(5), Do::Write(thread as u32 % 2)],
        4..12 => vec![Do::Read(0), Do::Write(1), Do::Read(thread as u32), Do::Yield],
        _ => vec![Do::Wait(5), Do::Signal(5), Do::Read(thread as u32 % 3), Do::Write(0)],
    };
    (0..threads).map(script).collect()
}

/// A seed determines the execution, whatever ran before. The sets of threads grow with the number of threads, even
/// during a run, and do not shrink.
#[test]
fn executions_do_not_depend_on_earlier_ones() {
    if cfg!(miri) {
        return;
    }
    let mut past = Vec::new();
    let mut rng = Rng::new(11);
    let programs = (0..scaled(40)).map(|_| program(&mut rng));
    let programs: Vec<Bare> = programs.chain([30, 90].map(token_passing)).collect();
    for (number, program) in programs.iter().enumerate() {
        for before in [14, 50, 150] {
            for (fresh, mut used) in variants().into_iter().zip(variants().map(|(_, pos)| pos)) {
                let (races, mut fresh) = fresh;
                used.begin(1);
                run(&token_passing(before), &mut used, &mut past);
                for seed in 0..10 {
                    fresh.begin(mix(number as u64, seed));
                    let expected = run(program, &mut fresh, &mut past);
                    used.begin(mix(number as u64, seed));
                    let seen = run(program, &mut used, &mut past);
                    assert_eq!(seen, expected, "{races:?}, {before} threads before");
                }
            }
        }
    }
}

/// The tests above can fail: they distinguish the variants.
#[test]
fn the_variants_differ() {
    if cfg!(miri) {
        return;
    }
    let program =
        vec![vec![Do::Read(0), Do::Write(0)], vec![Do::Read(0), Do::Read(0)], vec![Do::Write(0)]];
    let counts: Vec<_> =
        variants().into_iter().map(|(_, mut pos)| sample(&program, &mut pos, 40_000, 1)).collect();
    for (one, other) in [(0, 1), (0, 2), (1, 2)] {
        assert!(alike(&counts[one], &counts[other]).is_err(), "{one} and {other}");
    }
}

#[test]
fn the_running_example_fails_with_the_probability_of_the_paper() {
    if cfg!(miri) {
        return;
    }
    let (program, failing) = figure_2();
    let runs = scaled(30_000);
    let check = |what: &str, sampler: &mut dyn FnMut() -> BTreeMap<Steps, u64>, probability| {
        let hits = sampler().get(&failing).copied().unwrap_or(0);
        if let Err(error) = near(hits, runs, probability, 4.0) {
            panic!("{what}: {error}");
        }
        println!("{what}: {hits} of {runs}, {:.2} expected", probability * runs as f64);
    };
    check("pos", &mut || sample(&program, &mut Pos::plain(), runs, 1), 1.0 / 48.0);
    check("pos-star", &mut || sample(&program, &mut Pos::default(), runs, 2), 1.0 / 48.0);
    check("basic-pos", &mut || sample(&program, &mut Pos::basic(), runs, 3), 1.0 / 120.0);
    check("random", &mut || sample(&program, &mut Random::default(), runs, 4), 1.0 / 128.0);
}

/// A spinning thread does not starve the others.
#[test]
fn pauses_redraw_every_priority() {
    if cfg!(miri) {
        return;
    }
    let spinning = vec![Do::Yield; 20_000];
    let program = vec![spinning.clone(), spinning, vec![Do::Write(0)]];
    let mut past = Vec::new();
    for (_, mut pos) in variants() {
        for seed in 0..scaled(5) {
            pos.begin(mix(7, seed));
            let order = run(&program, &mut pos, &mut past);
            let first = order.iter().position(|&thread| thread == 2).unwrap();
            // Each redraw puts the thread first with probability 1/3.
            assert!(first < 35_000, "{first}");
        }
    }
}
