//! URW is uniform over all interleavings, SURW over the orders of the accesses to one object.

use std::collections::BTreeMap;

use raddle_core::Chooser;
use raddle_strategy::{Sampler, Surw, Urw, mix};
use raddle_testkit::scaled;
use raddle_testkit::statistics::plausible;

use super::bare::{Bare, Do, Steps, run, trace};

/// Returns the number of runs with each order, projected by `project`.
fn sample(
    program: &Bare,
    sampler: &mut (impl Sampler + Chooser),
    runs: u64,
    project: impl Fn(&Steps) -> Steps,
) -> BTreeMap<Steps, u64> {
    let mut past = Vec::new();
    sampler.begin(1);
    run(program, sampler, &mut past);
    sampler.learn(&trace(program, &past));
    let mut seen = BTreeMap::new();
    for number in 0..runs {
        sampler.begin(mix(5, number));
        let order = run(program, sampler, &mut past);
        *seen.entry(project(&order)).or_insert(0) += 1;
    }
    seen
}

/// Asserts that the `expected` orders are equally likely.
fn assert_uniform(what: &str, seen: &BTreeMap<Steps, u64>, expected: usize) {
    assert_eq!(seen.len(), expected, "{what}");
    let counts: Vec<u64> = seen.values().copied().collect();
    if let Err(error) = plausible(&counts, &vec![1.0 / expected as f64; expected]) {
        panic!("{what}: {error}");
    }
}

#[test]
fn interleavings_are_equally_likely() {
    if cfg!(miri) {
        return;
    }
    let write = Do::Write(0);
    for (lens, expected) in
        [(&[1, 4][..], 5), (&[3, 3], 20), (&[2, 2, 2], 90), (&[1, 2, 4], 105), (&[1, 1, 1, 1], 24)]
    {
        let program: Bare = lens.iter().map(|&len| vec![write; len]).collect();
        let seen = sample(&program, &mut Urw::default(), scaled(20_000), Steps::clone);
        assert_uniform(&format!("{lens:?}"), &seen, expected);
    }
}

#[test]
fn orders_of_one_object_are_equally_likely() {
    if cfg!(miri) {
        return;
    }
    // The threads share object 0 only. They access it after very different numbers of other steps.
    let own = |object: u32, steps: usize| vec![Do::Write(object); steps];
    let shared = |times: usize| vec![Do::Write(0); times];
    let program: Bare = vec![
        [own(1, 9), shared(2)].concat(),
        [shared(1), own(2, 1), shared(1)].concat(),
        [own(3, 3), shared(1), own(3, 2)].concat(),
    ];
    let at_object = |order: &Steps| {
        let mut done = [0; 3];
        let mut accesses = Vec::new();
        for &thread in order {
            if program[thread][done[thread]] == Do::Write(0) {
                accesses.push(thread);
            }
            done[thread] += 1;
        }
        accesses
    };
    let seen = sample(&program, &mut Surw::default(), scaled(20_000), at_object);
    assert_uniform("surw", &seen, 30);
    // A walk that is uniform over all interleavings is not uniform here: the test can fail.
    let seen = sample(&program, &mut Urw::default(), scaled(20_000), at_object);
    let counts: Vec<u64> = seen.values().copied().collect();
    assert!(plausible(&counts, &vec![1.0 / counts.len() as f64; counts.len()]).is_err());
}
