//! Power cuts at random moments, during a rush, a start or a recovery: every acknowledged effect persists,
//! and the mall continues to sell.
//!
//! `kill -9` cannot show lost writes, since the kernel writes back the data of a dead process. In this test
//! the server is suspended, the image of its disk is copied immediately, and the next server is started on
//! the copy. An image goes through several cuts.
//!
//! `MALLBOX_POWER_CUTS` sets the number of cuts (200 by hand), `MALLBOX_SEED` repeats a plan, and
//! `MALLBOX_KEEP=DIR` keeps the images that broke a promise. `MALLBOX_DURABILITY=process`, which acknowledges
//! without waiting for the disk, proves the test able to fail.

#[path = "../common/mod.rs"]
mod common;

mod chain;

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use anyhow::ensure;

use common::dice::{Dice, number_from};
use common::image::DiskSite;
use common::server::allow_files;

use chain::{CONNECTIONS_MAX, Chain, Tally, Template};

#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and loop devices; tests/run turns it on where they are there"
)]
fn power_cut_at_any_moment_breaks_no_promise() -> anyhow::Result<()> {
    let cuts = number_from("MALLBOX_POWER_CUTS").unwrap_or(6);
    let mut dice = Dice::from_environment("power_cut");
    allow_files(2 * CONNECTIONS_MAX)?;
    let site = DiskSite::new(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let template = Template::make(&site)?;
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    while tally.cuts() < cuts {
        let mut chain = Chain::begin(&site, &template)?;
        if let Err(error) = chain.live(cuts, &mut tally, &mut dice) {
            println!("cut {}: {error:#}", tally.cuts());
            failures.push(tally.cuts());
            chain.keep(tally.cuts())?;
        }
    }
    println!("power_cut: {tally:?}; {} chains broke a promise", failures.len());
    ensure!(failures.is_empty(), "promises were broken after cuts {failures:?}; what each found is above");
    Ok(())
}

#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and loop devices; tests/run turns it on where they are there"
)]
fn a_cut_takes_what_was_not_synced_and_leaves_what_was() -> anyhow::Result<()> {
    let site = DiskSite::new(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
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
