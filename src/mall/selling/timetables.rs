//! Cached timetables of sales, for sale pages.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{Storage, StoreError, Timestamp, VoucherId, Wave};
use serde::{Deserialize, Serialize};

use crate::mall::base::Failure;
use crate::mall::base::cache_aside::{CacheAside, CacheMetrics, Cached, Policy};

/// A wave on a sale's page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PageWave {
    /// The wave.
    pub wave: Wave,
    /// Whether the units are on sale already.
    pub is_released: bool,
}

#[derive(Clone, Serialize, Deserialize)]
struct Timetable(Vec<PageWave>);

#[async_trait]
impl Cached for Timetable {
    const KIND: &'static str = "sale-waves";
    type Id = VoucherId;

    async fn load(storage: &Storage, sale: VoucherId, _: Timestamp) -> Result<Option<Self>, StoreError> {
        let waves = storage.catalogue.waves.of(sale).await?;
        let shown = |record: mallbox_storage::WaveRecord| PageWave {
            wave: record.wave,
            is_released: record.released.is_some(),
        };
        Ok(Some(Self(waves.into_iter().map(shown).collect())))
    }
}

/// Cached timetables of sales.
pub(in crate::mall) struct Timetables(CacheAside<Timetable>);

impl Timetables {
    pub(in crate::mall) fn of(storage: &Storage) -> Self {
        let policy = Policy { fresh: Duration::from_secs(5), ..Policy::default() };
        Self(CacheAside::new(storage, policy))
    }

    /// Returns the waves of a sale by number.
    pub(in crate::mall) async fn get(
        &self,
        sale: VoucherId,
        now: Timestamp,
    ) -> Result<Vec<PageWave>, Failure> {
        Ok(self.0.get(sale, now).await?.map(|timetable| timetable.0).unwrap_or_default())
    }

    /// Invalidates a timetable after a change or a release.
    pub(in crate::mall) async fn changed(&self, sale: VoucherId) {
        self.0.changed(&[sale]).await;
    }

    /// Returns the cache metrics.
    pub(in crate::mall) fn figures(&self) -> Arc<CacheMetrics> {
        self.0.figures()
    }
}
