//! Shrunk runs fail like those that were found, and none with fewer preemptions does if that is claimed.

use raddle_analysis::cause;
use raddle_explore::Explain;
use raddle_testkit::{Shape, for_all, scaled};

use super::{checked, ending, explanation, replayed};
use crate::bounds::brute;

/// Programs with more executions are not enumerated.
const LIMIT: u64 = 20_000;

#[test]
fn shrunk_runs_fail_alike_and_claims_hold() {
    let shapes = [
        (1, Shape { scripts: 4, pieces: 3, panics: 12, ..Shape::small() }),
        (2, Shape { kinds_at_once: 3, ..Shape::small() }),
    ];
    let (mut smaller, mut claimed, mut minimal) = (0u64, 0u64, 0u64);
    for (seed, shape) in shapes {
        for_all(seed, scaled(800), &shape, |program, rng| {
            let report = checked(program, rng.bits(), Explain::Quick);
            let Some(failure) = report.failure() else { return Ok(()) };
            let shrunk = &explanation(failure).shrunk;
            if shrunk.to > shrunk.from {
                return Err(format!("grew: {shrunk:?}"));
            }
            for token in [&failure.token, &shrunk.found_token] {
                let again = replayed(program, token);
                let again = again.failure().ok_or("the token does not fail")?;
                if cause(&again.finding) != cause(&failure.finding) {
                    return Err(format!("{:?} is not {:?}", again.finding, failure.finding));
                }
            }
            let (moments, _) = brute::replay(program, &failure.trace);
            let preemptions = brute::preemptions(&moments);
            if (preemptions, moments.len() as u64) != (shrunk.to.preemptions, shrunk.to.steps) {
                return Err(format!("{preemptions} preemptions, but {shrunk:?}"));
            }
            smaller += u64::from(shrunk.to.preemptions < shrunk.from.preemptions);
            let Some(fewer) = preemptions.checked_sub(1) else { return Ok(()) };
            let mut is_less = false;
            let ending = ending(failure);
            let allow = |moments: &[brute::Moment]| brute::preemptions(moments) <= fewer;
            let is_whole = brute::executions(program, LIMIT, &allow, &mut |world, _| {
                is_less |= world.outcome() == ending;
            });
            claimed += u64::from(shrunk.minimal && is_whole);
            minimal += u64::from(!is_less && is_whole);
            if shrunk.minimal && is_less {
                return Err(format!("fewer preemptions are enough: {shrunk:?}"));
            }
            Ok(())
        });
    }
    assert!(smaller > scaled(100) && claimed > scaled(40), "{smaller} {claimed}");
    assert_eq!(claimed, minimal, "a run with the fewest preemptions without a claim");
}
