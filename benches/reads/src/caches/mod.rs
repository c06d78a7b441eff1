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
pub use question::{CacheQuestion, CacheVerdict};
pub use shop_cache::{SHOPS, ShopCache, WriteStep};
pub use ways::{MallCaches, WAYS};
