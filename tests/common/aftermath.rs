//! What has to hold after a crash, and that the mall then goes on selling.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use parking_lot::Mutex;
use tempfile::TempDir;

use super::audit;
use super::books::{self, Found};
use super::crowd::{Crowd, Mood};
use super::dice::Dice;
use super::ledger::Ledger;
use super::mall;
use super::rush::run_to_the_end;
use super::server::{self, Server};

const CONNECTIONS: usize = 32;

/// Checks what a crash left behind, without touching it: `mallbox verify` and the ports get a copy each, so that all of
/// them, and the server that is started afterwards, recover from the same crash.
pub fn examine(data: &Path, scratch: &Path, ledger: &Ledger) -> anyhow::Result<Found> {
    check_blobs(data)?;
    let copy = copy(data, scratch)?;
    server::verify(copy.path())?;
    let copy = self::copy(data, scratch)?;
    mall::runtime()?.block_on(async {
        let storage = mall::open(copy.path()).await?;
        let found = books::check(&storage, ledger).await;
        storage.upkeep.close().await?;
        found
    })
}

/// Starts the mall on what the crash left and asks for everything that was promised.
pub fn reopen(
    data: &Path,
    log: &Path,
    ledger: &Ledger,
    left: u64,
    durability: &str,
) -> anyhow::Result<Server> {
    let server = Server::start(data, log, durability)?;
    audit::over_http(&server, ledger, left).with_context(|| server.last_words())?;
    Ok(server)
}

/// Sells what is left, stops the mall in good order, and checks that exactly the units were sold.
pub fn sell_out(
    server: Server,
    data: &Path,
    ledger: &Arc<Mutex<Ledger>>,
    dice: &mut Dice,
) -> anyhow::Result<Found> {
    for mood in [Mood::Settling, Mood::Buying] {
        let crowd = Crowd::new(ledger, mood, CONNECTIONS, dice.split());
        run_to_the_end(server.address, CONNECTIONS, crowd)
            .with_context(|| format!("{mood:?}: {}", server.last_words()))?;
    }
    let ledger = ledger.lock().clone();
    ensure!(ledger.promises().unknown == 0, "answers are missing: {:?}", ledger.promises());
    audit::over_http(&server, &ledger, 0)?;
    server.stop()?;
    server::verify(data)?;
    let found = mall::runtime()?.block_on(async {
        let storage = mall::open(data).await?;
        let found = books::check(&storage, &ledger).await;
        storage.upkeep.close().await?;
        found
    })?;
    ensure!(found.live == ledger.units, "{} of {} units are sold", found.live, ledger.units);
    check_blobs(data)?;
    Ok(found)
}

/// sled never syncs what it writes into `blobs`, so nothing may be there.
fn check_blobs(data: &Path) -> anyhow::Result<()> {
    let log = data.join("log");
    for store in fs::read_dir(&log).with_context(|| format!("{} cannot be read", log.display()))? {
        let blobs = store?.path().join("blobs");
        if !blobs.is_dir() {
            continue;
        }
        let count = fs::read_dir(&blobs)?.count();
        ensure!(count == 0, "{count} blobs in {}: a value of the log is too large", blobs.display());
    }
    Ok(())
}

/// A copy of a directory that nobody writes to.
pub fn copy(data: &Path, scratch: &Path) -> anyhow::Result<TempDir> {
    let to = tempfile::Builder::new().prefix("copy-").tempdir_in(scratch)?;
    copy_into(data, to.path())?;
    Ok(to)
}

fn copy_into(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_into(&entry.path(), &target)?;
        } else if kind.is_file() {
            // A socket that the crash left is no data.
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
