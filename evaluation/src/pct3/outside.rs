//! Table 3's baselines on threads of the operating system: stress and random sleeps.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// How often an original program fails outside raddle.
///
/// Measured on 2026-11-18 on a machine of two processors under the load of other programs, outside this program, with
/// the public sources of SCTBench built by gcc: 400 runs, 100 of Pbzip2. Sleeps: up to a millisecond, before one in 50
/// calls of pthreads, as in the paper.
pub(super) struct Original {
    pub(super) name: &'static str,
    pub(super) two_processors: f64,
    pub(super) one_processor: f64,
    pub(super) sleeps: f64,
}

const fn original(name: &'static str, stress: [f64; 2], sleeps: f64) -> Original {
    let [two_processors, one_processor] = stress;
    Original { name, two_processors, one_processor, sleeps }
}

const ORIGINALS: [Original; 5] = [
    original("Splash-FFT", [0.2175, 0.6675], 0.4350),
    original("Splash-LU", [0.3375, 0.4000], 0.4600),
    original("Splash-Barnes", [0.7025, 0.7275], 0.3875),
    original("Pbzip2", [0.0, 0.0], 0.0100),
    original("Work Steal Queue", [0.0, 0.0], 0.0),
];

/// The original of a row, unless its source is not public.
pub(super) fn original_of(name: &str) -> Option<&'static Original> {
    ORIGINALS.iter().find(|original| original.name == name)
}

/// Does some work while this thread, and those that it starts, may only use one processor.
pub(super) fn on_one_processor<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let failed = |error| format!("cannot choose a processor: {error}");
    let all = sched_getaffinity(None).map_err(failed)?;
    let first = (0..CpuSet::MAX_CPU).find(|&processor| all.is_set(processor)).unwrap_or(0);
    let mut one = CpuSet::new();
    one.set(first);
    sched_setaffinity(None, &one).map_err(failed)?;
    let result = work();
    sched_setaffinity(None, &all).map_err(failed)?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_processor_is_one_and_all_come_back() {
        let count = || sched_getaffinity(None).unwrap().count();
        let before = count();
        assert_eq!(on_one_processor(count).unwrap(), 1);
        assert_eq!(count(), before);
    }
}
