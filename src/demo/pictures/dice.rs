//! Repeatable pseudo-random numbers.

/// A pseudo-random generator determined by the seed alone (the steps of splitmix64).
pub(super) struct Dice {
    state: u64,
}

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns a whole number from `low` to `high`, both included.
    pub(super) fn range(&mut self, low: i32, high: i32) -> i32 {
        let sides = u64::from(high.abs_diff(low)) + 1;
        low + i32::try_from(self.step() % sides).unwrap_or(0)
    }

    /// Picks an element of `from`, which must not be empty.
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let last = i32::try_from(from.len()).unwrap_or(i32::MAX) - 1;
        from[usize::try_from(self.range(0, last)).unwrap_or(0)]
    }

    /// Returns true with a probability of 1 / `n`.
    pub(super) fn one_in(&mut self, n: i32) -> bool {
        self.range(1, n) == 1
    }

    fn step(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
