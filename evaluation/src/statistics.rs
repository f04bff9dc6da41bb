//! The little statistics that tables need.

/// By how many standard errors two shares of tries differ, if both come from one probability.
pub(crate) fn two_sample(first: f64, first_tries: u64, second: f64, second_tries: u64) -> f64 {
    let (m, n) = (first_tries as f64, second_tries as f64);
    let pooled = (first * m + second * n) / (m + n);
    let error = (pooled * (1.0 - pooled) * (1.0 / m + 1.0 / n)).sqrt();
    if error == 0.0 { 0.0 } else { (second - first) / error }
}

/// By how many standard errors a share of tries differs from its probability.
pub(crate) fn one_sample(share: f64, tries: u64, probability: f64) -> f64 {
    let error = (probability * (1.0 - probability) / tries as f64).sqrt();
    (share - probability) / error
}

/// Wilcoxon's signed-rank test: the probability, two-sided and exact, of differences at least as one-sided as
/// these. Pairs without a difference do not count; ties share their ranks. For few pairs.
pub(crate) fn signed_rank(pairs: &[(f64, f64)]) -> f64 {
    let differences = pairs.iter().map(|(one, other)| one - other);
    let mut differences: Vec<f64> = differences.filter(|difference| *difference != 0.0).collect();
    differences.sort_by(|one, other| one.abs().total_cmp(&other.abs()));
    // Twice the ranks, which are whole numbers even where ties share them.
    let mut ranks = vec![0; differences.len()];
    for (place, difference) in differences.iter().enumerate() {
        let is_tied = |other: &&f64| other.abs() == difference.abs();
        let ties = differences.iter().filter(is_tied).count();
        let below = differences[..place].iter().filter(|other| !is_tied(other)).count();
        ranks[place] = 2 * below + ties + 1;
    }
    let sum_of = |positive: &dyn Fn(usize) -> bool| -> i64 {
        ranks
            .iter()
            .enumerate()
            .map(|(place, &rank)| if positive(place) { rank as i64 } else { -(rank as i64) })
            .sum()
    };
    let seen = sum_of(&|place| differences[place] > 0.0).abs();
    let ways = 1u64 << ranks.len();
    let extreme = (0..ways).filter(|way| sum_of(&|place| way >> place & 1 == 1).abs() >= seen);
    extreme.count() as f64 / ways as f64
}

/// The geometric mean; nothing may be zero.
pub(crate) fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0u32);
    for value in values {
        sum += value.ln();
        count += 1;
    }
    (sum / f64::from(count)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_counted() {
        assert_eq!(two_sample(0.0, 100, 0.0, 100), 0.0);
        assert!((two_sample(0.5, 100, 0.6, 100) - 0.1 / 0.0703_562).abs() < 1e-2);
        assert!((one_sample(0.6, 100, 0.5) - 2.0).abs() < 1e-9);
        // All of ten pairs in one direction: 2 of 1,024 ways.
        let pairs: Vec<_> = (1..=10).map(|pair| (f64::from(pair), 0.0)).collect();
        assert_eq!(signed_rank(&pairs), 2.0 / 1024.0);
        assert_eq!(signed_rank(&[(1.0, 0.0), (0.0, 1.0)]), 1.0);
        assert_eq!(signed_rank(&[(5.0, 5.0)]), 1.0);
        assert!((geometric_mean([1.0, 100.0].into_iter()) - 10.0).abs() < 1e-9);
    }
}
