//! The power goes at random moments: whatever was answered is on the disk, and the mall goes on selling.
//!
//! `kill -9` cannot show this, since the kernel writes back what a dead process had written. Here the server is stopped
//! where it stands, the image of its disk is copied as it is, and a mall is started from the copy.
//!
//! `MALLBOX_POWER_CUTS` says how often (200 by hand), `MALLBOX_SEED` repeats a plan. That the test can fail is seen with
//! `MALLBOX_DURABILITY=process`, which answers without waiting for the disk.

#[path = "../common/mod.rs"]
mod common;

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use parking_lot::Mutex;

use common::aftermath;
use common::crowd::{Crowd, Mood};
use common::dice::{Dice, number_from};
use common::image::Site;
use common::ledger::{Ledger, Promises};
use common::mall::{self, Mall, Size};
use common::rush::Rush;
use common::server::{Server, allow_files};

/// Claims at once: one commit takes all that wait, so this decides how large what is written at once becomes.
const CONNECTIONS: [usize; 3] = [64, 512, 4096];
/// More people than connections, and more units than are sold before the cut.
const SIZE: Size = Size { people: 9_000, sales: 1, units: 7_000 };
/// From the last answer on its way to its being read.
const UNTIL_READ: Duration = Duration::from_millis(100);

#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and loop devices; tests/run turns it on where they are there"
)]
fn power_cut_at_any_moment_breaks_no_promise() -> anyhow::Result<()> {
    let cuts = number_from("MALLBOX_POWER_CUTS").unwrap_or(3);
    let durability = std::env::var("MALLBOX_DURABILITY").unwrap_or_else(|_| "power".to_owned());
    let mut dice = Dice::from_environment("power_cut");
    allow_files(2 * CONNECTIONS[2])?;
    let site = Site::new(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let (template, mall) = make_template(&site)?;
    let mut cutter =
        Cutter { site: &site, template: &template, mall: &mall, durability, total: Promises::default() };
    let mut failures = Vec::new();
    for cut in 0..cuts {
        let connections = CONNECTIONS[usize::try_from(cut)? % CONNECTIONS.len()];
        if let Err(error) = cutter.cut(connections, &mut dice) {
            println!("cut {cut}, {connections} connections: {error:#}");
            failures.push(cut);
        }
    }
    println!("power_cut: {cuts} cuts, {} failed; kept in the others: {:?}", failures.len(), cutter.total);
    ensure!(failures.is_empty(), "cuts {failures:?} of {cuts} failed; what each found is above");
    Ok(())
}

#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and loop devices; tests/run turns it on where they are there"
)]
fn a_cut_takes_what_was_not_synced_and_leaves_what_was() -> anyhow::Result<()> {
    let site = Site::new(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let image = site.format("before.img")?;
    let disk = site.mount(&image, "before")?;
    let content = vec![7; 100_000];
    let mut synced = File::create(disk.path().join("synced"))?;
    synced.write_all(&content)?;
    synced.sync_all()?;
    File::open(disk.path())?.sync_all()?;
    File::create(disk.path().join("unsynced"))?.write_all(&content)?;
    let copy = site.copy(&image, "after.img")?;
    let after = site.mount(&copy, "after")?;
    ensure!(std::fs::read(after.path().join("synced"))? == content, "what was synced is not there");
    let unsynced = std::fs::read(after.path().join("unsynced")).unwrap_or_default();
    ensure!(unsynced != content, "what was never synced survived: this is no power cut");
    Ok(())
}

/// A disk with a mall on it that every cut begins with.
fn make_template(site: &Site) -> anyhow::Result<(PathBuf, Mall)> {
    let image = site.format("template.img")?;
    let disk = site.mount(&image, "template")?;
    let mall = mall::make(&disk.path().join("mall"), SIZE)?;
    Ok((image, mall))
}

struct Cutter<'a> {
    site: &'a Site,
    template: &'a Path,
    mall: &'a Mall,
    durability: String,
    total: Promises,
}

impl Cutter<'_> {
    fn cut(&mut self, connections: usize, dice: &mut Dice) -> anyhow::Result<()> {
        let ledger = Arc::new(Mutex::new(Ledger::new(self.mall, self.mall.sales[0])));
        let (left_behind, known) = self.run_until_the_cut(&ledger, connections, dice)?;
        let log = self.site.path().join("mallbox.log");
        let disk = self.site.mount(&left_behind, "after")?;
        let data = disk.path().join("mall");
        let found = aftermath::examine(&data, self.site.path(), &known)?;
        println!("{connections} connections: {:?}; {found:?}", known.promises());
        let server = aftermath::reopen(&data, &log, &known, found.left, &self.durability)?;
        *ledger.lock() = known;
        let found = aftermath::sell_out(server, &data, &ledger, dice)?;
        println!("{connections} connections: sold out, {found:?}");
        self.total += ledger.lock().promises();
        Ok(())
    }

    /// Answers the disk as the cut left it, and what had been promised by then.
    fn run_until_the_cut(
        &self,
        ledger: &Arc<Mutex<Ledger>>,
        connections: usize,
        dice: &mut Dice,
    ) -> anyhow::Result<(PathBuf, Ledger)> {
        let image = self.site.copy(self.template, "before.img")?;
        let disk = self.site.mount(&image, "before")?;
        let log = self.site.path().join("mallbox.log");
        let mut server = Server::start(&disk.path().join("mall"), &log, &self.durability)?;
        let crowd = Crowd::new(ledger, Mood::Lively, connections, dice.split());
        let rush = Rush::start(server.address, connections, crowd);
        rush.wait_for(1 + dice.below(100));
        std::thread::sleep(dice.millis(0, 800));
        server.freeze()?;
        std::thread::sleep(UNTIL_READ);
        let known = ledger.lock().clone();
        let copy = self.site.copy(&image, "after.img")?;
        server.kill()?;
        rush.end()?;
        Ok((copy, known))
    }
}
