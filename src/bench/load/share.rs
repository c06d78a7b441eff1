//! A share of something that several threads or machines do together.

/// The first, and every so-manieth after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// Number of the share, counted from 0.
    pub number: usize,
    /// Number of all shares; at least 1.
    pub of: usize,
}

impl Share {
    /// Everything.
    pub const WHOLE: Self = Self { number: 0, of: 1 };

    /// Returns a share of this share.
    #[must_use]
    pub fn part(self, inner: Self) -> Self {
        Self { number: self.number * inner.of + inner.number, of: self.of * inner.of }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_shares_are_shares_of_the_whole() {
        let mut numbers = Vec::new();
        for machine in 0..3 {
            for thread in 0..2 {
                let share = Share { number: machine, of: 3 }.part(Share { number: thread, of: 2 });
                assert_eq!(share.of, 6);
                numbers.push(share.number);
            }
        }
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
        assert_eq!(Share::WHOLE.part(Share::WHOLE), Share::WHOLE);
    }
}
