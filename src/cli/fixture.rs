//! `mallbox fixture`: a mall for tests in any language; ends with the process that started it.

use std::io::Read as _;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use jiff::tz::TimeZone;
use rustix::process::getppid;
use tokio::signal::unix::{SignalKind, signal};

use super::log;
use super::messages::{CommandFailure, UsageError};
use super::output::print;
use super::parent::parent_ended;
use super::running_mall;
use super::runtime::block_on;
use crate::config::{LogFormat, host, zone};
use crate::fixture::{Data, FixtureError, MALLS_MAX, Mall};
use crate::language::Language;

/// The flags of `fixture`.
#[derive(Args)]
pub(super) struct Fixture {
    /// Seed of all tokens, codes and names. Default: 0, with a random token of the operator.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Initial data: `demo`, `empty`, or a dump of an hm-dianping database.
    #[arg(long, default_value = "demo", value_name = "demo|empty|FILE.sql")]
    data: String,
    /// Wall-clock time of the mall at start, such as 2026-11-21T20:00:00; default: the machine's.
    #[arg(long, value_name = "TIME")]
    start: Option<String>,
    /// Starts with a stopped clock.
    #[arg(long)]
    frozen: bool,
    /// The time zone of the mall, such as Asia/Shanghai; default: the machine's.
    #[arg(long, value_name = "NAME", value_parser = zone)]
    zone: Option<TimeZone>,
    /// Applies the limits of `serve` on codes and claims.
    #[arg(long)]
    limits: bool,
    /// The address to listen on; port 0 takes any free port.
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Names by which clients may call the mall, separated by commas, besides IP addresses and localhost.
    #[arg(long, value_name = "DOMAIN", num_args = 1.., value_delimiter = ',', value_parser = host)]
    host: Vec<String>,
    /// The directory of dumps from which `POST /malls` may start malls; default: none.
    #[arg(long, value_name = "DIR")]
    dumps: Option<PathBuf>,
    /// Maximum number of malls that `POST /malls` starts.
    #[arg(long, default_value_t = MALLS_MAX, value_name = "NUMBER")]
    malls: usize,
    /// The format of the log on standard error.
    #[arg(long, default_value = "text")]
    log_format: LogFormat,
}

/// Runs a mall until standard input is closed, the parent process ends, or a signal arrives.
///
/// # Errors
/// One sentence for the user of the command line.
pub(super) fn run(fixture: Fixture, l: Language) -> anyhow::Result<()> {
    // Read the parent first: its end during the start is noticed too.
    let parent = getppid();
    log::start(fixture.log_format);
    let mut builder = Mall::builder().malls(fixture.malls).data(Data::named(&fixture.data)).language(l);
    if let Some(seed) = fixture.seed {
        builder = builder.seed(seed);
    }
    if let Some(dir) = fixture.dumps {
        running_mall::check_is_dir("--dumps", Some(&dir))?;
        builder = builder.dumps(dir);
    }
    for name in fixture.host {
        builder = builder.host(name);
    }
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
        FixtureError::Asked(receiver) => UsageError::InvalidFixture(receiver).into(),
        other => CommandFailure::NoFixture.with_cause(other),
    })?;
    if let Some(address) = mall.address().filter(|address| !address.ip().is_loopback()) {
        tracing::warn!(%address, "the fixture can be reached from other machines: anybody can log in");
    }
    print(&(mall.line_text() + "\n"));
    block_on(async {
        let mut stopped = signal(SignalKind::terminate())?;
        let mut interrupted = signal(SignalKind::interrupt())?;
        let over = mall.over().unwrap_or_default();
        let reason = tokio::select! {
            () = input_ended() => "standard input was closed",
            () = parent_ended(parent) => "the parent process exited",
            () = over.cancelled() => "requested over the control API",
            _ = stopped.recv() => "SIGTERM",
            _ = interrupted.recv() => "SIGINT",
        };
        tracing::info!(reason, "stopping the fixture");
        Ok(())
    })?;
    drop(mall);
    Ok(())
}

/// Returns when standard input is closed. The bytes read are ignored.
async fn input_ended() {
    let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
    // Detached thread: it may be blocked in a read when the process ends.
    let reader = std::thread::Builder::new().name("input".to_owned()).spawn(move || {
        let mut bytes = [0; 1024];
        while std::io::stdin().read(&mut bytes).is_ok_and(|read| read > 0) {}
        drop(sender);
    });
    match reader {
        Ok(_) => drop(receiver.await),
        Err(error) => {
            tracing::warn!(%error, "could not watch standard input: the fixture stops with its parent only");
            std::future::pending().await
        }
    }
}
