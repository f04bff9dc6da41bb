//! Pearson's χ² test.

use std::collections::BTreeMap;

/// Checks that counts agree with the given probabilities, whose sum is one.
///
/// If the probabilities are right, fewer than one in a million samples are rejected. Classes of
/// probability zero must not occur.
///
/// # Panics
/// If the sample is too small for the test.
pub fn plausible(counts: &[u64], probabilities: &[f64]) -> Result<(), String> {
    assert_eq!(counts.len(), probabilities.len());
    let total: u64 = counts.iter().sum();
    let (mut sum, mut classes) = (0.0, 0);
    for (class, (&count, &probability)) in counts.iter().zip(probabilities).enumerate() {
        if probability == 0.0 {
            if count > 0 {
                return Err(format!("class {class} has probability 0 and occurred {count} times"));
            }
            continue;
        }
        let expected = probability * total as f64;
        assert!(expected >= 5.0, "the sample is too small: class {class} expects {expected}");
        sum += (count as f64 - expected).powi(2) / expected;
        classes += 1;
    }
    judge(sum, classes)
}

/// Checks that two samples agree with one distribution, with the error rate of [`plausible`]. Rare classes are merged.
///
/// # Panics
/// If the samples are too small for the test.
pub fn alike<K: Ord>(one: &BTreeMap<K, u64>, other: &BTreeMap<K, u64>) -> Result<(), String> {
    let (total_one, total_other): (u64, u64) = (one.values().sum(), other.values().sum());
    assert!(total_one > 100 && total_other > 100, "the samples are too small");
    let share = total_one as f64 / (total_one + total_other) as f64;
    let mut keys: Vec<&K> = one.keys().chain(other.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut classes: Vec<(u64, u64)> = Vec::new();
    let mut rare = (0, 0);
    for key in keys {
        let pair = (one.get(key).copied().unwrap_or(0), other.get(key).copied().unwrap_or(0));
        if (pair.0 + pair.1) as f64 * share.min(1.0 - share) >= 10.0 {
            classes.push(pair);
        } else {
            rare = (rare.0 + pair.0, rare.1 + pair.1);
        }
    }
    if (rare.0 + rare.1) as f64 * share.min(1.0 - share) >= 10.0 {
        classes.push(rare);
    }
    let part = |(here, there): &(u64, u64)| {
        let all = (here + there) as f64;
        (*here as f64 - all * share).powi(2) / (all * share * (1.0 - share))
    };
    judge(classes.iter().map(part).sum(), classes.len())
}

/// Checks that the rate of `hits` in `runs` is within `errors` standard errors of `probability`.
pub fn near(hits: u64, runs: u64, probability: f64, errors: f64) -> Result<(), String> {
    let expected = probability * runs as f64;
    let error = (expected * (1.0 - probability)).sqrt();
    let distance = (hits as f64 - expected) / error;
    if distance.abs() <= errors {
        Ok(())
    } else {
        Err(format!("{hits} hits where {expected:.1} are expected: {distance:.2} standard errors"))
    }
}

/// Checks that `sum`, χ² over `classes` classes, is within the range of chance.
fn judge(sum: f64, classes: usize) -> Result<(), String> {
    let freedom = classes.saturating_sub(1) as f64;
    // Wilson and Hilferty: the cube root of χ²/freedom is approximately normal. The limit is five deviations.
    let spread = 2.0 / (9.0 * freedom.max(1.0));
    let limit = freedom.max(1.0) * (1.0 - spread + 5.0 * spread.sqrt()).powi(3);
    if sum <= limit {
        Ok(())
    } else {
        Err(format!("χ² is {sum:.1} with {freedom} degrees of freedom; at most {limit:.1} passes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_biased_coin_is_rejected() {
        let fair = [0.5, 0.5];
        assert!(plausible(&[50_100, 49_900], &fair).is_ok());
        assert!(plausible(&[51_000, 49_000], &fair).is_err());
        assert!(plausible(&[1000, 1], &[1.0, 0.0]).is_err());
        assert!(plausible(&[1000, 0], &[1.0, 0.0]).is_ok());
    }
}
