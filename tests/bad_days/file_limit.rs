//! A limit on file sizes (`RLIMIT_FSIZE`), lowered below the size of the mall's files and raised again.

use std::process::Command;
use std::time::Duration;

use anyhow::ensure;

use crate::drill::Drill;

fn set_limit(process: u32, bytes: &str) -> anyhow::Result<()> {
    // Only the soft limit: only root may raise the hard one again.
    let set = Command::new("prlimit")
        .args(["--pid", &process.to_string(), &format!("--fsize={bytes}:")])
        .status()?;
    ensure!(set.success(), "prlimit cannot set the limit");
    Ok(())
}

#[test]
fn files_that_may_not_grow_stop_the_sale_and_not_the_mall() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let mut drill = Drill::begin("file limit", site.path(), &site.path().join("mallbox.log"))?;
    set_limit(drill.server.id(), "65536")?;
    let noticed = drill.claims_are("refused", |reply| {
        (reply.status, reply.code(), reply.retry_after()) == (503, "UNAVAILABLE", Some(1))
    })?;
    drill.readyz_tells("File too large")?;
    drill.reading_goes_on()?;
    std::thread::sleep(Duration::from_secs(3));
    set_limit(drill.server.id(), "unlimited")?;
    let (ready, sold) = drill.recovers()?;
    drill.end(&format!("refused after {noticed:?}; ready again after {ready:?}, selling after {sold:?}"))
}
