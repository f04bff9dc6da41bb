//! Randomness of a run: a small, fast generator with the same draws on every platform.

/// The wyrand generator: one multiplication per draw.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// Makes a generator whose draws follow from `seed` alone.
    #[inline(always)]
    pub fn new(seed: u64) -> Rng {
        Rng { state: seed }
    }

    /// Returns 64 random bits.
    #[inline(always)]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0xa076_1d64_78bd_642f);
        let product =
            (self.state as u128).wrapping_mul((self.state ^ 0xe703_7ed1_a0b4_28db) as u128);
        (product >> 64) as u64 ^ product as u64
    }

    /// Returns a number below `bound`, which must not be zero. The bias is below 2⁻³² for each value.
    #[inline(always)]
    pub fn below(&mut self, bound: usize) -> usize {
        ((self.bits() as u128).wrapping_mul(bound as u128) >> 64) as usize
    }
}

/// Returns the seed of run `run` in a session seeded with `seed`. Neighbouring runs are independent.
#[inline(always)]
pub fn mix(seed: u64, run: u64) -> u64 {
    let mut z = seed ^ run.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
