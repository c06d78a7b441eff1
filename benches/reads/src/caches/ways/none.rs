//! No cache: every read goes to MySQL.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_bench_ports::BenchError;

use super::shop_table::ShopTable;
use crate::caches::shop_cache::{ShopCache, WriteStep};
use crate::{HeldLoads, Stage};

struct NoCache {
    table: ShopTable,
}

pub(super) async fn open(stage: &Stage) -> Result<Arc<dyn ShopCache>, BenchError> {
    Ok(Arc::new(NoCache { table: ShopTable::create(stage.servers()?).await? }))
}

#[async_trait]
impl ShopCache for NoCache {
    fn loads(&self) -> &HeldLoads {
        &self.table.loads
    }

    async fn read(&self, shop: u64) -> Result<Option<u64>, BenchError> {
        self.table.load(shop).await
    }

    fn write_steps(&self) -> &'static [WriteStep] {
        &[WriteStep::Row]
    }

    async fn put_row(&self, shop: u64, value: u64) -> Result<(), BenchError> {
        self.table.put(shop, value).await
    }

    async fn renew_entry(&self, _: u64) -> Result<(), BenchError> {
        Ok(())
    }

    async fn expire(&self, _: u64) -> Result<(), BenchError> {
        Ok(())
    }

    async fn remove_entry(&self, _: u64) -> Result<(), BenchError> {
        Ok(())
    }

    async fn warm(&self, _: RangeInclusive<u64>) -> Result<(), BenchError> {
        Ok(())
    }

    async fn lifetimes(&self, _: RangeInclusive<u64>) -> Result<Vec<Duration>, BenchError> {
        Ok(Vec::new())
    }

    async fn leave_lock(&self, _: u64) -> Result<bool, BenchError> {
        Ok(false)
    }

    async fn is_locked(&self, _: u64) -> Result<bool, BenchError> {
        Ok(false)
    }

    async fn remove(self: Arc<Self>) -> Result<(), BenchError> {
        self.table.remove().await
    }
}
