//! The random walk draws uniformly, and successive draws are independent.

use raddle_core::{
    Action, Chooser, ObjectId, Op, Pending, Pick, Point, Question, Site, ThreadId, Threads,
};
use raddle_strategy::{Random, Sampler, mix};
use raddle_testkit::{scaled, statistics::plausible};

fn pending(thread: u32) -> Pending {
    let op = Op::new(ObjectId::NONE, Action::Choose { bound: 1, question: Question::Number });
    Pending { thread: ThreadId(thread), op, site: Site::UNKNOWN, enabled: true }
}

fn draw(random: &mut Random, point: &Point<'_>) -> usize {
    match random.choose(point, &[]) {
        Pick::Take(option) => option,
        other => panic!("{other:?}"),
    }
}

/// Asserts that counts agree with the uniform distribution.
fn assert_uniform(what: &str, counts: &[u64]) {
    let even = vec![1.0 / counts.len() as f64; counts.len()];
    if !cfg!(miri) {
        if let Err(error) = plausible(counts, &even) {
            panic!("{what}: {error}");
        }
    }
}

#[test]
fn draws_are_uniform_within_a_run() {
    for options in 2..=9 {
        let pending: Vec<Pending> = (0..options).map(pending).collect();
        let enabled: Vec<ThreadId> = (0..options).map(ThreadId).collect();
        let threads = Threads { pending: &pending, enabled: &enabled, changed: &[] };
        let point = Point::Thread(threads);
        let options = options as usize;
        let mut random = Random::default();
        random.begin(u64::from(enabled[1].0));
        let mut single = vec![0; options];
        let mut pairs = vec![0; options * options];
        for _ in 0..scaled(20_000) {
            let (first, second) = (draw(&mut random, &point), draw(&mut random, &point));
            single[first] += 1;
            pairs[first * options + second] += 1;
        }
        assert_uniform("options", &single);
        assert_uniform("pairs of successive draws", &pairs);
    }
}

#[test]
fn draws_are_uniform_across_runs() {
    let by = pending(0);
    let mut random = Random::default();
    for bound in 2..=9 {
        let point = Point::Value { by: &by, bound };
        let mut first = vec![0; bound as usize];
        let mut third = vec![0; bound as usize];
        for run in 0..scaled(20_000) {
            random.begin(mix(5, run));
            first[draw(&mut random, &point)] += 1;
            draw(&mut random, &point);
            third[draw(&mut random, &point)] += 1;
        }
        assert_uniform("first draws", &first);
        assert_uniform("third draws", &third);
    }
}

#[test]
fn equal_seeds_give_equal_draws() {
    let by = pending(0);
    let point = Point::Value { by: &by, bound: 1000 };
    let draws = |seed| {
        let mut random = Random::default();
        random.begin(seed);
        (0..20).map(|_| draw(&mut random, &point)).collect::<Vec<_>>()
    };
    assert_eq!(draws(1), draws(1));
    assert_ne!(draws(1), draws(2));
}
