//! Pagination of lists.

/// A page of a list; pages count from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    number: u32,
    size: u32,
}

impl Page {
    /// Maximum offset in rows: nobody turns that many pages, and skipping rows costs time.
    const MAX_SKIPPED: u64 = 1_000_000;

    /// Creates page `number` (0 counts as 1) of `size` rows each.
    #[must_use]
    pub const fn new(number: u32, size: u32) -> Self {
        let number = if number == 0 { 1 } else { number };
        Self { number, size }
    }

    /// Returns the maximum number of rows on the page.
    #[must_use]
    pub fn size(self) -> u32 {
        self.size
    }

    /// Returns the offset: rows before the page, capped at one million.
    #[must_use]
    pub fn skipped(self) -> u64 {
        (u64::from(self.number - 1) * u64::from(self.size)).min(Self::MAX_SKIPPED)
    }
}
