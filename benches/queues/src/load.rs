//! Producers and a consumer at work at once, in one process: throughput, and time from send to receipt.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tokio::task::{AbortHandle, JoinSet};

use crate::error::{QueueError, broken};
use crate::order::{END, Order};
use crate::protocol::{Latency, Rates};
use crate::queue::{Consumer, Queue};

/// Share of a load that warms up, as its divisor.
const WARM: u32 = 5;
/// Longest time in a histogram, in ns: ten minutes.
const LONGEST_NS: u64 = 600_000_000_000;
/// Longest wait for a listener, and for messages that were sent.
const PATIENCE: Duration = Duration::from_secs(30);
/// First number of a load without a pace: those before are used.
const RATES_FROM: u64 = 1 << 20;
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Measures how much `producers` send while one consumer receives, works and acknowledges. Each producer
/// waits for one send before the next.
pub(crate) async fn rates(
    queue: &Arc<dyn Queue>,
    span_ms: u64,
    producers: usize,
) -> Result<Rates, QueueError> {
    let (next, sent, received) = (counter(RATES_FROM), counter(0), counter(0));
    let consumer = queue.consumer("rates").await?;
    let mut tasks = JoinSet::new();
    let counted = Arc::clone(&received);
    let consuming = tasks.spawn(work(consumer, move |numbers| {
        counted.fetch_add(numbers.len() as u64, Ordering::Relaxed);
    }));
    let span = Duration::from_millis(span_ms);
    let began = Instant::now();
    for _ in 0..producers {
        let mut producer = queue.producer().await?;
        let (next, sent) = (Arc::clone(&next), Arc::clone(&sent));
        tasks.spawn(async move {
            while began.elapsed() < span {
                producer.send(&Order::new(next.fetch_add(1, Ordering::Relaxed))).await?;
                sent.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        });
    }
    let now = || (Instant::now(), sent.load(Ordering::Relaxed), received.load(Ordering::Relaxed));
    tokio::time::sleep(span / WARM).await;
    let (warm, warm_sent, warm_received) = now();
    tokio::time::sleep(span - span / WARM).await;
    let (end, end_sent, end_received) = now();
    finish(tasks, &consuming).await?;
    let seconds = end.duration_since(warm).as_secs_f64();
    Ok(Rates {
        sent_per_s: (end_sent - warm_sent) as f64 / seconds,
        received_per_s: (end_received - warm_received) as f64 / seconds,
        sent: end_sent,
        received: end_received,
    })
}

/// Measures the time from the begin of a send to its receipt, with `count` messages at a steady pace.
pub(crate) async fn latency(queue: &Arc<dyn Queue>, count: u64, per_s: u64) -> Result<Latency, QueueError> {
    let consumer = queue.consumer("latency").await?;
    let mut producer = queue.producer().await?;
    let base = Instant::now();
    let sent_at: Arc<Vec<AtomicU64>> = Arc::new((0..=count).map(|_| AtomicU64::new(0)).collect());
    let took = Arc::new(std::sync::Mutex::new(Vec::new()));
    let mut tasks = JoinSet::new();
    let (starts, times) = (Arc::clone(&sent_at), Arc::clone(&took));
    let consuming = tasks.spawn(work(consumer, move |numbers| {
        let now = nanos(base.elapsed());
        let starts = numbers.iter().filter_map(|number| starts.get(usize::try_from(*number).ok()?));
        let of_these = starts.map(|start| now.saturating_sub(start.load(Ordering::Relaxed)));
        if let Ok(mut times) = times.lock() {
            times.extend(of_these);
        }
    }));
    let mut pace = tokio::time::interval(Duration::from_secs(1) / u32::try_from(per_s).unwrap_or(1).max(1));
    listen(&**queue).await?;
    for number in 1..=count {
        pace.tick().await;
        if let Some(start) = usize::try_from(number).ok().and_then(|number| sent_at.get(number)) {
            start.store(nanos(base.elapsed()), Ordering::Relaxed);
        }
        producer.send(&Order::new(number)).await?;
    }
    listen(&**queue).await?;
    producer.send(&Order::new(END)).await?;
    // The mark ends the consumer, after all messages that the component kept.
    let ended = tokio::time::timeout(PATIENCE, async {
        while !consuming.is_finished() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    });
    ended.await.map_err(|_| broken("the consumer did not receive the last message"))?;
    finish(tasks, &consuming).await?;
    let mut histogram = Histogram::<u64>::new_with_max(LONGEST_NS, 3).map_err(|e| broken(e.to_string()))?;
    let times = took.lock().map(|times| times.clone()).unwrap_or_default();
    times.iter().for_each(|ns| histogram.saturating_record(*ns));
    let us = |quantile| histogram.value_at_quantile(quantile) as f64 / 1e3;
    Ok(Latency { sent: count, received: times.len() as u64, p50_us: us(0.5), p99_us: us(0.99) })
}

/// Receives, works and acknowledges up to the mark of the end.
async fn work(
    mut consumer: Box<dyn Consumer>,
    on_received: impl Fn(&[u64]) + Send + 'static,
) -> Result<(), QueueError> {
    loop {
        let orders = consumer.receive().await?;
        let numbers: Vec<u64> = orders.iter().map(|order| order.number).collect();
        on_received(&numbers);
        consumer.work().await?;
        consumer.settle().await?;
        if numbers.iter().any(|number| *number >= END) {
            return Ok(());
        }
    }
}

/// Waits for the producers, and ends the consumer.
async fn finish(
    mut tasks: JoinSet<Result<(), QueueError>>,
    consuming: &AbortHandle,
) -> Result<(), QueueError> {
    while tasks.len() > usize::from(!consuming.is_finished()) {
        match tasks.join_next().await {
            Some(done) => done??,
            None => break,
        }
    }
    tasks.shutdown().await;
    Ok(())
}

/// Waits until a consumer listens, where one has to.
async fn listen(queue: &dyn Queue) -> Result<(), QueueError> {
    let until = Instant::now() + PATIENCE;
    while queue.listeners().await? == Some(0) {
        if Instant::now() > until {
            return Err(broken("no consumer listens"));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    Ok(())
}

fn counter(from: u64) -> Arc<AtomicU64> {
    Arc::new(AtomicU64::new(from))
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
