//! Random numbers that the scheduler chooses.

pub use rand::{Rng, RngCore};

/// The generators.
pub mod rngs {
    use rand::{CryptoRng, RngCore};

    /// A generator whose numbers the scheduler chooses, so that executions can be repeated. A search refuses it.
    #[derive(Debug, Default, Clone)]
    pub struct ThreadRng {
        pub(super) _private: (),
    }

    impl RngCore for ThreadRng {
        #[track_caller]
        fn next_u32(&mut self) -> u32 {
            self.next_u64() as u32
        }

        /// A choice has at most 32 bits. All parts are more than a search would try.
        #[track_caller]
        fn next_u64(&mut self) -> u64 {
            let part = |bits: u32| u64::from(raddle::choose(1 << bits));
            part(22) << 42 | part(21) << 21 | part(21)
        }

        fn fill_bytes(&mut self, dest: &mut [u8]) {
            for chunk in dest.chunks_mut(8) {
                let bytes = self.next_u64().to_le_bytes();
                chunk.copy_from_slice(&bytes[..chunk.len()]);
            }
        }

        fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), rand::Error> {
            self.fill_bytes(dest);
            Ok(())
        }
    }

    impl CryptoRng for ThreadRng {}
}

/// Returns a generator whose numbers the scheduler chooses.
///
/// ```
/// use shuttle::rand::{Rng, thread_rng};
///
/// shuttle::check_random(|| assert!(thread_rng().gen_range(0..7) < 7), 10);
/// ```
pub fn thread_rng() -> rngs::ThreadRng {
    rngs::ThreadRng::default()
}
