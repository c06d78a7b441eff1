//! Reproducible random choices: every randomized test prints its seed and accepts one from the environment.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// A random generator with a known seed.
pub struct Dice(StdRng);

impl Dice {
    /// Creates a generator from `MALLBOX_SEED`, or a random seed. Prints the seed, so that a failed test
    /// shows it.
    ///
    /// Threads and the disk are not deterministic: an equal seed gives an equal plan, not an equal run.
    pub fn from_environment(test: &str) -> Self {
        let seed = number_from("MALLBOX_SEED").unwrap_or_else(rand::random);
        println!("{test}: MALLBOX_SEED={seed}");
        Self::new(seed)
    }

    pub fn new(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0.random_range(0..end)
    }

    /// Returns true with a probability of `percent` %.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns a duration in milliseconds, from `from` to below `to`.
    pub fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(self.0.random_range(from..to))
    }

    /// Returns a random duration up to 1.2 times `about`: during or shortly after an operation of that
    /// length.
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

    /// Returns an independent generator, whose use does not change later values of `self`.
    pub fn split(&mut self) -> Self {
        Self::new(self.0.random())
    }
}

/// Reads a number from the environment; anything else panics.
pub fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}
