//! The recommended reviews of a shop: a cached order, with everything shown read anew.

use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{Page, ReviewFilter, ReviewId, ReviewOrder, ShopId, Storage, StoreError, Timestamp};
use serde::{Deserialize, Serialize};

use crate::mall::base::cache_aside::{Cached, Policy};

/// Maximum number of recommended reviews of a shop.
pub const RECOMMENDED_MAX: u32 = 100;

/// Ids of a shop's reviews with the most votes when the list was built, best first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct RecommendedIds(pub(super) Vec<ReviewId>);

#[async_trait]
impl Cached for RecommendedIds {
    const KIND: &'static str = "recommended-reviews";
    type Id = ShopId;

    /// Never `None`: a shop without reviews has an empty list, cached like every other.
    async fn load(storage: &Storage, shop: ShopId, _: Timestamp) -> Result<Option<Self>, StoreError> {
        let filter = ReviewFilter { shop, with_pictures: false, stars: None, folded: false };
        let page = Page::new(1, RECOMMENDED_MAX);
        let best = storage.writing.reviews.of_shop(&filter, ReviewOrder::Best, None, page).await?;
        Ok(Some(Self(best.into_iter().map(|review| review.id).collect())))
    }
}

/// A list is built anew after an hour, behind its readers, who get the old list meanwhile, for a day at most.
pub(super) const POLICY: Policy = Policy {
    fresh: Duration::from_secs(3_600),
    stale: Duration::from_secs(24 * 3_600),
    absent: Duration::ZERO,
    turns: true,
    waiters: 20_000,
    loads: 64,
    patience: Duration::from_secs(1),
    slow: Duration::from_millis(400),
};
