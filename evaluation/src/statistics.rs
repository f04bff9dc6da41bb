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
        assert!((geometric_mean([1.0, 100.0].into_iter()) - 10.0).abs() < 1e-9);
    }
}
