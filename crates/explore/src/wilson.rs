//! Confidence intervals of a probability (Wilson, 1927).

/// The quantile of the normal distribution for 95 %.
const DEVIATIONS: f64 = 1.959_964;

/// Returns the bounds of the probability of an event seen in `hits` of `runs` independent runs, with 95 %
/// confidence.
pub fn wilson(hits: u64, runs: u64) -> (f64, f64) {
    if runs == 0 {
        return (0.0, 1.0);
    }
    let (hits, runs) = (hits as f64, runs as f64);
    let share = hits / runs;
    let square = DEVIATIONS * DEVIATIONS;
    let middle = share + square / (2.0 * runs);
    let reach = DEVIATIONS * ((share * (1.0 - share) + square / (4.0 * runs)) / runs).sqrt();
    let all = 1.0 + square / runs;
    // Rounding must not exceed the bounds 0 and 1.
    let low = if hits == 0.0 { 0.0 } else { (middle - reach) / all };
    let high = if hits == runs { 1.0 } else { (middle + reach) / all };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_strategy::Rng;

    #[test]
    fn bounds_are_those_of_tables() {
        for (hits, runs, low, high) in [
            (10, 100, 0.0552, 0.1744),
            (0, 10, 0.0, 0.2775),
            (10, 10, 0.7225, 1.0),
            (1, 10, 0.0179, 0.4042),
            (500, 1000, 0.4691, 0.5309),
            (0, 0, 0.0, 1.0),
        ] {
            let (found_low, found_high) = wilson(hits, runs);
            assert!((found_low - low).abs() < 1e-4, "{hits} of {runs}: {found_low}");
            assert!((found_high - high).abs() < 1e-4, "{hits} of {runs}: {found_high}");
        }
    }

    /// Of many samples about 95 % have the probability within their bounds.
    #[test]
    fn bounds_hold_as_often_as_they_say() {
        let mut rng = Rng::new(3);
        for percent in [3, 30, 50] {
            let mut held = 0;
            for _ in 0..4000 {
                let hits = (0..200).filter(|_| rng.below(100) < percent).count() as u64;
                let (low, high) = wilson(hits, 200);
                held += u32::from((low..=high).contains(&(percent as f64 / 100.0)));
            }
            assert!((3720..=3920).contains(&held), "{percent} %: {held}");
        }
    }
}
