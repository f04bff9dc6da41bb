//! Random numbers and exponential times.

use crate::Rng;

/// Draws numbers and exponential times from a seed.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    rng: Rng,
    /// The next time, computed in advance, so that a draw does not wait for it.
    ready: f64,
}

impl Draws {
    #[inline(always)]
    pub(super) fn new(seed: u64) -> Draws {
        let mut rng = Rng::new(seed);
        let ready = logarithm(rng.bits());
        Draws { rng, ready }
    }

    /// Returns a number below `bound`, which must not be zero.
    #[inline(always)]
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.rng.below(bound)
    }

    /// Returns an exponential time with mean one.
    #[inline(always)]
    pub(super) fn time(&mut self) -> f64 {
        core::mem::replace(&mut self.ready, logarithm(self.rng.bits()))
    }
}

/// Returns −ln U for a uniform U made from random bits, to about six digits.
#[inline(always)]
fn logarithm(bits: u64) -> f64 {
    const LN_2: f64 = core::f64::consts::LN_2;
    // U is 2^−halvings times a number from 1 up to 2.
    let bits = bits | 1;
    let halvings = bits.leading_zeros() + 1;
    let mantissa = f64::from_bits((bits << (halvings - 1) << 1) >> 12 | 1f64.to_bits());
    // ln(1 + x) for x from 0 up to 1, by a polynomial that meets it at Chebyshev's points.
    let x = mantissa - 1.0;
    let (square, fourth) = (x * x, x * x * (x * x));
    let low =
        (2.554_673e-7 + 0.999_967_080_9 * x) + square * (-0.499_285_049_1 + 0.327_225_715_0 * x);
    let high = (-0.223_165_864_1 + 0.130_833_428_0 * x)
        + square * (-0.052_437_537_1 + 0.010_009_289_6 * x);
    let time = f64::from(halvings) * LN_2 - (low + fourth * high);
    // Rounding must not give a time below zero if U is almost one.
    if time > 0.0 { time } else { 0.0 }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn exponential_times_are_logarithms() {
        let mut rng = Rng::new(5);
        for round in 0..if cfg!(miri) { 1000 } else { 100_000 } {
            let bits = rng.bits() >> (round % 64);
            let expected = -((bits | 1) as f64 / 2f64.powi(64)).ln();
            let found = logarithm(bits);
            assert!((found - expected).abs() < 5e-7, "{bits}: {found}, not {expected}");
        }
    }
}
