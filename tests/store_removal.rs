//! The order log's store is removed (`rm -rf log/store-*`) at random moments: during a rush, or between a
//! kill and the next start. It is disposable: no acknowledged claim is lost, the next start makes a store
//! anew, and the mall sells the rest. Sessions are in the store, and are begun anew.
//!
//! `MALLBOX_REMOVALS` sets the number of removals (100 by hand), `MALLBOX_SEED` repeats a plan.

mod common;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use common::dice::{Dice, number_from};
use common::inspection::{inspect_in, settle_and_sell_out};
use common::mall::{self, Mall, Size};
use common::rush::Rush;
use common::server::Server;
use common::shoppers::{self, Behaviour, ShopperScript};

const SIZE: Size = Size { people: 1_500, sales: 1, units: 900 };
/// Removals in one mall: each check reads the complete history.
const REMOVALS_PER_MALL: u64 = 4;

#[test]
fn no_claim_is_lost_with_the_order_logs_store() -> anyhow::Result<()> {
    let removals = number_from("MALLBOX_REMOVALS").unwrap_or(4);
    let mut dice = Dice::from_environment("store_removal");
    let (mut done, mut while_selling) = (0, 0);
    while done < removals {
        let count = REMOVALS_PER_MALL.min(removals - done);
        while_selling += live(count, &mut dice).with_context(|| format!("after {done} removals"))?;
        done += count;
    }
    println!("store_removal: {done} removals, {while_selling} of them from a mall that was selling");
    Ok(())
}

/// Removes the store of one mall so many times. Returns how often the mall was running.
fn live(removals: u64, dice: &mut Dice) -> anyhow::Result<u64> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let mall = mall::make(&data, SIZE)?;
    let (sale, operator) = (mall.sales[0], mall::appoint_operator(&data, &mall)?);
    let history = shoppers::history(&mall, &mall.sales);
    let mut while_selling = 0;
    for _ in 0..removals {
        let server = Server::start(&data, &log, "power")?;
        let connections = dice.pick(&[64, 512]);
        let clients = ShopperScript::new(&history, sale, Behaviour::Live, connections, dice.split());
        let rush = Rush::start(server.address, connections, clients);
        rush.go_on_for_a_while(dice, mall.units);
        let is_selling = dice.chance(50);
        if is_selling {
            remove_store(&data)?;
            rush.go_on_for_a_while(dice, mall.units);
            while_selling += 1;
        }
        server.kill()?;
        rush.end()?;
        history.lock().record_crash();
        remove_store(&data)?;
        begin_sessions(&data, &mall)?;
        let server = Server::start(&data, &log, "power")?;
        inspect_in(&server, &data, &history.lock(), &operator).with_context(|| server.stderr_tail())?;
        server.stop()?;
    }
    let server = Server::start(&data, &log, "power")?;
    settle_and_sell_out([server.address], &history, sale, dice)?;
    inspect_in(&server, &data, &history.lock(), &operator)?;
    server.stop()?;
    let words = fs::read_to_string(&log)?;
    ensure!(!words.contains("panicked"), "{words}");
    Ok(while_selling)
}

fn remove_store(data: &Path) -> anyhow::Result<()> {
    let log = data.join("log");
    for entry in fs::read_dir(&log)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("store-") {
            // A running mall may make a file meanwhile.
            while entry.path().exists() {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
    Ok(())
}

/// Opens the mall, which makes its store anew, and begins everybody's session again.
fn begin_sessions(data: &Path, mall: &Mall) -> anyhow::Result<()> {
    mall::runtime()?.block_on(async {
        let storage = mall::open(data).await?;
        mall::begin_sessions(&storage, mall).await?;
        Ok(storage.base.upkeep.close().await?)
    })
}
