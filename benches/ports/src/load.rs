//! Concurrent callers in a closed loop, and the time of each operation.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tokio::task::JoinSet;

use crate::error::BenchError;

/// Longest time of an operation in a histogram, in ns: ten minutes.
const LONGEST_NS: u64 = 600_000_000_000;
/// Significant digits of a histogram. With three, the histograms of 64 callers would be most of the memory
/// measured.
const DIGITS: u8 = 2;
/// Times of a caller's warm-up that are kept, for a load that ends before its warm-up does.
const WARM_TIMES: usize = 1_000;

/// When a load ends, and from how many callers it comes.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    callers: usize,
    /// Operations.
    count: u64,
    /// No operation begins later.
    limit: Duration,
    /// Operations before this number are warm-up.
    warm_count: u64,
    /// Operations that begin earlier are warm-up.
    warm: Duration,
}

impl Load {
    /// Number of operations or span of time that warms up, as its divisor.
    const WARM: u32 = 10;

    /// Loads for `span`; the first tenth is warm-up.
    pub fn span(callers: usize, span: Duration) -> Self {
        Self { callers, count: u64::MAX, limit: span, warm_count: 0, warm: span / Self::WARM }
    }

    /// Makes `count` operations, fewer if they take longer than `limit`; the first tenth is warm-up.
    pub fn count(callers: usize, count: u64, limit: Duration) -> Self {
        Self { callers, count, limit, warm_count: count / u64::from(Self::WARM), warm: Duration::ZERO }
    }

    /// Makes at most `count` operations within the span.
    pub(crate) fn at_most(self, count: u64) -> Self {
        Self { count, ..self }
    }
}

/// Result of a load.
#[derive(Debug)]
pub struct Timed {
    /// Operations, warm-up included: those with the numbers from 0 to `done`.
    pub done: u64,
    /// Operations after the warm-up.
    measured: u64,
    /// Time from the end of the warm-up to the end of the last operation.
    elapsed: Duration,
    /// Times of operations after the warm-up, in ns.
    latencies: Histogram<u64>,
}

impl Timed {
    /// Creates a result from the times of batches, one after another. `operations`: in all batches; the
    /// percentiles are those of a batch.
    pub fn of_batches(times: &[Duration], operations: u64) -> Result<Self, BenchError> {
        let mut latencies = histogram()?;
        times.iter().try_for_each(|time| record(&mut latencies, nanos(*time)))?;
        Ok(Self { done: operations, measured: operations, elapsed: times.iter().sum(), latencies })
    }

    /// Creates a result from times of operations that ran at once, all within `elapsed`.
    pub(crate) fn of_concurrent(times: &[Duration], elapsed: Duration) -> Result<Self, BenchError> {
        Ok(Self { elapsed, ..Self::of_batches(times, times.len() as u64)? })
    }

    /// Returns operations per second.
    pub fn per_second(&self) -> f64 {
        self.measured as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// Returns the time at a share, in µs.
    pub fn micros(&self, share: f64) -> f64 {
        self.latencies.value_at_quantile(share) as f64 / 1e3
    }
}

/// What a caller saw.
struct Seen {
    latencies: Histogram<u64>,
    /// Operations, warm-up included.
    done: u64,
    /// Times of the warm-up, in ns.
    warm: Vec<u64>,
    /// End of the caller's last operation.
    end: Instant,
    /// Begin of the caller's first operation after the warm-up.
    begin: Option<Instant>,
}

/// Loads with `op`, which gets the number of the operation. Callers are tasks on a runtime with a thread per
/// core. An error ends the load.
pub async fn drive<F, Fut>(load: Load, op: F) -> Result<Timed, BenchError>
where
    F: Fn(u64) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<(), BenchError>> + Send + 'static,
{
    let (next, began) = (Arc::new(AtomicU64::new(0)), Instant::now());
    let mut callers = JoinSet::new();
    for _ in 0..load.callers {
        callers.spawn(call(load, began, Arc::clone(&next), op.clone()));
    }
    let (mut latencies, mut warm) = (histogram()?, histogram()?);
    let (mut done, mut begin, mut end) = (0, None, began);
    while let Some(caller) = callers.join_next().await {
        let seen = caller??;
        latencies
            .add(&seen.latencies)
            .map_err(|error| BenchError::Wrong(format!("histograms do not add: {error}")))?;
        seen.warm.iter().try_for_each(|time| record(&mut warm, *time))?;
        done += seen.done;
        end = end.max(seen.end);
        begin = begin.into_iter().chain(seen.begin).min();
    }
    Ok(match begin {
        Some(begin) => Timed { done, measured: latencies.len(), elapsed: end - begin, latencies },
        // Nothing but warm-up: better than nothing.
        None => Timed { done, measured: done, elapsed: end - began, latencies: warm },
    })
}

async fn call<F, Fut>(load: Load, began: Instant, next: Arc<AtomicU64>, op: F) -> Result<Seen, BenchError>
where
    F: Fn(u64) -> Fut + Send,
    Fut: Future<Output = Result<(), BenchError>> + Send + 'static,
{
    let mut seen = Seen { latencies: histogram()?, done: 0, warm: Vec::new(), end: began, begin: None };
    while seen.end - began < load.limit {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= load.count {
            break;
        }
        let start = Instant::now();
        op(number).await?;
        seen.end = Instant::now();
        let took = nanos(seen.end - start);
        seen.done += 1;
        if number >= load.warm_count && start - began >= load.warm {
            record(&mut seen.latencies, took)?;
            seen.begin.get_or_insert(start);
        } else if seen.warm.len() < WARM_TIMES {
            seen.warm.push(took);
        }
    }
    Ok(seen)
}

fn histogram() -> Result<Histogram<u64>, BenchError> {
    // Grows with the longest time.
    Histogram::new(DIGITS).map_err(|error| BenchError::Wrong(format!("no histogram: {error}")))
}

/// Records a time. (`saturating_record` does not let a histogram grow.)
fn record(histogram: &mut Histogram<u64>, time: u64) -> Result<(), BenchError> {
    histogram.record(time).map_err(|error| BenchError::Wrong(format!("no room for a time: {error}")))
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).clamp(1, LONGEST_NS)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn every_number_is_called_once_and_the_warm_up_is_left_out() {
        let called = Arc::new(Mutex::new(Vec::new()));
        let calls = Arc::clone(&called);
        let timed = drive(Load::count(7, 1_000, Duration::from_secs(60)), move |number| {
            let calls = Arc::clone(&calls);
            async move {
                calls.lock().unwrap().push(number);
                tokio::task::yield_now().await;
                Ok(())
            }
        });
        let timed = timed.await.unwrap();
        let mut called = called.lock().unwrap().clone();
        called.sort_unstable();
        assert_eq!(called, (0..1_000).collect::<Vec<_>>());
        assert_eq!((timed.done, timed.measured, timed.latencies.len()), (1_000, 900, 900));
    }

    #[tokio::test]
    async fn an_error_ends_the_load() {
        let failing = drive(Load::count(3, u64::MAX, Duration::from_secs(3_600)), |number| async move {
            crate::error::ensure(number < 5, || format!("number {number}"))
        });
        assert!(failing.await.unwrap_err().to_string().starts_with("number "));
    }

    #[test]
    fn a_batch_counts_its_operations() {
        let timed = Timed::of_batches(&[Duration::from_millis(10); 10], 5_000).unwrap();
        assert!((timed.per_second() - 50_000.0).abs() < 1.0, "{}", timed.per_second());
        assert!((timed.micros(0.5) - 10_000.0).abs() < 200.0, "{}", timed.micros(0.5));
    }
}
