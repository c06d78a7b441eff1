//! The ceiling: the response rate of a bare axum handler on the same machine, and its CPU per request.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Path;
use axum::routing::post;
use mallbox_storage::VoucherId;
use tokio::net::TcpListener;

use super::drive::{Arrivals, Driven, drive};
use super::generator::Generator;
use super::process_usage::ProcessUsage;
use super::rush::Claims;
use super::server::Server;
use super::summary::micros_per_response;
use crate::http::listen;
use crate::mall::Random;

/// Difference between two measurements from which on neither can be relied on.
const SWING: f64 = 0.15;

/// Serves a bare handler at the claim's path until the process is stopped: `axum::serve` on tokio's default
/// runtime, without any tuning. Prints the address first.
///
/// # Errors
/// The listener cannot be bound.
pub fn serve() -> anyhow::Result<()> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let listener = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        println!("http://{}", listener.local_addr()?);
        let router = Router::new().route("/api/voucher-order/seckill/{voucher}", post(answer));
        axum::serve(listener, router).await?;
        Ok(())
    })
}

/// Returns a body as long as the response to an accepted claim.
async fn answer(Path(_voucher): Path<u64>) -> &'static str {
    r#"{"success":true,"data":663201234567890123,"dataText":"663201234567890123"}"#
}

/// A measurement of the bare handler.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct BareHandler {
    /// Responses per second.
    pub(super) per_s: f64,
    /// CPU of its process per request, in µs; `None` where the system does not tell.
    pub(super) cpu_us: Option<f64>,
}

/// The ceiling before and after a measurement: on a shared machine it changes while a bench runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Ceiling {
    pub(super) before: BareHandler,
    pub(super) after: BareHandler,
}

impl Ceiling {
    /// Returns a rate as a percentage of the mean ceiling.
    pub(super) fn percent(self, rate: f64) -> f64 {
        100.0 * rate / f64::midpoint(self.before.per_s, self.after.per_s)
    }

    /// Returns whether the ceiling changed so much that percentages of it say little.
    pub(super) fn swings(self) -> bool {
        differ(self.before.per_s, self.after.per_s)
    }

    /// Returns the CPU of a bare request before and after, in µs, if both are known.
    pub(super) fn cpu_us(self) -> Option<(f64, f64)> {
        self.before.cpu_us.zip(self.after.cpu_us)
    }

    /// Returns CPU per operation, in µs, as a multiple of the mean CPU of a bare request.
    pub(super) fn cpu_ratio(self, cpu_us: f64) -> Option<f64> {
        self.cpu_us().map(|(before, after)| cpu_us / f64::midpoint(before, after))
    }

    /// Returns whether the CPU of a bare request changed so much that ratios to it say little.
    pub(super) fn cpu_swings(self) -> bool {
        self.cpu_us().is_some_and(|(before, after)| differ(before, after))
    }
}

fn differ(before: f64, after: f64) -> bool {
    let (low, high) = (before.min(after), before.max(after));
    high - low > SWING * high
}

/// Measures the ceiling under the same load as a mall. Its CPU includes that of the connections.
pub(super) fn measure(generator: &Generator, span: Duration) -> anyhow::Result<BareHandler> {
    let (server, _lines) = Server::start(&["bench", "ceiling"].map(str::to_owned), &[])?;
    let tokens = Arc::new(vec![Random::system().token(); 1_000]);
    let claims = Claims::new(tokens, &[VoucherId::new(1)]).endless();
    let arrivals = Arrivals::ClosedFor(span);
    let usage = || ProcessUsage::of([server.id()]);
    let before = usage();
    let Driven { report, .. } = drive(generator, &[server.address], &claims, &arrivals, "ceiling")?;
    let cpu = usage().zip(before).map(|(now, before)| now.since(before).cpu);
    // Less than a tick of the kernel's clock is no measurement.
    let cpu = cpu.filter(|cpu| !cpu.is_zero());
    Ok(BareHandler { per_s: report.per_second(), cpu_us: cpu.map(|cpu| micros_per_response(&report, cpu)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ceiling(before: (f64, Option<f64>), after: (f64, Option<f64>)) -> Ceiling {
        let bare = |(per_s, cpu_us)| BareHandler { per_s, cpu_us };
        Ceiling { before: bare(before), after: bare(after) }
    }

    #[test]
    fn a_ceiling_that_changes_by_more_than_15_percent_is_named() {
        let rates = |before, after| ceiling((before, None), (after, None));
        assert!(!rates(60_000.0, 51_500.0).swings() && !rates(51_500.0, 60_000.0).swings());
        assert!(rates(60_000.0, 50_500.0).swings() && rates(35_000.0, 63_000.0).swings());
        assert!((rates(60_000.0, 40_000.0).percent(25_000.0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn cpu_is_a_multiple_of_the_mean_bare_request() {
        let cpu = |before, after| ceiling((60_000.0, before), (60_000.0, after));
        assert!((cpu(Some(8.0), Some(12.0)).cpu_ratio(35.0).unwrap() - 3.5).abs() < 1e-9);
        assert!(cpu(Some(8.0), Some(12.0)).cpu_swings() && cpu(Some(12.0), Some(8.0)).cpu_swings());
        assert!(!cpu(Some(8.6), Some(10.0)).cpu_swings());
        let unknown = cpu(Some(8.0), None);
        assert!(unknown.cpu_ratio(35.0).is_none() && !unknown.cpu_swings());
    }
}
