//! `mallbox learn`: the ladder and comparisons as a page, whose buttons run them on this machine.
//!
//! The page starts servers and processes, so it is for nobody but the person at this machine: it listens on
//! loopback alone, checks `Host` and `Origin`, needs the key of the printed address, and runs one job at a
//! time. A mall never serves it.

mod access;
mod api;
mod comparisons;
mod guard;
mod job;
mod jobs;
mod shared;
mod task;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use tokio::net::TcpListener;

use self::access::Access;
use self::jobs::Jobs;
use self::shared::Learn;
use super::ladder::missing_programs;
use crate::http::LearnPages;
use crate::mall::Random;

/// Longest body of a call.
const BODY_MAX_BYTES: usize = 16 * 1024;

/// Serves the page on a loopback port (0 = any free one) until interrupted. `announce` gets the address to
/// open, and the programs that are missing.
///
/// # Errors
/// A port that is taken.
pub fn serve(port: u16, announce: impl FnOnce(&str, &[&'static str])) -> anyhow::Result<()> {
    let jobs = Arc::new(Jobs::new(std::env::current_dir()?));
    let served = tokio::runtime::Runtime::new()?.block_on(serve_until_interrupted(port, &jobs, announce));
    // Servers end outside of the runtime, since they have one of their own.
    jobs.end();
    served
}

async fn serve_until_interrupted(
    port: u16,
    jobs: &Arc<Jobs>,
    announce: impl FnOnce(&str, &[&'static str]),
) -> anyhow::Result<()> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
    let address = listener.local_addr()?;
    let key = Random::system().token();
    let learn = Arc::new(Learn {
        access: Access::new(address, &key),
        jobs: Arc::clone(jobs),
        pages: LearnPages::new(),
    });
    announce(&format!("http://{address}/#key={key}"), &missing_programs());
    let interrupted = async {
        // Without a handler the signal ends the process at once, which is as good.
        let _ = tokio::signal::ctrl_c().await;
    };
    let served = axum::serve(listener, router(&learn));
    tokio::select! {
        served = served => served?,
        () = interrupted => {}
    }
    Ok(())
}

fn router(learn: &Arc<Learn>) -> Router {
    let calls = Router::new()
        .route("/api/learn", get(api::overview))
        .route("/api/learn/job", get(api::job).post(api::start).delete(api::cancel))
        .layer(axum::extract::DefaultBodyLimit::max(BODY_MAX_BYTES))
        .layer(from_fn_with_state(Arc::clone(learn), guard::check_key));
    calls
        .fallback(get(api::page))
        .layer(from_fn_with_state(Arc::clone(learn), guard::check_host))
        .with_state(Arc::clone(learn))
}
