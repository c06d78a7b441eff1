//! The process that started this one.

use std::time::Duration;

use rustix::process::{Pid, getppid};

/// Returns when the process gets a new parent: the system re-parents a child when the parent ends. The
/// kernel's own signal (`PR_SET_PDEATHSIG`) is sent when the parent's thread ends, which in many languages is
/// earlier.
pub(super) async fn parent_ended(parent: Option<Pid>) {
    const PARENT_POLL_INTERVAL: Duration = Duration::from_millis(200);
    while getppid() == parent {
        tokio::time::sleep(PARENT_POLL_INTERVAL).await;
    }
}

/// Returns when the bench that started this process has ended, and never for any other process.
#[cfg(all(feature = "cli", feature = "production"))]
pub(super) async fn bench_ended() {
    let bench =
        std::env::var(crate::bench::BENCH_VARIABLE).ok().and_then(|id| Pid::from_raw(id.parse().ok()?));
    match bench {
        Some(bench) => parent_ended(Some(bench)).await,
        None => std::future::pending().await,
    }
}

/// Never returns: without Redis and MySQL there are no benches.
#[cfg(not(all(feature = "cli", feature = "production")))]
pub(super) async fn bench_ended() {
    std::future::pending().await
}
