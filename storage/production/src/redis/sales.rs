//! The [`Sales`] port. Claims run in one script, on keys of one slot.
//!
//! Reasons and figures: `storage/decisions/0016-claims-on-redis.md`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::{self, TryStreamExt as _};
use mallbox_storage::{
    Claim, ClaimOutcome, Fenced, FencingToken, OrderId, Orders, Pass, ReleaseOutcome, ReserveOutcome,
    SaleUnits, Sales, StoreError, Terms, UserId, VoucherId,
};

use super::claim_groups::{ClaimGroups, GroupItem};
use super::epochs::{RequiredEpoch, ServerEpochs};
use super::keys::{Keys, SaleKeys, partition_of};
use super::link::Idempotence;
use super::loading::{LOADER_TIMEOUT_MS, SaleLoad, as_args, read_units};
use super::script::{FORGET_SALE, PASS_EPOCH, PUT, RELEASE, RESERVE, UNITS};
use crate::{EpochScope, Holders};

const PUT_OP: &str = "sales.put";
/// Interval at which waiting callers check whether another instance has loaded the sale.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum number of checks per call.
const LOAD_CHECKS_MAX: u32 = 60;
/// Units released concurrently: each release first reads the database, to which a process has 16 connections.
const RELEASE_CONCURRENCY: usize = 12;

/// Sales in Redis.
pub(super) struct RedisSales {
    pub(super) epochs: Arc<ServerEpochs>,
    pub(super) keys: Keys,
    pub(super) holders: Arc<dyn Holders>,
    pub(super) orders: Arc<dyn Orders>,
    pub(super) groups: ClaimGroups,
}

fn read_answer(answer: &str) -> Result<ClaimOutcome, StoreError> {
    Ok(match answer {
        "accepted" => ClaimOutcome::Accepted,
        "sold out" => ClaimOutcome::SoldOut,
        "not open" => ClaimOutcome::NotOpen,
        "ended" => ClaimOutcome::Ended,
        "paused" => ClaimOutcome::Paused,
        "unknown" => ClaimOutcome::Unknown,
        "pass refused" => ClaimOutcome::PassRefused,
        order => ClaimOutcome::AlreadyBought(read_order("sales.claim", order)?),
    })
}

fn read_order(op: &'static str, order: &str) -> Result<OrderId, StoreError> {
    let corrupt = |_| StoreError::Corrupt { op, key: format!("the order {order:?} of a buyer") };
    order.parse().map(OrderId::new).map_err(corrupt)
}

impl RedisSales {
    /// Claims a unit, with the user's pass if the sale is guarded.
    async fn take(&self, claim: Claim, holding: u8, pass: Option<Pass>) -> Result<ClaimOutcome, StoreError> {
        self.epochs.enroll().await?;
        read_answer(&self.groups.run(claim.voucher, GroupItem::Unit { claim, holding, pass }).await?)
    }

    /// Tries once to put a sale. `None` if another instance is loading the sale.
    async fn try_put(
        &self,
        keys: &SaleKeys,
        (terms, token): (Terms, FencingToken),
        loader: &str,
    ) -> Result<Option<Fenced<SaleUnits>>, StoreError> {
        let forgotten = self.keys.token_of_forgotten(partition_of(terms.voucher));
        let SaleKeys { sale, loading, loaded_buyers, loaded_further, released, .. } = keys;
        let put = PUT
            .on([sale, loading, loaded_buyers, loaded_further, released, &forgotten])
            .arg(&as_args(&terms, token))
            .arg(loader)
            .arg(LOADER_TIMEOUT_MS);
        let scope = EpochScope::of(terms.voucher);
        let (answer, number): (Vec<String>, _) =
            self.epochs.run((PUT_OP, Idempotence::Safe), (scope, RequiredEpoch::FreshOpen), put).await?;
        match answer.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["put", units, taken] => Ok(Some(Fenced::Done(read_units(PUT_OP, units, taken)?))),
            ["stale", seen] => {
                let corrupt = |_| StoreError::Corrupt { op: PUT_OP, key: format!("the token {seen:?}") };
                Ok(Some(Fenced::Stale { seen: FencingToken::new(seen.parse().map_err(corrupt)?) }))
            }
            ["load"] => {
                // Gives up if a new epoch has begun, without callers waiting for the loader.
                let known = self.epochs.known();
                let Some(epoch) = known.of(scope).filter(|epoch| epoch.number == number) else {
                    return Ok(None);
                };
                let loading = SaleLoad {
                    epochs: Arc::clone(&self.epochs),
                    epoch: Arc::clone(epoch),
                    keys: self.keys.clone(),
                    holders: Arc::clone(&self.holders),
                    loader: loader.to_owned(),
                    terms,
                    token,
                };
                // Continues even if the caller stops waiting: otherwise no task would finish the load.
                let loaded = self.epochs.link.runtime().spawn(loading.run()).await;
                let loaded =
                    loaded.map_err(|error| StoreError::Unavailable { op: PUT_OP, source: error.into() })?;
                Ok(loaded?.map(Fenced::Done))
            }
            _ => Ok(None),
        }
    }
}

#[async_trait]
impl Sales for RedisSales {
    async fn claim(&self, claim: Claim) -> Result<ClaimOutcome, StoreError> {
        self.take(claim, 0, None).await
    }

    async fn claim_with_pass(&self, claim: Claim, pass: Pass) -> Result<ClaimOutcome, StoreError> {
        self.take(claim, 0, Some(pass)).await
    }

    async fn claim_further(
        &self,
        claim: Claim,
        holding: u8,
        pass: Option<Pass>,
    ) -> Result<ClaimOutcome, StoreError> {
        self.take(claim, holding, pass).await
    }

    async fn pass_epoch(&self, voucher: VoucherId) -> Result<u64, StoreError> {
        const OP: &str = "sales.pass_epoch";
        let call = PASS_EPOCH.on([self.keys.pass_epoch(partition_of(voucher))]).arg(crate::random::random());
        let epoch: String = self.epochs.link.run(OP, Idempotence::Safe, call).await?;
        epoch.parse().map_err(|_| StoreError::Corrupt { op: OP, key: format!("the epoch {epoch:?}") })
    }

    async fn held(
        &self,
        voucher: VoucherId,
        user: UserId,
        holding: u8,
    ) -> Result<Option<OrderId>, StoreError> {
        const OP: &str = "sales.held";
        match &*self.groups.run(voucher, GroupItem::Held { user, holding }).await? {
            "none" | "unknown" => Ok(None),
            order => read_order(OP, order).map(Some),
        }
    }

    async fn put(&self, terms: Terms, token: FencingToken) -> Result<Fenced<SaleUnits>, StoreError> {
        let keys = self.keys.sale(terms.voucher);
        let loader = format!("{:x}", crate::random::random());
        for _ in 0..LOAD_CHECKS_MAX {
            if let Some(outcome) = self.try_put(&keys, (terms, token), &loader).await? {
                return Ok(outcome);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        Err(StoreError::Unavailable {
            op: PUT_OP,
            source: "another instance is still loading the sale".into(),
        })
    }

    async fn release(
        &self,
        voucher: VoucherId,
        user: UserId,
        order: OrderId,
    ) -> Result<ReleaseOutcome, StoreError> {
        const OP: &str = "sales.release";
        let mut order = order;
        loop {
            let held = self.orders.holdings(voucher, user).await?;
            // Protects live orders from callers that release too early, or after a replay of the order.
            if held.contains(&order) {
                return Ok(ReleaseOutcome::NotHeld);
            }
            let keys = self.keys.sale(voucher);
            let call = RELEASE.on(keys.of_units()).arg(user.get()).arg(order.get());
            let call = held.iter().fold(call, |call, other| call.arg(other.get()));
            let need = (EpochScope::of(voucher), RequiredEpoch::Fresh);
            let (answer, _): (String, _) = self.epochs.run((OP, Idempotence::Safe), need, call).await?;
            order = match answer.as_str() {
                "released" => return Ok(ReleaseOutcome::Released),
                "not held" => return Ok(ReleaseOutcome::NotHeld),
                // The order may have been closed in the meantime, when it had no unit to give back.
                heir => read_order(OP, heir)?,
            };
        }
    }

    async fn release_all(&self, closed: &[(VoucherId, UserId, OrderId)]) -> Result<(), StoreError> {
        stream::iter(closed.iter().copied().map(Ok))
            .try_for_each_concurrent(RELEASE_CONCURRENCY, async |(voucher, user, order)| {
                self.release(voucher, user, order).await.map(drop)
            })
            .await
    }

    async fn reserve(
        &self,
        voucher: VoucherId,
        user: UserId,
        order: OrderId,
    ) -> Result<ReserveOutcome, StoreError> {
        const OP: &str = "sales.reserve";
        let call = RESERVE.on(self.keys.sale(voucher).of_units()).arg(user.get()).arg(order.get());
        let need = (EpochScope::of(voucher), RequiredEpoch::Fresh);
        let (answer, _): (String, _) = self.epochs.run((OP, Idempotence::Safe), need, call).await?;
        match answer.as_str() {
            "taken" => Ok(ReserveOutcome::Taken),
            "held" => Ok(ReserveOutcome::Held),
            "sold out" => Ok(ReserveOutcome::SoldOut),
            _ => Err(StoreError::Corrupt { op: OP, key: answer }),
        }
    }

    async fn units(&self, voucher: VoucherId) -> Result<Option<SaleUnits>, StoreError> {
        const OP: &str = "sales.units";
        let call = UNITS.on([self.keys.sale(voucher).sale]);
        // A promoted replica may lack claims in workers' hands, until its epoch is open.
        let need = (EpochScope::of(voucher), RequiredEpoch::Open);
        let (found, _): (Option<(String, String)>, _) =
            self.epochs.run((OP, Idempotence::Safe), need, call).await?;
        found.map(|(units, taken)| read_units(OP, &units, &taken)).transpose()
    }

    async fn without_unit(&self, voucher: VoucherId, users: &[UserId]) -> Result<Vec<UserId>, StoreError> {
        /// Buyers per command, which blocks other clients for about 0.1 ms.
        const BATCH_MAX: usize = 256;
        let mut lacking = Vec::new();
        for users in users.chunks(BATCH_MAX) {
            let mut command = redis::cmd("HMGET");
            command.arg(self.keys.sale(voucher).buyers);
            for user in users {
                command.arg(user.get());
            }
            let orders: Vec<Option<String>> =
                self.epochs.link.query("sales.without_unit", Idempotence::Safe, &command).await?;
            let lacks = users.iter().zip(orders).filter(|(_, order)| order.is_none());
            lacking.extend(lacks.map(|(user, _)| *user));
        }
        Ok(lacking)
    }

    async fn forget(&self, voucher: VoucherId) -> Result<(), StoreError> {
        const OP: &str = "sales.forget";
        let (keys, partition) = (self.keys.sale(voucher), partition_of(voucher));
        let of_partition = [self.keys.sales(partition), self.keys.token_of_forgotten(partition)];
        // A loader of the sale notices at its next step, and starts over.
        let call = FORGET_SALE
            .on(keys.of_units().into_iter().chain(of_partition.iter().map(String::as_str)))
            .arg(voucher.get())
            .arg(0);
        let need = (EpochScope::of(voucher), RequiredEpoch::Fresh);
        let (_, _): (u64, _) = self.epochs.run((OP, Idempotence::Safe), need, call).await?;
        self.groups.forget(voucher);
        Ok(())
    }
}
