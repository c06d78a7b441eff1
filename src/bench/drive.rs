//! Runs claims against the servers of a mall, or requests against the ceiling.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::foreign::REQUEST_TIMEOUT;
use super::generator::Generator;
use super::load::{self, Exchanged, Load, LoadError, Progress, Report, Shape, Share};
use super::rush::{ClaimOutcomes, ClaimScript, Claims, SaleOutcomes};

/// When claims arrive, and when they end.
#[derive(Clone, Debug)]
pub(super) enum Arrivals {
    /// One after another on each connection, until no claim is left.
    Closed,
    /// One after another on each connection, for this time.
    ClosedFor(Duration),
    /// At instants of their own.
    Open(Shape),
}

/// The claims of a load, and how they went.
pub(super) struct Driven {
    pub(super) outcomes: ClaimOutcomes,
    /// The same by sale.
    pub(super) by_sale: Vec<SaleOutcomes>,
    pub(super) report: Report,
    /// Number of the first claim that was not made.
    pub(super) next: usize,
    /// An answer that is neither of success nor one of the expected refusals.
    pub(super) unknown: Option<Exchanged>,
}

/// Runs claims with a progress bar.
pub(super) fn drive(
    generator: &Generator,
    addresses: &[SocketAddr],
    claims: &Claims,
    arrivals: &Arrivals,
    what: &'static str,
) -> anyhow::Result<Driven> {
    let load = load_of(generator, addresses, arrivals);
    let expected = match arrivals {
        Arrivals::Closed => Some(claims.count()),
        Arrivals::ClosedFor(_) => None,
        Arrivals::Open(shape) => Some(shape.due_by(Duration::MAX).min(claims.count())),
    };
    let progress = Progress::default();
    let seen = progress.clone();
    let shown = ShownProgress::start(progress_bar(expected, what), move || seen.answered());
    let driven = make_claims(&load, generator.threads, claims, &progress);
    drop(shown);
    Ok(driven?)
}

/// Returns the load of a generator on a mall.
pub(super) fn load_of(generator: &Generator, addresses: &[SocketAddr], arrivals: &Arrivals) -> Load {
    let (stop_at, shape) = match arrivals {
        Arrivals::Closed => (None, None),
        Arrivals::ClosedFor(span) => (Some(Instant::now() + *span), None),
        Arrivals::Open(shape) => {
            // A server far below the rate would be asked long after the end.
            let stop_at = shape.lasts().map(|lasts| Instant::now() + lasts + REQUEST_TIMEOUT);
            (stop_at, Some(shape.clone()))
        }
    };
    Load {
        addresses: addresses.to_vec(),
        connections: generator.connections,
        stop_at,
        request_timeout: REQUEST_TIMEOUT,
        shape,
        share: Share::WHOLE,
    }
}

/// Makes claims on the threads of a load, without a progress bar.
pub(super) fn make_claims(
    load: &Load,
    threads: usize,
    claims: &Claims,
    progress: &Progress,
) -> Result<Driven, LoadError> {
    let claims = Arc::new(claims.clone());
    let scripts = (0..threads).map(|thread| ClaimScript::new(Arc::clone(&claims), thread, threads)).collect();
    let (scripts, report) = load::run_on_threads(load, scripts, progress)?;
    let mut by_sale = Vec::new();
    scripts.iter().for_each(|script| SaleOutcomes::add_all(&mut by_sale, &script.by_sale));
    Ok(Driven {
        by_sale,
        outcomes: scripts.iter().map(|script| script.outcomes).sum(),
        report,
        next: scripts.iter().map(ClaimScript::next).max().unwrap_or(0),
        unknown: scripts.into_iter().find_map(|script| script.unknown),
    })
}

/// A progress bar that follows a load until dropped.
pub(super) struct ShownProgress {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ShownProgress {
    /// Shows what `answered` returns.
    pub(super) fn start(bar: ProgressBar, answered: impl Fn() -> u64 + Send + 'static) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                bar.set_position(answered());
                std::thread::park_timeout(Duration::from_millis(100));
            }
            bar.finish_and_clear();
        });
        Self { is_over, thread: Some(thread) }
    }
}

impl Drop for ShownProgress {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // Only the bar is lost with a thread that panicked.
            let _ = thread.join();
        }
    }
}

/// Returns a progress bar, hidden when the output is not a terminal.
pub(super) fn progress_bar(length: Option<u64>, what: &'static str) -> ProgressBar {
    let bar = length.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let template = match length {
        Some(_) => "{msg:<16} {bar:40} {human_pos}/{human_len} {per_sec} {eta}",
        None => "{msg:<16} {spinner} {human_pos} {per_sec}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(what);
    bar
}

/// Returns a progress bar for steps of different lengths, whose message names the step.
pub(super) fn step_bar(steps: u64) -> ProgressBar {
    let bar = ProgressBar::new(steps);
    let template = "{bar:30} {pos}/{len} {msg}, {elapsed} gone, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}
