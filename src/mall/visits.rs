//! Who visits the mall and its shops: how many (UV), and how often they look (PV).
//!
//! A reader pays for a note in a queue. Once a second what is in it is gathered: the same visitor of the same thing becomes
//! one, tokens become users, and all of it is told to storage at once.
//!
//! Nobody can be found out from what is stored, nor followed: a stranger is known by address and browser, mixed with a salt
//! of the day that is on no disk of a directory's mall. So a stranger who comes on two days is two visitors of the span.
//! A user is the same one on every day.

mod gathering;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use async_trait::async_trait;
use crossbeam::queue::SegQueue;
use mallbox_storage::{DaySpan, ShopId, Timestamp, TokenHash, VisitCounts, Visited, VisitsOfDay};

use self::gathering::Gathering;
use super::chores::{Chore, Every};
use super::detached::detached;
use super::sparse_log::SparseLog;
use super::{Accounts, Context, Failure};

/// Visits that wait to be gathered, about: a second of all that a machine can answer. What is beyond is dropped.
const MOST_WAITING: usize = 65_536;
/// How often they are.
const SPAN: Duration = Duration::from_secs(1);

/// Somebody who looks at something.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Caller {
    session: Option<TokenHash>,
    /// Says who they are, if nobody is logged in. Never stored.
    stranger: u64,
}

impl Caller {
    /// By the token that came, live or not, and by what else tells callers apart.
    #[must_use]
    pub fn new(token: Option<&str>, address: Option<IpAddr>, browser: &[u8]) -> Self {
        // The same in every process of a mall.
        let mut hasher = DefaultHasher::new();
        (address, browser).hash(&mut hasher);
        Self { session: token.and_then(Accounts::session_of), stranger: hasher.finish() }
    }
}

/// Somebody has looked at something.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Timestamp,
    shop: Option<ShopId>,
    by: Caller,
}

/// What has become of visits since the start.
#[derive(Debug, Default)]
pub struct VisitFigures {
    /// Taken down.
    pub noted: AtomicU64,
    /// Dropped at once: too many waited.
    pub dropped: AtomicU64,
    /// Gathered, and lost since a store was in trouble. Some may have been taken down.
    pub lost: AtomicU64,
}

/// The visits of a mall. Cheap to clone.
#[derive(Clone)]
pub struct VisitBook {
    inner: Arc<Inner>,
}

struct Inner {
    context: Context,
    waiting: SegQueue<Seen>,
    figures: VisitFigures,
    gathering: tokio::sync::Mutex<Gathering>,
    every: Every,
    log: SparseLog,
}

impl VisitBook {
    /// Of this mall.
    #[must_use]
    pub fn new(context: Context) -> Self {
        let inner = Inner {
            context,
            waiting: SegQueue::new(),
            figures: VisitFigures::default(),
            gathering: tokio::sync::Mutex::default(),
            every: Every::new(SPAN),
            log: SparseLog::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// What gathers them.
    #[must_use]
    pub fn gatherer(&self) -> Arc<dyn Chore> {
        Arc::new(self.clone())
    }

    /// Somebody was shown a shop or something about one, or something of the mall. Waits for nothing.
    pub fn saw(&self, by: Caller, shop: Option<ShopId>, now: Timestamp) {
        let Inner { waiting, figures, .. } = &*self.inner;
        if waiting.len() < MOST_WAITING {
            waiting.push(Seen { at: now, shop: shop.filter(|shop| shop.get() > 0), by });
        } else {
            figures.dropped.fetch_add(1, Relaxed);
        }
    }

    /// Takes down what waits.
    pub async fn take_down(&self, now: Timestamp) {
        let book = self.clone();
        // Whoever asks may go away in the middle, and what is gathered would go with them.
        let taken_down = detached(async move { book.take_down_here(now).await });
        if let Err(error) = taken_down.await
            && let Some(times) = self.inner.log.again()
        {
            tracing::warn!(?error, times, "visits of a moment are not counted");
        }
    }

    async fn take_down_here(&self, now: Timestamp) -> Result<(), Failure> {
        let Inner { context, waiting, figures, gathering, .. } = &*self.inner;
        // One after the other: whoever reads figures finds what was seen before in them.
        let mut gathering = gathering.lock().await;
        // What comes meanwhile is for the next time.
        let seen: Vec<Seen> = std::iter::from_fn(|| waiting.pop()).take(waiting.len()).collect();
        if seen.is_empty() {
            return Ok(());
        }
        let taken_down = gathering.take_down(context, &seen, now).await;
        let became = if taken_down.is_ok() { &figures.noted } else { &figures.lost };
        became.fetch_add(seen.len() as u64, Relaxed);
        taken_down
    }

    /// How many visited a shop, or the mall, from one day to another: up to today and for a week, unless it is said
    /// otherwise by other than `""`; for a month at the most. Whatever this process has shown before is counted.
    ///
    /// # Errors
    /// [`Refusal::BadValue`](super::Refusal::BadValue) for what is no day, or too far from the other.
    pub async fn visits(
        &self,
        (from, to): (&str, &str),
        shop: Option<ShopId>,
        now: Timestamp,
    ) -> Result<VisitCounts, Failure> {
        let span = self.inner.context.days_looked_at(from, to, now)?;
        self.take_down(now).await;
        self.count(shop, span, now).await
    }

    /// How many have visited the mall today, as far as it has been taken down.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn today(&self, now: Timestamp) -> Result<Option<VisitsOfDay>, Failure> {
        let today = self.inner.context.today(now)?;
        let Some(span) = DaySpan::new(today, today) else { return Ok(None) };
        Ok(self.count(None, span, now).await?.days.first().copied())
    }

    async fn count(
        &self,
        shop: Option<ShopId>,
        span: DaySpan,
        now: Timestamp,
    ) -> Result<VisitCounts, Failure> {
        let Context { storage, .. } = &self.inner.context;
        let of = shop.map_or(Visited::Mall, Visited::Shop);
        Ok(storage.visitors.count(of, span, self.inner.context.today(now)?).await?)
    }

    /// What has become of visits so far.
    #[must_use]
    pub fn figures(&self) -> &VisitFigures {
        &self.inner.figures
    }
}

/// By the mall's clock: where it stands still, visits wait until somebody asks for figures.
#[async_trait]
impl Chore for VisitBook {
    fn name(&self) -> &'static str {
        "take down visits"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        let Inner { waiting, every, .. } = &*self.inner;
        (!waiting.is_empty()).then(|| every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.inner.every.ran(now);
        self.take_down(now).await;
    }
}
