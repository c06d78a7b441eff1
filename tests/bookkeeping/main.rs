//! `mallbox export`: every movement of money in the files, sums that agree with `mallbox verify`, and nothing
//! under a final name after a kill or on a full disk.
//!
//! `MALLBOX_CRASH_CYCLES` sets the number of kills, `MALLBOX_SEED` repeats a plan.

#[path = "../common/mod.rs"]
mod common;
mod export;
mod furnished;
mod interrupted;
mod on_servers;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use mallbox::mall::{Clock as _, SystemClock};
use mallbox_storage::{Cents, UserId};
use serde_json::Value;
use tempfile::TempDir;

use common::dice::Dice;
use common::mall::{self, Size};
use common::rush::Rush;
use common::server::{self, Server};
use common::shoppers::{self, Behaviour, ShopperScript};
use export::{Export, FILES, cents, column, rows};
use furnished::{Furnished, SALE_PRICE, SALE_TITLE, Seller, at, furnish};

const CONNECTIONS: usize = 16;
/// Responses of a rush before, between and after the exports.
const RUSH_RESPONSES: u64 = 300;

struct Site {
    dir: TempDir,
}

impl Site {
    fn new() -> anyhow::Result<Self> {
        Ok(Self { dir: TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))? })
    }

    fn data(&self) -> std::path::PathBuf {
        self.dir.path().join("mall")
    }

    fn furnish(&self) -> anyhow::Result<Furnished> {
        mall::runtime()?.block_on(async {
            let storage = mall::open(&self.data()).await?;
            let furnished = furnish(&storage).await?;
            storage.base.upkeep.close().await?;
            Ok(furnished)
        })
    }

    /// Opens the sale again for further orders.
    fn sell(
        &self,
        furnished: &Furnished,
        work: impl AsyncFnOnce(&Seller<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        mall::runtime()?.block_on(async {
            let storage = mall::open(&self.data()).await?;
            let seller = Seller { storage: &storage, sale: furnished.sale };
            seller.open(2).await?;
            work(&seller).await?;
            Ok(storage.base.upkeep.close().await?)
        })
    }

    fn export(&self, name: &str, flags: &[&str]) -> anyhow::Result<Export> {
        Export::of_directory(&self.data(), &self.dir.path().join(name), flags)
    }

    fn verified(&self) -> anyhow::Result<Value> {
        Ok(serde_json::from_slice(&server::verify_json(&self.data())?.stdout)?)
    }
}

#[test]
fn yesterday_is_exported_from_a_stopped_and_from_a_running_mall() -> anyhow::Result<()> {
    let site = Site::new()?;
    let furnished = site.furnish()?;
    let stopped = site.export("stopped", &[])?;
    stopped.has_all_of_yesterday(&furnished)?;
    for name in FILES {
        let mode = fs::metadata(stopped.dir.join(name))?.permissions().mode() & 0o777;
        ensure!(mode == 0o600, "{name} has mode {mode:o}");
    }
    ensure!(fs::read_dir(&stopped.dir)?.count() == FILES.len(), "something was left");
    let running = Server::start(&site.data(), &site.dir.path().join("log"), "process")?;
    let yesterday = furnished.yesterday.to_string();
    let exported = site.export("running", &["--from", &yesterday, "--to", &yesterday])?;
    for name in ["orders.csv", "payments.csv", "books.csv", "cash.csv"] {
        ensure!(exported.text(name)? == stopped.text(name)?, "{name} of the running mall differs");
    }
    running.stop()
}

#[test]
fn the_sums_of_all_days_are_those_of_the_ledger_check() -> anyhow::Result<()> {
    let site = Site::new()?;
    let furnished = site.furnish()?;
    let (from, to) = (furnished.before.to_string(), furnished.today.to_string());
    let all = site.export("all", &["--from", &from, "--to", &to])?;
    ensure!(all.code == 0 && all.output.contains("today is not over"), "{}", all.output);
    all.agrees_with(&site.verified()?)?;
    let sale = furnished.sale.to_string();
    let of_sale = site.export("sale", &["--sale", &sale])?;
    let orders = of_sale.rows("orders.csv")?;
    ensure!(orders.len() == 10 && column(&orders, "voucher").all(|voucher| voucher == sale), "{orders:?}");
    ensure!(of_sale.summary["from"].is_null(), "all days of the sale: {}", of_sale.summary);
    let of_day = site.export("both", &["--sale", &sale, "--from", &from, "--to", &from])?;
    ensure!(of_day.rows("orders.csv")?.len() == 4, "{:?}", of_day.rows("orders.csv")?);
    Ok(())
}

#[test]
fn the_forms_of_a_file_are_as_the_manual_says() -> anyhow::Result<()> {
    let site = Site::new()?;
    site.furnish()?;
    let plain = site.export("plain", &[])?;
    let title = format!("'{SALE_TITLE}");
    ensure!(column(&plain.rows("books.csv")?, "title").any(|text| text == title), "no apostrophe");
    let orders = plain.rows("orders.csv")?;
    let (ids, times) = (column(&orders, "order"), column(&orders, "claimed"));
    ensure!(ids.clone().all(|id| id.len() > 15 && id.bytes().all(|byte| byte.is_ascii_digit())), "ids");
    ensure!(times.clone().all(|time| time.ends_with(".000+08:00") && time.len() == 29), "times");
    let excel = site.export("excel", &["--excel"])?;
    ensure!(excel.text("orders.csv")?.starts_with("\u{feff}order,claimed"), "no byte order mark");
    let quoted: Vec<String> = ids.map(|id| format!("=\"{id}\"")).collect();
    ensure!(column(&excel.rows("orders.csv")?, "order").eq(quoted.iter().map(String::as_str)), "ids");
    let json = site.export("json", &["--format", "json"])?;
    let lines = json.text("payments.jsonl")?;
    let payments: Vec<Value> = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let sum: i64 = payments.iter().filter_map(|payment| payment["amountCents"].as_i64()).sum();
    ensure!(payments.len() == 8 && sum == 3_050, "{lines}");
    let title = |line: &str| serde_json::from_str::<Value>(line).map(|book| book["title"] == SALE_TITLE);
    let books = json.text("books.jsonl")?;
    ensure!(books.lines().filter(|line| title(line).unwrap_or(false)).count() == 1, "{books}");
    Ok(())
}

#[test]
fn what_cannot_be_exported_is_refused_and_leaves_nothing() -> anyhow::Result<()> {
    let site = Site::new()?;
    let furnished = site.furnish()?;
    let [before, today] = [furnished.before, furnished.today].map(|day| day.to_string());
    for (flags, text) in [
        (&["--from", "9999-12-31"][..], "--from: expected a day like 2026-11-24, not after today"),
        (&["--to", "9999-12-31"], "--to: expected a day like 2026-11-24, not after today"),
        (&["--from", &today, "--to", &before], "--from not after --to"),
        (&["--from", "2019-01-01"], "at most 366"),
        (&["--sale", "999999"], "This sale does not exist"),
        (&["--sale", "2"], "This sale does not exist"),
    ] {
        let refused = site.export("refused", flags)?;
        ensure!(refused.code == 1 && refused.output.contains(text), "{flags:?}: {}", refused.output);
        ensure!(refused.is_empty()?, "{flags:?} left something");
    }
    fs::write(site.dir.path().join("refused").join("books.csv"), "mine")?;
    let refused = site.export("refused", &[])?;
    ensure!(refused.code == 2 && refused.output.contains("is not overwritten"), "{}", refused.output);
    ensure!(refused.text("books.csv")? == "mine" && fs::read_dir(&refused.dir)?.count() == 1, "overwritten");
    Ok(())
}

#[test]
fn a_payment_of_another_amount_than_the_price_is_named() -> anyhow::Result<()> {
    let site = Site::new()?;
    let furnished = site.furnish()?;
    site.sell(&furnished, async |seller| {
        let order = seller.claimed(20, at(furnished.yesterday, 20)).await?;
        let amount = Cents::new(SALE_PRICE.get() - 1);
        seller.pay_amount(order, amount, at(furnished.yesterday, 20)).await
    })?;
    let export = site.export("accounts", &[])?;
    let want = format!(
        "{}, voucher {}: revenue is 42.00 yuan by the orders and 41.99",
        furnished.yesterday, furnished.sale
    );
    ensure!(export.code == 1 && export.output.contains(&want), "{}", export.output);
    ensure!(export.summary["balances"] == false, "{}", export.summary);
    ensure!(export.summary["mismatches"][0]["paymentsCents"] == 4_199, "{}", export.summary);
    Ok(())
}

#[test]
fn a_day_that_is_over_does_not_change_while_the_mall_sells() -> anyhow::Result<()> {
    let site = Site::new()?;
    let mut dice = Dice::from_environment("bookkeeping");
    let (furnished, shop) = mall::runtime()?.block_on(async {
        let storage = mall::open(&site.data()).await?;
        let furnished = furnish(&storage).await?;
        let shop = mall::make_in(&storage, Size { people: 2_000, sales: 1, units: 1_500 }).await?;
        storage.base.upkeep.close().await?;
        anyhow::Ok((furnished, shop))
    })?;
    let server = Server::start(&site.data(), &site.dir.path().join("log"), "process")?;
    let history = shoppers::history(&shop, &shop.sales);
    let script = ShopperScript::new(&history, shop.sales[0], Behaviour::Live, CONNECTIONS, dice.split());
    let rush = Rush::start(server.address, CONNECTIONS, script);
    rush.wait_for(RUSH_RESPONSES);
    let [yesterday, today] = [furnished.yesterday, furnished.today].map(|day| day.to_string());
    let of_yesterday = ["--from", &*yesterday, "--to", &*yesterday];
    let during = site.export("during", &of_yesterday)?;
    let growing = site.export("growing", &["--from", &yesterday, "--to", &today])?;
    rush.wait_for(2 * RUSH_RESPONSES);
    rush.report()?;
    during.has_all_of_yesterday(&furnished)?;
    ensure!(growing.code == 0 && growing.summary["balances"] == true, "{}", growing.output);
    let days = growing.rows("books.csv")?;
    let is_growing = rows(&days, "day", &today).next().is_some();
    ensure!(is_growing, "nothing was sold before the export: {days:?}");
    server.stop()?;
    let after = site.export("after", &of_yesterday)?;
    for name in ["orders.csv", "payments.csv", "books.csv", "cash.csv"] {
        ensure!(after.text(name)? == during.text(name)?, "{name} changed");
    }
    let before = furnished.before.to_string();
    let all = site.export("all", &["--from", &before, "--to", &today])?;
    all.agrees_with(&site.verified()?)
}

#[test]
fn the_rows_of_a_deleted_account_stay_and_name_nobody() -> anyhow::Result<()> {
    let site = Site::new()?;
    site.furnish()?;
    let export = site.export("accounts", &[])?;
    let deleted = mall::runtime()?.block_on(async {
        let storage = mall::open(&site.data()).await?;
        let deleted = storage
            .people
            .personal_data
            .deleted(
                at(furnished::day_of(SystemClock.now())?, 0) - Duration::from_secs(86_400),
                UserId::new(0),
                9,
            )
            .await?;
        storage.base.upkeep.close().await?;
        anyhow::Ok(deleted)
    })?;
    ensure!(deleted.len() == 1, "{deleted:?}");
    let orders = export.rows("orders.csv")?;
    ensure!(rows(&orders, "buyer", &deleted[0].to_string()).count() == 1, "{orders:?}");
    for name in FILES {
        let text = export.text(name)?;
        ensure!(!text.contains("138000000"), "{name} has a phone number");
    }
    Ok(())
}

#[test]
fn a_claim_that_is_not_yet_an_order_is_reported() -> anyhow::Result<()> {
    let site = Site::new()?;
    let furnished = site.furnish()?;
    site.sell(&furnished, async |seller| seller.claim_only(30, at(furnished.yesterday, 20)).await)?;
    let export = site.export("accounts", &[])?;
    ensure!(
        export.code == 1 && export.output.contains("1 accepted claims are not yet orders"),
        "{}",
        export.output
    );
    ensure!(export.summary["pendingClaims"] == 1, "{}", export.summary);
    let server = Server::start(&site.data(), &site.dir.path().join("log"), "process")?;
    let later = site.export("later", &[])?;
    ensure!(later.code == 0 && later.rows("orders.csv")?.len() == 12, "{}", later.output);
    ensure!(cents(&later.summary, "/books/revenueCents")? == 5_150, "{}", later.summary);
    server.stop()
}

/// Returns whether a directory has none of the files of an export.
fn has_no_file(dir: &Path) -> bool {
    FILES.iter().all(|name| !dir.join(name).exists())
}
