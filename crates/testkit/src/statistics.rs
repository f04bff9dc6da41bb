//! Pearson's χ² test, as far as tests of randomness need it.

/// Whether counts may well come from the given probabilities, which sum up to one.
///
/// Generous: with right probabilities it refuses fewer than one in a million samples. What has
/// probability zero must not have happened at all.
///
/// # Panics
/// If the sample is too small to say anything.
pub fn plausible(counts: &[u64], probabilities: &[f64]) -> Result<(), String> {
    assert_eq!(counts.len(), probabilities.len());
    let total: u64 = counts.iter().sum();
    let (mut sum, mut classes) = (0.0, 0u32);
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
    let freedom = f64::from(classes - 1);
    // Wilson and Hilferty: the cube root of χ²/freedom is close to normal. Five deviations.
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
    fn tells_a_fair_coin_from_a_bent_one() {
        let fair = [0.5, 0.5];
        assert!(plausible(&[50_100, 49_900], &fair).is_ok());
        assert!(plausible(&[51_000, 49_000], &fair).is_err());
        assert!(plausible(&[1000, 1], &[1.0, 0.0]).is_err());
        assert!(plausible(&[1000, 0], &[1.0, 0.0]).is_ok());
    }
}
