//! Metrics of the servers, sampled under load.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);
/// Rare enough that the samples cost a server nothing to speak of.
const DRAIN_INTERVAL: Duration = Duration::from_millis(20);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// A sample of the servers' metrics.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MetricsSample {
    /// Claims persisted as orders since the servers started.
    pub(super) persisted: u64,
    /// Transactions used to persist `persisted` claims.
    pub(super) batches: u64,
    /// Claims accepted and not settled.
    pub(super) pending: u64,
}

/// Samples every 100 ms on a dedicated thread until stopped.
pub(super) struct MetricsSampler {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<(Instant, MetricsSample)>>>,
}

impl MetricsSampler {
    pub(super) fn start(addresses: Vec<SocketAddr>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut looks = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                // A server too busy to respond is sampled again; the gap shows in the instants.
                if let Ok(look) = look(&addresses) {
                    looks.push((Instant::now(), look));
                }
                std::thread::sleep(SAMPLE_INTERVAL);
            }
            looks
        });
        Self { stop, thread: Some(thread) }
    }

    pub(super) fn stop(mut self) -> Vec<(Instant, MetricsSample)> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for MetricsSampler {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Waits until no claim is pending. Returns the time taken.
pub(super) fn drained(addresses: &[SocketAddr], patience: Duration) -> anyhow::Result<Duration> {
    let began = Instant::now();
    loop {
        let look = look(addresses)?;
        if look.pending == 0 {
            return Ok(began.elapsed());
        }
        if began.elapsed() > patience {
            bail!("{} claims are still pending after {} s", look.pending, patience.as_secs());
        }
        std::thread::sleep(DRAIN_INTERVAL);
    }
}

/// Samples all servers of a mall. Each server reports its own work, and the pending claims of the shared log.
pub(super) fn look(addresses: &[SocketAddr]) -> anyhow::Result<MetricsSample> {
    addresses.iter().try_fold(MetricsSample::default(), |sum, address| {
        let one = look_at(*address)?;
        Ok(MetricsSample {
            persisted: sum.persisted + one.persisted,
            batches: sum.batches + one.batches,
            pending: one.pending,
        })
    })
}

fn look_at(address: SocketAddr) -> anyhow::Result<MetricsSample> {
    let text = get(address, "/metrics")?;
    let value = |name: &str| -> anyhow::Result<u64> {
        let line =
            text.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
        let value = line
            .and_then(|line| line.rsplit(' ').next())
            .context("a metric is missing from the server's metrics")?;
        value.parse().with_context(|| format!("{name} is not a number: {value}"))
    };
    Ok(MetricsSample {
        persisted: value("mallbox_orders_persisted_total")?,
        batches: value("mallbox_order_batches_total")?,
        pending: value("mallbox_order_log_pending")?,
    })
}

/// Sends a GET on a new connection.
fn get(address: SocketAddr, path: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, REQUEST_TIMEOUT)?;
    stream.set_read_timeout(Some(REQUEST_TIMEOUT))?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: mall\r\nconnection: close\r\n\r\n").as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    if !answer.starts_with("HTTP/1.1 200") {
        bail!("unexpected response to {path}: {}", answer.lines().next().unwrap_or("nothing"));
    }
    Ok(answer)
}
