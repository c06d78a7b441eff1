//! Encoding of claims in a partition's log and indexes.

use mallbox_storage::{Claim, LogPosition, OrderId, StoreError, Timestamp, UserId, VoucherId};
use redis::Value;

use super::keys::LogKeys;
use super::link::{Idempotence, Link};

/// Consumer group of all workers.
pub(super) const GROUP: &str = "workers";
/// Consumer of returned claims, standing for no worker: its pending entries are free to be taken.
pub(super) const RETURNED_CLAIMS: &str = "nobody";
/// Claims per script call: about 1 ms of Redis' time.
pub(super) const CLAIMS_AT_ONCE: usize = 250;

/// Entries per read: some 100 KB.
const READ_AT_ONCE: usize = 1_000;

/// Returns a claim's entry in the index by user. The user comes before the first colon.
pub(super) fn by_user(claim: &Claim) -> String {
    format!("{}:{}:{}:{}", claim.user, claim.order, claim.voucher, claim.at.as_millis())
}

/// Parses an entry of the index by user.
pub(super) fn from_by_user(op: &'static str, entry: &str) -> Result<Claim, StoreError> {
    let parts: Vec<&str> = entry.split(':').collect();
    match parts[..] {
        [user, order, voucher, at] => claim(op, order, user, voucher, at),
        _ => Err(StoreError::Corrupt { op, key: format!("the pending claim {entry:?}") }),
    }
}

/// Parses an order's entry in the index by order.
pub(super) fn from_by_order(op: &'static str, order: OrderId, entry: &str) -> Result<Claim, StoreError> {
    let parts: Vec<&str> = entry.split(':').collect();
    match parts[..] {
        [user, voucher, at] => claim(op, &order.to_string(), user, voucher, at),
        _ => Err(StoreError::Corrupt { op, key: format!("the pending claim of order {order}") }),
    }
}

pub(super) fn claim(
    op: &'static str,
    order: &str,
    user: &str,
    voucher: &str,
    at: &str,
) -> Result<Claim, StoreError> {
    let number = |text: &str| {
        text.parse().map_err(|_| StoreError::Corrupt { op, key: format!("the claim of order {order:?}") })
    };
    let at =
        at.parse().map_err(|_| StoreError::Corrupt { op, key: format!("the instant of order {order:?}") })?;
    Ok(Claim {
        order: OrderId::new(number(order)?),
        voucher: VoucherId::new(number(voucher)?),
        user: UserId::new(number(user)?),
        at: Timestamp::from_millis(at),
    })
}

/// Parses a stream id, written by Redis as `ms-sequence`.
pub(super) fn place(op: &'static str, text: &str) -> Result<LogPosition, StoreError> {
    let parts = text.split_once('-').and_then(|(ms, number)| Some((ms.parse().ok()?, number.parse().ok()?)));
    let (major, minor) =
        parts.ok_or_else(|| StoreError::Corrupt { op, key: format!("the place {text:?} in the log") })?;
    Ok(LogPosition { major, minor })
}

pub(super) fn place_text(place: LogPosition) -> String {
    format!("{}-{}", place.major, place.minor)
}

/// Reads the claims of a partition's log after a stream id. Also returns the last stream id if there may be
/// more claims.
pub(super) async fn claims_in(
    link: &Link,
    op: &'static str,
    keys: &LogKeys,
    after: Option<&str>,
) -> Result<(Vec<Claim>, Option<String>), StoreError> {
    let mut command = redis::cmd("XRANGE");
    let from = after.map_or_else(|| "-".to_owned(), |place| format!("({place}"));
    command.arg(&keys.log).arg(from).arg("+").arg("COUNT").arg(READ_AT_ONCE);
    let entries: Vec<(String, Vec<String>)> = link.query(op, Idempotence::Safe, &command).await?;
    let last = entries.last().filter(|_| entries.len() == READ_AT_ONCE).map(|(place, _)| place.clone());
    let claims =
        entries.iter().map(
            |(place, fields)| match fields.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                [_, order, _, user, _, voucher, _, at] => claim(op, order, user, voucher, at),
                _ => Err(StoreError::Corrupt { op, key: format!("the claim at {place} of {}", keys.log) }),
            },
        );
    Ok((claims.collect::<Result<_, _>>()?, last))
}

/// Reads the claims of a partition's log, in pieces.
pub(super) async fn read_log(
    link: &Link,
    op: &'static str,
    log: &LogKeys,
    mut each: impl FnMut(Vec<Claim>) + Send,
) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let (claims, last) = claims_in(link, op, log, after.as_deref()).await?;
        each(claims);
        after = last;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// Reads all claims of the logs.
pub(super) async fn pending(link: &Link, logs: &[LogKeys]) -> Result<Vec<Claim>, StoreError> {
    let mut pending = Vec::new();
    for log in logs {
        read_log(link, "order_log.pending", log, |claims| pending.extend(claims)).await?;
    }
    Ok(pending)
}

/// Parses the reply of the take script: the number of waiting claims, and the claims with their failed
/// attempts.
pub(super) fn handed_out(
    op: &'static str,
    answer: Vec<Value>,
) -> Result<(u64, Vec<mallbox_storage::LoggedClaim>), StoreError> {
    let bad = || StoreError::Corrupt { op, key: "the claims handed out".to_owned() };
    let mut values = answer.into_iter();
    let waiting = values.next().and_then(|value| redis::from_redis_value(value).ok()).ok_or_else(bad)?;
    let texts: Vec<String> =
        values.map(redis::from_redis_value).collect::<Result<_, _>>().map_err(|_| bad())?;
    let claims =
        texts.chunks(6).map(|parts| match parts.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [at_place, order, user, voucher, at, refusals] => Ok(mallbox_storage::LoggedClaim {
                position: place(op, at_place)?,
                claim: claim(op, order, user, voucher, at)?,
                attempts: refusals.parse().map_err(|_| bad())?,
            }),
            _ => Err(bad()),
        });
    Ok((waiting, claims.collect::<Result<_, _>>()?))
}
