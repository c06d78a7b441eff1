//! What is asked about a cache.

use serde::Serialize;

/// Verdicts on a question about a way, over all repetitions.
pub type CacheVerdict = mallbox_bench_verdicts::Verdict<CacheQuestion>;

/// A question about a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheQuestion {
    /// Reads of the database for 100 reads of absent shops (缓存穿透).
    Absent,
    /// Loads of an expired hot entry by 50 callers (缓存击穿).
    HotExpired,
    /// Response to callers during the load of an entry.
    WhileLoading,
    /// Expiry of 500 entries filled together (缓存雪崩).
    FilledTogether,
    /// Value after a read between the two steps of a write.
    ReadInWrite,
    /// Value after a load before a write and a store after the write.
    WriteInRead,
    /// Response to callers while a dead caller holds the lock of the entry.
    HolderKilled,
}

impl CacheQuestion {
    /// Every question, in the order of asking.
    pub const ALL: [Self; 7] = [
        Self::Absent,
        Self::HotExpired,
        Self::WhileLoading,
        Self::FilledTogether,
        Self::ReadInWrite,
        Self::WriteInRead,
        Self::HolderKilled,
    ];
}

impl mallbox_bench_verdicts::Question for CacheQuestion {
    fn words(self) -> &'static str {
        match self {
            Self::Absent => "reads of absent shops that reach the database",
            Self::HotExpired => "callers who load an expired hot entry",
            Self::WhileLoading => "callers while the entry is loaded",
            Self::FilledTogether => "entries filled together",
            Self::ReadInWrite => "a read between the steps of a write",
            Self::WriteInRead => "a write between the steps of a read",
            Self::HolderKilled => "holder of the lock killed",
        }
    }
}
