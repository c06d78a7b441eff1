//! `mallbox fixture`: a mall for tests in any language, that lives as long as whoever started it.

use std::io::Read as _;
use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;
use jiff::tz::TimeZone;
use rustix::process::getppid;
use tokio::signal::unix::{SignalKind, signal};

use super::house;
use super::log;
use super::words::{Hindrance, Misuse};
use crate::config::{LogFormat, zone};
use crate::fixture::{Data, FixtureError, Mall};
use crate::language::Language;

/// The flags of `fixture`.
#[derive(Args)]
pub(super) struct Fixture {
    /// What tokens, codes and names follow from.
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    seed: u64,
    /// What is in it: `demo`, `empty`, or a dump of an hm-dianping database.
    #[arg(long, default_value = "demo", value_name = "demo|empty|FILE.sql")]
    data: String,
    /// The time on its wall when it starts, such as 2026-11-21T20:00:00; the machine's unless told.
    #[arg(long, value_name = "TIME")]
    start: Option<String>,
    /// Start with a clock that stands.
    #[arg(long)]
    frozen: bool,
    /// Its time zone, such as Asia/Shanghai; the machine's unless told.
    #[arg(long, value_name = "NAME", value_parser = zone)]
    zone: Option<TimeZone>,
    /// With the limits of `serve` on codes and claims.
    #[arg(long)]
    limits: bool,
    /// The address to listen on; port 0 takes any that is free.
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// How the log on standard error is written.
    #[arg(long, default_value = "text")]
    log_format: LogFormat,
}

/// Runs a mall until its standard input ends, its parent does, or it is told to.
///
/// # Errors
/// One sentence for whoever typed the command.
pub(super) fn run(fixture: Fixture, l: Language) -> anyhow::Result<()> {
    // Asked first: a parent that ends while the mall starts is noticed too.
    let parent = getppid();
    log::start(fixture.log_format);
    let mut builder = Mall::builder().seed(fixture.seed).data(Data::named(&fixture.data)).language(l);
    if let Some(start) = fixture.start {
        builder = builder.start_at(start);
    }
    if fixture.frozen {
        builder = builder.frozen();
    }
    if let Some(zone) = fixture.zone {
        builder = builder.zone(zone);
    }
    if fixture.limits {
        builder = builder.with_limits();
    }
    let mall = builder.listen(fixture.listen).start().map_err(|error| match error {
        FixtureError::Asked(told) => Misuse::OfFixture(told).into(),
        other => Hindrance::NoFixture.since(other),
    })?;
    super::say(&(mall.line_text() + "\n"));
    house::block_on(async {
        let mut stopped = signal(SignalKind::terminate())?;
        let mut interrupted = signal(SignalKind::interrupt())?;
        let over = mall.over().unwrap_or_default();
        let why = tokio::select! {
            () = input_ended() => "its standard input is closed",
            () = parent_ended(parent) => "its parent has ended",
            () = over.cancelled() => "it was asked to over its controls",
            _ = stopped.recv() => "it was told to",
            _ = interrupted.recv() => "it was told to",
        };
        tracing::info!(why, "the fixture ends");
        Ok(())
    })?;
    drop(mall);
    Ok(())
}

/// Returns when standard input is closed. What comes over it means nothing.
async fn input_ended() {
    let (tell, told) = tokio::sync::oneshot::channel::<()>();
    // A thread that is not waited for: it may be in the middle of a read when the process ends.
    let reader = std::thread::Builder::new().name("input".to_owned()).spawn(move || {
        let mut bytes = [0; 1024];
        while std::io::stdin().read(&mut bytes).is_ok_and(|read| read > 0) {}
        drop(tell);
    });
    match reader {
        Ok(_) => drop(told.await),
        Err(error) => {
            tracing::warn!(%error, "no thread for standard input: the mall ends with its parent");
            std::future::pending().await
        }
    }
}

/// Returns when the process has another parent than this one: a child is handed on when its parent ends. The kernel's own
/// signal for it comes when the parent's thread ends, which in many languages is earlier.
async fn parent_ended(parent: Option<rustix::process::Pid>) {
    const LOOK_EVERY: Duration = Duration::from_millis(200);
    while getppid() == parent {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
