//! Pages of a list.

/// A page of a list, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    number: u32,
    size: u32,
}

impl Page {
    /// No list goes further than this many rows: nobody turns so many pages, and skipping rows costs time.
    const MAX_SKIPPED: u64 = 1_000_000;

    /// Page `number` (0 counts as 1) of `size` rows each.
    #[must_use]
    pub const fn new(number: u32, size: u32) -> Self {
        let number = if number == 0 { 1 } else { number };
        Self { number, size }
    }

    /// How many rows it has at the most.
    #[must_use]
    pub fn size(self) -> u32 {
        self.size
    }

    /// How many rows stand before it.
    #[must_use]
    pub fn skipped(self) -> u64 {
        (u64::from(self.number - 1) * u64::from(self.size)).min(Self::MAX_SKIPPED)
    }
}
