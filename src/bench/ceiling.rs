//! The ceiling: the response rate of a bare axum handler on the same machine.

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
use super::rush::Claims;
use super::server::Server;
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
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
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

/// The ceiling before and after a measurement, in responses per second: on a shared machine it changes while
/// a bench runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Ceiling {
    pub(super) before: f64,
    pub(super) after: f64,
}

impl Ceiling {
    /// Returns a rate as a percentage of the mean ceiling.
    pub(super) fn percent(self, rate: f64) -> f64 {
        100.0 * rate / f64::midpoint(self.before, self.after)
    }

    /// Returns whether the ceiling changed so much that percentages of it say little.
    pub(super) fn swings(self) -> bool {
        let (low, high) = (self.before.min(self.after), self.before.max(self.after));
        high - low > SWING * high
    }
}

/// Measures the ceiling under the same load as a mall, in responses per second.
pub(super) fn measure(generator: &Generator, span: Duration) -> anyhow::Result<f64> {
    let (server, _lines) = Server::start(&["bench", "ceiling"].map(str::to_owned), &[])?;
    let tokens = Arc::new(vec![Random::system().token(); 1_000]);
    let claims = Claims::new(tokens, &[VoucherId::new(1)]).endless();
    let arrivals = Arrivals::ClosedFor(span);
    let Driven { report, .. } = drive(generator, &[server.address], &claims, &arrivals, "ceiling")?;
    Ok(report.per_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ceiling_that_changes_by_more_than_15_percent_is_named() {
        let ceiling = |before, after| Ceiling { before, after };
        assert!(!ceiling(60_000.0, 51_500.0).swings() && !ceiling(51_500.0, 60_000.0).swings());
        assert!(ceiling(60_000.0, 50_500.0).swings() && ceiling(35_000.0, 63_000.0).swings());
        assert!((ceiling(60_000.0, 40_000.0).percent(25_000.0) - 50.0).abs() < 1e-9);
    }
}
