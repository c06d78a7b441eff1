//! A decorator of the real log that loses claims in progress. Stands for a failover to a replica without the
//! last claims, followed by a rebuild of the sales from the database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{
    Claim, LogState, LoggedClaim, OrderId, OrderLog, PendingClaims, Storage, StoreError, Transition, UserId,
    VoucherId,
};

use super::world::terms_token;

pub struct LossyOrderLog {
    real: Storage,
    /// Whether orders are cancelled before their claims leave the log.
    pub cancels: AtomicBool,
}

impl LossyOrderLog {
    pub fn over(real: &Storage) -> Arc<Self> {
        Arc::new(Self { real: real.clone(), cancels: AtomicBool::new(false) })
    }
}

#[async_trait]
impl OrderLog for LossyOrderLog {
    async fn take(&self, worker: &str, max: usize, wait: Duration) -> Result<Vec<LoggedClaim>, StoreError> {
        let taken = self.real.selling.order_log.take(worker, max, wait).await?;
        assert_eq!(self.real.selling.order_log.done(worker, &taken).await?, []);
        for LoggedClaim { claim, .. } in &taken {
            let sale =
                self.real.catalogue.vouchers.get(claim.voucher).await?.and_then(|voucher| voucher.sale);
            self.real.selling.sales.forget(claim.voucher).await?;
            let token = terms_token(&self.real).await;
            let put = self.real.selling.sales.put(sale.unwrap().terms, token).await?;
            assert!(put.done().is_some());
        }
        Ok(taken)
    }

    async fn done(&self, worker: &str, settled: &[LoggedClaim]) -> Result<Vec<OrderId>, StoreError> {
        if self.cancels.load(Ordering::SeqCst) {
            for LoggedClaim { claim, .. } in settled {
                let _ = self.real.selling.orders.step(claim.order, Transition::Cancel, claim.at).await?;
                let _ = self.real.selling.sales.release(claim.voucher, claim.user, claim.order).await?;
            }
        }
        self.real.selling.order_log.done(worker, settled).await
    }

    async fn put_back(&self, worker: &str, claims: &[LoggedClaim], refused: bool) -> Result<(), StoreError> {
        self.real.selling.order_log.put_back(worker, claims, refused).await
    }

    async fn reclaim(&self, worker: &str) -> Result<usize, StoreError> {
        self.real.selling.order_log.reclaim(worker).await
    }

    async fn find(&self, order: OrderId) -> Result<Option<Claim>, StoreError> {
        self.real.selling.order_log.find(order).await
    }

    async fn of_user(&self, user: UserId) -> Result<Vec<Claim>, StoreError> {
        self.real.selling.order_log.of_user(user).await
    }

    async fn count(&self, voucher: VoucherId) -> Result<PendingClaims, StoreError> {
        self.real.selling.order_log.count(voucher).await
    }

    async fn pending(&self) -> Result<Vec<Claim>, StoreError> {
        self.real.selling.order_log.pending().await
    }

    async fn state(&self) -> LogState {
        self.real.selling.order_log.state().await
    }
}
