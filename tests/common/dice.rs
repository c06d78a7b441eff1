//! Chance that can be repeated: every test that rolls dice prints its seed and takes it from the environment.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// Dice with a known seed.
pub struct Dice(StdRng);

impl Dice {
    /// From `MALLBOX_SEED`, or new ones. The seed is printed, so that a failed test shows it.
    ///
    /// Threads and the disk have a will of their own: the same seed gives the same plan, not the same run.
    pub fn from_environment(test: &str) -> Self {
        let seed = number_from("MALLBOX_SEED").unwrap_or_else(rand::random);
        println!("{test}: MALLBOX_SEED={seed}");
        Self::new(seed)
    }

    pub fn new(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    /// Below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0.random_range(0..end)
    }

    /// True `percent` times of a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Milliseconds, from `from` to below `to`.
    pub fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(self.0.random_range(from..to))
    }

    /// A moment of something that takes about so long, or shortly after it.
    pub fn within(&mut self, about: Duration) -> Duration {
        about.mul_f64(self.0.random_range(0.0..1.2))
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.0.random_range(0..from.len())]
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.0.random_range(0..=last));
        }
    }

    /// Dice for somebody else, so that what they roll does not change what comes next here.
    pub fn split(&mut self) -> Self {
        Self::new(self.0.random())
    }
}

/// A number from the environment; what is no number is a mistake worth stopping for.
pub fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}
