//! What is asked about a cache.

use serde::Serialize;

/// Verdicts on a question about a way, over all repetitions.
pub type CacheVerdict = mallbox_bench_verdicts::Verdict<CacheQuestion>;

/// A question about a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheQuestion {
    /// How many of 100 reads of shops that do not exist reach the database (缓存穿透).
    Absent,
    /// How many of 50 callers load a hot entry that has just expired (缓存击穿).
    HotExpired,
    /// What callers get while the entry is being loaded.
    WhileLoading,
    /// Whether entries that were filled together expire together (缓存雪崩).
    FilledTogether,
    /// What a reader costs who reads between the two steps of a write.
    ReadInWrite,
    /// What a reader costs who loads before a write and stores afterwards.
    WriteInRead,
    /// What callers do while a dead one holds the lock of the entry.
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
