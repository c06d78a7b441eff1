//! Visits of the mall and its shops: unique visitors (UV) and page views (PV).
//!
//! A reader only pays for pushing a view onto a queue. Once a second the queue is drained: views of the same
//! shop by the same visitor are merged, tokens are resolved to users, and the batch is stored in one call.
//!
//! Stored data neither identifies nor tracks anybody. An anonymous visitor is a hash of address and browser
//! with a salt of the day, and an embedded mall never writes the salt to disk. So an anonymous visitor who
//! comes on two days counts as two visitors of the span. A user counts as the same visitor on every day.
//!
//! Reasons and figures: `src/decisions/0015-visits.md`.

mod aggregation;
mod page_view;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use async_trait::async_trait;
use crossbeam::queue::SegQueue;
use mallbox_storage::{DaySpan, ShopId, Timestamp, VisitCounts, VisitTarget, VisitsOfDay};

use self::aggregation::VisitAggregator;
use self::page_view::PageView;
use crate::mall::base::chores::{Chore, Every};
use crate::mall::base::detached::detached;
use crate::mall::base::sparse_log::SparseLog;
use crate::mall::base::{Context, Failure};

pub use self::page_view::Caller;

/// Approximate maximum queue length: a second of all requests that a machine can serve. Further views are
/// dropped.
const QUEUE_MAX: usize = 65_536;
/// Interval between two drains of the queue.
const SPAN: Duration = Duration::from_secs(1);

/// Counters of page views since the process started.
#[derive(Debug, Default)]
pub struct VisitMetrics {
    /// Views that were stored.
    pub noted: AtomicU64,
    /// Views dropped because the queue was full.
    pub dropped: AtomicU64,
    /// Views taken from the queue and lost because a store failed. Some may have been stored.
    pub lost: AtomicU64,
}

/// The service for visits. Cheap to clone.
#[derive(Clone)]
pub struct Visits {
    inner: Arc<Inner>,
}

struct Inner {
    context: Context,
    waiting: SegQueue<PageView>,
    figures: VisitMetrics,
    gathering: tokio::sync::Mutex<VisitAggregator>,
    every: Every,
    log: SparseLog,
}

impl Visits {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context) -> Self {
        let inner = Inner {
            context,
            waiting: SegQueue::new(),
            figures: VisitMetrics::default(),
            gathering: tokio::sync::Mutex::default(),
            every: Every::new(SPAN),
            log: SparseLog::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the background job that drains the queue.
    #[must_use]
    pub fn gatherer(&self) -> Arc<dyn Chore> {
        Arc::new(self.clone())
    }

    /// Queues a view of a shop, or of something else in the mall. Never blocks; drops the view if the queue
    /// is full.
    pub fn saw(&self, by: Caller, shop: Option<ShopId>, now: Timestamp) {
        let Inner { waiting, figures, .. } = &*self.inner;
        if waiting.len() < QUEUE_MAX {
            waiting.push(PageView { at: now, shop: shop.filter(|shop| shop.get() > 0), by });
        } else {
            figures.dropped.fetch_add(1, Relaxed);
        }
    }

    /// Drains the queue into the store.
    pub async fn take_down(&self, now: Timestamp) {
        let book = self.clone();
        // Detached, because a cancelled caller would lose the views already taken from the queue.
        let taken_down = detached(async move { book.take_down_here(now).await });
        if let Err(error) = taken_down.await
            && let Some(times) = self.inner.log.again()
        {
            tracing::warn!(?error, times, "could not store queued visits");
        }
    }

    async fn take_down_here(&self, now: Timestamp) -> Result<(), Failure> {
        let Inner { context, waiting, figures, gathering, .. } = &*self.inner;
        // Serialised, so that a reader of the statistics finds all earlier views included.
        let mut gathering = gathering.lock().await;
        // Views that arrive meanwhile wait for the next run.
        let seen: Vec<PageView> = std::iter::from_fn(|| waiting.pop()).take(waiting.len()).collect();
        if seen.is_empty() {
            return Ok(());
        }
        let taken_down = gathering.take_down(context, &seen, now).await;
        let became = if taken_down.is_ok() { &figures.noted } else { &figures.lost };
        became.fetch_add(seen.len() as u64, Relaxed);
        taken_down
    }

    /// Returns visits of a shop, or of the mall, for a range of days. An empty `to` means today, an empty
    /// `from` the seven days up to `to`; a range has at most 31 days. All earlier views in this process are
    /// included.
    ///
    /// # Errors
    /// [`Refusal::BadValue`](crate::mall::base::Refusal::BadValue) for an invalid day or a range that is too
    /// long.
    pub async fn visits(
        &self,
        (from, to): (&str, &str),
        shop: Option<ShopId>,
        now: Timestamp,
    ) -> Result<VisitCounts, Failure> {
        let span = self.inner.context.span_of_days(from, to, now)?;
        self.take_down(now).await;
        self.count(shop, span, now).await
    }

    /// Returns today's visits of the mall, without views still in the queue.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
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
        let storage = &self.inner.context.storage;
        let of = shop.map_or(VisitTarget::Mall, VisitTarget::Shop);
        Ok(storage.people.visitors.count(of, span, self.inner.context.today(now)?).await?)
    }

    /// Returns the counters of page views.
    #[must_use]
    pub fn figures(&self) -> &VisitMetrics {
        &self.inner.figures
    }
}

/// Driven by the mall's clock: while the clock stands still, views wait in the queue until statistics are
/// read.
#[async_trait]
impl Chore for Visits {
    fn name(&self) -> &'static str {
        "store queued visits"
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
