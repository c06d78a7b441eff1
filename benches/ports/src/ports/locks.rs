//! Locks: acquire and release without competition, hand-over to a waiter, and fairness under 64 waiters.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mallbox_storage::{FencingToken, LockOwner, Locker};
use tokio::task::JoinSet;

use crate::bench::{Bench, Row};
use crate::error::{BenchError, ensure};
use crate::load::{Load, Timed, drive};
use crate::mall::{Keep, Raw};
use crate::part::Draft;
use crate::settings::{Settings, Side};

const LEASE: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(60);
/// Names without competition.
const NAMES: u64 = 4_096;
/// Numbers of waiters for one lock.
const WAITERS: [usize; 2] = [2, 64];
/// The release of tutorials: only by the owner.
const RELEASE: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

pub(crate) fn parts(settings: &Settings) -> Vec<Draft> {
    let draft = |side: &Side| {
        let raw = usize::from(*side == Side::Servers);
        let measurements = (1 + raw) * settings.callers().len() + WAITERS.len();
        let seconds = 4.0 + measurements as f64 * settings.span().as_secs_f64() * 1.5;
        Draft { side: Some(*side), size: 0, measurements, seconds }
    };
    settings.sides.iter().map(draft).collect()
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let mall = bench.own_mall(Keep::Durably).await?;
    let locks = Arc::clone(&mall.storage.base.locks);
    for callers in bench.settings.callers() {
        let locker = Arc::new(Locker::new(Arc::clone(&locks)));
        let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
            let locker = Arc::clone(&locker);
            async move {
                let name = format!("bench-{}", number % NAMES);
                let held = locker.hold(&name, LockOwner::random(), LEASE, PATIENCE).await?;
                let held =
                    held.ok_or_else(|| BenchError::Wrong("a free lock was not to be had".to_owned()))?;
                ensure(held.leave().await?, || "a lock was lost before its release".to_owned())
            }
        })
        .await?;
        bench.publish(Row {
            operation: "acquire and release",
            back_end: mall.side.back_end(),
            callers: Some(callers),
            timed: Some(&timed),
            memory: mall.memory().await?,
            note: format!("with a fencing token; {}", mall.durability()),
            ..Row::default()
        });
    }
    for waiters in WAITERS {
        let locker = Arc::new(Locker::new(Arc::clone(&locks)));
        let contest = contest(&locker, waiters, bench.settings.span() * 2).await?;
        let note = format!("from release to the next owner; {}", contest.fairness());
        bench.publish(Row {
            operation: "hand-over",
            back_end: mall.side.back_end(),
            callers: Some(waiters),
            timed: Some(&Timed::of_concurrent(&contest.handed_over, contest.elapsed)?),
            memory: mall.memory().await?,
            note,
            ..Row::default()
        });
    }
    if let Some(raw) = mall.raw() {
        set_if_absent(bench, &raw, mall.durability()).await?;
    }
    mall.close().await
}

/// Result of a contest for one lock.
struct Contest {
    handed_over: Vec<Duration>,
    elapsed: Duration,
    /// Acquisitions by waiter.
    counts: Vec<u64>,
}

impl Contest {
    /// Returns a sentence about the shares of the waiters, with Jain's index: 1 is equal shares, 1/n is all
    /// for one.
    fn fairness(&self) -> String {
        let (least, most) = (self.counts.iter().min(), self.counts.iter().max());
        format!(
            "{} waiters held it {} to {} times, fairness {:.2} (Jain), never two at once",
            self.counts.len(),
            least.unwrap_or(&0),
            most.unwrap_or(&0),
            jain(&self.counts)
        )
    }
}

fn jain(counts: &[u64]) -> f64 {
    let sum: f64 = counts.iter().map(|count| *count as f64).sum();
    let squares: f64 = counts.iter().map(|count| (*count as f64).powi(2)).sum();
    if squares > 0.0 { sum * sum / (counts.len() as f64 * squares) } else { 1.0 }
}

/// What the waiters of a contest share.
#[derive(Default)]
struct Shared {
    is_held: AtomicBool,
    /// The last release, and the token of the last owner.
    last: Mutex<(Option<Instant>, Option<FencingToken>)>,
}

/// Lets waiters compete for one lock, each again as soon as it released it.
async fn contest(locker: &Arc<Locker>, waiters: usize, span: Duration) -> Result<Contest, BenchError> {
    let (shared, began) = (Arc::new(Shared::default()), Instant::now());
    let mut running = JoinSet::new();
    for _ in 0..waiters {
        let (locker, shared) = (Arc::clone(locker), Arc::clone(&shared));
        running.spawn(async move {
            let mut handed_over = Vec::new();
            let mut count = 0;
            while began.elapsed() < span {
                let held = locker.hold("bench-contest", LockOwner::random(), LEASE, PATIENCE).await?;
                let held = held.ok_or_else(|| BenchError::Wrong("a waiter never got the lock".to_owned()))?;
                count += 1;
                handed_over.extend(shared.enter(held.token())?);
                tokio::task::yield_now().await;
                shared.leave();
                ensure(held.leave().await?, || "a lock was lost before its release".to_owned())?;
                // Woken waiters may run, as another request would let them.
                tokio::task::yield_now().await;
            }
            Ok::<_, BenchError>((count, handed_over))
        });
    }
    let mut contest = Contest { handed_over: Vec::new(), elapsed: Duration::ZERO, counts: Vec::new() };
    while let Some(waiter) = running.join_next().await {
        let (count, handed_over) = waiter??;
        contest.counts.push(count);
        contest.handed_over.extend(handed_over);
    }
    contest.elapsed = began.elapsed();
    Ok(contest)
}

impl Shared {
    /// Notes an acquisition. Returns the time since the release before.
    fn enter(&self, token: FencingToken) -> Result<Option<Duration>, BenchError> {
        ensure(!self.is_held.swap(true, Ordering::SeqCst), || "two owners hold one lock".to_owned())?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        ensure(last.1.is_none_or(|last| last < token), || format!("token {token} is not greater"))?;
        last.1 = Some(token);
        Ok(last.0.map(|released| released.elapsed()))
    }

    fn leave(&self) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(Instant::now());
        self.is_held.store(false, Ordering::SeqCst);
    }
}

/// `SET NX PX`, and a script that deletes the key of its owner.
async fn set_if_absent(bench: &mut Bench, raw: &Raw, durability: &str) -> Result<(), BenchError> {
    for callers in bench.settings.callers() {
        let (shared, before) = (raw.clone(), raw.memory().await?);
        let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
            let raw = shared.clone();
            async move {
                let key = format!("lock:{}", number % NAMES);
                let mut set = raw.command("SET", &key);
                set.arg(number).arg("NX").arg("PX").arg(30_000);
                let is_set: Option<String> = raw.redis.query(&set).await?;
                ensure(is_set.is_some(), || "a free lock was not to be had".to_owned())?;
                let mut release = redis::cmd("EVAL");
                release.arg(RELEASE).arg(1).arg(format!("{}:{key}", raw.prefix)).arg(number);
                let released: u64 = raw.redis.query(&release).await?;
                ensure(released == 1, || "a lock was lost before its release".to_owned())
            }
        })
        .await?;
        let memory = raw.growth(before).await?;
        bench.publish(Row {
            operation: "acquire and release",
            back_end: "SET NX and a script",
            callers: Some(callers),
            timed: Some(&timed),
            memory,
            note: format!("no fencing token, no re-entry, no wake-up of waiters; {durability}"),
            ..Row::default()
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_are_fair_and_one_taker_is_not() {
        assert!((jain(&[5; 64]) - 1.0).abs() < 1e-9);
        assert!((jain(&[8, 0, 0, 0]) - 0.25).abs() < 1e-9);
    }

    #[test]
    fn two_owners_at_once_and_a_token_that_does_not_rise_are_seen() {
        let shared = Shared::default();
        assert!(shared.enter(FencingToken::new(7)).unwrap().is_none());
        assert!(shared.enter(FencingToken::new(8)).is_err());
        shared.leave();
        assert!(shared.enter(FencingToken::new(7)).is_err());
    }
}
