//! Caches of rows: strategies, and what each does in a stampede.

mod cost;
mod examine;
mod expected;
mod experiments;
mod question;
mod shop_cache;
mod ways;

pub use cost::CacheCost;
pub use examine::{CacheResult, examine, steps};
pub use question::CacheQuestion;
pub use shop_cache::{ShopCache, WriteStep};
pub use ways::{MallCaches, WAYS};

/// Shops that exist: 1 to this number.
pub const SHOPS: u64 = 500;

/// Verdicts on a question about a way, over all repetitions.
pub type CacheVerdict = mallbox_bench_verdicts::Verdict<CacheQuestion>;
