//! Upper bounds of the caches of a data directory.

/// Upper bounds of the caches, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CacheSizes {
    /// Pages of the database's writer.
    pub(crate) writer: u64,
    /// Pages of each other connection of the database: two readers and the checkpointer.
    pub(crate) connection: u64,
    /// Pages of the store below the order log. Small: its content is short-lived, and the mall keeps its own
    /// copy of everything it looks up.
    pub(crate) log: u64,
    /// Values of the mall: 64 MiB hold about a hundred thousand shops.
    pub(crate) values: u64,
}

impl CacheSizes {
    /// Connections beside the writer.
    const CONNECTIONS: u64 = 3;
    /// The usual sizes.
    pub(crate) const FULL: Self =
        Self { writer: 64 << 20, connection: 16 << 20, log: 32 << 20, values: 64 << 20 };

    /// Divides `total` bytes as the usual sizes are divided; no cache is larger than usual.
    pub(crate) fn within(total: u64) -> Self {
        let (part, of) = (u128::from(total.min(Self::FULL.total())), u128::from(Self::FULL.total()));
        // Not larger than `size`.
        let share = |size: u64| u64::try_from(u128::from(size) * part / of).unwrap_or(size);
        let Self { writer, connection, log, values } = Self::FULL;
        Self { writer: share(writer), connection: share(connection), log: share(log), values: share(values) }
    }

    /// Returns the sum over all caches.
    pub(crate) const fn total(self) -> u64 {
        self.writer + Self::CONNECTIONS * self.connection + self.log + self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_fit_into_any_total_and_are_never_larger_than_usual() {
        for total in [0, 1, 9 << 20, CacheSizes::FULL.total() - 1, CacheSizes::FULL.total(), u64::MAX] {
            let sizes = CacheSizes::within(total);
            assert!(sizes.total() <= total, "{total}: {sizes:?}");
            assert!(sizes.writer <= CacheSizes::FULL.writer);
        }
        assert_eq!(CacheSizes::within(u64::MAX), CacheSizes::FULL);
        assert_eq!(CacheSizes::within(104 << 20).writer, 32 << 20);
    }
}
