//! Claims of many buyers, and workers that settle them.

use std::num::NonZeroU8;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{
    Claim, ClaimOutcome, FencingToken, LoggedClaim, OrderId, OrderLog, Sales, Storage, Terms, Timestamp,
    UserId, VoucherId,
};

use crate::error::{BenchError, ensure};
use crate::insist::insist;
use crate::load::{Load, drive};

/// The mall's time.
pub const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
/// The fencing token of terms that nobody competes for.
pub(crate) const TOKEN: FencingToken = FencingToken::new(1);
/// Callers of a fill, as many as the connection to Redis carries well.
const FILLERS: usize = 512;
/// Claims handed to a worker at once.
pub(crate) const BATCH: usize = 1_000;

/// Returns the terms of a sale that is open for ever.
pub(crate) fn terms(voucher: VoucherId, units: Option<u64>) -> Terms {
    Terms {
        voucher,
        begin: Timestamp::from_millis(0),
        end: Timestamp::MAX,
        paused: false,
        units,
        waiting: false,
        per_user: NonZeroU8::MIN,
    }
}

/// Returns claim `number` of a sale, by `user`.
pub(crate) fn claim(voucher: VoucherId, user: u64, number: u64) -> Result<Claim, BenchError> {
    let order = OrderId::compose(NOON, number, voucher)
        .ok_or_else(|| BenchError::Wrong(format!("no order id for claim {number}")))?;
    Ok(Claim { order, voucher, user: UserId::new(user), at: NOON })
}

/// Claims, and checks the outcome.
pub(crate) async fn expect_claim(
    sales: &Arc<dyn Sales>,
    claim: Claim,
    is_right: fn(ClaimOutcome) -> bool,
) -> Result<(), BenchError> {
    let outcome = insist(|| sales.claim(claim)).await?;
    ensure(is_right(outcome), || format!("{claim:?} was {outcome:?}"))
}

/// Claims for the users 1 to `buyers`, and settles their claims.
pub(crate) async fn fill(storage: &Storage, voucher: VoucherId, buyers: u64) -> Result<(), BenchError> {
    let sales = Arc::clone(&storage.selling.sales);
    let worker = tokio::spawn(settle(Arc::clone(&storage.selling.order_log), buyers));
    let load = Load::count(FILLERS, buyers, Duration::MAX);
    drive(load, move |number| {
        let sales = Arc::clone(&sales);
        async move {
            let claim = claim(voucher, number + 1, number)?;
            expect_claim(&sales, claim, |outcome| outcome == ClaimOutcome::Accepted).await
        }
    })
    .await?;
    worker.await?
}

/// Acknowledges `count` claims as settled.
async fn settle(log: Arc<dyn OrderLog>, count: u64) -> Result<(), BenchError> {
    let mut settled = 0;
    while settled < count {
        let claims = insist(|| log.take("filler", BATCH, Duration::from_millis(100))).await?;
        if claims.is_empty() {
            // A hand-out whose response was lost.
            insist(|| log.reclaim("filler")).await?;
        }
        insist(|| log.done("filler", &claims)).await?;
        settled += claims.len() as u64;
    }
    Ok(())
}

/// Acknowledges all pending claims, and returns them.
pub(crate) async fn drain(log: &Arc<dyn OrderLog>) -> Result<Vec<LoggedClaim>, BenchError> {
    let mut drained = Vec::new();
    loop {
        let claims = insist(|| log.take("drain", BATCH, Duration::from_millis(20))).await?;
        if claims.is_empty() {
            if log.state().await.pending == 0 {
                return Ok(drained);
            }
            insist(|| log.reclaim("drain")).await?;
        }
        insist(|| log.done("drain", &claims)).await?;
        drained.extend(claims);
    }
}
