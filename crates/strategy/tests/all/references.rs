//! RAPOS and SURW against naive implementations of their papers.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::{Access, Choices, Chooser, Event, ObjectId, Op, Pick, Point, ThreadId, Threads};
use raddle_strategy::{Rapos, Rng, Sampler, Surw, mix};
use raddle_testkit::scaled;
use raddle_testkit::statistics::alike;

use super::bare::{Bare, Do, Steps, run, trace};

/// RAPOS: runs batches of independent operations. Each batch depends on the one before, if possible.
struct NaiveRapos {
    rng: Rng,
    /// The threads of the batch that have not run, in order.
    batch: Vec<ThreadId>,
    /// The operations of the last batch.
    taken: Vec<(ThreadId, Op)>,
}

fn depend(one: (ThreadId, Op), other: (ThreadId, Op)) -> bool {
    let both = |access| one.1.access() == access && other.1.access() == access;
    let is_shared = one.1.object() == other.1.object() && one.1.object() != ObjectId::NONE;
    one.0 == other.0 || is_shared && !both(Access::Read) && !both(Access::Share)
}

fn shuffled<T>(mut items: Vec<T>, rng: &mut Rng) -> Vec<T> {
    (0..items.len()).map(|_| items.remove(rng.below(items.len()))).collect()
}

impl NaiveRapos {
    fn draw_batch(&mut self, threads: &Threads<'_>) {
        let all: Vec<(ThreadId, Op)> =
            threads.enabled.iter().map(|&id| (id, threads.pending[id.index()].op)).collect();
        let follows = |next: &(ThreadId, Op)| self.taken.iter().any(|&taken| depend(taken, *next));
        let some: Vec<_> = all.iter().copied().filter(follows).collect();
        let schedulable = shuffled(if some.is_empty() { all } else { some }, &mut self.rng);
        let mut taken: Vec<(ThreadId, Op)> = Vec::new();
        for next in schedulable {
            let is_free = taken.iter().all(|&other| !depend(other, next));
            if taken.is_empty() || is_free && self.rng.below(2) == 1 {
                taken.push(next);
            }
        }
        self.batch = shuffled(taken.iter().map(|next| next.0).collect(), &mut self.rng);
        self.taken = taken;
    }
}

impl Chooser for NaiveRapos {
    fn choose(&mut self, at: &Point<'_>, _past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else { panic!("there are thread points only") };
        if self.batch.is_empty() {
            self.draw_batch(threads);
        }
        let next = self.batch.remove(0);
        let option = threads.enabled.iter().position(|&thread| thread == next);
        Pick::Take(option.expect("independent operations stay enabled"))
    }
}

impl Sampler for NaiveRapos {
    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
        self.batch.clear();
        self.taken.clear();
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }
}

fn sample(
    program: &Bare,
    sampler: &mut (impl Sampler + Chooser),
    runs: u64,
) -> BTreeMap<Steps, u64> {
    let mut seen = BTreeMap::new();
    let mut past = Vec::new();
    for number in 0..runs {
        sampler.begin(mix(31, number));
        *seen.entry(run(program, sampler, &mut past)).or_insert(0) += 1;
    }
    seen
}

#[test]
fn rapos_has_the_distribution_of_its_paper() {
    if cfg!(miri) {
        return;
    }
    let [r, w] = [Do::Read as fn(u32) -> Do, Do::Write];
    let programs: [Bare; 4] = [
        vec![vec![w(0), w(1)], vec![w(0), r(1)], vec![r(0)]],
        vec![vec![r(0), w(0)], vec![r(0), w(0)]],
        vec![vec![w(0)], vec![w(1)], vec![w(2), w(0)]],
        vec![vec![w(0), Do::Signal(5), r(1)], vec![Do::Wait(5), w(1)], vec![r(0), w(1)]],
    ];
    for program in programs {
        let mut naive = NaiveRapos { rng: Rng::new(0), batch: Vec::new(), taken: Vec::new() };
        let expected = sample(&program, &mut naive, scaled(10_000));
        let seen = sample(&program, &mut Rapos::default(), scaled(12_000));
        if let Err(error) = alike(&seen, &expected) {
            panic!("{program:?}: {error}");
        }
    }
}

/// SURW with object 0 as the object of interest.
struct NaiveSurw {
    rng: Rng,
    /// By thread, the number of its accesses to the object in a run.
    accesses: Vec<u64>,
    /// By thread, the number of remaining accesses.
    left: Vec<u64>,
    rank: Vec<u64>,
    held: BTreeSet<usize>,
    intended: Option<usize>,
    seen: usize,
}

impl NaiveSurw {
    fn release(&mut self) {
        self.held.clear();
        self.intended = None;
    }

    fn intend(&mut self, threads: &Threads<'_>) -> usize {
        let weight = |thread: usize| {
            let pending = &threads.pending[thread];
            let is_there = pending.enabled && pending.op.object() == ObjectId(0);
            self.left[thread].max(u64::from(is_there))
        };
        let weights: Vec<u64> = (0..self.left.len()).map(weight).collect();
        let mut drawn = self.rng.below(weights.iter().sum::<u64>() as usize) as u64;
        for (thread, &weight) in weights.iter().enumerate() {
            if drawn < weight {
                return thread;
            }
            drawn -= weight;
        }
        unreachable!("a thread is about to access the object")
    }
}

impl Chooser for NaiveSurw {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else { panic!("there are thread points only") };
        for event in &past[self.seen..] {
            let thread = event.id.thread.index();
            self.rank[thread] = self.rng.bits();
            if event.op.object() == ObjectId(0) {
                self.left[thread] = self.left[thread].saturating_sub(1);
                self.release();
            }
        }
        self.seen = past.len();
        loop {
            let free = threads.enabled.iter().enumerate();
            let free = free.filter(|(_, thread)| !self.held.contains(&thread.index()));
            let Some((option, thread)) = free.max_by_key(|(_, thread)| self.rank[thread.index()])
            else {
                self.release();
                continue;
            };
            if threads.pending[thread.index()].op.object() != ObjectId(0) {
                return Pick::Take(option);
            }
            if self.intended.is_none() {
                self.intended = Some(self.intend(threads));
            }
            if self.intended == Some(thread.index()) {
                return Pick::Take(option);
            }
            self.held.insert(thread.index());
        }
    }
}

impl Sampler for NaiveSurw {
    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
        // There is one object to choose from.
        self.rng.below(self.accesses.iter().sum::<u64>() as usize);
        self.left.clone_from(&self.accesses);
        self.rank = self.accesses.iter().map(|_| self.rng.bits()).collect();
        self.release();
        self.seen = 0;
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }
}

/// Returns a random program whose threads share object 0, with steps on other objects between.
fn sharing_program(rng: &mut Rng) -> Bare {
    let threads = 2 + rng.below(6) as u32;
    let step = |thread: u32, rng: &mut Rng| match rng.below(5) {
        0 | 1 => Do::Write(1 + thread),
        2 => Do::Read(0),
        3 => Do::Write(0),
        _ => Do::Yield,
    };
    let script = |thread: u32, rng: &mut Rng| {
        // Every thread accesses the shared object.
        let mut steps = vec![Do::Write(0)];
        steps.extend((0..rng.below(6)).map(|_| step(thread, rng)));
        let shift = rng.below(steps.len());
        steps.rotate_left(shift);
        steps
    };
    (0..threads).map(|thread| script(thread, rng)).collect()
}

#[test]
fn surw_agrees_with_its_paper() {
    let mut rng = Rng::new(17);
    let mut past = Vec::new();
    for _ in 0..scaled(200) {
        let program = sharing_program(&mut rng);
        let is_access = |step: &&Do| matches!(step, Do::Read(0) | Do::Write(0));
        let accesses: Vec<u64> =
            program.iter().map(|script| script.iter().filter(is_access).count() as u64).collect();
        let mut surw = Surw::default();
        surw.begin(1);
        run(&program, &mut surw, &mut past);
        surw.learn(&trace(&program, &past));
        let mut naive = NaiveSurw {
            rng: Rng::new(0),
            accesses,
            left: Vec::new(),
            rank: Vec::new(),
            held: BTreeSet::new(),
            intended: None,
            seen: 0,
        };
        for _ in 0..20 {
            let seed = rng.bits();
            naive.begin(seed);
            surw.begin(seed);
            let expected = run(&program, &mut naive, &mut past);
            assert_eq!(run(&program, &mut surw, &mut past), expected, "{program:?}");
        }
    }
}
