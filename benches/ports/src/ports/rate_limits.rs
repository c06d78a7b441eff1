//! Rate limits: calls of one key and of many, beside the `INCR` with `EXPIRE` of a fixed window.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mallbox_storage::{Limit, RateLimitOutcome};

use crate::bench::{Bench, Row};
use crate::claims::NOON;
use crate::error::{BenchError, ensure};
use crate::load::{Load, drive};
use crate::mall::{Keep, Raw};
use crate::part::Draft;
use crate::settings::{Settings, Side};

/// Calls of the fixed window and of the bucket.
const CALLS: u32 = 100;
const PERIOD: Duration = Duration::from_secs(60);

pub(crate) fn parts(settings: &Settings) -> Vec<Draft> {
    let sizes: &[u64] = settings.pick(&[1, 10_000], &[1, 10_000, 1_000_000]);
    let draft = |side: Side, size: u64| {
        let kinds = if side == Side::Servers { 2 } else { 1 };
        let measurements = kinds * settings.callers().len();
        let seconds = 2.0 + measurements as f64 * settings.span().as_secs_f64();
        Draft { side: Some(side), size, measurements, seconds }
    };
    sizes.iter().flat_map(|size| settings.sides.iter().map(|side| draft(*side, *size))).collect()
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let mall = bench.own_mall(Keep::InMemory).await?;
    let (keys, limits) = (bench.part.size, Arc::clone(&mall.storage.base.rate_limits));
    let limit = Limit { count: CALLS, per: PERIOD };
    for (round, callers) in bench.settings.callers().into_iter().enumerate() {
        let (limits, allowed) = (Arc::clone(&limits), Arc::new(AtomicU64::new(0)));
        let count = Arc::clone(&allowed);
        let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
            let (limits, count) = (Arc::clone(&limits), Arc::clone(&count));
            async move {
                let outcome = limits.pass(&format!("bench-{round}-{}", number % keys), limit, NOON).await?;
                count.fetch_add(u64::from(outcome == RateLimitOutcome::Allowed), Ordering::Relaxed);
                Ok(())
            }
        })
        .await?;
        let right = expected(timed.done, keys);
        let allowed = allowed.load(Ordering::Relaxed);
        // A flood of keys may make some of them fresh: more is allowed, and never less.
        let is_right = if keys > 1 { allowed >= right } else { allowed == right };
        ensure(is_right, || format!("{allowed} of {} calls were allowed, not {right}", timed.done))?;
        bench.publish(Row {
            operation: "pass",
            back_end: mall.side.back_end(),
            callers: Some(callers),
            timed: Some(&timed),
            memory: mall.memory().await?,
            note: format!(
                "{CALLS} calls a minute refilled evenly; {allowed} of {} calls allowed",
                timed.done
            ),
            ..Row::default()
        });
    }
    if let Some(raw) = mall.raw() {
        fixed_window(bench, &raw).await?;
    }
    mall.close().await
}

/// Returns the calls that `keys` fresh keys allow.
fn expected(calls: u64, keys: u64) -> u64 {
    let (each, more) = (calls / keys, calls % keys);
    let of = |calls: u64| calls.min(u64::from(CALLS));
    more * of(each + 1) + (keys - more) * of(each)
}

/// `INCR`, and `EXPIRE` after the first call: a burst of twice the limit passes at the border of two windows.
async fn fixed_window(bench: &mut Bench, raw: &Raw) -> Result<(), BenchError> {
    let keys = bench.part.size;
    for (round, callers) in bench.settings.callers().into_iter().enumerate() {
        let (before, shared) = (raw.memory().await?, raw.clone());
        let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
            let raw = shared.clone();
            async move {
                let key = format!("limit:{round}:{}", number % keys);
                let calls: u64 = raw.redis.query(&raw.command("INCR", &key)).await?;
                if calls == 1 {
                    raw.redis.query::<()>(raw.command("EXPIRE", &key).arg(PERIOD.as_secs())).await?;
                }
                Ok(())
            }
        })
        .await?;
        let memory = raw.growth(before).await?;
        bench.publish(Row {
            operation: "pass",
            back_end: "INCR and EXPIRE",
            callers: Some(callers),
            timed: Some(&timed),
            memory,
            note: "a fixed window: twice the limit may pass around its border".to_owned(),
            ..Row::default()
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::expected;

    #[test]
    fn fresh_keys_allow_their_limit_each() {
        assert_eq!(
            [expected(50, 1), expected(500, 1), expected(25, 10), expected(1_005, 10)],
            [50, 100, 25, 1_000]
        );
    }
}
