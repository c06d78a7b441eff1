//! Memory budget: how much memory a mall may take, and the share of each part that could grow.
//!
//! Reasons and figures: `src/decisions/0092-memory-and-disk.md`.

/// Memory that a mall may take, in bytes, with the pages of its program.
///
/// Each share grows with the budget up to [`FULL`](Self::FULL), from which on every part has what it can use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MemoryBudget {
    bytes: u64,
}

impl MemoryBudget {
    /// The smallest budget: 128 MiB.
    pub const MIN: Self = Self { bytes: 128 << 20 };
    /// The budget from which on no share grows any more: 4 GiB.
    pub const FULL: Self = Self { bytes: 4 << 30 };

    /// Resident pages of the program, stacks, indexes and sessions.
    const FIXED_BYTES: u64 = 50 << 20;
    /// Memory of a pending claim in the order log.
    const CLAIM_BYTES: u64 = 100;
    /// Memory of a connection with a request in progress.
    const CONNECTION_BYTES: u64 = 12 << 10;
    /// Memory of a pixel while a picture is read and encoded: red, green and blue, twice.
    const PIXEL_BYTES: u64 = 6;
    /// Pixels of the largest picture that mallbox's own pages send, in millions: a square of 2,048 pixels.
    const MEGAPIXELS_MIN: u32 = 5;
    /// Memory of one password hash.
    const HASH_BYTES: u64 = 19 << 20;

    /// Creates a budget; `None` if it is smaller than [`MIN`](Self::MIN).
    #[must_use]
    pub fn new(bytes: u64) -> Option<Self> {
        Some(Self { bytes }).filter(|budget| *budget >= Self::MIN)
    }

    /// Returns the size in bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// Returns the upper bound of all caches of a storage in a directory together, in bytes.
    #[must_use]
    pub fn storage_cache_bytes(self) -> u64 {
        self.share(8).min(208 << 20)
    }

    /// Returns the maximum number of accepted claims that wait for the database.
    #[must_use]
    pub fn backlog_claims(self) -> u64 {
        (self.share(16) / Self::CLAIM_BYTES).min(2_000_000)
    }

    /// Returns the maximum number of open connections of a server.
    #[must_use]
    pub fn connections(self) -> u64 {
        (self.share(8) / Self::CONNECTION_BYTES).min(20_000)
    }

    /// Returns the maximum number of concurrent password hashes.
    #[must_use]
    pub fn hashes(self) -> usize {
        if self.share(4) >= 4 * Self::HASH_BYTES { 2 } else { 1 }
    }

    /// Returns the maximum number of pictures that are encoded at a time.
    #[must_use]
    pub fn encodings(self) -> usize {
        if self.bytes >= 2 << 30 { 2 } else { 1 }
    }

    /// Returns the maximum number of pixels of an uploaded picture, in millions.
    #[must_use]
    pub fn megapixels(self) -> u32 {
        let pixels = self.share(4) / self.encodings() as u64 / Self::PIXEL_BYTES;
        u32::try_from(pixels / 1_000_000).unwrap_or(u32::MAX).clamp(Self::MEGAPIXELS_MIN, 32)
    }

    /// Returns the maximum number of concurrent uploads, each with its file of at most `file_bytes` in
    /// memory.
    #[must_use]
    pub fn uploads(self, file_bytes: usize) -> usize {
        let files = self.share(16) / (file_bytes as u64).max(1);
        usize::try_from(files).unwrap_or(usize::MAX).clamp(1, 32)
    }

    /// Returns the maximum number of concurrent viewers of the live metrics, of up to 400 KB each.
    #[must_use]
    pub fn live_viewers(self) -> usize {
        usize::try_from(self.share(16) / 400_000).unwrap_or(usize::MAX).clamp(2, 16)
    }

    /// Returns a fraction of what is not [fixed](Self::FIXED_BYTES), in bytes.
    fn share(self, fraction: u64) -> u64 {
        self.bytes.saturating_sub(Self::FIXED_BYTES) / fraction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UPLOAD_BYTES: usize = 5 << 20;

    fn budget(mebibytes: u64) -> MemoryBudget {
        MemoryBudget::new(mebibytes << 20).unwrap()
    }

    #[test]
    fn a_full_budget_bounds_nothing_below_the_usual_maximum() {
        for full in [MemoryBudget::FULL, budget(4_096), budget(100_000)] {
            assert_eq!(full.storage_cache_bytes(), 208 << 20);
            assert_eq!((full.backlog_claims(), full.connections()), (2_000_000, 20_000));
            assert_eq!((full.hashes(), full.encodings(), full.megapixels()), (2, 2, 32));
            assert_eq!((full.uploads(UPLOAD_BYTES), full.live_viewers()), (32, 16));
        }
    }

    #[test]
    fn the_shares_of_any_budget_fit_into_it() {
        for mebibytes in 128..4_096 {
            let of = budget(mebibytes);
            let pixels = of.encodings() as u64 * u64::from(of.megapixels()) * 1_000_000;
            let parts = [
                MemoryBudget::FIXED_BYTES,
                of.storage_cache_bytes(),
                of.backlog_claims() * MemoryBudget::CLAIM_BYTES,
                of.connections() * MemoryBudget::CONNECTION_BYTES,
                of.hashes() as u64 * MemoryBudget::HASH_BYTES,
                pixels * MemoryBudget::PIXEL_BYTES,
                (of.uploads(UPLOAD_BYTES) * UPLOAD_BYTES) as u64,
            ];
            assert!(parts.iter().sum::<u64>() <= of.bytes(), "{mebibytes} MiB: {parts:?}");
            assert!(parts.iter().all(|part| *part > 0), "{mebibytes} MiB: {parts:?}");
        }
    }

    #[test]
    fn no_share_shrinks_while_the_budget_grows() {
        let shares = |mebibytes| {
            let of = budget(mebibytes);
            let pixels = u64::from(of.megapixels());
            let counts = [of.hashes(), of.encodings(), of.uploads(UPLOAD_BYTES), of.live_viewers()];
            (of.storage_cache_bytes(), of.backlog_claims(), of.connections(), pixels, counts)
        };
        for mebibytes in 128..4_095 {
            let (before, after) = (shares(mebibytes), shares(mebibytes + 1));
            assert!(before.0 <= after.0 && before.1 <= after.1 && before.2 <= after.2, "{mebibytes}");
            assert!(before.3 <= after.3, "{mebibytes}: {before:?} {after:?}");
            assert!(before.4.iter().zip(after.4).all(|(before, after)| *before <= after), "{mebibytes}");
        }
    }

    #[test]
    fn a_budget_below_the_minimum_is_none() {
        assert_eq!(MemoryBudget::new((128 << 20) - 1), None);
        assert_eq!(MemoryBudget::new(128 << 20), Some(MemoryBudget::MIN));
        assert!(MemoryBudget::MIN.megapixels() == 5 && MemoryBudget::MIN.hashes() == 1);
    }
}
