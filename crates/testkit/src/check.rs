//! Property tests on random programs.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_strategy::{Rng, mix};

use crate::{Program, Shape, shrink};

/// Checks `property` on `cases` random programs of one shape. The generator that it draws from is seeded per case.
///
/// # Panics
/// If a program does not have the property. The message contains a shrunk program.
pub fn for_all(
    seed: u64,
    cases: u64,
    shape: &Shape,
    mut property: impl FnMut(&Program, &mut Rng) -> Result<(), String>,
) {
    for case in 0..cases {
        let mut rng = Rng::new(mix(seed, case));
        let program = shape.generate(&mut rng);
        let draws = rng.bits();
        let mut failure = |program: &Program| {
            let mut rng = Rng::new(draws);
            match catch_unwind(AssertUnwindSafe(|| property(program, &mut rng))) {
                Ok(result) => result.err(),
                Err(payload) => Some(match payload.downcast::<String>() {
                    Ok(message) => format!("panicked: {message}"),
                    Err(_) => "panicked".to_owned(),
                }),
            }
        };
        if failure(&program).is_some() {
            let smallest = shrink(program, |program| failure(program).is_some());
            let message = failure(&smallest).unwrap_or_default();
            panic!("case {case} of seed {seed}:\n{smallest:#?}\n{message}");
        }
    }
}

/// Returns `count` scaled by `RADDLE_TEST_SCALE` (1 if it is not set), at least one. Returns at most ten under Miri.
pub fn scaled(count: u64) -> u64 {
    if cfg!(miri) {
        return (count / 1000).clamp(1, 10);
    }
    let factor = match std::env::var("RADDLE_TEST_SCALE") {
        Ok(factor) => factor.parse().expect("RADDLE_TEST_SCALE is a number, such as 10 or 0.1"),
        Err(_) => 1.0,
    };
    ((count as f64 * factor) as u64).max(1)
}
