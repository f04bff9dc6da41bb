//! Measures several children by slices that take turns, so that a change of the machine's speed hits
//! all of them alike.
//!
//! Ratios pair the slices of one round; what is reported of a figure is its median over the rounds.

use std::time::Duration;

use crate::child::Child;

/// How long and how often to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// CPU time of one slice, about.
    pub(crate) slice: Duration,
    /// Executions of one of raddle's slices at least. A slice is a check, and raddle repeats the executions 0, 1, 2, 4, 8
    /// and so on of a check: most of a short one, and hardly any of those that users make.
    pub(crate) executions: u64,
    /// How many processes to measure of each child, one after the other. Some are slower than others by up to a tenth, from
    /// beginning to end: it depends on which pages of memory they get.
    pub(crate) processes: usize,
    /// Slices of each process.
    pub(crate) rounds: usize,
}

/// One child's nanoseconds per execution, one for each round.
pub(crate) type Samples = Vec<f64>;

/// What a table that measures times begins with: only a release build is measured, on one processor.
pub(crate) fn begin_measuring() -> Result<(), String> {
    release_build()?;
    stay_on_one_processor();
    Ok(())
}

/// Refuses to measure another build.
pub(crate) fn release_build() -> Result<(), String> {
    if cfg!(debug_assertions) {
        return Err("this table measures a release build: use `cargo run --release`".into());
    }
    Ok(())
}

/// Keeps this thread, and the children it starts from now on, on one processor. Otherwise the children
/// settle on different ones, and whatever else runs beside one of them skews all its slices.
#[cfg(target_os = "linux")]
pub(crate) fn stay_on_one_processor() {
    use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    // Where it is forbidden, figures are noisier and no less true.
    let _ = sched_setaffinity(None, &here);
}

/// Other systems offer no such thing.
#[cfg(not(target_os = "linux"))]
pub(crate) fn stay_on_one_processor() {}

/// Measures in turns the children that `start` starts; their samples come in the children's order.
pub(crate) fn interleave(
    mut start: impl FnMut() -> Result<Vec<Child>, String>,
    effort: Effort,
) -> Result<Vec<Samples>, String> {
    let mut samples = Vec::new();
    for _ in 0..effort.processes {
        let mut children = start()?;
        samples.resize(children.len(), Samples::new());
        take_turns(&mut children, effort, &mut samples)?;
    }
    Ok(samples)
}

fn take_turns(
    children: &mut [Child],
    effort: Effort,
    samples: &mut [Samples],
) -> Result<(), String> {
    let mut counts = Vec::new();
    for child in children.iter_mut() {
        counts.push(calibrate(child, effort)?);
    }
    for round in 0..effort.rounds {
        for turn in 0..children.len() {
            // No child always runs after the same other one.
            let index = (round + turn) % children.len();
            let time = children[index].run(counts[index])?;
            samples[index].push(time as f64 / counts[index] as f64);
        }
    }
    Ok(())
}

/// The number of executions that fills a slice.
fn calibrate(child: &mut Child, effort: Effort) -> Result<u64, String> {
    let slice = effort.slice.as_nanos() as f64;
    // The first takes long, sometimes as long as a slice, and tells nothing about the others.
    child.run(1)?;
    let mut count = 1;
    loop {
        let time = child.run(count)? as f64;
        // An eighth tells the speed well enough.
        if time > slice / 8.0 {
            let least = if child.is_raddle() { effort.executions } else { 1 };
            return Ok(((count as f64 * slice / time) as u64).max(least));
        }
        count *= 2;
    }
}

/// The middle value, or the mean of the two middle ones.
pub(crate) fn median(values: &[f64]) -> f64 {
    assert!(!values.is_empty(), "no median of nothing");
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

/// How many times longer the other takes, in each round.
pub(crate) fn paired_ratios(base: &[f64], other: &[f64]) -> Vec<f64> {
    assert_eq!(base.len(), other.len(), "a ratio pairs slices of the same round");
    base.iter().zip(other).map(|(base, other)| other / base).collect()
}

/// The bounds of the middle half of the values. Far apart, they tell that the machine was busy.
pub(crate) fn middle_half(values: &[f64]) -> [f64; 2] {
    assert!(!values.is_empty(), "no middle of nothing");
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quarter = sorted.len() / 4;
    [sorted[quarter], sorted[sorted.len() - 1 - quarter]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_and_even() {
        assert_eq!(median(&[9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[9.0, 1.0, 2.0, 4.0]), 3.0);
    }

    #[test]
    fn ratios_are_paired_before_the_median() {
        // The machine slows down by ten in round 2, for both: the ratio of the medians is 3, of the
        // paired ratios 2.
        let base = [1.0, 10.0, 1.0, 10.0, 2.0];
        let other = [2.0, 20.0, 6.0, 20.0, 4.0];
        assert_eq!(median(&other) / median(&base), 3.0);
        assert_eq!(median(&paired_ratios(&base, &other)), 2.0);
    }

    #[test]
    fn middle_half_leaves_a_quarter_out_at_each_end() {
        assert_eq!(middle_half(&[7.0, 1.0, 90.0, 4.0, 5.0, 6.0, 3.0]), [3.0, 7.0]);
        assert_eq!(middle_half(&[2.0]), [2.0, 2.0]);
    }
}
