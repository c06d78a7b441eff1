//! The ceiling: the response rate of a bare axum handler on the same machine.

use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::extract::Path;
use axum::routing::post;
use tokio::net::TcpListener;

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
